//! A burst that is spared as its fibre goes down, wherever its header is by then, lands when it
//! would if nothing went down.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::runs::columns::{integers, table};
use crate::runs::{ALL, merged, run, summary};

/// Bursts that block no other, and have one hop behind them when the fibre goes down, or two, or
/// are still at their ingress.
fn line(protocol: &str, port: &str) -> Value {
    json!({
        "network": {"topology": "line", "nodes": 4, "wavelengths": 64, "link_delay": "1 ms"},
        "access": {"rate": "100 Mb/s", "delay": "1 ms"},
        "signalling": {"protocol": protocol, "guard": "200 us", "processing": "30 us"},
        "edge": {"assembly": "timer", "timer": "500 us", "port": port},
        "flows": [{"from": "1", "to": "4"}],
        "run": {"duration": "200 ms"},
    })
}

/// A fibre that is down for a microsecond, and spares all that it strikes.
fn spared(line: &Value, from: u32, down_us: u32) -> Value {
    let ends = [from.to_string(), (from + 1).to_string()];
    let (down, up) = (format!("{down_us} us"), format!("{} us", down_us + 1));
    let failures = json!([{"link": ends, "down": down, "up": up}]);
    merged(line.clone(), &json!({"failures": failures, "surgery": [{}]}))
}

/// When each burst sets out and lands.
fn times(scenario: &Value) -> BTreeMap<u64, (u64, u64)> {
    let output = run(scenario, 1, ALL);
    let bursts = table(&output, "bursts");
    let times = integers(bursts, "departed_ps").into_iter().zip(integers(bursts, "arrived_ps"));
    integers(bursts, "burst").into_iter().zip(times).collect()
}

#[test]
fn a_burst_that_is_spared_on_a_fibre_that_goes_down_lands_as_if_it_had_not() {
    let mut struck = 0;
    for (protocol, port) in [("jet", "fifo"), ("jet", "shared"), ("jit", "fifo")] {
        let line = line(protocol, port);
        let (whole, plain) = (times(&line), summary(&line, 1));
        for (from, down) in (1..4).flat_map(|from| (0..40).map(move |n| (from, 60_000 + 97 * n))) {
            let spared = spared(&line, from, down);
            let found = summary(&spared, 1);
            assert_eq!(found.flows, plain.flows, "{protocol} {port} {from} {down}");
            assert_eq!(found.counters.bursts_lost, 0);
            struck += found.surgery[0].bursts;
            if found.surgery[0].bursts > 0 {
                assert_eq!(found.surgery[0].cause.as_deref(), Some("failure"));
                assert_eq!(times(&spared), whole, "{protocol} {port} {from} {down}");
            }
        }
    }
    assert!(struck > 100, "{struck}");
}

#[test]
fn a_reservation_there_and_back_is_spared_too() {
    let line = line("two-way", "fifo");
    for (from, down) in (1..4).flat_map(|from| (0..40).map(move |n| (from, 60_000 + 97 * n))) {
        let found = summary(&spared(&line, from, down), 1);
        assert_eq!(found.counters.bursts_lost, 0, "{from} {down}");
    }
}
