//! The causal ledger, and Burst TCP judged by it.

mod runs;

use std::collections::{BTreeMap, BTreeSet};

use burstlab_sim::{Output, Trace};
use serde_json::{Value, json};

use runs::columns::{integers, labels, table};

const LEDGER: Trace = Trace { packets: false, bursts: false, cwnd: false, ledger: true };

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
