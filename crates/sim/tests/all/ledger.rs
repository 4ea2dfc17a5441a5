//! The causal ledger, and Burst TCP judged by it.

use std::collections::{BTreeMap, BTreeSet};

use burstlab_sim::{Output, Trace};
use serde_json::{Value, json};

use crate::runs;
use crate::runs::columns::{integers, labels, table};

const LEDGER: Trace =
    Trace { packets: false, bursts: false, cwnd: false, ledger: true, ..crate::runs::EARLY };

fn run(scenario: &Value) -> Output {
    runs::run(scenario, 3, LEDGER)
}

/// The fast flow of Yu et al. 2004: 1 MB/s, W = 10, T_b = 40 ms.
fn fast(detector: &str, probability: f64) -> Value {
    json!({
        "access": {"rate": "8 Mb/s"},
        "edge": {"assembly": "timer", "timer": "40 ms"},
        "tcp": {"profile": "ns2", "variant": "reno", "window": 10, "detector": detector,
            "rto_fixed": "360 ms"},
        "loss": {"data": {"process": "bernoulli", "probability": probability}},
        "run": {"duration": "1000 s"},
    })
}

#[test]
fn rows_add_up_to_the_counters() {
    for (detector, variant) in [("none", "reno"), ("ble", "sack"), ("bnak", "new-reno")] {
        let mut scenario = fast(detector, 0.08);
        scenario["tcp"]["variant"] = json!(variant);
        scenario["access"]["rate"] = json!("1 Mb/s");
        let output = run(&scenario);
        let flow = &output.summary.flows[0];
        let ledger = table(&output, "ledger");
        let (kinds, truths) = (labels(ledger, "kind"), labels(ledger, "truth"));
        let count = |kind: &str| kinds.iter().filter(|&&k| k == kind).count() as u64;
        assert_eq!(count("timeout"), flow.timeouts);
        assert_eq!(count("fast-retransmit"), flow.fast_retransmits);
        assert_eq!(count("early-repair"), flow.early_repairs);
        assert_eq!(count("spurious-retransmission"), flow.spurious_retransmissions);
        let of = |truth: &str| truths.iter().filter(|&&t| t == truth).count() as u64;
        assert_eq!(of("false"), flow.false_timeouts);
        assert_eq!(of("true"), flow.true_timeouts);
        assert_eq!(of("spurious"), flow.spurious_timeouts);
        assert_eq!(
            flow.timeouts,
            flow.false_timeouts + flow.true_timeouts + flow.spurious_timeouts
        );
        let losses = table(&output, "ledger_losses");
        let packets: u64 = integers(ledger, "lost_packets").iter().sum();
        assert_eq!(packets as usize, integers(losses, "event").len());
        if let Some(seen) = &flow.detector {
            let sum = seen.false_excused + seen.false_missed + seen.true_excused + seen.true_kept;
            assert_eq!(sum + seen.spurious_excused + seen.spurious_kept, flow.timeouts);
        }
        assert!(flow.timeouts > 50, "{detector}: there is something to add up");
    }
}

#[test]
fn without_detection_false_timeouts_are_those_that_lost_one_burst() {
    let output = run(&fast("none", 0.1));
    let flow = &output.summary.flows[0];
    let mut bursts: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    let losses = table(&output, "ledger_losses");
    for (event, burst) in integers(losses, "event").into_iter().zip(integers(losses, "burst")) {
        bursts.entry(event).or_default().insert(burst);
    }
    let ledger = table(&output, "ledger");
    let timeouts = labels(ledger, "kind").into_iter().zip(integers(ledger, "event"));
    let one = timeouts
        .filter(|(kind, event)| {
            *kind == "timeout" && bursts.get(event).is_some_and(|lost| lost.len() == 1)
        })
        .count() as u64;
    assert_eq!(flow.false_timeouts, one);
    assert!(flow.false_timeouts > 500, "{}", flow.false_timeouts);
    assert!(labels(ledger, "verdict").iter().all(|&verdict| verdict == "none"));
    assert!(flow.detector.is_none());
}

#[test]
fn every_loss_of_the_ledger_names_a_burst_that_was_lost() {
    let mut scenario = fast("none", 0.1);
    scenario["run"]["duration"] = json!("200 s");
    let output = runs::run(&scenario, 3, Trace { bursts: true, ..LEDGER });
    let bursts = table(&output, "bursts");
    let fates = integers(bursts, "burst").into_iter().zip(labels(bursts, "fate"));
    let ends: BTreeMap<u64, (&str, u64)> = fates
        .zip(integers(bursts, "lost_ps"))
        .zip(labels(bursts, "direction"))
        .filter(|(_, direction)| *direction == "data")
        .map(|(((burst, fate), at), _)| (burst, (fate, at)))
        .collect();
    let losses = table(&output, "ledger_losses");
    for (burst, at) in integers(losses, "burst").into_iter().zip(integers(losses, "lost_ps")) {
        assert_eq!(ends.get(&burst), Some(&("lost", at)));
    }
}

