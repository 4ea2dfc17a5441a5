//! Tables of mechanisms that a scenario does not use.
//!
//! Each has a table, or fields of one, and a choice elsewhere that puts it to use. A field that has
//! its default says nothing: it is there in every scenario.

use serde::Serialize;
use serde_json::Value;

use super::error::{Check, brief};
use super::{Ops, Protocol, Resolution, Scenario, ScenarioError};

/// Refuses fields of a mesh of bursts that have no effect.
pub(super) fn check(scenario: &Scenario) -> Check {
    let core = &scenario.core;
    for step in [
        Resolution::DelayLine,
        Resolution::Deflection,
        Resolution::Segmentation,
        Resolution::Retransmission,
    ] {
        if scenario.tries(step) {
            continue;
        }
        let word = super::error::word(&step);
        let problem = format!("core.contention does not list {}", word.trim_matches('"'));
        let fix = format!("remove it, or add {word} to core.contention");
        let why = (&*problem, &*fix);
        match step {
            Resolution::DelayLine => unused("core.delay_lines", &core.delay_lines, &[], why)?,
            Resolution::Deflection => unused("core.deflection", &core.deflection, &[], why)?,
            Resolution::Segmentation => unused("core.segmentation", &core.segmentation, &[], why)?,
            _ => unused("core.retransmission", &core.retransmission, &[], why)?,
        }
    }
    let injection = &core.injection;
    if injection.data.get() == 0.0 && injection.ack.get() == 0.0 {
        let fix = "remove it, or write core.injection.data = 0.01";
        unused("core.injection", injection, &[], ("no contention is injected", fix))?;
    }
    let signalling = &scenario.signalling;
    if signalling.protocol != Protocol::TwoWay {
        let why = (
            "an ingress sends without reserving a path first",
            "remove it, or write signalling.protocol = \"two-way\"",
        );
        unused("signalling", signalling, &["requests", "retry"], why)?;
    }
    if let (Some(guard), Some(offset)) = (signalling.guard, signalling.offset) {
        let problem = format!("signalling.offset = {offset} is the whole offset time");
        let fix = "keep one of the two";
        return Err(ScenarioError::new("signalling.guard", guard.to_string(), problem, fix));
    }
    Ok(())
}

/// Refuses fields of a slotted network that have no effect. The unit of the smoothing has one:
/// backlogs are looked at as often.
pub(super) fn check_ops(ops: &Ops) -> Check {
    if ops.smoothing.enabled {
        return Ok(());
    }
    let why = (
        "ops.smoothing.enabled = false: buffers send in the next free slot",
        "remove it, or write ops.smoothing.enabled = true",
    );
    let fields = ["weight", "units", "min_rate", "phase", "refusal"];
    unused("ops.smoothing", &ops.smoothing, &fields, why)?;
    match ops.unsmoothed.first() {
        None => Ok(()),
        Some(name) => Err(ScenarioError::new("ops.unsmoothed", format!("{name:?}"), why.0, why.1)),
    }
}

/// Refuses the first of these fields that is not as it is by default; of all where none is named.
fn unused<T: Serialize + Default>(
    at: &str,
    table: &T,
    fields: &[&str],
    (problem, fix): (&str, &str),
) -> Check {
    match differing(table, &T::default(), fields) {
        None => Ok(()),
        Some((name, value)) => {
            Err(ScenarioError::new(format!("{at}.{name}"), brief(&value), problem, fix))
        }
    }
}

