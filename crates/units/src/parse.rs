//! Quantities as text with a unit, for people and for files; bare numbers in formats that no
//! person reads.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer as SerdeSerializer;
use serde::{Deserialize, Serialize};

use crate::quantity::{Bytes, Probability};
use crate::rate::Rate;
use crate::time::{PS_PER_S, Span};

/// Why a text is not the quantity it should be; says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError(String);

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnitError {}

/// A kind of quantity: its name, its units and its largest value. A unit is numerator/denominator
/// base units; the first unit in the table that divides a value writes it.
struct Kind {
    name: &'static str,
    example: &'static str,
    units: &'static [(&'static str, u64)],
    positive: bool,
}

const SPAN: Kind = Kind {
    name: "time",
    example: "5 ms",
    units: &[
        ("s", PS_PER_S),
        ("ms", 1_000_000_000),
        ("us", 1_000_000),
        ("µs", 1_000_000),
        ("ns", 1_000),
        ("ps", 1),
        ("min", 60 * PS_PER_S),
        ("h", 3600 * PS_PER_S),
    ],
    positive: false,
};

const BYTES: Kind = Kind {
    name: "size",
    example: "1 KB",
    units: &[
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("KB", 1_000),
        ("B", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    positive: false,
};

const RATE: Kind = Kind {
    name: "rate",
    example: "10 Gb/s",
    units: &[
        ("Tb/s", 1_000_000_000_000),
        ("Gb/s", 1_000_000_000),
        ("Mb/s", 1_000_000),
        ("Kb/s", 1_000),
        ("b/s", 1),
        ("kb/s", 1_000),
        ("B/s", 8),
        ("KB/s", 8_000),
        ("kB/s", 8_000),
        ("MB/s", 8_000_000),
        ("GB/s", 8_000_000_000),
    ],
    positive: true,
};

impl Kind {
    fn unit_names(&self) -> String {
        self.units.iter().map(|u| u.0).collect::<Vec<_>>().join(", ")
    }

    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let (name, example) = (self.name, self.example);
        let text = text.trim();
        let cut = text
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '_')))
            .unwrap_or(text.len());
        // An exponent belongs to the number: "1e3 B".
        let cut = match text[cut..].strip_prefix(['e', 'E']) {
            Some(rest) if cut > 0 && rest.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                let digits =
                    rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1);
                cut + 2 + digits
            }
            _ => cut,
        };
        let (number, unit) = (text[..cut].replace('_', ""), text[cut..].trim());
        let Ok(value) = number.parse::<f64>() else {
            return Err(UnitError(format!(
                "{text:?} is not a {name}; write a number and a unit, such as {example:?}"
            )));
        };
        if unit.is_empty() {
            return Err(UnitError(format!(
                "{text:?} has no unit; write a {name} such as {example:?} (units: {})",
                self.unit_names()
            )));
        }
        let Some(&(_, scale)) = self.units.iter().find(|u| u.0 == unit) else {
            return Err(UnitError(format!(
                "unit {unit:?} of {text:?} is not a unit of {name}; use one of {}",
                self.unit_names()
            )));
        };
        if value < 0.0 {
            return Err(UnitError(format!(
                "{text:?} is negative; write a {name} of at least zero, such as {example:?}"
            )));
        }
        // Saturates at what a u64 holds; NaN cannot be written.
        let rounded = || (value * scale as f64).round() as u64;
        let base = exact_integer(&number, scale).unwrap_or_else(rounded);
        if base == u64::MAX {
            return Err(UnitError(format!(
                "{text:?} is too large for a {name}; write a smaller one, such as {example:?}"
            )));
        }
        if self.positive && base == 0 {
            return Err(UnitError(format!(
                "{text:?} is zero, and a {name} is positive; write one such as {example:?}"
            )));
        }
        if value > 0.0 && base == 0 {
            let least = self.units.iter().find(|u| u.1 == 1).map_or("", |u| u.0);
            return Err(UnitError(format!(
                "{text:?} is below the resolution of a {name}; write at least \"1 {least}\""
            )));
        }
        Ok(base)
    }

    fn format(&self, value: u64) -> String {
        let (unit, scale) = self
            .units
            .iter()
            .find(|u| value != 0 && value.is_multiple_of(u.1))
            .or_else(|| self.units.iter().find(|u| u.1 == 1))
            .copied()
            .unwrap_or(("", 1));
        let (unit, scale) = if value == 0 { (self.units[0].0, 1) } else { (unit, scale) };
        format!("{} {unit}", value / scale)
    }

    fn schema(&self) -> Schema {
        let (name, example, units) = (self.name, self.example, self.unit_names());
        json_schema!({
            "type": "string",
            "title": name,
            "description": format!("A {name} with a unit, such as {example:?} (units: {units})."),
            "examples": [example],
        })
    }
}

