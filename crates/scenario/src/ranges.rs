//! Ranges of single fields. Each is an attribute of its field. The schema has it from there. The
//! reference page and `ranges.json` have it from the schema. Here values are checked against it.
//!
//! JSON schema has words for ranges of numbers alone. So the attributes also have `x-minimum`,
//! `x-exclusiveMinimum`, `x-maximum` and `x-enum`, for quantities with a unit or for the items of a
//! list. `x-or` names another fix for a value at the limit.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use burstlab_units::{Bytes, Rate, Span};
use serde::Serialize;
use serde_json::Value;

use super::ScenarioError;
use super::error::{Check, brief};

/// Of the schema of a scenario what is read here. `cargo run -p xtask -- codegen` writes it.
static RANGES: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("ranges.json")).expect("the generated file is JSON")
});

/// Whether every value of `table` is in the range of its field. `path` is the path of the table,
/// and `of` the name of its type; a scenario needs none.
pub(super) fn check<T: Serialize>(of: Option<&str>, path: &str, table: &T) -> Check {
    let value = serde_json::to_value(table).unwrap_or_default();
    let schema = of.map_or(&*RANGES, |name| &RANGES["$defs"][name]);
    Walk::over(&RANGES).held(&Path::Root(path), &value, [schema, &Value::Null])
}

/// A walk over the values of a table. Entries of a list share their ranges, which are looked up
/// once.
struct Walk<'a> {
    root: &'a Value,
    ranges: HashMap<[*const Value; 2], Option<Range<'a>>>,
}

/// The place of a value. It is written only where the value is wrong.
enum Path<'a> {
    Root(&'a str),
    Field(&'a Path<'a>, &'a str),
    Entry(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(path) => to.write_str(path),
            Self::Field(Self::Root(""), name) => to.write_str(name),
            Self::Field(table, name) => write!(to, "{table}.{name}"),
            Self::Entry(list, index) => write!(to, "{list}[{index}]"),
        }
    }
}

impl<'a> Walk<'a> {
    fn over(root: &'a Value) -> Self {
        Self { root, ranges: HashMap::new() }
    }

    /// Checks a value against its schema, and against the schema of the field that the value is, or
    /// is a part of.
    fn held(&mut self, path: &Path<'_>, value: &Value, [schema, field]: [&'a Value; 2]) -> Check {
        match value {
            Value::Object(fields) => {
                let properties = &meant(self.root, schema)["properties"];
                fields.iter().try_for_each(|(name, value)| {
                    let schema = &properties[name];
                    self.held(&Path::Field(path, name), value, [schema, schema])
                })
            }
            Value::Array(entries) => {
                let meant = meant(self.root, schema);
                let most = meant["maxItems"].as_u64().unwrap_or(u64::MAX);
                entries.iter().enumerate().try_for_each(|(index, value)| {
                    let path = Path::Entry(path, index);
                    if index as u64 >= most {
                        let problem = format!("there may be {most} of them");
                        let fix = "remove it and what follows";
                        return Err(ScenarioError::new(path.to_string(), "", problem, fix));
                    }
                    let own = meant["prefixItems"].get(index).unwrap_or(&meant["items"]);
                    self.held(&path, value, [own, field])
                })
            }
            Value::Bool(_) => Ok(()),
            _ => self.range(schema, field).map_or(Ok(()), |range| range.check(path, value)),
        }
    }

    fn range(&mut self, schema: &'a Value, field: &'a Value) -> Option<Range<'a>> {
        let look = || Range::of([schema, meant(self.root, schema), field]);
        *self.ranges.entry([schema, field].map(std::ptr::from_ref)).or_insert_with(look)
    }
}

/// The schema that a reference means, without the null that an option adds.
fn meant<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    match (schema["$ref"].as_str(), schema["anyOf"].get(0)) {
        (Some(name), _) => root.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null),
        (None, Some(first)) => meant(root, first),
        (None, None) => schema,
    }
}

/// The schemas of one value; the first that has a range counts.
#[derive(Clone, Copy)]
struct Range<'a> {
    least: Option<&'a Value>,
    above: Option<&'a Value>,
    most: Option<&'a Value>,
    below: Option<&'a Value>,
    one_of: Option<&'a Vec<Value>>,
    or: Option<&'a str>,
}

