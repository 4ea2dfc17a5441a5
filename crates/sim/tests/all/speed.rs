//! A run says how many packets its hosts took one by one, and because of which fields.

use burstlab_sim::Trace;
use serde_json::{Value, json};

use crate::runs::{EARLY, run};

/// Two flows over a path.
fn path() -> Value {
    json!({
        "access": {"rate": "10 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "tcp": {"variant": "sack", "window": 20},
        "flows": [{}, {}],
        "run": {"duration": "2 s"},
    })
}

/// The reasons of a run, and the share of packets that it took one by one.
fn speed(scenario: &Value, trace: Trace) -> (Vec<String>, f64) {
    let speed = run(scenario, 1, trace).summary.speed;
    (speed.because, speed.one_by_one)
}

#[test]
fn a_run_without_such_a_field_takes_packets_together() {
    for trace in [Trace::default(), EARLY] {
        let (because, share) = speed(&path(), trace);
        assert!(because.is_empty() && share < 0.05, "{because:?} {share}");
    }
}

#[test]
fn each_reason_is_named_by_its_field() {
    let departures = json!({"process": "script", "flow": 1, "departures": [9]});
    let outages = json!({"process": "outages", "mean_up": "90 ms", "mean_down": "10 ms"});
    // The packet that the script drops slows its flow: its share is less than half.
    let cases = [
        ("/run/tie_break", json!("random"), "run.tie_break", 1.0),
        ("/access/loss", outages, "access.loss", 1.0),
        ("/tcp/send_jitter", json!("10 us"), "tcp.send_jitter of 2 flows", 1.0),
        ("/flows/1/tcp", json!({"send_jitter": "10 us"}), "tcp.send_jitter of flow 1", 0.5),
        ("/flows/1/reverse", json!({}), "reverse of 2 flows", 0.5),
        ("/loss/data", departures.clone(), "loss.data.departures of flow 1", 0.25),
        ("/loss/ack", departures, "loss.ack.departures of flow 1", 0.5),
    ];
    for (place, value, expected, least) in cases {
        let mut scenario = path();
        let (table, field) = place.rsplit_once('/').expect("a field is in a table");
        if scenario.pointer(table).is_none() {
            scenario[&table[1..]] = json!({});
        }
        scenario.pointer_mut(table).expect("it is there")[field] = value;
        let (because, share) = speed(&scenario, Trace::default());
        assert_eq!(because, [expected], "{place}");
        assert!(share > 0.8 * least, "{place}: {share}");
    }
}

#[test]
fn a_shared_link_is_a_reason_only_beside_another_one() {
    let mut scenario = path();
    scenario["access"]["shared"] = json!(true);
    assert_eq!(speed(&scenario, Trace::default()).0, [""; 0]);
    let (because, share) = speed(&scenario, EARLY);
    assert_eq!((because, share), (vec!["the recorded tables".into()], 1.0));
    scenario["tcp"]["send_jitter"] = json!("10 us");
    let (because, share) = speed(&scenario, Trace::default());
    assert_eq!(because, ["access.shared", "tcp.send_jitter of 2 flows"]);
    assert!((share - 1.0).abs() < 1e-9, "{share}");
}

#[test]
fn a_demand_is_named_by_its_number() {
    let scenario = json!({
        "network": {"topology": "nsfnet"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "tcp": {"send_jitter": "10 us"},
        "demand": [{"flows_per_second": 20.0, "size": {"mean": "50 KB"}}],
        "run": {"duration": "1 s"},
    });
    let (because, share) = speed(&scenario, Trace::default());
    assert_eq!(because, ["tcp.send_jitter of demand 0"]);
    assert!(share > 0.8, "{share}");
}