/// The first of these fields that is not as it is in another table; of all where none is named.
pub(super) fn differing<T: Serialize>(
    table: &T,
    plain: &T,
    fields: &[&str],
) -> Option<(String, Value)> {
    let [table, plain] = [table, plain].map(|one| serde_json::to_value(one).unwrap_or_default());
    let Value::Object(given) = table else { return None };
    let mut given =
        given.into_iter().filter(|(name, _)| fields.is_empty() || fields.contains(&&**name));
    given.find(|(name, value)| plain.get(name) != Some(value))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::Scenario;

    fn resolves(written: &Value) -> Result<Value, String> {
        let scenario = Scenario::from_json(&written.to_string()).expect("it reads");
        scenario.resolve().map(|found| found.document()).map_err(|error| error.to_string())
    }

    fn mesh(more: &Value) -> Value {
        let mut all = json!({"network": {"topology": "ring", "wavelengths": 2}});
        all.as_object_mut().expect("a table").extend(more.as_object().cloned().expect("a table"));
        all
    }

    fn slots(more: &Value) -> Value {
        json!({"network": {"topology": "line"}, "ops": more})
    }

    /// Each field without its mechanism is refused by name. With its mechanism it is not, and its
    /// default is never refused. The stored form of the first two resolves again.
    #[test]
    fn a_field_without_its_mechanism_is_refused() {
        for (table, field, value, plain, step) in [
            ("delay_lines", "passes", json!(3), json!(1), "delay-line"),
            ("delay_lines", "channels", json!(2), json!(1), "delay-line"),
            ("deflection", "hop_limit", json!(4), json!(2), "deflection"),
            ("segmentation", "trailer", json!(false), json!(true), "segmentation"),
            ("retransmission", "attempts", json!(3), json!(1), "retransmission"),
            ("retransmission", "buffer", json!("1 MB"), Value::Null, "retransmission"),
            ("retransmission", "wait", json!("3 ms"), json!("0 s"), "retransmission"),
        ] {
            let error = resolves(&mesh(&json!({"core": {table: {field: value}}}))).unwrap_err();
            assert!(error.contains(&format!("core.{table}.{field}")), "{error}");
            assert!(error.contains(&format!("does not list {step}")), "{error}");
            assert!(error.contains(&format!("add \"{step}\" to core.contention")), "{error}");
            let mut core = json!({"contention": [step], table: {field: value}});
            if step == "delay-line" {
                core["delay_lines"]["delays"] = json!(["50 us"]);
            }
            let stored = resolves(&mesh(&json!({"core": core}))).expect("its step is there");
            assert!(resolves(&stored).is_ok(), "{stored}");
            let stored = resolves(&mesh(&json!({"core": {table: {field: plain}}})));
            assert!(resolves(&stored.expect("the default says nothing")).is_ok());
        }
    }

    #[test]
    fn fields_of_other_choices_are_refused() {
        for (more, field, fix) in [
            (json!({"signalling": {"requests": 3}}), "signalling.requests", "two-way"),
            (json!({"signalling": {"retry": "3 ms"}}), "signalling.retry", "two-way"),
            (
                json!({"signalling": {"guard": "3 ms", "offset": "9 ms"}}),
                "signalling.guard",
                "keep one of the two",
            ),
            (json!({"core": {"injection": {"per": "node"}}}), "core.injection.per", "data = 0.01"),
        ] {
            let error = resolves(&mesh(&more)).unwrap_err();
            assert!(error.contains(field) && error.contains(fix), "{error}");
        }
        for more in [
            json!({"signalling": {"requests": 3, "protocol": "two-way"}}),
            json!({"core": {"injection": {"per": "node", "data": 0.1}}}),
            json!({"signalling": {"offset": "9 ms"}}),
        ] {
            let stored = resolves(&mesh(&more)).expect("each is in use");
            assert!(resolves(&stored).is_ok(), "{stored}");
        }
    }

    #[test]
    fn smoothing_that_is_off_has_no_other_field_but_the_unit() {
        for (field, value) in [
            ("weight", json!(0.5)),
            ("units", json!(3)),
            ("min_rate", json!(0.1)),
            ("phase", json!("common")),
            ("refusal", json!("partial")),
        ] {
            let off = json!({"smoothing": {"enabled": false, field: value}});
            let error = resolves(&slots(&off)).unwrap_err();
            assert!(error.contains(&format!("ops.smoothing.{field}")), "{error}");
            assert!(error.contains("enabled = true"), "{error}");
            let stored = resolves(&slots(&json!({"smoothing": {field: value}}))).expect("it is on");
            assert!(resolves(&stored).is_ok(), "{stored}");
        }
        let off = json!({"smoothing": {"enabled": false}, "unsmoothed": ["1"]});
        let error = resolves(&slots(&off)).unwrap_err();
        assert!(error.contains("ops.unsmoothed"), "{error}");
        let off = json!({"smoothing": {"enabled": false, "unit": "5 ms"}});
        let stored = resolves(&slots(&off)).expect("the unit has an effect");
        assert_eq!(stored["ops"]["smoothing"], json!({"enabled": false, "unit": "5 ms"}));
        assert_eq!(resolves(&stored).as_ref(), Ok(&stored));
    }
}