impl<'a> Range<'a> {
    fn of(schemas: [&'a Value; 3]) -> Option<Self> {
        let said = |key: &str, more: &str| {
            schemas.iter().find_map(|schema| schema.get(key).or_else(|| schema.get(more)))
        };
        let found = Self {
            least: said("minimum", "x-minimum"),
            above: said("exclusiveMinimum", "x-exclusiveMinimum"),
            most: said("maximum", "x-maximum"),
            below: said("exclusiveMaximum", "x-exclusiveMaximum"),
            one_of: said("x-enum", "x-enum").and_then(Value::as_array),
            or: said("x-or", "x-or").and_then(Value::as_str),
        };
        let bounds = [found.least, found.above, found.most, found.below];
        (found.one_of.is_some() || bounds.iter().any(Option::is_some)).then_some(found)
    }

    fn check(&self, path: &Path<'_>, value: &Value) -> Check {
        let is = |bound: Option<&Value>, wrong: &[Ordering]| {
            let order = bound.and_then(|bound| order(value, bound));
            order.is_some_and(|order| wrong.contains(&order))
        };
        let low =
            is(self.least, &[Ordering::Less]) || is(self.above, &[Ordering::Less, Ordering::Equal]);
        let high = is(self.most, &[Ordering::Greater])
            || is(self.below, &[Ordering::Greater, Ordering::Equal]);
        let equal = |one: &Value| order(value, one) == Some(Ordering::Equal);
        let none = self.one_of.is_some_and(|all| !all.iter().any(equal));
        let unnumbered = value.is_null() && self.least.or(self.above).or(self.most).is_some();
        if !(unnumbered || none || low || high) {
            return Ok(());
        }
        let [noun, small, large] = words(value);
        let problem = match () {
            // A value that is no number is written so.
            () if unnumbered => "it is no number".into(),
            () if none => format!("there is no such {noun}"),
            () if self.is_two_sided() => "out of range".into(),
            () => format!("it is too {}", if low { small } else { large }),
        };
        let or = self.or.map(|or| format!(", or {or}")).unwrap_or_default();
        let fix = format!("write {}{or}", self.written(noun));
        Err(ScenarioError::new(path.to_string(), shown(value), problem, fix))
    }

    fn is_two_sided(&self) -> bool {
        self.least.or(self.above).is_some() && self.most.or(self.below).is_some()
    }

    /// The range in words.
    fn written(&self, noun: &str) -> String {
        if let Some((last, first)) = self.one_of.and_then(|all| all.split_last()) {
            let first: Vec<String> = first.iter().map(Value::to_string).collect();
            return format!("{} or {last}", first.join(", "));
        }
        let low = match (self.least, self.above) {
            (_, Some(low)) if low.as_str() == Some("0 s") => Some(format!("a positive {noun}")),
            (_, Some(low)) => Some(format!("a {noun} above {}", bound(low))),
            (Some(low), None) if self.most.is_some() => Some(bound(low)),
            (Some(low), None) => Some(format!("at least {}", bound(low))),
            (None, None) => None,
        };
        let high = match (self.most, self.below) {
            (Some(high), _) if low.is_none() => Some(format!("at most {}", bound(high))),
            (Some(high), _) if self.above.is_none() => Some(format!(" to {}", bound(high))),
            (Some(high), _) => Some(format!(", up to {}", bound(high))),
            (None, Some(high)) => Some(format!(", below {}", bound(high))),
            (None, None) => None,
        };
        low.unwrap_or_default() + &high.unwrap_or_default()
    }
}

/// Which of two numbers, or quantities of one kind, is larger.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i128(), b.as_i128()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        (Value::String(a), Value::String(b)) => {
            let ((a, kind), (b, other)) = (quantity(a)?, quantity(b)?);
            (kind == other).then(|| a.cmp(&b))
        }
        _ => None,
    }
}

