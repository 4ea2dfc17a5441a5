//! Work ahead of the clock, or all at once, gives the results of work one by one. A run with a
//! trace of packets does nothing ahead; a queue whose packets a script may name takes them one by
//! one. All results must be the same except the number of events.

use burstlab_sim::{Monitor, Output, Simulation, Table, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::foreign;
use crate::runs::columns::differing;
use crate::runs::detectors::{any_detector, with_detector};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, BURSTS, lost_before_an_earlier_one_comes, numbers, run};

/// The tables of a run, without the columns that are `left_out`.
fn tables(output: Output, left_out: &[&str]) -> Vec<Table> {
    let mut tables = output.tables;
    for table in &mut tables {
        table.columns.retain(|(name, _)| !left_out.contains(name));
    }
    tables
}

/// Any variant, and the law of its window.
fn any_tcp() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop_oneof![
        4 => prop_oneof![Just("tahoe"), Just("reno"), Just("new-reno"), Just("sack")]
            .prop_map(|variant| (variant, "aimd")),
        1 => Just(("vegas", "vegas")),
        1 => Just(("sack", "fast")),
        1 => Just(("new-reno", "saimd")),
    ]
}

/// Losses in spells on a clock.
pub(crate) fn any_spells() -> impl Strategy<Value = Value> {
    let ms = |n: u64| format!("{n} ms");
    prop_oneof![
        (1u64..900, 1u64..90, prop_oneof![Just("exponential"), Just("periodic")])
            .prop_map(move |(up, down, spells)| json!({"process": "outages", "mean_up": ms(up),
                "mean_down": ms(down), "spells": spells})),
        (1u64..900, 1u64..90).prop_map(move |(good, bad)| json!({"process": "gilbert-elliott",
            "mean_good": ms(good), "mean_bad": ms(bad), "loss_bad": 0.7})),
    ]
}

/// The fibres of a path, and what its core nodes do: bursts pass whole, or packets are stored, at
/// a rate at which packets wait for one another or take no whole number of picoseconds.
pub(crate) fn any_core() -> impl Strategy<Value = (Value, Value)> {
    let network = |link_rate: &str, nodes: u32| {
        let delay = "3 ms";
        json!({"link_delay": delay, "link_rate": link_rate, "core_nodes": nodes})
    };
    prop_oneof![
        2 => Just((json!({"link_delay": "3 ms"}), json!({}))),
        1 => (prop_oneof![Just("10 Gb/s"), Just("20 Mb/s"), Just("622.08 Mb/s")], 1u32..4).prop_map(
            move |(rate, nodes)| (network(rate, nodes), json!({"forwarding": "store-and-forward"}))
        ),
    ]
}