#[test]
fn with_an_oracle_no_false_timeout_costs_a_slow_start() {
    for (rate, window) in [("8 Mb/s", 10), ("1 Mb/s", 40)] {
        let mut scenario = fast("oracle", 0.1);
        scenario["access"]["rate"] = json!(rate);
        scenario["tcp"]["window"] = json!(window);
        let output = run(&scenario);
        let flow = &output.summary.flows[0];
        let seen = flow.detector.as_ref().expect("a detector");
        assert_eq!(seen.false_missed, 0, "{rate}");
        assert_eq!(seen.true_excused, 0, "{rate}");
        assert_eq!(seen.spurious_kept, 0, "{rate}");
        assert!(flow.early_repairs > 200, "{rate}: {}", flow.early_repairs);
        let ledger = table(&output, "ledger");
        let rows = labels(ledger, "truth").into_iter().zip(labels(ledger, "verdict"));
        assert!(rows.into_iter().all(|row| row != ("false", "true")));
    }
}

#[test]
fn ble_and_back_are_the_same_where_the_access_loses_nothing() {
    // From p = 0.03 to 0.2; the window of the first loss is above three.
    for probability in [0.03, 0.1, 0.2] {
        let ble = run(&fast("ble", probability)).summary;
        for mode in ["ingress", "both"] {
            let mut scenario = fast("back", probability);
            scenario["tcp"]["back_mode"] = json!(mode);
            let back = run(&scenario).summary;
            assert_eq!(ble.fingerprint, back.fingerprint, "p = {probability}, {mode}");
            assert!(back.counters.notices_sent > 0);
        }
    }
}

#[test]
fn what_is_known_sooner_delivers_more() {
    let goodput = |detector: &str| run(&fast(detector, 0.1)).summary.flows[0].goodput_bps;
    let [none, ble, bnak, oracle] = ["none", "ble", "bnak", "oracle"].map(goodput);
    assert!(none < ble && ble < bnak && bnak < oracle, "{none} {ble} {bnak} {oracle}");
}

#[test]
fn notices_in_band_are_lost_where_the_access_is_full() {
    let mut scenario = fast("back", 0.05);
    scenario["access"]["queue"] = json!(2);
    scenario["access"]["shared"] = json!(true);
    scenario["edge"]["notices"] = json!("in-band");
    scenario["edge"]["notice_size"] = json!("1000 B");
    scenario["flows"] = json!([{"count": 4}]);
    scenario["run"]["duration"] = json!("100 s");
    let counters = run(&scenario).summary.counters;
    assert!(counters.notices_lost > 0 && counters.notices_lost < counters.notices_sent);
}

#[test]
fn other_traffic_is_conserved_and_fills_the_queues() {
    let mut scenario = fast("ble", 0.0);
    scenario["access"]["shared"] = json!(true);
    scenario["access"]["queue"] = json!(20);
    scenario["flows"] = json!([{"count": 3}]);
    scenario["traffic"] = json!([
        {"side": "sender", "pattern": "pareto", "rate": "4 Mb/s", "count": 2},
        {"side": "receiver", "pattern": "cbr", "rate": "2 Mb/s"},
    ]);
    scenario["run"]["duration"] = json!("100 s");
    let output = run(&scenario);
    let c = &output.summary.counters;
    assert_eq!(c.other_sent, c.other_delivered + c.other_lost + c.other_in_flight);
    assert!(c.other_delivered > 10_000 && c.other_lost > 0);
    let flows: u64 = output.summary.flows.iter().map(|flow| flow.packets_lost).sum();
    assert_eq!(c.access_lost, c.other_lost + flows, "the core loses nothing here");
    let ledger = table(&output, "ledger");
    let truths = labels(ledger, "truth");
    assert!(!truths.contains(&"false"), "no burst was lost");
}

#[test]
fn detectors_that_cannot_work_are_refused() {
    let refused = |change: fn(&mut Value), path: &str| {
        let mut scenario = fast("back", 0.1);
        change(&mut scenario);
        let error = runs::refused(&scenario);
        assert_eq!(error.path(), path, "{error}");
    };
    refused(|s| s["tcp"]["variant"] = json!("tahoe"), "tcp.detector");
    refused(|s| s["edge"] = json!({"assembly": "none"}), "tcp.detector");
    refused(|s| s["edge"]["offset"] = json!("-1 ms"), "edge.offset");
    refused(|s| s["traffic"] = json!([{}]), "access.shared");
    refused(
        |s| {
            s["access"]["shared"] = json!(true);
            s["traffic"] = json!([{"pattern": "pareto", "shape": 1.0}]);
        },
        "traffic[0].shape",
    );
    refused(|s| s["tcp"]["back_mode"] = json!("egres"), "tcp.back_mode");
}

