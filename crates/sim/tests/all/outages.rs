//! Losses in spells on a clock: of bursts in each direction, and on access links. The losses are
//! computed again from the times in the tables.

use burstlab_sim::{Output, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::ahead::any_spells;
use crate::runs::columns::{codes, labels, table, wide};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, BURSTS, lost_to, numbers, refused, resolve, run, summary};

/// 10 ms in every 100 ms are lost, from 40 ms on.
fn periodic() -> Value {
    json!({"process": "outages", "mean_up": "90 ms", "mean_down": "10 ms", "spells": "periodic",
        "phase": "40 ms"})
}

/// Whether that is down at this time, in ps.
fn is_down(at: u64) -> bool {
    let us = at / 1_000_000;
    us >= 40_000 && (us - 40_000) % 100_000 < 10_000
}

/// A path on which each packet is a burst, or a timer makes bursts.
fn path(assembly: &Value) -> Value {
    let ack = assembly.clone();
    let mut edge = assembly.clone();
    edge["ack"] = ack;
    json!({
        "access": {"rate": "20 Mb/s", "delay": "1 ms"}, "edge": edge,
        "network": {"link_delay": "2 ms"},
        "tcp": {"variant": "sack", "window": 40, "rto_min": "20 ms"},
        "flows": [{"count": 2, "stagger": "7 ms"}],
        "run": {"duration": "20 s"},
    })
}

fn assemblies() -> [Value; 3] {
    [
        json!({"assembly": "none"}),
        json!({"assembly": "timer", "timer": "3 ms"}),
        json!({"assembly": "hybrid", "timer": "5 ms", "size": "4 KB"}),
    ]
}

#[test]
fn exactly_what_is_closed_in_a_down_spell_is_lost_each_way() {
    let mesh = json!({"topology": "line", "nodes": 3, "link_delay": "2 ms", "wavelengths": 4});
    for assembly in assemblies() {
        for in_mesh in [false, true] {
            let mut scenario = path(&assembly);
            if in_mesh {
                scenario["network"] = mesh.clone();
            }
            scenario["loss"] = json!({"data": periodic(), "ack": periodic()});
            let output = run(&scenario, 1, BURSTS);
            let bursts = table(&output, "bursts");
            let cause = labels(bursts, "cause");
            let mut lost = 0;
            for (row, &closed) in wide(bursts, "closed_ps").iter().enumerate() {
                assert_eq!(cause[row] == "outage", is_down(closed), "{assembly} {closed}");
                lost += u64::from(is_down(closed));
            }
            let counters = &output.summary.counters;
            assert_eq!(lost, counters.bursts_lost + counters.ack_bursts_lost);
            assert!(counters.bursts_lost > 9 && counters.ack_bursts_lost > 4, "{lost}");
            // Ahead of the clock, and in trains, it is the same.
            let plain = summary(&scenario, 1);
            assert_eq!(numbers(plain), numbers(output.summary));
        }
    }
}

#[test]
fn a_steady_stream_loses_the_share_that_is_down() {
    for (spells, tolerance) in [("periodic", 0.002), ("exponential", 0.012)] {
        let scenario = json!({
            "network": {"topology": "line", "nodes": 2},
            "edge": {"assembly": "none"},
            "traffic": [{"pattern": "poisson", "rate": "8 Mb/s"}],
            "loss": {"data": {"process": "outages", "mean_up": "190 ms", "mean_down": "10 ms",
                "spells": spells}},
            "run": {"duration": "400 s"},
        });
        let summary = summary(&scenario, 5);
        let share = summary.counters.other_lost as f64 / summary.counters.other_sent as f64;
        // 400,000 packets; 2000 spells, whose standard error is 2.2 % of the share.
        assert!((share - 0.05).abs() < tolerance, "{spells}: {share}");
        let network = summary.network.expect("a mesh");
        let lost = lost_to(&network.data, "outage");
        assert_eq!(lost, summary.counters.bursts_lost);
    }
}

/// A sender that waits for its timer sends one probe: it passes if the spell is over, whether or
/// not anything was sent meanwhile.
#[test]
fn a_probe_after_the_spell_passes() {
    let scenario = |data: Value| {
        json!({
            "access": {"rate": "20 Mb/s", "delay": "1 ms"},
            "edge": {"assembly": "none"},
            "tcp": {"variant": "sack", "window": 8},
            "flows": [{"bytes": "100 KB"}],
            "loss": {"data": data},
            "run": {"duration": "100 s"},
        })
    };
    let clock = summary(
        &scenario(json!({"process": "outages", "mean_up": "90 s", "mean_down": "150 ms",
            "spells": "periodic", "phase": "200 ms"})),
        1,
    );
    let flow = &clock.flows[0];
    assert!(flow.packets_lost >= 8, "{}", flow.packets_lost);
    let ended = flow.acknowledged_after_s.expect("it ends");
    assert!(ended < 3.0, "one time-out of a second, and on: {ended}");
    assert_eq!(flow.timeouts, 1);
    // The same by bursts: a spell of 40 of them swallows the probes, one a time-out.
    let counted = summary(&scenario(json!({"process": "batch", "n": 100, "size": 60})), 1);
    assert!(counted.flows[0].timeouts > 4, "{}", counted.flows[0].timeouts);
}

