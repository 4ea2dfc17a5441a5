//! What is done ahead of the clock, or all at once, is what would have been done one by one. A
//! traced run does nothing ahead; a queue whose packets a script may name takes them one by one.

use burstlab_sim::scenario::Scenario;
use burstlab_sim::{Monitor, Output, Simulation, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

const ALL: Trace = Trace { packets: true, bursts: true, cwnd: true, ledger: true };

fn run(scenario: &Value, seed: u64, trace: Trace) -> Output {
    let resolved = Scenario::from_json(&scenario.to_string())
        .and_then(|scenario| scenario.resolve())
        .unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(&resolved, seed, 0, trace).run(&Monitor::default())
}

/// Any mesh whose hosts have links of their own and whose queues a timer closes. Flows start at the
/// same instant between the same nodes, so that packets tie.
fn any_mesh() -> impl Strategy<Value = Value> {
    let network = prop_oneof![
        (3u32..6, 1u32..3).prop_map(|(n, w)| json!({"topology": "ring", "nodes": n,
            "link_delay": "1 ms", "wavelengths": w})),
        Just(json!({"topology": "nsfnet", "wavelengths": 1})),
    ];
    let edge = (
        prop_oneof![
            (1u64..8).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
            Just(json!({"assembly": "cwnd-classes", "cwnd_thresholds": [4, 9],
                "class_timers": ["1 ms", "3 ms", "6 ms"]})),
        ],
        prop_oneof![
            Just(json!({"assembly": "none"})),
            Just(json!({"assembly": "timer", "timer": "2 ms"})),
            Just(json!({"with_data": true})),
        ],
        prop_oneof![Just("destination"), Just("flow")],
    );
    let access = (prop_oneof![Just("0.1 ms"), Just("0 s"), Just("3 ms")], 1u32..5, any::<bool>());
    let tcp = (
        prop_oneof![
            4 => prop_oneof![Just("tahoe"), Just("reno"), Just("new-reno"), Just("sack")],
            2 => prop_oneof![Just("vegas"), Just("fast")],
        ],
        prop_oneof![Just("rfc"), Just("ns2")],
        2u32..60,
        any::<bool>(),
        prop_oneof![Just("200 ms"), Just("20 ms")],
    );
    let loss = prop_oneof![
        2 => Just(json!({"process": "none"})),
        1 => Just(json!({"process": "bernoulli", "probability": 0.05})),
    ];
    (network, edge, access, tcp, loss, any::<bool>()).prop_map(
        |(mut network, (mut edge, ack, queues), (delay, rate, bounded), tcp, loss, come)| {
            let (variant, profile, window, delayed, rto) = tcp;
            let (variant, law) = match variant {
                "vegas" => (variant, "vegas"),
                "fast" => ("sack", "fast"),
                _ => (variant, "aimd"),
            };
            network["link_rate"] = json!("50 Mb/s");
            edge["ack"] = ack;
            edge["queues"] = json!(queues);
            let mut access = json!({"rate": format!("{} Mb/s", 5 * rate), "delay": delay});
            if bounded {
                access["queue"] = json!(20);
            }
            let demand = json!([{"flows_per_second": 8, "per": "node",
                "size": {"distribution": "exponential", "mean": "30 KB"}}]);
            json!({
                "network": network, "edge": edge, "access": access,
                "signalling": {"guard": "300 us"},
                "loss": {"data": loss, "ack": loss},
                "tcp": {"variant": variant, "window_law": law, "profile": profile, "window": window,
                    "delayed_ack": delayed, "rto_min": rto},
                "flows": [{"from": "1", "to": "3", "count": 3},
                    {"from": "3", "to": "1", "count": 2, "start": "3 ms"},
                    {"from": "2", "to": "1", "bytes": "90 KB"}],
                "demand": if come { demand } else { json!([]) },
                "run": {"duration": "1500 ms", "warmup": "200 ms"},
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn hosts_that_are_ahead_of_the_clock_do_what_the_others_do(
        scenario in any_mesh(),
        seed in 0u64..1000,
    ) {
        let ahead = run(&scenario, seed, Trace::default());
        let traced = run(&scenario, seed, ALL);
        prop_assert!(ahead.summary.counters.packets_delivered > 0);
        prop_assert_eq!(ahead.summary, traced.summary);
    }

    #[test]
    fn packets_that_are_announced_make_the_bursts_of_those_that_come(
        scenario in any_mesh(),
        seed in 0u64..1000,
    ) {
        let mut scenario = scenario;
        let none = json!({"process": "none"});
        scenario["loss"] = json!({"data": none, "ack": none});
        let mut announced = run(&scenario, seed, Trace::default()).summary;
        // A packet that is never sent, for which the ingress looks at each one that comes.
        scenario["loss"]["data"] = json!({"process": "script", "packets": [[1_000_000, 9]]});
        let mut one_by_one = run(&scenario, seed, Trace::default()).summary;
        prop_assert!(announced.counters.events < one_by_one.counters.events);
        for summary in [&mut announced, &mut one_by_one] {
            // Bursts are numbered as they are closed, or as they are opened.
            summary.fingerprint.clear();
            summary.warnings.clear();
            summary.counters.events = 0;
            summary.events_per_packet = 0.0;
        }
        prop_assert_eq!(announced, one_by_one);
    }
}