/// Whole numbers and short decimals are scaled in integers, so that no rounding enters.
fn exact_integer(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u128 =
        if whole.is_empty() { 0 } else { whole.trim_start_matches('+').parse().ok()? };
    if fraction.len() > 18 {
        return None;
    }
    let part: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let power = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    let units = whole.checked_mul(power)?.checked_add(part)?.checked_mul(u128::from(scale))?;
    u64::try_from((units + power / 2) / power).ok()
}

struct TextVisitor(&'static Kind);

impl Visitor<'_> for TextVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} with a unit, such as {:?}", self.0.name, self.0.example)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        self.0.parse(text).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, v: u64) -> Result<u64, E> {
        Err(E::custom(bare(self.0, v)))
    }

    fn visit_i64<E: de::Error>(self, v: i64) -> Result<u64, E> {
        Err(E::custom(bare(self.0, v)))
    }

    fn visit_f64<E: de::Error>(self, v: f64) -> Result<u64, E> {
        Err(E::custom(bare(self.0, v)))
    }
}

fn bare(kind: &Kind, value: impl fmt::Display) -> String {
    let (name, example) = (kind.name, kind.example);
    format!("{value} has no unit; write a {name} in quotes, such as {example:?}")
}

macro_rules! text_quantity {
    ($type:ty, $kind:expr, $name:literal, $from:expr, $into:expr) => {
        impl FromStr for $type {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                $kind.parse(text).map($from)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&$kind.format($into(*self)))
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                if from.is_human_readable() {
                    return from.deserialize_any(TextVisitor(&$kind)).map($from);
                }
                match u64::deserialize(from)? {
                    0 if $kind.positive => Err(de::Error::custom("it has to be positive")),
                    base => Ok($from(base)),
                }
            }
        }

        impl Serialize for $type {
            fn serialize<S: SerdeSerializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                if to.is_human_readable() {
                    return to.serialize_str(&self.to_string());
                }
                to.serialize_u64($into(*self))
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $kind.schema()
            }
        }
    };
}

text_quantity!(Span, SPAN, "Span", Span::from_ps, Span::as_ps);
text_quantity!(Bytes, BYTES, "Bytes", Bytes::new, Bytes::get);
text_quantity!(Rate, RATE, "Rate", Rate::from_bps, Rate::as_bps);

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(from)?;
        Self::new(value).ok_or_else(|| {
            de::Error::custom(format!("{value} is no probability; write a number from 0 to 1"))
        })
    }
}

impl Serialize for Probability {
    fn serialize<S: SerdeSerializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.get())
    }
}

impl JsonSchema for Probability {
    fn schema_name() -> Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number",
            "title": "probability",
            "description": "A probability, from 0 to 1.",
            "minimum": 0.0,
            "maximum": 1.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_read() {
        for (text, ps) in
            [("5 ms", 5_000_000_000), ("0.5us", 500_000), ("2 min", 120 * PS_PER_S), ("0 s", 0)]
        {
            assert_eq!(text.parse::<Span>().map(Span::as_ps), Ok(ps), "{text}");
        }
        for (text, bps) in [("10 Gb/s", 10_000_000_000), ("125 KB/s", 1_000_000), ("1e3 b/s", 1000)]
        {
            assert_eq!(text.parse::<Rate>().map(Rate::as_bps), Ok(bps), "{text}");
        }
        for (text, bytes) in [("1 KB", 1000), ("1 KiB", 1024), ("1.5 MB", 1_500_000)] {
            assert_eq!(text.parse::<Bytes>().map(Bytes::get), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_mend() {
        for (text, says) in [
            ("5", "has no unit"),
            ("5 Gb/s", "not a unit of time"),
            ("-5 ms", "negative"),
            ("ms", "not a time"),
            ("", "not a time"),
            ("1e300 s", "too large"),
            ("0.1 ps", "below the resolution"),
            ("5 e", "not a unit"),
            ("1e", "not a unit"),
        ] {
            let error = text.parse::<Span>().expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!("0 b/s".parse::<Rate>().expect_err("zero").to_string().contains("positive"));
        let bare = serde_json::from_str::<Span>("5").expect_err("bare").to_string();
        assert!(bare.contains("has no unit") && bare.contains("5 ms"), "{bare}");
        assert!(serde_json::from_str::<Probability>("1.5").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(ps in 0u64..1 << 63) {
            prop_assert_eq!(Span::from_ps(ps).to_string().parse(), Ok(Span::from_ps(ps)));
            prop_assert_eq!(Bytes::new(ps).to_string().parse(), Ok(Bytes::new(ps)));
            prop_assert_eq!(Rate::from_bps(ps + 1).to_string().parse(), Ok(Rate::from_bps(ps + 1)));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,12}") {
            let _ = text.parse::<Span>();
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Bytes>();
        }
    }
}