/// Whether each packet of some kind that was handed to a link at a time of this column is lost
/// there as it is to be.
fn link_loses(output: &Output, kind: &str, column: &str, far: bool) -> u64 {
    let packets = table(output, "packets");
    let (kinds, causes) = (labels(packets, "kind"), labels(packets, "cause"));
    let crossed = wide(packets, "egress_ps");
    let mut lost = 0;
    for (row, &at) in wide(packets, column).iter().enumerate() {
        let there = (crossed[row] != u64::MAX) == far;
        if kinds[row] != kind || at == u64::MAX {
            continue;
        }
        if causes[row] == "link-lost" && there {
            assert!(is_down(at), "{kind} at {column} = {at}");
            lost += 1;
        } else if is_down(at) && causes[row] != "access-overflow" {
            panic!("{kind} of row {row} passed at {column} = {at}: {}", causes[row]);
        }
    }
    lost
}

#[test]
fn access_links_lose_both_ways_what_is_handed_to_them_in_a_spell() {
    let meshes = [
        json!({"link_delay": "2 ms"}),
        json!({"topology": "line", "nodes": 3, "link_delay": "2 ms", "wavelengths": 4}),
    ];
    for assembly in assemblies() {
        for network in &meshes {
            for (shared, queue) in [(false, None), (true, None), (false, Some(9))] {
                for receivers in [false, true] {
                    let mut scenario = path(&assembly);
                    scenario["network"] = network.clone();
                    scenario["access"]["shared"] = json!(shared);
                    scenario["access"]["queue"] = json!(queue);
                    if receivers {
                        scenario["access"]["receiver"] = json!({"loss": periodic()});
                    } else {
                        scenario["access"]["loss"] = periodic();
                    }
                    let output = run(&scenario, 1, ALL);
                    let [data, acks] = match receivers {
                        false => [("data", "sent_ps", false), ("ack", "egress_ps", true)],
                        true => [("data", "egress_ps", true), ("ack", "sent_ps", false)],
                    }
                    .map(|(kind, column, far)| link_loses(&output, kind, column, far));
                    let counters = &output.summary.counters;
                    assert_eq!(counters.access_link_lost, data, "{scenario}");
                    assert_eq!(counters.acks_lost, acks);
                    assert_eq!(counters.packets_lost, data + counters.access_lost);
                    assert!(data > 9 && acks > 4, "{data} {acks}");
                    let causes = labels(table(&output, "ledger_losses"), "cause");
                    let own = if receivers { "receiver-link" } else { "sender-link" };
                    assert!(causes.contains(&own), "{causes:?}");
                    let plain = summary(&scenario, 1);
                    assert_eq!(numbers(plain), numbers(output.summary));
                }
            }
        }
    }
}

#[test]
fn slots_and_other_traffic_meet_the_links_too() {
    let mut slots = path(&json!({}));
    slots["network"] = json!({"topology": "line", "nodes": 3, "link_delay": "2 ms"});
    slots["ops"] = json!({});
    slots["edge"] = json!({});
    slots["access"]["loss"] = periodic();
    assert!(summary(&slots, 1).counters.access_link_lost > 20);
    let mut shared = path(&json!({"assembly": "none"}));
    shared["access"]["shared"] = json!(true);
    shared["access"]["loss"] = periodic();
    shared["flows"] = json!([]);
    shared["traffic"] = json!([{"side": "sender", "pattern": "poisson", "rate": "4 Mb/s"}]);
    let counters = summary(&shared, 1).counters;
    let share = counters.other_lost as f64 / counters.other_sent as f64;
    assert_eq!(counters.other_lost, counters.access_link_lost);
    assert!((share - 0.1).abs() < 0.01, "{share}");
    shared["traffic"] = json!([]);
    shared["network"] = json!({"topology": "line", "nodes": 2, "link_rate": "1 Gb/s"});
    shared["bursts"] = json!([{"length": {"mean": "20 KB"}}]);
    assert_eq!(refused(&shared).path(), "access.loss.process");
}

