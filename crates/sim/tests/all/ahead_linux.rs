//! Connections of Linux, whose packets carry options: what is done ahead of the clock, or all at
//! once, is what would have been done one by one. A run with a trace of packets
//! does nothing ahead. All must be the
//! same but the number of events.

use burstlab_sim::Trace;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::ahead::any_core;
use crate::runs::detectors::{any_detector, with_detector};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, lost_before_an_earlier_one_comes, numbers, run};

/// Any endpoint of Linux, without what only some networks allow.
fn any_linux() -> impl Strategy<Value = Value> {
    let law = prop_oneof![
        4 => Just("cubic"),
        2 => Just("aimd"),
        1 => Just("bbr"),
        1 => Just("bbr3"),
        1 => Just("vegas"),
        1 => Just("dctcp"),
    ];
    let rarely = || prop::bool::weighted(0.8);
    let options = (rarely(), rarely(), rarely(), rarely(), rarely(), prop::bool::weighted(0.3));
    let window = prop_oneof![3 => 4u32..300, 1 => Just(8192)];
    let delayed = prop::bool::weighted(0.8);
    let rest = (
        prop_oneof![2 => Just("200 ms"), 1 => Just("20 ms")],
        prop_oneof![3 => Just(json!(null)), 1 => Just(json!("60 KB"))],
        prop_oneof![3 => Just("0 s"), 1 => Just("321 us")],
        prop::bool::weighted(0.2),
    );
    (law, options, window, delayed, rest).prop_map(|(law, options, window, delayed, rest)| {
        let (sack, timestamps, rack, probe, f_rto, grouping) = options;
        let (rto_min, buffer, phase, plus) = rest;
        let mut tcp = json!({"profile": "linux", "window_law": law, "window": window,
            "delayed_ack": delayed, "sack": sack, "timestamps": timestamps, "rack": rack && sack,
            "tail_loss_probe": probe && sack, "f_rto": f_rto, "grouping": grouping,
            "rto_min": rto_min, "rto_clock_phase": phase});
        if !buffer.is_null() {
            tcp["send_buffer"] = buffer;
        }
        if plus && !["bbr", "bbr3", "vegas"].contains(&law) {
            tcp["slow_start"] = json!("hystart++");
        }
        tcp
    })
}

fn any_loss() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(json!({"process": "none"})),
        2 => (1u32..60).prop_map(|p| json!({"process": "bernoulli",
            "probability": f64::from(p) * 1e-3})),
        1 => (5u64..90).prop_map(|n| json!({"process": "every", "n": n})),
    ]
}

/// Any path with a few flows.
pub(crate) fn any_path() -> impl Strategy<Value = Value> {
    let edge = prop_oneof![
        4 => (1u64..12).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
        1 => Just(json!({"assembly": "hybrid", "timer": "5 ms", "size": "9 KB"})),
        1 => Just(json!({"assembly": "none"})),
    ];
    let ack = prop_oneof![
        2 => Just(json!({"assembly": "none"})),
        1 => (1u64..9).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
    ];
    let access = (
        prop_oneof![Just("0.1 ms"), Just("0 s"), Just("10 ms"), Just("150 ms")],
        prop_oneof![Just("1 Mb/s"), Just("33 Mb/s"), Just("1 Gb/s")],
        prop_oneof![4 => Just(None), 1 => (4u32..40).prop_map(Some)],
        prop::bool::weighted(0.2),
    );
    let run = (
        any::<bool>(),
        prop_oneof![3 => Just(None), 1 => (1u32..3000).prop_map(Some)],
        (1u32..4, prop_oneof![Just("0 s"), Just("7 us"), Just("12345 us")]),
    );
    (edge, ack, access, any_linux(), (any_loss(), any_loss(), any_core()), run).prop_map(
        |(mut edge, ack, (delay, rate, queue, shared), tcp, chances, (warm, bytes, many))| {
            let (data, acks, (network, core)) = chances;
            edge["ack"] = ack;
            let dctcp = tcp["window_law"] == json!("dctcp");
            let mut scenario = json!({
                "access": {"rate": rate, "delay": delay, "shared": shared}, "edge": edge,
                "network": network, "core": core, "loss": {"data": data, "ack": acks}, "tcp": tcp,
                "run": {"duration": "6 s"},
            });
            if let Some(queue) = queue {
                scenario["access"]["queue"] = json!(queue);
            }
            if dctcp {
                scenario["access"]["receiver"] =
                    json!({"rate": "20 Mb/s", "delay": delay, "marking": {"above": "9 KB"}});
            }
            if warm {
                scenario["run"]["warmup"] = json!("1234567 us");
            }
            scenario["flows"] = json!([{"count": many.0, "stagger": many.1}]);
            if let Some(bytes) = bytes {
                scenario["flows"][0]["bytes"] = json!(format!("{bytes} KB"));
            }
            scenario
        },
    )
}

