//! Ties that are drawn, and senders that hold back what they send: nothing is lost by either, and a
//! run is the same traced, not traced, whole and in pieces.

use burstlab_sim::{Monitor, Simulation, Summary, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::columns::{labels, table, wide};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, numbers, resolved, run, summary};

/// Any network in which flows that start together meet, on links of their own or shared.
fn any_scenario() -> impl Strategy<Value = Value> {
    let network = prop_oneof![
        2 => Just(json!({"network": {"topology": "path", "link_delay": "3 ms"},
            "flows": [{"count": 3}, {"bytes": "40 KB"}],
            "traffic": []})),
        2 => Just(json!({"network": {"topology": "ring", "nodes": 4, "link_rate": "50 Mb/s",
                "link_delay": "1 ms", "wavelengths": 2},
            "signalling": {"guard": "300 us"},
            "flows": [{"from": "1", "to": "3", "count": 3}, {"from": "3", "to": "1"},
                {"from": "2", "to": "1", "bytes": "90 KB"}],
            "traffic": [{"from": "1", "to": "3", "rate": "1 Mb/s"}],
            "demand": [{"flows_per_second": 8, "per": "node",
                "size": {"distribution": "exponential", "mean": "30 KB"}}]})),
        1 => Just(json!({"network": {"topology": "ring", "nodes": 4, "link_rate": "10 Mb/s",
                "link_delay": "1 ms"},
            "ops": {}, "flows": [{"from": "1", "to": "3", "count": 3}, {"from": "2", "to": "4"}],
            "traffic": [{"from": "2", "to": "3", "rate": "1 Mb/s", "packet_size": "500 B"}]})),
    ];
    let edge = prop_oneof![
        Just(json!({"assembly": "none"})),
        (1u64..9).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
        Just(json!({"assembly": "hybrid", "timer": "5 ms", "size": "9 KB"})),
    ];
    let variant = prop::sample::select(vec!["tahoe", "reno", "new-reno", "sack", "vegas"]);
    let profile = prop::sample::select(vec!["rfc", "ns2", "ns2-2003"]);
    let jitter = prop::sample::select(vec!["0 s", "1 ms", "40 ms"]);
    let ties = prop::sample::select(vec!["fixed", "random"]);
    let access = (any::<bool>(), prop::sample::select(vec![5, 30]));
    (network, edge, variant, profile, (jitter, ties), access).prop_map(
        |(mut scenario, edge, variant, profile, (jitter, ties), (shared, queue))| {
            if scenario.get("ops").is_none() {
                scenario["edge"] = edge;
                scenario["loss"] = json!({"data": {"process": "bernoulli", "probability": 0.02}});
            }
            scenario["access"] = json!({"rate": "2 Mb/s", "delay": "1 ms", "shared": shared,
                "queue": queue});
            scenario["tcp"] = json!({"variant": variant, "profile": profile, "window": 30,
                "rto_min": "200 ms", "send_jitter": jitter, "segment_size": "500 B"});
            scenario["run"] = json!({"duration": "3 s", "warmup": "1 s", "tie_break": ties});
            scenario
        },
    )
}

