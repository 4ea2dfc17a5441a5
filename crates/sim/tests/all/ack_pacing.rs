//! Edge nodes that space the ACKs to senders: conservation, twins, and the spacing itself.

use burstlab_sim::{Summary, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::one_by_the_clock::any_scenario;
use crate::runs::columns::{integers, labels, table};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, merge, numbers, refused, run, summary};

/// Any rule; in a slotted network perhaps above some load only.
fn any_pacing() -> impl Strategy<Value = Value> {
    let fixed =
        (1u64..3000).prop_map(|us| json!({"rule": "fixed", "interval": format!("{us} us")}));
    let measured = (5u64..500, 0.3..4.0f64)
        .prop_map(|(ms, gain)| json!({"window": format!("{ms} ms"), "gain": gain}));
    (prop_oneof![fixed, measured], 1u64..200, prop::option::of(0.0..1.0f64)).prop_map(
        |(mut pacing, ms, load)| {
            pacing["delay_max"] = json!(format!("{ms} ms"));
            if let Some(load) = load {
                pacing["utilization"] = json!(load);
            }
            pacing
        },
    )
}

fn paced(mut scenario: Value, mut pacing: Value) -> Value {
    if scenario["ops"].is_null() {
        pacing.as_object_mut().expect("a table").remove("utilization");
    }
    merge(&mut scenario, &json!({"access": {"ack_pacing": pacing}}));
    scenario
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn acks_that_are_held_back_are_not_lost_and_a_trace_changes_nothing(
        scenario in any_scenario(),
        pacing in any_pacing(),
        seed in 0u64..1000,
    ) {
        let scenario = paced(scenario, pacing);
        let plain = run(&scenario, seed, Trace::default()).summary;
        let c = &plain.counters;
        prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
        prop_assert_eq!(c.acks_sent, c.acks_delivered + c.acks_lost + c.acks_in_flight);
        prop_assert_eq!(numbers(plain), numbers(run(&scenario, seed, ALL).summary));
    }

    #[test]
    fn a_run_that_holds_acks_back_can_be_stored(
        scenario in any_scenario(),
        pacing in any_pacing(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on(&paced(scenario, pacing), seed, cut)?;
    }

    /// Edge nodes that never hold an ACK back are as none that space them, though their flows are
    /// not ahead of the clock.
    #[test]
    fn a_spacing_of_no_length_changes_nothing(scenario in any_scenario(), seed in 0u64..1000) {
        let pacing = json!({"rule": "fixed", "interval": "1 ps", "delay_max": "1 ps"});
        let with = summary(&paced(scenario.clone(), pacing), seed);
        let longest = with.ack_pacing.as_ref().expect("ACKs are spaced").delay_max_s;
        prop_assume!(longest == 0.0);
        let mut with = numbers(with);
        with.ack_pacing = None;
        prop_assert_eq!(with, numbers(summary(&scenario, seed)));
    }
}

/// A path whose ACKs come in bursts, each of many.
fn in_bursts(pacing: &Value) -> Value {
    json!({
        "access": {"rate": "10 Mb/s", "delay": "1 ms", "ack_pacing": pacing},
        "edge": {"assembly": "timer", "timer": "5 ms",
            "ack": {"assembly": "timer", "timer": "20 ms"}},
        "tcp": {"window": 60},
        "run": {"duration": "4 s"},
    })
}

/// The least time between two ACKs of the flow at its sender, once the flow has begun.
fn least_gap(scenario: &Value) -> u64 {
    let output = run(scenario, 1, ALL);
    let packets = table(&output, "packets");
    let (kinds, came) = (labels(packets, "kind"), integers(packets, "delivered_ps"));
    let acks = kinds.iter().zip(came).filter(|&(&kind, at)| kind == "ack" && at <= 4e12 as u64);
    let mut times: Vec<u64> = acks.map(|(_, at)| at).filter(|&at| at > 1e12 as u64).collect();
    times.sort_unstable();
    assert!(times.len() > 500, "{} ACKs", times.len());
    times.windows(2).map(|pair| pair[1] - pair[0]).min().expect("there are some")
}

#[test]
fn acks_come_apart() {
    let fixed = |us: u64| {
        json!({"rule": "fixed", "interval": format!("{us} us"),
        "delay_max": "10 s"})
    };
    // A link of 10 Mb/s sends an ACK of 40 B in 32 us.
    assert_eq!(least_gap(&in_bursts(&fixed(1))), 32_000_000);
    assert_eq!(least_gap(&in_bursts(&fixed(700))), 700_000_000);
}

#[test]
fn acks_come_in_time() {
    let of = |bound: &str| {
        let pacing = json!({"rule": "fixed", "interval": "2 ms", "delay_max": bound});
        summary(&in_bursts(&pacing), 1)
    };
    let pacing = |summary: &Summary| summary.ack_pacing.clone().expect("ACKs are spaced");
    let (short, long) = (of("3 ms"), of("10 s"));
    assert_eq!(pacing(&short).delay_max_s, 0.003);
    assert!(pacing(&long).delay_max_s > 0.025, "{:?}", pacing(&long));
    for found in [&short, &long] {
        let found = pacing(found);
        assert!(found.acks_delayed > 100);
        assert!(0.0 < found.delay_mean_s && found.delay_mean_s < found.delay_max_s);
    }
    assert_eq!(summary(&json!({}), 1).ack_pacing, None);
}

/// The rate is measured, and only the burst is taken off: at the gain of 1.25 the flow carries as
/// much.
#[test]
fn a_measured_rate_costs_no_goodput_in_a_steady_flow() {
    let goodput = |pacing: Value| {
        let mut scenario = in_bursts(&pacing);
        scenario["run"] = json!({"duration": "30 s", "warmup": "10 s"});
        scenario["tcp"] = json!({"window": 20});
        summary(&scenario, 1).flows[0].goodput_bps
    };
    let none = goodput(json!({"rule": "fixed", "interval": "1 ps"}));
    let measured = goodput(json!({}));
    assert!(measured > 0.95 * none && measured < 1.05 * none, "{measured} of {none}");
}

/// A source of UDP that fills a link, and a flow over another link.
#[test]
fn only_the_load_of_its_route_holds_the_acks_of_a_flow_back() {
    let of = |to: &str, share: f64| {
        summary(
            &json!({
                "network": {"topology": "custom", "link_rate": "10 Mb/s",
                    "node": [{"name": "in"}, {"name": "udp"}, {"name": "core", "role": "core"},
                        {"name": "busy"}, {"name": "idle"}],
                    "link": [{"from": "in", "to": "core", "delay": "1 ms"},
                        {"from": "udp", "to": "core", "delay": "1 ms"},
                        {"from": "core", "to": "busy", "delay": "1 ms"},
                        {"from": "core", "to": "idle", "delay": "1 ms"}]},
                "access": {"rate": "100 Mb/s", "delay": "5 ms", "ack_pacing":
                    {"rule": "fixed", "interval": "5 ms", "utilization": share}},
                "ops": {"smoothing": {"enabled": false}, "congestion": {"rtt_max": "50 ms"}},
                "tcp": {"window": 10, "segment_size": "576 B"},
                "flows": [{"from": "in", "to": to, "start": "500 ms"}],
                "traffic": [{"pattern": "cbr", "rate": "8 Mb/s", "packet_size": "576 B",
                    "from": "udp", "to": "busy"}],
                "run": {"duration": "2 s"},
            }),
            1,
        )
    };
    let delayed = |to, share| of(to, share).ack_pacing.expect("ACKs are spaced").acks_delayed;
    assert!(delayed("busy", 0.7) > 50);
    assert_eq!(delayed("idle", 0.7), 0);
    assert_eq!(delayed("busy", 1.0), 0);
    // Once the ACKs are apart the window keeps them so.
    assert!(delayed("idle", 0.0) > 5);
}

#[test]
fn a_spacing_that_is_none_is_refused() {
    let error = refused(&in_bursts(&json!({"rule": "fixed", "interval": "0 s"})));
    assert!(error.to_string().contains("access.ack_pacing.interval"), "{error}");
}