/// Any path with a few flows: where they may be ahead, and where not.
pub(crate) fn any_path() -> impl Strategy<Value = Value> {
    let edge = prop_oneof![
        4 => (1u64..12).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
        1 => Just(json!({"assembly": "hybrid", "timer": "5 ms", "size": "9 KB"})),
        1 => Just(json!({"assembly": "size", "size": "1 KB"})),
        1 => Just(json!({"assembly": "none"})),
    ];
    let ack = prop_oneof![
        2 => Just(json!({"assembly": "none"})),
        1 => (1u64..9).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
    ];
    let access = (
        prop_oneof![Just("0.1 ms"), Just("0 s"), Just("10 ms")],
        prop_oneof![Just("1 Mb/s"), Just("33 Mb/s"), Just("1 Gb/s")],
        prop_oneof![4 => Just(None), 1 => (4u32..40).prop_map(Some)],
        prop::bool::weighted(0.3),
    );
    let tcp = (
        any_tcp(),
        prop_oneof![Just("rfc"), Just("ns2"), Just("ns2-2003")],
        2u32..300,
        any::<bool>(),
    );
    let loss = || {
        prop_oneof![
            3 => Just(json!({"process": "none"})),
            2 => (1u32..60).prop_map(|p| json!({"process": "bernoulli",
                "probability": f64::from(p) * 1e-3})),
            1 => (5u64..90).prop_map(|n| json!({"process": "every", "n": n})),
            1 => any_spells(),
        ]
    };
    let run = (
        prop_oneof![3 => Just(None), 1 => (10u64..400).prop_map(Some)],
        any::<bool>(),
        prop_oneof![3 => Just(None), 1 => (1u32..3000).prop_map(Some)],
        (1u32..5, prop_oneof![Just("0 s"), Just("7 us"), Just("12345 us")]),
    );
    (edge, ack, access, tcp, (loss(), loss(), any_core()), run).prop_map(
        |(edge, ack, (delay, rate, queue, shared), tcp, chances, (bursts, warm, bytes, many))| {
            let ((variant, law), profile, window, delayed) = tcp;
            let (mut edge, (data, acks, (network, core))) = (edge, chances);
            edge["ack"] = ack;
            let mut scenario = json!({
                "access": {"rate": rate, "delay": delay, "shared": shared}, "edge": edge,
                "network": network, "core": core,
                "loss": {"data": data, "ack": acks},
                "tcp": {"variant": variant, "window_law": law, "profile": profile, "window": window,
                    "delayed_ack": delayed},
                "run": {"duration": "9 s"},
            });
            if let Some(queue) = queue {
                scenario["access"]["queue"] = json!(queue);
            }
            if let Some(bursts) = bursts {
                scenario["run"]["bursts"] = json!(bursts);
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

/// Any mesh whose hosts have links of their own and whose queues a timer or a size closes. Flows
/// start at the same instant between the same nodes, so that packets tie.
pub(crate) fn any_mesh() -> impl Strategy<Value = Value> {
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
            (1u64..8, 1u64..30, any::<bool>()).prop_map(|(t, size, at_most)| json!({
                "assembly": "hybrid", "timer": format!("{t} ms"),
                "size": format!("{} B", 700 * size), "at_most": at_most})),
            (5u64..30).prop_map(|size| json!({"assembly": "size",
                "size": format!("{} B", 700 * size)})),
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
        any_tcp(),
        prop_oneof![Just("rfc"), Just("ns2")],
        2u32..60,
        any::<bool>(),
        prop_oneof![Just("200 ms"), Just("20 ms")],
    );
    let loss = prop_oneof![
        2 => Just(json!({"process": "none"})),
        1 => Just(json!({"process": "bernoulli", "probability": 0.05})),
        1 => any_spells(),
    ];
    let contention = prop_oneof![
        Just(json!(["conversion"])),
        Just(json!(["conversion", "segmentation"])),
        Just(json!(["conversion", "deflection", "retransmission"])),
    ];
    let injected = prop_oneof![2 => Just(None), 1 => (1u32..30).prop_map(Some)];
    let core = (contention, injected).prop_map(|(contention, injected)| match injected {
        None => json!({"contention": contention}),
        Some(p) => json!({"contention": contention, "injection": {"data": f64::from(p) * 1e-2}}),
    });
    let last = prop_oneof![3 => Just(None), 1 => (1u64..2000).prop_map(Some)];
    (network, edge, access, tcp, (loss, core), (any::<bool>(), last)).prop_map(
        |(mut network, (mut edge, ack, queues), (delay, rate, bounded), tcp, chances, ends)| {
            let ((loss, core), (come, last)) = (chances, ends);
            let ((variant, law), profile, window, delayed, rto) = tcp;
            network["link_rate"] = json!("50 Mb/s");
            edge["ack"] = ack;
            edge["queues"] = json!(queues);
            if core.get("injection").is_some() {
                edge["port"] = json!("shared");
            }
            let mut access = json!({"rate": format!("{} Mb/s", 5 * rate), "delay": delay});
            if bounded {
                access["queue"] = json!(20);
            }
            let demand = json!([{"flows_per_second": 8, "per": "node",
                "size": {"distribution": "exponential", "mean": "30 KB"}}]);
            json!({
                "network": network, "edge": edge, "access": access,
                "signalling": {"guard": "300 us"}, "core": core,
                "loss": {"data": loss, "ack": loss},
                "tcp": {"variant": variant, "window_law": law, "profile": profile, "window": window,
                    "delayed_ack": delayed, "rto_min": rto},
                "flows": [{"from": "1", "to": "3", "count": 3},
                    {"from": "3", "to": "1", "count": 2, "start": "3 ms"},
                    {"from": "2", "to": "1", "bytes": "90 KB"}],
                "demand": if come { demand } else { json!([]) },
                "run": {"duration": "1500 ms", "warmup": "200 ms", "bursts": last},
            })
        },
    )
}

/// Vegas, whose clock of its own sends again what is late, before any time-out: where bursts are
/// late because they are sent again, and a burst waits long on the link of its receiver.
fn any_late_vegas() -> impl Strategy<Value = Value> {
    let tcp = (prop_oneof![Just("rfc"), Just("ns2")], prop_oneof![Just("aimd"), Just("vegas")]);
    let times = (1u64..8, 0u64..50, 1u64..400, 4u32..120, 200u64..3000);
    let chances = (1u32..40, 1u32..40, 5u32..100);
    (times, tcp, chances, prop_oneof![Just(0usize), Just(2)]).prop_map(
        |((timer, away, wait, window, rto), (profile, law), (late, lost, rate), node)| {
            json!({
                "network": {"topology": "line", "nodes": 4, "link_delay": "1 ms",
                    "edges": ["1", "4"]},
                "edge": {"assembly": "timer", "timer": format!("{timer} ms"), "port": "shared"},
                "access": {"rate": "8 Mb/s", "delay": "0.1 ms", "receiver":
                    {"rate": format!("{} kb/s", 20 * rate), "delay": format!("{away} ms")}},
                "signalling": {"guard": "10 us"},
                "core": {"injection": {"data": f64::from(late) * 1e-2},
                    "contention": ["retransmission"],
                    "retransmission": {"wait": format!("{wait} ms"), "attempts": 3}},
                "loss": {"data": {"process": "bernoulli", "probability": f64::from(lost) * 1e-2,
                    "node": node}},
                "tcp": {"variant": "vegas", "window_law": law, "profile": profile,
                    "window": window, "delayed_ack": false, "rto_min": format!("{rto} ms")},
                "run": {"duration": "60 s"},
            })
        },
    )
}

/// A copy of the built-in laws and detectors, written against the trait, acts as they do.
fn are_twins(scenario: &Value, seed: u64) -> Result<(), TestCaseError> {
    let Some((native, foreign)) = foreign::twins(scenario) else { return Ok(()) };
    let run = |resolved, trace| Simulation::new(resolved, seed, 0, trace).run(&Monitor::default());
    let wanted = run(&native, ALL);
    let ahead = run(&foreign, Trace::default());
    prop_assert_eq!(numbers(ahead.summary), numbers(wanted.summary.clone()));
    let traced = run(&foreign, ALL);
    let mut found = traced.summary.clone();
    // A run with a class cannot go back to an earlier burst, which is one reason more.
    found.speed.because.clone_from(&wanted.summary.speed.because);
    prop_assert_eq!(&found, &wanted.summary);
    // Laws that go by delay measure each round trip, and so does a sender with a law of somebody
    // else; FAST lowers its threshold with the first one, and that law when it is asked.
    let by_delay = scenario["tcp"]["window_law"] == json!("fast");
    let left_out = ["sample_ps", "base_rtt_ps", "queued", "ssthresh", "state"];
    let left_out = &left_out[..if by_delay { 5 } else { 3 }];
    prop_assert_eq!(differing(&tables(traced, left_out), &tables(wanted, left_out)), None);
    Ok(())
}

/// A law with a state of its own: whole, traced, and as a clone that goes on apart.
fn goes_on_apart(mut scenario: Value, seed: u64, cut: u32) -> Result<(), TestCaseError> {
    scenario["tcp"]["variant"] = json!("sack");
    scenario["tcp"]["window_law"] = json!("python");
    scenario["tcp"]["window_law_class"] = json!({"class": "Slowing", "source": "of this file"});
    let resolved = foreign::resolved(&scenario);
    let new = |trace| Simulation::new(&resolved, seed, 0, trace);
    let whole = new(Trace::default()).run(&Monitor::default()).summary;
    let traced = new(ALL).run(&Monitor::default()).summary;
    prop_assert_eq!(numbers(traced), numbers(whole.clone()));
    let mut first = new(Trace::default());
    first.advance(cut);
    let second = first.clone();
    prop_assert!(first.checkpoint().is_err());
    prop_assert_eq!(first.run(&Monitor::default()).summary, whole.clone());
    prop_assert_eq!(second.run(&Monitor::default()).summary, whole);
    Ok(())
}

/// The same with or without a detector.
fn perhaps_with_ble(mut scenario: Value, with: bool) -> Value {
    if with && scenario["tcp"]["variant"] != json!("tahoe") {
        scenario["tcp"]["detector"] = json!("ble");
    }
    scenario
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
        // Of a few packets all may be lost, or so many that none is ahead.
        let (counters, all) = (&ahead.summary.counters, &traced.summary.counters);
        prop_assume!(counters.packets_delivered > 0);
        let few = counters.packets_delivered < 200;
        prop_assert!(counters.events < all.events || few && counters.events == all.events);
        prop_assert_eq!(numbers(ahead.summary), numbers(traced.summary));
    }

    #[test]
    fn flows_of_a_path_that_are_ahead_of_the_clock_do_what_they_do_one_by_one(
        scenario in any_path(),
        seed in 0u64..1000,
    ) {
        let ahead = run(&scenario, seed, Trace::default());
        let traced = run(&scenario, seed, ALL);
        prop_assert_eq!(numbers(ahead.summary), numbers(traced.summary));
    }

    #[test]
    fn flows_of_a_path_that_are_told_of_bursts_do_what_they_do_one_by_one(
        scenario in any_path(),
        detector in any_detector(),
        some in any::<bool>(),
        seed in 0u64..1000,
    ) {
        let scenario = with_detector(scenario, detector, some);
        let ahead = run(&scenario, seed, Trace::default());
        let traced = run(&scenario, seed, ALL);
        prop_assert_eq!(numbers(ahead.summary), numbers(traced.summary));
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
    fn a_path_that_is_stored_ahead_of_the_clock_goes_on(
        scenario in any_path(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on(&scenario, seed, cut)?;
    }

    #[test]
    fn a_mesh_that_is_stored_ahead_of_the_clock_goes_on(
        scenario in any_mesh(),
        seed in 0u64..1000,
        cut in 1u32..9000,
    ) {
        goes_on(&scenario, seed, cut)?;
    }

    #[test]
    fn a_path_with_the_laws_of_somebody_else_is_that_with_ours(
        scenario in any_path(),
        ble in any::<bool>(),
        seed in 0u64..1000,
    ) {
        are_twins(&perhaps_with_ble(scenario, ble), seed)?;
    }

    #[test]
    fn a_mesh_with_the_laws_of_somebody_else_is_that_with_ours(
        scenario in any_mesh(),
        ble in any::<bool>(),
        seed in 0u64..1000,
    ) {
        are_twins(&perhaps_with_ble(scenario, ble), seed)?;
    }

    #[test]
    fn a_law_with_a_state_goes_on_apart(
        (path, mesh) in (any_path(), any_mesh()),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on_apart(path, seed, cut)?;
        goes_on_apart(mesh, seed, cut)?;
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
        let sized = scenario["edge"].get("size").is_some();
        // Of bursts of two packets both are events, those that open and those that complete one.
        prop_assert!(sized || announced.counters.events < one_by_one.counters.events);
        for summary in [&mut announced, &mut one_by_one] {
            // Where a timer alone closes a queue, bursts are numbered as they are closed, else as
            // they are opened.
            if !sized || scenario["edge"]["ack"].get("timer").is_some() {
                summary.fingerprint.clear();
            }
            summary.warnings.clear();
        }
        prop_assert_eq!(numbers(announced), numbers(one_by_one));
    }

    #[test]
    fn a_receiver_is_not_ahead_of_what_vegas_sends_again(
        scenario in any_late_vegas(),
        seed in 0u64..1000,
    ) {
        let ahead = run(&scenario, seed, Trace::default());
        let traced = run(&scenario, seed, ALL);
        prop_assert_eq!(numbers(ahead.summary), numbers(traced.summary));
    }
}

/// Bursts that are late because they are sent again, and lost. Segments that a sender sends once
/// more after a time-out meet their first transmissions, and are lost before those arrive. The
/// segments that the receiver holds then decide the kind of the next time-out.
#[test]
fn a_receiver_is_not_ahead_of_what_is_sent_again_and_lost() {
    for (variant, profile, window, rto_min, timer, away) in [
        ("new-reno", "ns2", 17, "116 ms", "10917 us", "38 ms"),
        ("sack", "ns2-2003", 44, "11 ms", "7286 us", "1 ms"),
        ("reno", "rfc", 30, "50 ms", "4 ms", "60 ms"),
        ("tahoe", "ns2", 30, "50 ms", "4 ms", "20 ms"),
    ] {
        let scenario = json!({
            "network": {"topology": "line", "nodes": 3, "link_delay": "1 ms",
                "edges": ["1", "3"]},
            "edge": {"assembly": "timer", "timer": timer, "port": "shared"},
            "access": {"rate": "3 Mb/s", "delay": "2 ms",
                "receiver": {"rate": "2 Mb/s", "delay": away}},
            "loss": {"data": {"process": "bernoulli", "probability": 0.18},
                "ack": {"process": "bernoulli", "probability": 0.1}},
            "tcp": {"variant": variant, "profile": profile, "window": window,
                "delayed_ack": false, "rto_min": rto_min},
            "signalling": {"guard": "50 us"},
            "core": {"injection": {"data": 0.25}, "contention": ["retransmission"],
                "retransmission": {"wait": "300 ms", "attempts": 3}},
            "run": {"duration": "40 s"},
        });
        let (mut judged, mut met) = ([0; 3], 0);
        for seed in 0..12 {
            let ahead = run(&scenario, seed, Trace::default()).summary;
            let flow = &ahead.flows[0];
            judged[0] += flow.false_timeouts;
            judged[1] += flow.true_timeouts;
            judged[2] += flow.spurious_timeouts;
            let traced = run(&scenario, seed, ALL);
            met += lost_before_an_earlier_one_comes(&traced);
            assert_eq!(numbers(ahead), numbers(traced.summary), "{variant}, seed {seed}");
        }
        assert!(met > 0, "{variant}");
        assert!(judged.iter().all(|&count| count > 9), "{variant}: {judged:?}");
    }
}

/// SACK recovery that has nothing else to send sends its last segment again (RFC 6675, rule 4 of
/// NextSeg). That may meet its first transmission behind a gap, on the slow link of the receiver,
/// and be lost before that arrives.
#[test]
fn a_receiver_behind_a_gap_is_not_ahead_of_a_segment_that_is_rescued_and_lost() {
    for rto_min in ["20 ms", "100 ms"] {
        let scenario = json!({
            "edge": {"assembly": "timer", "timer": "2 ms"},
            "access": {"rate": "8 Mb/s", "delay": "1 ms",
                "receiver": {"rate": "400 kb/s", "delay": "5 ms"}},
            "loss": {"data": {"process": "bernoulli", "probability": 0.1}},
            "tcp": {"variant": "sack", "profile": "rfc", "window": 14, "delayed_ack": false,
                "rto_min": rto_min},
            "flows": [{"count": 12, "bytes": "60 KB", "stagger": "50 ms"}],
            "run": {"duration": "40 s"},
        });
        let ahead = run(&scenario, 1, Trace::default()).summary;
        let traced = run(&scenario, 1, ALL);
        assert!(lost_before_an_earlier_one_comes(&traced) > 0, "{rto_min}");
        assert_eq!(numbers(ahead), numbers(traced.summary), "{rto_min}");
    }
}

/// Segments that were retransmitted needlessly bring ACKs behind the last one that counts. Packets
/// of theirs that would reach the ingress after the run has ended are not sent.
#[test]
fn what_comes_after_the_end_is_not_sent() {
    let scenario = json!({
        "access": {"rate": "1 Mb/s", "delay": "10 ms", "queue": 13},
        "edge": {"assembly": "timer", "timer": "1 ms", "ack": {"assembly": "none"}},
        "network": {"link_delay": "3 ms", "core_nodes": 3},
        "loss": {"data": {"process": "bernoulli", "probability": 0.023, "node": 0}},
        "tcp": {"variant": "reno", "profile": "ns2-2003", "window": 110, "delayed_ack": false,
            "detector": "ble"},
        "run": {"duration": "9 s"},
        "flows": [{"bytes": "72 KB"}],
    });
    let ahead = run(&scenario, 185, Trace::default()).summary;
    let traced = run(&scenario, 185, ALL).summary;
    let acks = &ahead.counters;
    assert_eq!((acks.ack_bursts_sent, acks.ack_bursts_in_flight), (92, 1));
    assert!(ahead.simulated_s < 9.0, "the run ends with its flow");
    assert_eq!(numbers(ahead), numbers(traced));
}

/// A run that ends with a burst deals with packets in runs as any other does, and with none that
/// comes after its end.
#[test]
fn a_run_that_ends_with_a_burst_is_ahead_of_the_clock() {
    for (bursts, rate, warmup) in
        [(7, "100 Mb/s", "0 s"), (333, "8 Mb/s", "2 s"), (4000, "100 Mb/s", "90 ms")]
    {
        let scenario = json!({
            "access": {"rate": rate}, "edge": {"assembly": "timer", "timer": "5 ms"},
            "loss": {"data": {"process": "bernoulli", "probability": 0.003}},
            "tcp": {"variant": "new-reno", "profile": "ns2", "window": 60},
            "run": {"duration": "1000 s", "bursts": bursts, "warmup": warmup},
        });
        let ahead = run(&scenario, 3, Trace::default()).summary;
        let traced = run(&scenario, 3, ALL).summary;
        assert_eq!(ahead.counters.bursts_sent, bursts);
        let (few, all) = (ahead.counters.events, traced.counters.events);
        assert!(bursts < 100 || 3 * few < all, "{bursts}: {few} of {all}");
        assert_eq!(numbers(ahead), numbers(traced), "{bursts}");
    }
    // A world of so many connections is not kept: their hosts go by the clock.
    let many = json!({"flows": [{"count": 5000}], "run": {"duration": "9 s", "bursts": 5500},
        "edge": {"assembly": "none"}});
    let ahead = run(&many, 3, Trace::default()).summary;
    let traced = run(&many, 3, BURSTS).summary;
    assert_eq!(ahead.counters.events, traced.counters.events);
    assert_eq!(numbers(ahead), numbers(traced));
}

/// Nodes that store and forward each packet: hardly one is an event, from the beginning and after a
/// warm-up, when packets of bursts are in transit.
#[test]
fn packets_that_are_stored_and_forwarded_are_no_events() {
    for (warmup, timer, acks) in
        [("0 s", "1 ms", "none"), ("3 s", "5 ms", "none"), ("1 s", "5 ms", "timer")]
    {
        let mut ack = json!({"assembly": acks});
        if acks == "timer" {
            ack["timer"] = json!("2 ms");
        }
        let scenario = json!({
            "access": {"rate": "100 Mb/s", "delay": "10 ms"},
            "network": {"link_delay": "3 ms", "core_nodes": 3},
            "core": {"forwarding": "store-and-forward"},
            "edge": {"assembly": "timer", "timer": timer, "ack": ack},
            "tcp": {"variant": "sack", "profile": "ns2", "window": 900},
            "run": {"duration": "8 s", "warmup": warmup},
        });
        let ahead = run(&scenario, 1, Trace::default()).summary;
        let traced = run(&scenario, 1, ALL).summary;
        let (few, packets) = (ahead.counters.events, ahead.counters.packets_delivered);
        assert!(3 * few < packets, "{scenario}: {few} events for {packets} packets");
        assert_eq!(numbers(ahead), numbers(traced), "{scenario}");
    }
}

/// Flows that share their access links: packets are taken in turn, and hardly one is an event.
#[test]
fn flows_that_share_a_link_are_ahead_of_the_clock_together() {
    for (count, stagger, delayed, timer) in
        [(10, "0 s", false, "1 ms"), (10, "30 ms", true, "1 ms"), (200, "7 us", false, "5 ms")]
    {
        let scenario = json!({
            "access": {"rate": "100 Mb/s", "delay": "10 ms", "shared": true},
            "edge": {"assembly": "timer", "timer": timer},
            "tcp": {"variant": "sack", "profile": "ns2", "window": 100, "delayed_ack": delayed},
            "flows": [{"count": count, "stagger": stagger}],
            "run": {"duration": "6 s", "warmup": "1 s"},
        });
        let ahead = run(&scenario, 1, Trace::default()).summary;
        let traced = run(&scenario, 1, ALL).summary;
        let (few, packets) = (ahead.counters.events, ahead.counters.packets_delivered);
        assert!(few < packets, "{count} flows: {few} events for {packets} packets");
        assert_eq!(numbers(ahead), numbers(traced), "{count} flows");
    }
}

/// So many flows on one path, each packet a burst of its own, that what they send is not in step:
/// some of it is dealt with at once, and the rest packet by packet.
#[test]
fn many_flows_out_of_step_are_dealt_with_in_any_order() {
    let many = [(300, "0 s", 150), (300, "7 us", 150), (90, "12345 us", 600), (1000, "1 ns", 80)];
    for (count, stagger, duration_ms) in many {
        let scenario = json!({
            "access": {"rate": "10 Mb/s", "delay": "100 us"},
            "edge": {"assembly": "none", "ack": {"assembly": "none"}},
            "network": {"link_delay": "3 ms"},
            "flows": [{"count": count, "stagger": stagger}],
            "run": {"duration": format!("{duration_ms} ms")},
        });
        let ahead = run(&scenario, 1, Trace::default()).summary;
        let traced = run(&scenario, 1, ALL).summary;
        assert!(ahead.counters.bursts_sent > 3000, "{count} flows {stagger} apart send too little");
        assert_eq!(numbers(ahead), numbers(traced), "{count} flows {stagger} apart");
    }
}
