//! Defaults in the schema for fields that the resolver fills in, because they depend on the
//! topology, the profile or a choice. The resolver is the source, so that both agree: it reads a
//! scenario for each case, and the value that it fills in is the default.
//!
//! A field whose default is no value describes it in words, in its attribute `x-default`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Scenario;

/// The values of a field, each with the names of the cases in which it holds.
type Found = Vec<(Value, Vec<&'static str>)>;

/// A case and its scenario. The first is the plain one.
fn cases() -> Vec<(&'static str, Value)> {
    let ends = json!({"from": "a", "to": "b", "delay": "1 ms"});
    let nodes = json!([{"name": "a"}, {"name": "b"}]);
    let red = json!({"rule": "red", "least": "15 KB", "most": "45 KB"});
    let shadowing = json!({"loss": "shadowing", "distance_m": 100.0});
    let elliott = json!({"process": "gilbert-elliott", "good_to_bad": 0.1, "bad_to_good": 0.1});
    let outages = json!({"process": "outages", "mean_up": "9 s", "mean_down": "1 s"});
    let clock = json!({"process": "gilbert-elliott", "mean_good": "9 s", "mean_bad": "1 s"});
    let mut all = vec![
        ("path", json!({})),
        ("custom", json!({"network": {"topology": "custom", "node": nodes, "link": [ends]}})),
        ("ecmp", json!({"network": {"topology": "line", "route_choice": "ecmp"}})),
        ("periodic", json!({"access": {"shared": true}, "traffic": [{"pattern": "periodic"}]})),
        ("red", json!({"access": {"marking": red}})),
        ("frame-error", json!({"wlan": [{"loss": "frame-error", "probability": 0.1}]})),
        ("shadowing", json!({"wlan": [shadowing]})),
        ("gilbert-elliott", json!({"loss": {"data": elliott}})),
        ("outages", json!({"loss": {"data": outages}, "access": {"loss": outages}})),
        ("clock", json!({"access": {"loss": clock}})),
        ("script", json!({"loss": {"data": {"process": "script", "carrying": [1]}}})),
        ("surgery", json!({"surgery": [{"burst": 1}]})),
    ];
    for profile in ["ns2", "ns2-2003", "linux"] {
        all.push((profile, json!({"tcp": {"profile": profile}})));
    }
    for topology in [
        "line",
        "ring",
        "star",
        "dumbbell",
        "fat-tree",
        "leaf-spine",
        "torus",
        "nsfnet",
        "nsfnet-8e6c",
        "nsfnet-deeprmsa",
        "martinez",
    ] {
        all.push((topology, json!({"network": {"topology": topology}})));
    }
    all
}

/// The schema with the defaults that the resolver fills in: `default` where there is one, and
/// `x-default`, in words, where there are several.
///
/// # Panics
/// When a case is no valid scenario, which is a fault of this file.
pub(super) fn described(mut schema: Value) -> Value {
    let mut found = BTreeMap::new();
    for (name, written) in cases() {
        let scenario = Scenario::from_json(&written.to_string()).expect("a case is a scenario");
        let document = scenario.resolve().expect("a case is valid").document();
        collect(&schema, "", [&document, &written], &mut |at: String, value: &Value| {
            let cases: &mut Found = found.entry(at).or_default();
            match cases.iter_mut().find(|(other, _)| other == value) {
                Some((_, names)) => names.push(name),
                None => cases.push((value.clone(), vec![name])),
            }
        });
    }
    for (at, cases) in found {
        let field = schema.pointer_mut(&at).and_then(Value::as_object_mut).expect("it was read");
        if field.contains_key("x-default") {
            continue;
        }
        let (name, default) = match &cases[..] {
            [(value, _)] => ("default", value.clone()),
            several => ("x-default", words(several).into()),
        };
        field.insert(name.into(), default);
    }
    schema
}

/// Tells `note` of each field of a table that was filled in: where it stands in the schema, whose
/// definition of the table is at `at`, and its value.
fn collect(
    schema: &Value,
    at: &str,
    [document, written]: [&Value; 2],
    note: &mut impl FnMut(String, &Value),
) {
    for (name, value) in document.as_object().into_iter().flatten() {
        let place = format!("{at}/properties/{name}");
        let Some(field) = schema.pointer(&place) else { continue };
        let given = written.get(name).unwrap_or(&Value::Null);
        match (value, definition(field)) {
            (Value::Object(_), Some(inner)) => collect(schema, inner, [value, given], note),
            (Value::Array(entries), Some(inner)) => {
                for (index, entry) in entries.iter().enumerate() {
                    let given = given.get(index).unwrap_or(&Value::Null);
                    collect(schema, inner, [entry, given], note);
                }
            }
            _ if given.is_null() && field["default"].is_null() => note(place, value),
            _ => {}
        }
    }
}

/// Where the definition of the tables stands that a field is, or that it is a list of.
fn definition(field: &Value) -> Option<&str> {
    let of = [field, &field["items"], &field["anyOf"][0]];
    of.into_iter().find_map(|one| one["$ref"].as_str()).and_then(|name| name.strip_prefix('#'))
}

/// The value of the first case, then those of the other cases.
fn words(cases: &[(Value, Vec<&'static str>)]) -> String {
    let written = cases.iter().enumerate().map(|(index, (value, names))| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        match index {
            0 => format!("`{value}`"),
            _ => format!("{}: `{value}`", names.join(", ")),
        }
    });
    written.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field<'a>(schema: &'a Value, table: &str, name: &str) -> &'a Value {
        &schema["$defs"][table]["properties"][name]
    }

    #[test]
    fn what_is_filled_in_is_in_the_schema() {
        let schema = crate::schema_json();
        for (table, name, default) in [
            ("Core", "conversion", json!("full")),
            ("Core", "scheduler", json!("lauc-vf")),
            ("Core", "contention", json!([])),
            ("Edge", "port", json!("fifo")),
            ("Run", "tie_break", json!("fixed")),
            ("Demand", "pattern", json!("poisson")),
            ("Network", "core_nodes", json!(2)),
            ("Network", "nodes", json!(4)),
            ("Traffic", "period", json!("10 s")),
            ("Marks", "chance", json!(0.02)),
            ("Wlan", "frames", json!("all")),
            ("Wlan", "sense_db", json!(13.7)),
            ("LossRule", "node", json!(1)),
            ("LossRule", "loss_bad", json!(1.0)),
            ("Tcp", "dupack_threshold", json!(3)),
        ] {
            assert_eq!(field(&schema, table, name)["default"], default, "{table}.{name}");
        }
        let window = &field(&schema, "Tcp", "window")["x-default"];
        assert_eq!(window, "`64`; `ns2`, `ns2-2003`: `20`; `linux`: `8192`");
        for (name, said) in [
            ("routes_per_pair", "`1`; `ecmp`, `fat-tree`, `leaf-spine`: `16`"),
            ("route_choice", "`\"first\"`; `fat-tree`, `leaf-spine`: `\"ecmp\"`"),
            ("link_delay", "`\"10 ms\"`; `fat-tree`, `leaf-spine`: `\"1 us\"`"),
        ] {
            assert_eq!(field(&schema, "Network", name)["x-default"], said, "{name}");
        }
    }

    #[test]
    fn a_field_says_what_the_resolver_fills_in_for_every_case() {
        let schema = crate::schema_json();
        for (name, written) in cases() {
            let scenario = Scenario::from_json(&written.to_string()).expect("it reads");
            let document = scenario.resolve().expect("it is valid").document();
            // Whatever has no default in the schema must not have been filled in.
            collect(&schema, "", [&document, &written], &mut |at, value| {
                let said = schema.pointer(&at).map(|field| &field["x-default"]);
                assert!(said.is_some_and(Value::is_string), "{name}: {at} = {value}");
            });
        }
    }

    /// A field that is skipped where it has its default has none in the schema, and is not stored.
    #[test]
    fn every_field_that_cannot_be_absent_has_a_default() {
        let schema = crate::schema_json();
        let tables = schema["$defs"].as_object().expect("tables").values().chain([&schema]);
        for table in tables.filter(|table| table["properties"].is_object()) {
            let required = table["required"].as_array().cloned().unwrap_or_default();
            for (name, field) in table["properties"].as_object().into_iter().flatten() {
                let absent = field["type"].as_array().is_some_and(|of| of.contains(&json!("null")))
                    || field["anyOf"].is_array();
                let is_list = field["type"] == "array" || !field["additionalProperties"].is_null();
                let said = !field["default"].is_null() || field["x-default"].is_string();
                let needed = required.contains(&json!(name));
                assert!(absent || is_list || said || needed, "{name}: {field}");
            }
        }
    }
}
