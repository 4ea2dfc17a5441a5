//! Wireless cells between hosts and their access links.

use burstlab_sim::scenario::Scenario;
use burstlab_sim::{Monitor, Output, Simulation, Trace};
use serde_json::{Value, json};

fn run(scenario: &Value, seed: u64) -> Output {
    let resolved = Scenario::from_json(&scenario.to_string())
        .and_then(|scenario| scenario.resolve())
        .unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(&resolved, seed, 0, Trace::default()).run(&Monitor::default())
}

/// One New-Reno flow over a wide path, its receiver or its sender on the air.
fn one_flow(wlan: &Value) -> Value {
    json!({
        "network": {"link_rate": "1 Gb/s", "link_delay": "1 ms"},
        "access": {"rate": "100 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "none"},
        "tcp": {"variant": "new-reno", "window": 128, "segment_size": "1500 B"},
        "wlan": [wlan],
        "run": {"duration": "60 s", "warmup": "5 s"},
    })
}

#[test]
fn show() {
    for wlan in [
        json!({}),
        json!({"side": "sender"}),
        json!({"basic_rate": "2 Mb/s"}),
        json!({"rts_threshold": "0 B"}),
        json!({"loss": "frame-error", "probability": 0.518}),
        json!({"loss": "residual", "probability": 0.01}),
    ] {
        let output = run(&one_flow(&wlan), 1);
        let s = &output.summary;
        println!("{wlan} {:.3} Mb/s {:?} {:?} {:?}", s.flows[0].goodput_bps / 1e6, s.wlan[0].down, s.wlan[0].up, s.counters);
    }
}