/// Any mesh whose hosts have links of their own. Bursts are lost, deflected, sent again and marked,
/// so that packets overtake one another.
pub(crate) fn any_mesh() -> impl Strategy<Value = Value> {
    let network = prop_oneof![
        (3u32..6, 1u32..3).prop_map(|(n, w)| json!({"topology": "ring", "nodes": n,
            "link_delay": "1 ms", "wavelengths": w})),
        Just(json!({"topology": "nsfnet", "wavelengths": 1})),
    ];
    let edge = prop_oneof![
        3 => (1u64..8).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
        1 => Just(json!({"assembly": "cwnd-classes", "cwnd_thresholds": [4, 9],
            "class_timers": ["1 ms", "3 ms", "6 ms"]})),
        1 => (5u64..30).prop_map(|size| json!({"assembly": "size",
            "size": format!("{} B", 700 * size)})),
    ];
    let ack = prop_oneof![
        Just(json!({"assembly": "none"})),
        Just(json!({"assembly": "timer", "timer": "2 ms"})),
        Just(json!({"with_data": true})),
    ];
    let access = (
        prop_oneof![Just("0.1 ms"), Just("0 s"), Just("3 ms")],
        prop_oneof![Just("3 ms"), Just("120 ms")],
        1u32..5,
    );
    let contention = prop_oneof![
        2 => Just(json!(["conversion"])),
        1 => Just(json!(["conversion", "segmentation"])),
        2 => Just(json!(["conversion", "deflection", "retransmission"])),
    ];
    let chances =
        (any_loss(), contention, prop_oneof![2 => Just(None), 1 => (1u32..30).prop_map(Some)]);
    (network, (edge, ack), access, any_linux(), chances, any::<bool>()).prop_map(
        |(
            mut network,
            (mut edge, ack),
            (delay, away, rate),
            tcp,
            (loss, contention, injected),
            come,
        )| {
            network["link_rate"] = json!("50 Mb/s");
            edge["ack"] = ack;
            let mut core = json!({"contention": contention});
            if let Some(p) = injected {
                core["injection"] = json!({"data": f64::from(p) * 1e-2});
                edge["port"] = json!("shared");
            } else if tcp["window_law"] == json!("dctcp") {
                edge["port"] = json!("fifo");
                edge["marking"] = json!({"above": "4 KB"});
            }
            let rate = format!("{} Mb/s", 5 * rate);
            let mut tcp = tcp;
            if injected.is_some() && tcp["window_law"] == json!("dctcp") {
                tcp["window_law"] = json!("cubic");
            }
            let demand = json!([{"flows_per_second": 8, "per": "node",
                "size": {"distribution": "exponential", "mean": "30 KB"}}]);
            json!({
                "network": network, "edge": edge,
                "access": {"rate": rate, "delay": delay,
                    "receiver": {"rate": rate, "delay": away}},
                "signalling": {"guard": "300 us"}, "core": core,
                "loss": {"data": loss, "ack": loss}, "tcp": tcp,
                "flows": [{"from": "1", "to": "3", "count": 3},
                    {"from": "3", "to": "1", "count": 2, "start": "3 ms"},
                    {"from": "2", "to": "1", "bytes": "90 KB"}],
                "demand": if come { demand } else { json!([]) },
                "run": {"duration": "1500 ms", "warmup": "200 ms"},
            })
        },
    )
}