fn is_conserved(summary: &Summary) -> Result<(), TestCaseError> {
    let c = &summary.counters;
    prop_assert!(c.packets_delivered > 0);
    prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
    prop_assert_eq!(c.acks_sent, c.acks_delivered + c.acks_lost + c.acks_in_flight);
    prop_assert_eq!(c.bursts_sent, c.bursts_delivered + c.bursts_lost + c.bursts_in_flight);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_a_trace_changes_nothing(
        scenario in any_scenario(),
        seed in 0u64..1000,
    ) {
        let plain = summary(&scenario, seed);
        is_conserved(&plain)?;
        prop_assert_eq!(&summary(&scenario, seed), &plain, "the same seed");
        let traced = run(&scenario, seed, ALL).summary;
        prop_assert_eq!(numbers(traced), numbers(plain));
    }

    #[test]
    fn a_run_that_was_stored_goes_on(
        scenario in any_scenario(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on(&scenario, seed, cut)?;
    }
}

/// Three flows over one short queue: no number is drawn but for ties and jitter.
fn three_flows(ties: &str, jitter: &str) -> Value {
    json!({
        "network": {"link_delay": "3 ms"},
        "access": {"rate": "10 Mb/s", "delay": "2 ms", "shared": true, "queue": 20},
        "edge": {"assembly": "none"},
        "tcp": {"profile": "ns2", "variant": "reno", "window": 40, "send_jitter": jitter},
        "flows": [{"count": 3}],
        "run": {"duration": "20 s", "tie_break": ties},
    })
}

/// The same flows, each from a node of its own, over one queue at the node of the receivers.
fn three_flows_in_a_mesh(ties: &str) -> Value {
    let mut scenario = three_flows(ties, "0 s");
    scenario["network"] = json!({"topology": "star", "nodes": 4, "link_delay": "1 ms",
        "link_rate": "1 Tb/s", "wavelengths": 3});
    scenario["access"] = json!({"rate": "100 Mb/s", "delay": "1 ms", "shared": true,
        "receiver": {"rate": "10 Mb/s", "queue": 20}});
    scenario["flows"] = json!([{"from": "1", "to": "4"}, {"from": "2", "to": "4"},
        {"from": "3", "to": "4"}]);
    scenario
}

fn goodputs(summary: &Summary) -> Vec<u64> {
    summary.flows.iter().map(|flow| flow.segments_delivered).collect()
}

#[test]
fn seeds_differ_in_the_order_of_ties_and_only_where_it_is_drawn() {
    for scenario in [
        (three_flows("fixed", "0 s"), three_flows("random", "0 s")),
        (three_flows_in_a_mesh("fixed"), three_flows_in_a_mesh("random")),
    ] {
        let (fixed, random) = scenario;
        assert_eq!(summary(&fixed, 1).fingerprint, summary(&fixed, 2).fingerprint);
        let one = summary(&random, 1);
        assert_eq!(one.fingerprint, summary(&random, 1).fingerprint, "the same seed");
        let others: Vec<_> = (2..6).map(|seed| goodputs(&summary(&random, seed))).collect();
        assert!(others.iter().any(|other| *other != goodputs(&one)), "{others:?}");
        let resolved = resolved(&random);
        let replication = |number| {
            Simulation::new(&resolved, 1, number, Trace::default()).run(&Monitor::default()).summary
        };
        let differs = |number| replication(number).fingerprint != one.fingerprint;
        assert!((1..6).any(differs), "another replication");
    }
}

#[test]
fn the_default_is_the_fixed_order_and_no_jitter() {
    let mut scenario = three_flows("fixed", "0 s");
    let written = summary(&scenario, 1);
    scenario["run"].as_object_mut().expect("a table").remove("tie_break");
    scenario["tcp"].as_object_mut().expect("a table").remove("send_jitter");
    assert_eq!(summary(&scenario, 1), written);
    let resolved = serde_json::to_value(&resolved(&scenario).scenario).expect("is written");
    assert_eq!(resolved["run"]["tie_break"], "fixed", "it is stored, as every value that held");
}

#[test]
fn without_ties_a_draw_of_them_changes_nothing() {
    let scenario = |ties: &str| {
        json!({
            "network": {"link_delay": "3 ms"}, "access": {"rate": "10 Mb/s", "delay": "2 ms"},
            "edge": {"assembly": "timer", "timer": "5 ms"},
            "loss": {"data": {"process": "every", "n": 40}},
            "tcp": {"variant": "sack"}, "run": {"duration": "20 s", "tie_break": ties},
        })
    };
    assert_eq!(numbers(summary(&scenario("random"), 1)), numbers(summary(&scenario("fixed"), 1)));
}

#[test]
fn what_is_sent_waits_less_than_the_jitter_and_keeps_its_order() {
    let output = run(&three_flows("fixed", "8 ms"), 1, ALL);
    let packets = table(&output, "packets");
    let heard = wide(table(&output, "cwnd"), "t_ps");
    let sent = wide(packets, "sent_ps").iter().copied().zip(labels(packets, "kind"));
    let data = sent.filter(|&(_, kind)| kind == "data").map(|(at, _)| at);
    let mut waited = Vec::new();
    for at in data {
        // Something happened at a sender less than a jitter before.
        let before = heard.partition_point(|&heard| heard <= at);
        if before > 0 {
            waited.push(at - heard[before - 1]);
        }
    }
    assert!(waited.iter().all(|&ps| ps < 8_000_000_000), "{:?}", waited.iter().max());
    assert!(waited.iter().any(|&ps| ps > 2_000_000_000), "some do wait");
    assert_ne!(
        summary(&three_flows("fixed", "8 ms"), 1),
        summary(&three_flows("fixed", "8 ms"), 2)
    );
}
