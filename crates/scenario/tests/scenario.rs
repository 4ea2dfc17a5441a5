//! Mistakes in a scenario are named with field, value and fix; a resolved scenario reads as
//! itself.

use burstlab_scenario::{Scenario, ScenarioError, schema_json};

fn mistake(json: &str) -> ScenarioError {
    Scenario::from_json(json).and_then(|scenario| scenario.resolve()).err().unwrap_or_else(|| {
        panic!("accepted: {json}");
    })
}

#[test]
fn every_mistake_names_field_value_and_mend() {
    // scenario, path, value, what the message says
    let cases = [
        (r#"{"acess": {}}"#, "acess", "{}", "did you mean \"access\"?"),
        (r#"{"edge": {"timr": "5 ms"}}"#, "edge.timr", "\"5 ms\"", "did you mean \"timer\"?"),
        (r#"{"edge": {"xyzzy": 1}}"#, "edge.xyzzy", "1", "use one of assembly, timer"),
        (r#"{"access": {"rate": "5 ms"}}"#, "access.rate", "\"5 ms\"", "not a unit of rate"),
        (r#"{"access": {"rate": 1000000}}"#, "access.rate", "1000000", "has no unit"),
        (r#"{"access": {"rate": "-1 Mb/s"}}"#, "access.rate", "\"-1 Mb/s\"", "negative"),
        (r#"{"access": {"rate": "0 Mb/s"}}"#, "access.rate", "\"0 Mb/s\"", "positive"),
        (r#"{"access": {"rate": "1 b/s"}}"#, "access.rate", "1 b/s", "too slow"),
        (
            r#"{"edge": {"assembly": "timer", "timer": "0 s"}}"#,
            "edge.timer",
            "0 s",
            "a positive time, or assembly = \"none\" in its place for a burst a packet",
        ),
        (r#"{"edge": {"assembly": "timer"}}"#, "edge.timer", "", "needs it"),
        (r#"{"edge": {"timer": "5 ms"}}"#, "edge.timer", "5 ms", "does not use it"),
        (r#"{"edge": {"assembly": "tmer"}}"#, "edge.assembly", "\"tmer\"", "did you mean"),
        (r#"{"tcp": {"window": 0}}"#, "tcp.window", "0", "from 1 to"),
        (r#"{"flows": [{"tcp": {"window": 0}}]}"#, "flows[0].tcp.window", "0", "from 1 to"),
        (
            r#"{"loss": {"data": {"process": "bernoulli", "probability": 1.5}}}"#,
            "loss.data.probability",
            "1.5",
            "from 0 to 1",
        ),
        (
            r#"{"loss": {"data": {"process": "bernoulli"}}}"#,
            "loss.data.probability",
            "",
            "needs it",
        ),
        (r#"{"loss": {"data": {"n": 3}}}"#, "loss.data.n", "3", "does not use it"),
        (
            r#"{"loss": {"ack": {"process": "every", "n": 3, "node": 3}}}"#,
            "loss.ack.node",
            "3",
            "2 core nodes",
        ),
        (
            r#"{"loss": {"data": {"process": "script", "bursts": [0]}}}"#,
            "loss.data.bursts[0]",
            "0",
            "at least 1",
        ),
        (r#"{"run": {"seed": -1}}"#, "run.seed", "-1", "a whole number of at least 0"),
        (r#"{"run": {"duration": "0 s"}}"#, "run.duration", "0 s", "positive"),
        (r#"{"run": {"duration": "9e9 s"}}"#, "run.duration", "\"9e9 s\"", "too large"),
        (r#"{"run": {"warmup": "10 s"}}"#, "run.warmup", "10 s", "shorter"),
        (r#"{"network": {"core_nodes": 0}}"#, "network.core_nodes", "0", "1 to 1000"),
        (r#"{"network": {"link_delays": ["1 ms"]}}"#, "network.link_delays", "1 delays", "3"),
        (r#"{"flows": []}"#, "flows", "0 entries, 0 flows", "1 to"),
        (r#"{"flows": [{"count": 0}]}"#, "flows[0].count", "0", "at least 1"),
        (r#"{"flows": [{"script": [{"at": "1 s"}]}]}"#, "flows[0].script[0].bytes", "", "missing"),
        (r#"{"flows": 3}"#, "flows", "3", "it is integer 3; write a list"),
        (r#"{"edge": 3}"#, "edge", "3", "write a table"),
        (r#"{"access": {"shared": "yes"}}"#, "access.shared", "\"yes\"", "true or false"),
        (r#"{"flows": [{"label": 3}]}"#, "flows[0].label", "3", "a text in quotes"),
        ("[]", "", "[]", "table"),
        ("{", "", "", "not valid JSON"),
    ];
    for (json, path, value, says) in cases {
        let error = mistake(json);
        let text = error.to_string();
        assert_eq!(error.path(), path, "{json}: {text}");
        assert_eq!(error.value(), value, "{json}: {text}");
        assert!(text.contains(says), "{json}: {text}");
        assert!(!error.fix().is_empty(), "{json}: {text}");
    }
}

#[test]
fn a_resolved_scenario_resolves_to_itself() {
    let json = r#"{"tcp": {"profile": "ns2", "window": 40},
        "flows": [{"tcp": {"variant": "reno"}}, {"tcp": {"profile": "rfc"}}]}"#;
    let once = Scenario::from_json(json).and_then(|s| s.resolve()).expect("valid");
    let text = serde_json::to_string(&once.scenario).expect("serialises");
    let twice = Scenario::from_json(&text).and_then(|s| s.resolve()).expect("still valid");
    assert_eq!(once.scenario, twice.scenario);
    assert_eq!(once.tcp, twice.tcp);
    assert_eq!((once.tcp[0].window, once.tcp[1].window), (40, 40));
    assert_ne!(once.tcp[0].rto_tick, once.tcp[1].rto_tick, "each flow follows its own profile");
}

#[test]
fn the_schema_describes_every_field() {
    let schema = schema_json();
    let tables = schema["$defs"].as_object().expect("definitions");
    let described = |value: &serde_json::Value| {
        value.get("description").is_some() || value.get("$ref").is_some()
    };
    for (name, table) in tables {
        for (field, value) in table["properties"].as_object().into_iter().flatten() {
            assert!(described(value), "{name}.{field} says nothing");
        }
    }
    assert!(tables.contains_key("LossRule") && tables.contains_key("Tcp"));
}