#[test]
fn links_of_their_own_have_spells_of_their_own() {
    let mut scenario = path(&json!({"assembly": "none"}));
    scenario["access"]["loss"] =
        json!({"process": "outages", "mean_up": "90 ms", "mean_down": "10 ms"});
    let output = run(&scenario, 1, ALL);
    let packets = table(&output, "packets");
    let lost = |flow: u32| -> Vec<u64> {
        let flows = crate::runs::columns::integers(packets, "flow");
        let rows = labels(packets, "cause").into_iter().zip(wide(packets, "sent_ps")).zip(flows);
        rows.filter(|&((cause, _), of)| cause == "link-lost" && of as u32 == flow)
            .map(|((_, &at), _)| at / 10_000_000_000)
            .collect()
    };
    let (one, other) = (lost(0), lost(1));
    assert!(one.len() > 20 && other.len() > 20);
    assert!(one.iter().filter(|at| other.contains(at)).count() < one.len() / 2);
    assert!(!codes(packets, "fate").is_empty());
}

#[test]
fn what_has_no_effect_or_is_missing_is_refused() {
    let data = |rule: Value| json!({"loss": {"data": rule}});
    let link = |rule: Value| json!({"access": {"loss": rule}});
    let mut half = periodic();
    half["spells"] = json!("exponential");
    let short = json!({"process": "outages", "mean_up": "1 us", "mean_down": "1 us"});
    let mut late = periodic();
    late["phase"] = json!("9000 s");
    for (rule, path) in [
        (json!({"process": "outages", "mean_down": "1 s"}), "mean_up"),
        (json!({"process": "outages", "mean_up": "1 s"}), "mean_down"),
        (json!({"process": "outages", "mean_up": "0 s", "mean_down": "1 s"}), "mean_up"),
        (json!({"process": "gilbert-elliott", "mean_good": "1 s"}), "mean_bad"),
        (half, "phase"),
        (short, "mean_up"),
        (late, "phase"),
    ] {
        for (written, table) in
            [(data(rule.clone()), "loss.data"), (link(rule.clone()), "access.loss")]
        {
            assert_eq!(refused(&written).path(), format!("{table}.{path}"), "{written}");
        }
    }
    for (rule, path) in [
        (json!({"process": "bernoulli", "probability": 0.1, "mean_up": "1 s"}), "mean_up"),
        (json!({"process": "gilbert-elliott"}), "good_to_bad"),
        (
            json!({"process": "gilbert-elliott", "good_to_bad": 0.1, "mean_good": "1 s",
            "mean_bad": "1 s"}),
            "good_to_bad",
        ),
        (json!({"process": "gilbert-elliott", "good_to_bad": 0.1, "mean_bad": "1 s"}), "mean_bad"),
        (
            json!({"process": "gilbert-elliott", "mean_good": "1 s", "bad_to_good": 0.1}),
            "bad_to_good",
        ),
    ] {
        assert_eq!(refused(&data(rule)).path(), format!("loss.data.{path}"));
    }
    let slots = json!({"network": {"topology": "line"}, "ops": {}, "loss": {"data": periodic()}});
    assert_eq!(refused(&slots).path(), "loss");
    assert!(resolve(&data(periodic())).is_ok());
}

fn any_scenario() -> impl Strategy<Value = Value> {
    let network = prop_oneof![
        Just(json!({"link_delay": "2 ms"})),
        Just(json!({"topology": "ring", "nodes": 4, "link_delay": "1 ms", "wavelengths": 2})),
    ];
    let edge = (0usize..3).prop_map(|which| assemblies()[which].clone());
    let link = || prop_oneof![1 => Just(None), 1 => any_spells().prop_map(Some)];
    let rules = (any_spells(), any_spells(), link(), link());
    (network, edge, rules, any::<bool>(), any::<bool>()).prop_map(
        |(network, edge, (data, ack, near, far), shared, back)| {
            let mut scenario = path(&edge);
            scenario["network"] = network;
            scenario["loss"] = json!({"data": data, "ack": ack});
            scenario["access"]["shared"] = json!(shared);
            scenario["run"]["duration"] = json!("3 s");
            if let Some(near) = near {
                scenario["access"]["loss"] = near;
            }
            if let Some(far) = far {
                scenario["access"]["receiver"] = json!({"loss": far});
            }
            if back {
                scenario["flows"][0]["reverse"] = json!({"bytes": "80 KB"});
            }
            scenario
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_run_with_spells_is_the_same_in_pieces_and_traced(
        scenario in any_scenario(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on(&scenario, seed, cut)?;
        let traced = run(&scenario, seed, ALL).summary;
        let c = &traced.counters;
        prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
        prop_assert_eq!(c.acks_sent, c.acks_delivered + c.acks_lost + c.acks_in_flight);
        let plain = run(&scenario, seed, Trace::default()).summary;
        prop_assert_eq!(numbers(traced), numbers(plain));
    }
}