fn is_what_it_is_one_by_one(scenario: &Value, seed: u64) -> Result<(), TestCaseError> {
    let ahead = run(scenario, seed, Trace::default());
    let traced = run(scenario, seed, ALL);
    prop_assert_eq!(numbers(ahead.summary), numbers(traced.summary));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn on_a_path(scenario in any_path(), seed in 0u64..1000) {
        is_what_it_is_one_by_one(&scenario, seed)?;
    }

    #[test]
    fn on_a_path_that_tells_of_bursts(
        scenario in any_path(),
        detector in any_detector(),
        some in any::<bool>(),
        seed in 0u64..1000,
    ) {
        is_what_it_is_one_by_one(&with_detector(scenario, detector, some), seed)?;
    }

    #[test]
    fn a_path_that_tells_of_bursts_and_is_stored_goes_on(
        scenario in any_path(),
        detector in any_detector(),
        some in any::<bool>(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on(&with_detector(scenario, detector, some), seed, cut)?;
    }

    #[test]
    fn over_a_mesh(scenario in any_mesh(), seed in 0u64..1000) {
        is_what_it_is_one_by_one(&scenario, seed)?;
    }

    #[test]
    fn a_path_that_is_stored_goes_on(
        scenario in any_path(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on(&scenario, seed, cut)?;
    }

    #[test]
    fn a_mesh_that_is_stored_goes_on(
        scenario in any_mesh(),
        seed in 0u64..1000,
        cut in 1u32..9000,
    ) {
        goes_on(&scenario, seed, cut)?;
    }
}

/// Where nothing is lost hardly a packet is an event.
#[test]
fn on_the_fast_path_a_packet_is_no_event() {
    // Of a hundred packets so many are events at most; pacing lets each segment go by itself.
    for (law, most) in [("cubic", 50), ("aimd", 50), ("bbr", 60), ("bbr3", 70)] {
        let scenario = json!({
            "access": {"rate": "100 Mb/s"}, "edge": {"assembly": "timer", "timer": "1 ms"},
            "tcp": {"profile": "linux", "window_law": law, "window": 200},
            "run": {"duration": "20 s"},
        });
        let counters = run(&scenario, 1, Trace::default()).summary.counters;
        let events = 100 * counters.events;
        assert!(events < most * counters.packets_delivered, "{law}: {counters:?}");
    }
}

/// A pipe that is never empty: packets in flight as measuring begins do not keep later ones from
/// being processed in runs.
#[test]
fn a_saturated_path_is_dealt_with_in_runs_after_its_warm_up() {
    let linux = |law: &str| json!({"profile": "linux", "window_law": law, "window": 2000});
    let both = |tcp: Value| [("100 ms", tcp.clone()), ("9 s", tcp)];
    let marked = json!({"rate": "100 Mb/s", "delay": "10 ms", "marking": {"above": "100 KB"}});
    let senders = [linux("cubic"), linux("aimd"), json!({"variant": "sack", "window": 900})];
    for (warmup, tcp) in senders.into_iter().flat_map(both) {
        let scenario = json!({
            "access": marked, "edge": {"assembly": "timer", "timer": "5 ms"}, "tcp": tcp,
            "loss": {"data": {"process": "every", "n": 700}},
            "run": {"duration": "20 s", "warmup": warmup},
        });
        let counters = run(&scenario, 1, Trace::default()).summary.counters;
        assert!(counters.events < counters.packets_delivered / 3, "{scenario}: {counters:?}");
    }
}

/// Bursts that are late because they are sent again, and lost, before receivers that are far away:
/// what was taken ahead of the clock is sent again and lost before it comes.
#[test]
fn what_is_sent_again_and_lost_before_it_comes_is_missing_until_then() {
    for (law, window, rto_min, timer, away) in
        [("cubic", 17, "30 ms", "10917 us", "90 ms"), ("aimd", 30, "11 ms", "4 ms", "160 ms")]
    {
        let scenario = json!({
            "network": {"topology": "line", "nodes": 3, "link_delay": "1 ms",
                "edges": ["1", "3"]},
            "edge": {"assembly": "timer", "timer": timer, "port": "shared"},
            "access": {"rate": "3 Mb/s", "delay": "2 ms",
                "receiver": {"rate": "2 Mb/s", "delay": away}},
            "loss": {"data": {"process": "bernoulli", "probability": 0.18},
                "ack": {"process": "bernoulli", "probability": 0.1}},
            "tcp": {"profile": "linux", "window_law": law, "window": window,
                "delayed_ack": false, "rto_min": rto_min},
            "signalling": {"guard": "50 us"},
            "core": {"injection": {"data": 0.25}, "contention": ["retransmission"],
                "retransmission": {"wait": "300 ms", "attempts": 3}},
            "run": {"duration": "40 s"},
        });
        let mut met = 0;
        for seed in 0..12 {
            let ahead = run(&scenario, seed, Trace::default()).summary;
            let traced = run(&scenario, seed, ALL);
            met += lost_before_an_earlier_one_comes(&traced);
            assert_eq!(numbers(ahead), numbers(traced.summary), "{law}, seed {seed}");
        }
        assert!(met > 3, "{law}: {met}");
    }
}