/// A sender of Linux over a path that loses lone bursts.
fn of_today(law: &str, detector: &str) -> Value {
    let mut scenario = json!({
        "access": {"rate": "20 Mb/s", "delay": "10 ms"},
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "tcp": {"profile": "linux", "window_law": law, "detector": detector, "window": 150},
        "loss": {"data": {"process": "script", "bursts": [300, 700, 1100, 1500, 1900, 2300]}},
        "run": {"duration": "20 s"},
    });
    if law == "dctcp" {
        // No queue is ever so long: the losses are what costs.
        scenario["access"]["marking"] = json!({"above": "1 MB"});
    }
    scenario
}

#[test]
fn with_the_oracle_no_lone_burst_costs_window() {
    spared(&["aimd", "cubic", "dctcp", "vegas", "bbr", "bbr3"]);
}

#[test]
fn what_the_sender_or_its_edge_knows_of_bursts_excuses_reductions_too() {
    for detector in ["ble", "back"] {
        // A window that fits into one burst.
        let mut scenario = of_today("cubic", detector);
        scenario["access"]["rate"] = json!("100 Mb/s");
        scenario["edge"]["timer"] = json!("20 ms");
        scenario["tcp"]["window"] = json!(30);
        scenario["loss"] = json!({"data": {"process": "bernoulli", "probability": 0.02}});
        let found = run(&scenario).summary.flows[0].clone();
        assert!(found.reductions.one_burst > 5, "{detector}: {found:?}");
        assert!(found.reductions.excused > 0, "{detector}: {found:?}");
    }
}

/// Runs each law without a detector and with the oracle.
fn spared(laws: &[&str]) {
    for &law in laws {
        let without = run(&of_today(law, "none")).summary.flows[0].clone();
        assert!(without.reductions.one_burst >= 5, "{law}: {:?}", without.reductions);
        assert_eq!(without.reductions.excused, 0, "{law}");
        let with = run(&of_today(law, "oracle")).summary.flows[0].clone();
        let found = with.reductions;
        assert!(found.one_burst >= 5, "{law}: {found:?}");
        assert_eq!(found.one_burst_segments, 0.0, "{law}: {found:?}");
        assert_eq!((found.excused, with.timeouts), (found.one_burst, 0), "{law}: {found:?}");
        assert!(with.retransmissions > 0 && with.goodput_bps >= without.goodput_bps, "{law}");
        if law != "bbr3" {
            assert!(without.reductions.one_burst_segments > 10.0, "{law}: {without:?}");
        }
    }
}

#[test]
fn reductions_add_up_to_the_rows_of_the_ledger() {
    for (law, detector) in [("cubic", "none"), ("cubic", "bnak"), ("aimd", "back"), ("bbr", "ble")]
    {
        let mut scenario = of_today(law, detector);
        scenario["loss"] = json!({"data": {"process": "bernoulli", "probability": 0.01}});
        scenario["access"]["queue"] = json!(40);
        let output = run(&scenario);
        let found = output.summary.flows[0].reductions;
        let ledger = table(&output, "ledger");
        let classes = labels(ledger, "reduction");
        let count = |class: &str| classes.iter().filter(|&&c| c == class).count() as u64;
        assert_eq!(count("one-burst"), found.one_burst, "{law}, {detector}");
        assert_eq!(count("several-bursts"), found.several_bursts, "{law}, {detector}");
        assert_eq!(count("congestion"), found.congestion, "{law}, {detector}");
        assert_eq!(count("reordering"), found.reordering, "{law}, {detector}");
        assert!(found.one_burst > 5, "{law}, {detector}: {found:?}");
        let kinds = labels(ledger, "kind");
        for (kind, class) in kinds.iter().zip(&classes) {
            let reduces = !["spurious-retransmission", "undone-reduction"].contains(kind);
            assert_eq!(reduces, *class != "none", "{kind}: {class}");
        }
    }
}

#[test]
fn a_full_queue_is_congestion_and_no_detector_excuses_it() {
    for law in ["cubic", "aimd"] {
        let mut scenario = of_today(law, "oracle");
        scenario["loss"] = json!({});
        scenario["access"]["queue"] = json!(30);
        let found = run(&scenario).summary.flows[0].reductions;
        assert!(found.congestion > 0 && found.congestion_segments > 10.0, "{law}: {found:?}");
        assert_eq!((found.one_burst, found.excused), (0, 0), "{law}: {found:?}");
    }
}
