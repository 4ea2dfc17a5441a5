//! The sample schema holds every form that schemars gives to a type of serde.

use serde_json::json;

use super::*;

fn sample() -> Model {
    let schema = include_str!("../sample.schema.json").parse().expect("a schema");
    read(&schema, "Scenario").expect("understood")
}

fn section<'a>(model: &'a Model, name: &str) -> &'a Section {
    model.sections.iter().find(|section| section.name == name).expect(name)
}

fn field<'a>(section: &'a Section, name: &str) -> &'a Field {
    section.fields.iter().find(|field| field.name == name).expect(name)
}

#[test]
fn every_kind_of_a_field_is_told_apart() {
    let model = sample();
    let root = section(&model, "Scenario");
    let named = |name: &str| name.to_owned();
    for (name, kind) in [
        ("edge", Kind::Section(named("Edge"))),
        ("flows", Kind::List(Box::new(Kind::Section(named("Flow"))))),
        ("loss", Kind::Union(named("Loss"))),
        ("back", Kind::Section(named("Edge"))),
        ("switching", Kind::Union(named("Switching"))),
        ("seed", Kind::Union(named("Seed"))),
        ("weights", Kind::Map(Box::new(Kind::Number(None)))),
        ("extra", Kind::Any),
        ("pairs", Kind::List(Box::new(Kind::Tuple(vec![Kind::Integer, Kind::Integer])))),
        ("from", Kind::Text(None)),
    ] {
        assert_eq!(field(root, name).kind, kind, "{name}");
    }
    let edge = section(&model, "Edge");
    assert_eq!(field(edge, "timer").kind, Kind::Text(Some(named("time"))));
    assert_eq!(field(edge, "assembly").kind, Kind::Choice(named("Assembly")));
    assert_eq!(field(edge, "quiet").kind, Kind::Boolean);
}

#[test]
fn needs_defaults_and_bounds_are_kept() {
    let model = sample();
    let edge = section(&model, "Edge");
    assert_eq!(field(edge, "offset").default, Some(Value::from("5 ms")));
    assert_eq!(field(edge, "timer").default, None);
    assert_eq!(field(edge, "share").doc, "Share. From 0 to 1.");
    assert_eq!(field(edge, "bursts").doc, "Bursts. From 1 to 1000.");
    let flow = section(&model, "Flow");
    assert!(field(flow, "bytes").required && !field(flow, "recovery").required);
    assert_eq!(field(flow, "bytes").doc, "Bytes to send.");
}

#[test]
fn choices_keep_their_values_with_what_they_mean() {
    let model = sample();
    let assembly = model.choices.iter().find(|choice| choice.name == "Assembly").expect("there");
    let expected =
        [("never", ""), ("timer", "After a time."), ("timer-or-size", "Whichever comes first.")];
    assert_eq!(assembly.values, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
}

#[test]
fn kinds_of_a_union_are_sections_with_a_tag_or_a_single_field() {
    let model = sample();
    let union = |name: &str| &model.unions.iter().find(|u| u.name == name).expect(name).members;
    let of = |name: &str| Kind::Section(name.to_owned());
    assert_eq!(union("Loss")[..], ["LossNone", "LossRandom", "LossGilbertElliott"].map(of));
    let elliott = section(&model, "LossGilbertElliott");
    let names: Vec<&str> = elliott.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["kind", "good", "bad"]);
    assert_eq!(elliott.fields[0].kind, Kind::Tag("gilbert-elliott".to_owned()));
    let cut = Kind::OneOf(vec![Kind::Tag("cut".to_owned())]);
    assert_eq!(union("Switching")[..], [cut, of("SwitchingDelayed")]);
    assert_eq!(union("Seed")[..], [Kind::Integer, Kind::Text(None)]);
}

#[test]
fn places_are_those_of_a_file() {
    let model = sample();
    assert_eq!(section(&model, "Edge").places, ["edge", "flows.edge", "back"]);
    assert_eq!(section(&model, "Flow").places, ["[flows]"]);
}

#[test]
fn what_is_not_understood_is_an_error_with_its_place() {
    for (schema, says) in [
        (r##"{"properties": {"a": {"$ref": "#/$defs/Gone"}}}"##, "#/$defs/Gone"),
        (r#"{"properties": {"a": {"const": 3}}}"#, "Scenario.a"),
        (r#"{"properties": {"a": {"type": ["string", "array"]}}}"#, "Scenario.a"),
        (r#"{"properties": {}, "oneOf": [{"type": "string"}]}"#, "flattened"),
        ("3", "not an object"),
    ] {
        let schema = schema.parse().expect("JSON");
        let error = read(&schema, "Scenario").expect_err(says);
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn bounds_are_said_in_words() {
    let said = |schema: Value| with_bounds(schema.as_object().expect("an object"));
    for (schema, words) in [
        (json!({"format": "uint32", "minimum": 0, "maximum": 255}), "At most 255."),
        (json!({"format": "uint8", "minimum": 1, "maximum": 255}), "At least 1."),
        (json!({"format": "uint64", "minimum": 0}), ""),
        (json!({"description": "A.", "minimum": 1e-9, "maximum": 1e9}), "A. From 1e-9 to 1e9."),
        (json!({"exclusiveMinimum": 0, "maximum": 1.5}), "Above 0, at most 1.5."),
        (json!({"minimum": 0.0, "exclusiveMaximum": 1}), "At least 0, below 1."),
        (json!({"x-exclusiveMinimum": "0 s", "x-maximum": "1 s"}), "Above 0 s, at most 1 s."),
        (json!({"type": "array", "x-minimum": "1 B"}), "Each at least 1 B."),
        (json!({"type": "array", "items": {"minimum": 2}}), "Each at least 2."),
        (json!({"x-enum": ["1 Mb/s", "2 Mb/s"]}), "One of 1 Mb/s, 2 Mb/s."),
    ] {
        assert_eq!(said(schema.clone()), words, "{schema}");
    }
}
