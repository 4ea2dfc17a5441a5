//! What the engine needs of the schema of a scenario: the ranges of fields, and the path to them.
//!
//! The engine reads this file in place of the schema that its types make. The code that makes a
//! schema was a tenth of the extension module.

use serde_json::{Map, Value};

/// Words of a schema that bound a value.
const BOUNDS: [&str; 11] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "maxItems",
    "x-minimum",
    "x-maximum",
    "x-exclusiveMinimum",
    "x-exclusiveMaximum",
    "x-enum",
    "x-or",
];

/// The file, with a line for each type.
pub(crate) fn file(schema: &Value) -> String {
    let fields = fields_of(&schema["properties"]);
    let types = schema["$defs"].as_object().into_iter().flatten();
    let line = |(name, one): (&String, &Value)| {
        let one = pruned(one);
        (!one.is_null()).then(|| format!("{}: {one}", Value::from(name.as_str())))
    };
    let types: Vec<String> = types.filter_map(line).collect();
    format!("{{\"properties\": {fields},\n\"$defs\": {{\n{}\n}}}}\n", types.join(",\n"))
}

/// A part of the schema with bounds and the ways to them alone; null where there are none.
fn pruned(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return Value::Null };
    let keep = |(name, value): (&String, &Value)| {
        let kept = match name.as_str() {
            "$ref" => value.clone(),
            // The other alternative is the null of an option.
            "anyOf" => list(value.as_array().map_or(&[][..], |all| &all[..1])),
            "prefixItems" => list(value.as_array().map_or(&[][..], Vec::as_slice)),
            "properties" => fields_of(value),
            "items" => pruned(value),
            bound if BOUNDS.contains(&bound) => value.clone(),
            _ => Value::Null,
        };
        (!kept.is_null()).then(|| (name.clone(), kept))
    };
    some(fields.iter().filter_map(keep).collect())
}

fn fields_of(properties: &Value) -> Value {
    let fields = properties.as_object().into_iter().flatten();
    let kept = fields.map(|(name, one)| (name.clone(), pruned(one)));
    some(kept.filter(|(_, one)| !one.is_null()).collect())
}

/// Entries keep their places.
fn list(entries: &[Value]) -> Value {
    let kept: Vec<Value> = entries.iter().map(pruned).collect();
    if kept.iter().all(Value::is_null) { Value::Null } else { Value::Array(kept) }
}

fn some(kept: Map<String, Value>) -> Value {
    if kept.is_empty() { Value::Null } else { Value::Object(kept) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds_and_the_ways_to_them_stay() {
        let schema = json!({
            "title": "Sample",
            "properties": {
                "count": {"type": "integer", "minimum": 1, "description": "how many"},
                "name": {"type": "string"},
                "inner": {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]},
            },
            "$defs": {
                "Inner": {"properties": {"pair": {"prefixItems": [{}, {"x-maximum": "1 s"}]}}},
                "Word": {"enum": ["a", "b"]},
            },
        });
        let kept: Value = file(&schema).parse().expect("it is JSON");
        let expected = json!({
            "properties": {
                "count": {"minimum": 1},
                "inner": {"anyOf": [{"$ref": "#/$defs/Inner"}]},
            },
            "$defs": {
                "Inner": {"properties": {"pair": {"prefixItems": [null, {"x-maximum": "1 s"}]}}},
            },
        });
        assert_eq!(kept, expected);
    }
}
