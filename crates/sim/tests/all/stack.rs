//! Flows whose hosts are a third-party stack: their packets go as those of our own TCP do.

use std::collections::BTreeSet;

use burstlab_sim::scenario::Resolved;
use burstlab_sim::{Monitor, Output, Simulation, Trace};
use serde_json::{Value, json};

use crate::hosts;
use crate::runs;
use crate::runs::columns::{integers, labels, table};

fn scenario(stack: &str) -> Value {
    json!({
        "access": {"rate": "50 Mb/s"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "loss": {"data": {"process": "bernoulli", "probability": 0.1}},
        "flows": [{"stack": stack, "bytes": "2 MB"}, {"bytes": "300 KB"}],
        "run": {"duration": "60 s", "drain": "5 s"},
    })
}

fn with_stacks(scenario: &Value) -> Resolved {
    let resolved = runs::resolved(scenario).with_stacks(Some(hosts::simple()));
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Value, trace: Trace) -> Output {
    Simulation::new(&with_stacks(scenario), 7, 0, trace).run(&Monitor::default())
}

#[test]
fn packets_are_conserved_and_two_runs_are_the_same() {
    let output = run(&scenario("simple"), runs::ALL);
    let all = &output.summary.counters;
    let ended = all.packets_delivered + all.packets_lost + all.packets_in_flight;
    assert_eq!(all.packets_sent, ended);
    assert_eq!(all.acks_sent, all.acks_delivered + all.acks_lost + all.acks_in_flight);
    assert_eq!(all.bursts_sent, all.bursts_delivered + all.bursts_lost + all.bursts_in_flight);
    let [flow, own] = &output.summary.flows[..] else { panic!("there are two flows") };
    assert!(flow.completed_s.is_some() && own.completed_s.is_some(), "{flow:?}");
    assert!(flow.bytes_delivered >= 2_000_000 && flow.packets_lost > 100, "{flow:?}");
    assert_eq!(flow.packets_sent, flow.packets_delivered + flow.packets_lost);
    assert_eq!((flow.variant.as_str(), flow.label.as_str()), ("simple", "simple"));
    let again = run(&scenario("simple"), runs::ALL);
    runs::are_same(&output, &again).expect("two runs are the same");
    let untraced = run(&scenario("simple"), Trace::default()).summary;
    assert_eq!(runs::numbers(untraced), runs::numbers(output.summary));
}

#[test]
fn the_crate_of_each_stack_that_took_part_is_named_once() {
    let mut asked = scenario("simple");
    let flows = ["simple", "silent", "repairing", "simple"];
    let flows = flows.map(|stack| json!({"stack": stack, "bytes": "20 KB"}));
    asked["flows"] = json!([flows[0], flows[1], flows[2], flows[3], {"bytes": "20 KB"}]);
    let summary = serde_json::to_value(run(&asked, Trace::default()).summary).expect("JSON");
    let entry =
        |name| json!({"label": name, "crate": "a-crate", "version": "1.2.3", "source": "path"});
    assert_eq!(summary["stacks"], json!([entry("simple"), entry("repairing")]));
    // A run without stacks has no such key.
    asked["flows"] = json!([{"bytes": "20 KB"}]);
    let without = serde_json::to_value(run(&asked, Trace::default()).summary).expect("JSON");
    assert_eq!(without.get("stacks"), None);
}

#[test]
fn a_connection_that_is_dead_is_named_and_no_longer_run_is_advised() {
    let mut scenario = scenario("silent");
    scenario["loss"] = json!({});
    scenario["run"] = json!({"duration": "2 s"});
    let warnings = run(&scenario, Trace::default()).summary.warnings.join("\n");
    assert!(warnings.contains("flow 0: data wait at the end"), "{warnings}");
    assert!(warnings.contains("no timer is set") && warnings.contains("the stack"), "{warnings}");
    assert!(!warnings.contains("write run.drain"), "{warnings}");
    // The reason that would end a longer run is reported as before.
    scenario["flows"][1]["bytes"] = json!("300 MB");
    let warnings = run(&scenario, Trace::default()).summary.warnings.join("\n");
    assert!(warnings.contains("no timer is set"), "{warnings}");
    assert!(warnings.contains("write run.drain"), "{warnings}");
}

#[test]
fn the_ledger_has_a_row_for_each_lost_burst() {
    let mut scenario = scenario("simple");
    scenario["flows"] = json!([{"stack": "simple", "bytes": "2 MB"}]);
    let output = run(&scenario, runs::ALL);
    let bursts = table(&output, "bursts");
    let numbers = integers(bursts, "burst").into_iter();
    let kinds = labels(bursts, "direction").into_iter().zip(labels(bursts, "cause"));
    let lost = numbers.zip(kinds).filter(|(_, kind)| kind.0 == "data" && kind.1 != "none");
    let lost: BTreeSet<u64> = lost.map(|(number, _)| number).collect();
    let explained: BTreeSet<u64> =
        integers(table(&output, "ledger_losses"), "burst").into_iter().collect();
    assert!(lost.len() > 10, "there is something to explain: {lost:?}");
    assert_eq!(lost, explained);
    let (ledger, flow) = (table(&output, "ledger"), &output.summary.flows[0]);
    let kinds = labels(ledger, "kind");
    let count = |kind: &str| kinds.iter().filter(|&&one| one == kind).count() as u64;
    assert_eq!(count("fast-retransmit"), flow.fast_retransmits);
    assert_eq!(count("timeout"), flow.timeouts);
    assert_eq!(count("spurious-retransmission"), 0, "nothing overtakes on a path");
    let packets: u64 = integers(ledger, "lost_packets").iter().sum();
    assert_eq!(packets, integers(table(&output, "ledger_losses"), "event").len() as u64);
}

#[test]
fn a_repair_of_tcp_is_one_row_whatever_it_sends_again() {
    let mut scenario = scenario("repairing");
    scenario["flows"] = json!([{"stack": "repairing", "bytes": "300 KB"}]);
    scenario["edge"]["timer"] = json!("0.5 ms");
    // Of bursts of several packets one; then one and the next; then all, so that the timer fires.
    for (bursts, rows, cause) in [
        (vec![6], &["fast-retransmit"][..], "one-burst"),
        (vec![6, 7], &["fast-retransmit"], "several-bursts"),
        ((6..40).collect(), &["timeout"], "several-bursts"),
    ] {
        scenario["loss"] = json!({"data": {"process": "script", "bursts": bursts}});
        let output = run(&scenario, runs::ALL);
        let (ledger, flow) = (table(&output, "ledger"), &output.summary.flows[0]);
        assert_eq!(&labels(ledger, "kind")[..rows.len()], rows, "{bursts:?}");
        assert_eq!(labels(ledger, "reduction")[0], cause);
        let first = integers(table(&output, "ledger_losses"), "event");
        let first = first.iter().filter(|&&event| event == 0).count() as u64;
        assert!(first >= 2, "a burst has several packets");
        assert_eq!(integers(ledger, "lost_packets")[0], first);
        let (repairs, timeouts) = (flow.fast_retransmits, flow.timeouts);
        assert_eq!(repairs + timeouts, labels(ledger, "kind").len() as u64, "{bursts:?}");
        let reductions = flow.reductions.one_burst + flow.reductions.several_bursts;
        assert_eq!(reductions, repairs + timeouts);
        let segments = flow.reductions.one_burst_segments + flow.reductions.several_bursts_segments;
        assert!((segments - (reductions * u64::from(hosts::COST)) as f64).abs() < 1e-9);
        assert_eq!(flow.retransmissions, flow.packets_lost, "nothing is sent again in vain");
        assert!(flow.completed_s.is_some());
    }
}

#[test]
fn they_cross_meshes_cells_and_slots() {
    let mesh = json!({
        "network": {"topology": "nsfnet", "wavelengths": 2},
        "core": {"contention": ["deflection"]},
        "edge": {"assembly": "hybrid", "timer": "1 ms", "size": "20 KB"},
        "bursts": [{"erlangs": 0.02, "length": {"mean": "1 MB"}}],
        "flows": [{"stack": "simple", "bytes": "200 KB", "count": 3}],
        "run": {"duration": "60 s"},
    });
    let slots = json!({
        "network": {"topology": "ring", "nodes": 5},
        "ops": {},
        "flows": [{"stack": "simple", "bytes": "200 KB", "count": 2}],
        "run": {"duration": "5 s"},
    });
    let cell = json!({
        "wlan": [{"side": "receiver"}],
        "flows": [{"stack": "simple", "bytes": "200 KB"}],
        "run": {"duration": "20 s"},
    });
    for scenario in [mesh, slots, cell] {
        let output = run(&scenario, runs::ALL);
        let all = &output.summary.counters;
        let ended = all.packets_delivered + all.packets_lost + all.packets_in_flight;
        assert_eq!(all.packets_sent, ended, "{scenario}");
        for flow in &output.summary.flows {
            assert!(flow.completed_s.is_some(), "{scenario}: {flow:?}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_fix() {
    let missing = runs::resolved(&scenario("simple")).with_stacks(None).expect_err("no stacks");
    assert_eq!((missing.path(), missing.value()), ("flows[0].stack", "simple"));
    assert!(missing.fix().contains("burstlab-stacks"), "{missing}");
    let unknown = runs::resolved(&scenario("quin")).with_stacks(Some(hosts::simple()));
    let unknown = unknown.expect_err("there is no such stack");
    assert!(unknown.fix().contains("simple, repairing, endless"), "{unknown}");
    let mut other = scenario("simple");
    other["flows"][0]["congestion_control"] = json!("cubik");
    let control = runs::resolved(&other).with_stacks(Some(hosts::simple()));
    let control = control.expect_err("there is no such control");
    assert_eq!(control.path(), "flows[0].congestion_control");
    other["flows"][0] = json!({"stack": "simple", "tcp": {"variant": "sack"}});
    assert_eq!(runs::refused(&other).path(), "flows[0].tcp");
    other["flows"][0] = json!({"congestion_control": "cubic"});
    assert_eq!(runs::refused(&other).path(), "flows[0].congestion_control");
    other["flows"][0] = json!({"stack": "simple", "script": [{"at": "1 s", "bytes": "1 KB"}]});
    let written = with_stacks(&other).scenario.clone();
    assert_eq!(written.flows()[0].script.as_ref().map(Vec::len), Some(1), "it may write a script");
}

#[test]
fn a_run_that_does_not_repeat_says_so() {
    let mut drawn = scenario("simple");
    assert!(with_stacks(&drawn).warnings.is_empty());
    drawn["flows"][0]["congestion_control"] = json!("drawn");
    let warnings = with_stacks(&drawn).warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("flows[0].congestion_control = \"drawn\": "), "{warnings:?}");
}

#[test]
fn there_are_no_checkpoints() {
    let resolved = with_stacks(&scenario("simple"));
    let mut simulation = Simulation::new(&resolved, 1, 0, Trace::default());
    simulation.advance(100);
    let error = simulation.checkpoint().expect_err("a stack cannot be stored");
    assert!(error.problem.contains("stack") && !error.fix.is_empty(), "{error}");
}

#[test]
fn a_resolved_scenario_is_read_again() {
    let mut scenario = scenario("simple");
    scenario["flows"][0]["congestion_control"] = json!("window");
    let resolved = serde_json::to_value(&with_stacks(&scenario).scenario).expect("JSON");
    assert_eq!(resolved["flows"][0]["stack"], "simple");
    assert_eq!(with_stacks(&resolved).scenario, with_stacks(&scenario).scenario);
}

#[test]
fn a_host_that_never_stops_or_sends_garbage_ends_the_run_with_an_error() {
    for &(stack, says) in hosts::BAD {
        let monitor = Monitor::default();
        let mut scenario = scenario(stack);
        scenario["loss"] = json!({});
        let resolved = with_stacks(&scenario);
        let output = Simulation::new(&resolved, 1, 0, runs::ALL).run(&monitor);
        let stuck = monitor.stuck().unwrap_or_else(|| panic!("{stack} goes on"));
        let problem = stuck.problem();
        assert!(problem.contains(says) && problem.contains("in flow 0"), "{stack}: {stuck}");
        assert_eq!((stuck.path(), stuck.fix().is_empty()), ("flows.stack", false));
        assert!(output.summary.simulated_s < 1.0, "{stack}: what was recorded is kept");
    }
}

/// Each direction is a flow: its packets have numbers from 0, its losses reactions of its own.
#[test]
fn data_of_a_stack_go_both_ways() {
    for (reply, topology) in [(false, None), (true, None), (false, Some("ring"))] {
        let mut scenario = scenario("exchange");
        let reverse = json!({"bytes": "600 KB", "reply": reply});
        scenario["flows"] = json!([{"stack": "exchange", "bytes": "1 MB", "reverse": reverse}, {}]);
        scenario["run"]["duration"] = json!("20 s");
        if let Some(shape) = topology {
            scenario["network"] = json!({"topology": shape, "nodes": 5, "wavelengths": 2});
            scenario["flows"][0]["from"] = json!("1");
            scenario["flows"][0]["to"] = json!("3");
        }
        let output = run(&scenario, runs::ALL);
        let again = run(&scenario, runs::ALL);
        runs::are_same(&output, &again).expect("two runs are the same");
        let all = &output.summary.counters;
        let ended = all.packets_delivered + all.packets_lost + all.packets_in_flight;
        assert_eq!(all.packets_sent, ended);
        let [there, back, _] = &output.summary.flows[..] else { panic!("there are three flows") };
        for (flow, bytes) in [(there, 1_000_000), (back, 600_000)] {
            assert!(flow.completed_s.is_some() && flow.bytes_delivered >= bytes, "{flow:?}");
            assert_eq!(flow.packets_sent, flow.packets_delivered + flow.packets_lost);
            assert!(flow.packets_lost > 20 && flow.fast_retransmits > 5, "{flow:?}");
            // ACKs are lost too here, and nobody sends them again.
            assert!(flow.spurious_retransmissions < flow.retransmissions, "{flow:?}");
        }
        assert_eq!(back.label, "exchange (back)");
        let packets = table(&output, "packets");
        for flow in [0, 1] {
            let of: Vec<u64> = integers(packets, "flow").into_iter().collect();
            let numbers = integers(packets, "seq").into_iter().zip(of);
            let mine: Vec<u64> = numbers.filter(|&(_, of)| of == flow).map(|(n, _)| n).collect();
            assert!(mine.iter().copied().eq(0..mine.len() as u64), "{flow}");
        }
        if reply {
            let begun = back.received_s.zip(back.received_after_s).map(|(at, after)| at - after);
            let came = there.received_s.expect("it comes");
            assert!((begun.expect("it replies") - came).abs() < 1e-9, "{begun:?} {came}");
        }
    }
}

#[test]
fn streams_and_ecn_are_refused_where_there_are_none() {
    let refused = |change: Value, at: &str| {
        let mut scenario = scenario("simple");
        scenario["access"]["marking"] = json!({"above": "30 KB"});
        for (name, value) in change.as_object().expect("fields") {
            scenario["flows"][0][name] = value.clone();
        }
        let resolved = burstlab_sim::scenario::Scenario::from_json(&scenario.to_string());
        let resolved = resolved.expect("it reads").resolve();
        let error = resolved.and_then(|known| known.with_stacks(Some(hosts::simple())));
        let error = error.expect_err("it is refused");
        assert_eq!(error.path(), at, "{error}");
    };
    refused(json!({"streams": 2}), "flows[0].streams");
    refused(json!({"streams": 0}), "flows[0].streams");
    refused(json!({"streams": 101}), "flows[0].streams");
    refused(json!({"ecn": true}), "flows[0].ecn");
    refused(json!({"streams": 2, "stack": null}), "flows[0].streams");
    refused(json!({"ecn": true, "stack": null}), "flows[0].ecn");
}