/// The name of a kind of value, and the words for too small and too large ones.
type Words = [&'static str; 3];

fn words(value: &Value) -> Words {
    value.as_str().and_then(quantity).map_or(["number", "small", "large"], |(_, words)| words)
}

/// A quantity in its base unit.
fn quantity(text: &str) -> Option<(u64, Words)> {
    if let Ok(time) = text.parse::<Span>() {
        return Some((time.as_ps(), ["time", "short", "long"]));
    }
    if let Ok(size) = text.parse::<Bytes>() {
        return Some((size.get(), ["size", "small", "large"]));
    }
    text.parse::<Rate>().ok().map(|rate| (rate.as_bps(), ["rate", "slow", "fast"]))
}

/// A number without what says only that it need not be whole.
fn plain(value: &Value) -> Option<String> {
    value.as_f64().filter(|_| value.is_f64()).map(|number| number.to_string())
}

/// A bound as it is written in a scenario.
fn bound(value: &Value) -> String {
    plain(value).unwrap_or_else(|| value.to_string())
}

fn shown(value: &Value) -> String {
    plain(value).unwrap_or_else(|| brief(value))
}

#[cfg(test)]
mod tests {
    use schemars::{JsonSchema, schema_for};
    use serde::Deserialize;

    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Sample {
        #[schemars(range(min = 1, max = 10))]
        count: Option<u32>,
        #[schemars(range(max = i64::MAX))]
        seed: Option<u64>,
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
        weight: Option<f64>,
        #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
        past: Option<f64>,
        #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-or" = "remove it"))]
        timer: Option<Span>,
        #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = "1 s"))]
        timers: Option<Vec<Span>>,
        #[schemars(inner(range(min = 2)), length(max = 2))]
        list: Option<Vec<u32>>,
        #[schemars(extend("x-maximum" = "1 KB"))]
        pairs: Option<Vec<(Bytes, f64)>>,
        #[schemars(extend("x-enum" = ["1 Mb/s", "2 Mb/s"]))]
        rate: Option<Rate>,
        #[schemars(extend("x-minimum" = "100 b/s"))]
        slow: Option<Rate>,
        inner: Option<Box<Sample>>,
    }

    fn said(json: &str) -> String {
        let mut value: serde_json::Map<String, Value> = serde_json::from_str(json).expect(json);
        value.retain(|_, value| !value.is_null());
        let value = Value::Object(value);
        let schema = schema_for!(Sample).to_value();
        let wrong = Walk::over(&schema).held(&Path::Root(""), &value, [&schema, &Value::Null]);
        wrong.map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn what_is_in_range_passes() {
        for json in [
            r#"{"count": 1, "seed": 9223372036854775807, "weight": 1.0, "past": 0.0}"#,
            r#"{"count": 10, "weight": 1e-9, "past": 0.999999, "timer": "1 ps"}"#,
            r#"{"timers": ["1 ps", "1 s"], "list": [2, 3], "pairs": [["1000 B", 5000.0]]}"#,
            r#"{"rate": "2000 kb/s", "slow": "100 b/s", "inner": {"count": 2}}"#,
        ] {
            assert_eq!(said(json), "", "{json}");
        }
    }

    #[test]
    fn what_is_not_is_named_with_the_range() {
        for (json, says) in [
            (r#"{"count": 0}"#, "count = 0: out of range; write 1 to 10"),
            (r#"{"count": 11}"#, "count = 11: out of range; write 1 to 10"),
            (
                r#"{"seed": 9223372036854775808}"#,
                "seed = 9223372036854775808: out of range; write 0 to 9223372036854775807",
            ),
            (r#"{"weight": 0.0}"#, "weight = 0: out of range; write a number above 0, up to 1"),
            (r#"{"weight": 1.5}"#, "weight = 1.5: out of range; write a number above 0, up to 1"),
            (r#"{"past": 1.0}"#, "past = 1: out of range; write at least 0, below 1"),
            (r#"{"past": -0.5}"#, "past = -0.5: out of range; write at least 0, below 1"),
            (
                r#"{"timer": "0 s"}"#,
                "timer = 0 s: it is too short; write a positive time, or remove it",
            ),
            (
                r#"{"timers": ["1 s", "1001 ms"]}"#,
                "timers[1] = 1001 ms: out of range; write a positive time, up to \"1 s\"",
            ),
            (r#"{"list": [2, 1]}"#, "list[1] = 1: it is too small; write at least 2"),
            (
                r#"{"list": [2, 2, 2]}"#,
                "list[2]: there may be 2 of them; remove it and what follows",
            ),
            (
                r#"{"pairs": [["1001 B", 0.5]]}"#,
                "pairs[0][0] = 1001 B: it is too large; write at most \"1 KB\"",
            ),
            (
                r#"{"rate": "3 Mb/s"}"#,
                "rate = 3 Mb/s: there is no such rate; write \"1 Mb/s\" or \"2 Mb/s\"",
            ),
            (r#"{"slow": "99 b/s"}"#, "slow = 99 b/s: it is too slow; write at least \"100 b/s\""),
            (r#"{"inner": {"count": 0}}"#, "inner.count = 0: out of range; write 1 to 10"),
        ] {
            assert_eq!(said(json), says, "{json}");
        }
    }

    /// JSON has no word for it, so that it comes from Rust alone.
    #[test]
    fn what_is_no_number_is_refused() {
        let load = super::super::Bursts { erlangs: f64::NAN, ..Default::default() };
        let error = check(Some("Bursts"), "bursts[0]", &load).expect_err("no number");
        assert_eq!(error.path(), "bursts[0].erlangs");
    }
}
