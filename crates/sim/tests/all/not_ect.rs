//! Queues that drop packets that are not ECN-capable where they would mark others.

use burstlab_sim::{Output, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::hosts;
use crate::runs::columns::{integers, labels, table, wide};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, a_clone_goes_on, merged, numbers, refused, resolved, run, summary};
use crate::{ahead, ahead_linux, duplex, ops};

/// Where a queue marks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Queue {
    Sender,
    Receiver,
    Port,
    Slots,
}

const QUEUES: [Queue; 4] = [Queue::Sender, Queue::Receiver, Queue::Port, Queue::Slots];

/// The scenario with this rule at a queue.
fn at(queue: Queue, scenario: Value, rule: &Value) -> Value {
    let change = match queue {
        Queue::Sender => json!({"access": {"marking": rule}}),
        Queue::Receiver => json!({"access": {"receiver": {"marking": rule}}}),
        Queue::Port => json!({"edge": {"port": "fifo", "marking": rule}}),
        Queue::Slots => json!({"ops": {"marking": rule}}),
    };
    merged(scenario, &change)
}

/// Two connections whose bottleneck is a queue, which no packet finds full.
fn bottleneck(queue: Queue, tcp: &Value, rule: &Value) -> Value {
    let mut scenario = json!({
        "network": {"topology": "line", "nodes": 3, "link_delay": "3 ms", "link_rate": "1 Gb/s",
            "wavelengths": 1, "edges": ["1", "3"]},
        "access": {"rate": "100 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "1 ms"},
        "signalling": {"guard": "100 us"},
        "tcp": tcp,
        "flows": [{"from": "1", "to": "3", "count": 2, "stagger": "30 ms"}],
        "run": {"duration": "6 s"},
    });
    match queue {
        Queue::Sender => scenario["access"]["rate"] = json!("5 Mb/s"),
        Queue::Receiver => scenario["access"]["receiver"] = json!({"rate": "5 Mb/s"}),
        Queue::Port => scenario["network"]["link_rate"] = json!("10 Mb/s"),
        Queue::Slots => {
            scenario["network"] = json!({"topology": "star", "nodes": 4, "link_rate": "10 Mb/s",
                "link_delay": "3 ms"});
            scenario["tcp"]["segment_size"] = json!("576 B");
            scenario["flows"] = json!([{"from": "1", "to": "3"}, {"from": "2", "to": "3"}]);
            scenario["ops"] = json!({"unsmoothed": ["1", "2", "3"], "buffer": 5000});
            scenario.as_object_mut().map(|tables| tables.remove("edge"));
            scenario.as_object_mut().map(|tables| tables.remove("signalling"));
        }
    }
    at(queue, scenario, rule)
}

fn dropping() -> Value {
    json!({"above": "30 KB", "not_ect": "drop"})
}

fn senders() -> [Value; 3] {
    [
        json!({"variant": "reno", "window": 300}),
        json!({"variant": "sack", "profile": "ns2", "window": 300}),
        json!({"profile": "linux", "window_law": "aimd"}),
    ]
}

/// Packets of the cause in the trace; all of them are lost, with a row of the ledger.
fn dropped(output: &Output) -> u64 {
    let packets = table(output, "packets");
    let rows = labels(packets, "cause").into_iter().zip(labels(packets, "fate"));
    let fates: Vec<_> = rows.filter(|&(cause, _)| cause == "not-ect").map(|(_, f)| f).collect();
    assert!(fates.iter().all(|&fate| fate == "lost"));
    fates.len() as u64
}

#[test]
fn every_queue_that_marks_drops_packets_of_senders_without_ecn() {
    for queue in QUEUES {
        for tcp in senders() {
            let scenario = bottleneck(queue, &tcp, &dropping());
            let output = run(&scenario, 1, ALL);
            let (counters, flows) = (&output.summary.counters, &output.summary.flows);
            assert!(counters.packets_not_ect > 3, "{queue:?} {tcp}: {counters:?}");
            assert_eq!(counters.packets_lost, counters.packets_not_ect, "nothing else is lost");
            assert_eq!(counters.packets_not_ect, dropped(&output));
            let sum: u64 = flows.iter().map(|flow| flow.packets_not_ect).sum();
            assert_eq!(sum, counters.packets_not_ect);
            assert!(flows.iter().all(|flow| flow.packets_marked == 0));
            let losses = labels(table(&output, "ledger_losses"), "cause");
            assert!(!losses.is_empty() && losses.iter().all(|&cause| cause == "not-ect"));
            let reductions = flows.iter().map(|flow| flow.reductions.congestion).sum::<u64>();
            assert!(reductions > 0, "the queue is the cause of each: {flows:?}");
            assert_eq!(flows.iter().map(|flow| flow.false_timeouts).sum::<u64>(), 0);
            assert!(!output.summary.warnings.iter().any(|line| line.contains("marks nothing")));
        }
    }
}

#[test]
fn a_queue_that_passes_them_is_as_without_the_field() {
    for queue in QUEUES {
        for tcp in senders() {
            let with = |rule: Value| numbers(summary(&bottleneck(queue, &tcp, &rule), 1));
            let passed = with(json!({"above": "30 KB", "not_ect": "pass"}));
            assert_eq!(passed, with(json!({"above": "30 KB"})));
            assert_eq!(passed.counters.packets_not_ect, 0);
        }
    }
}

/// The bytes that each packet finds are computed here from the times of sending alone.
#[test]
fn a_threshold_drops_what_finds_more_and_nothing_else() {
    let tcp = json!({"variant": "sack", "window": 60, "segment_size": "1000 B"});
    let output = run(&bottleneck(Queue::Sender, &tcp, &dropping()), 1, ALL);
    let packets = table(&output, "packets");
    let columns = ["flow", "size_bytes"].map(|name| integers(packets, name));
    let (kinds, causes) = (labels(packets, "kind"), labels(packets, "cause"));
    // When each link is free, in bits of 200,000 ps, as the packets come.
    let mut free = [0_u64; 2];
    let mut seen = [0; 2];
    for (row, &at) in wide(packets, "sent_ps").iter().enumerate() {
        if kinds[row] != "data" {
            continue;
        }
        let free = &mut free[columns[0][row] as usize];
        let waiting = free.saturating_sub(at) / 200_000 / 8;
        let drops = causes[row] == "not-ect";
        assert_eq!(drops, waiting > 30_000, "row {row} finds {waiting} bytes");
        seen[usize::from(drops)] += 1;
        if !drops {
            *free = (*free).max(at) + columns[1][row] * 8 * 200_000;
        }
    }
    assert!(seen[0] > 1000 && seen[1] > 5, "{seen:?}");
}

/// Two flows share a burst, so that their packets may lie in it as trains where nobody looks.
#[test]
fn red_marks_the_same_packets_traced_or_not() {
    let red = json!({"rule": "red", "least": "10 KB", "most": "60 KB", "chance": 0.1,
        "weight": 0.02});
    for queue in QUEUES {
        let tcp = json!({"profile": "linux", "window_law": "aimd", "ecn": true});
        let scenario = bottleneck(queue, &tcp, &red);
        let traced = run(&scenario, 1, ALL).summary;
        assert!(traced.flows.iter().all(|flow| flow.packets_marked > 3), "{queue:?}");
        assert_eq!(numbers(summary(&scenario, 1)), numbers(traced), "{queue:?}");
    }
}

#[test]
fn red_drops_at_random_and_keeps_the_queue_between_its_bounds() {
    let red = json!({"rule": "red", "least": "10 KB", "most": "60 KB", "chance": 0.1,
        "weight": 0.02, "not_ect": "drop"});
    for queue in QUEUES {
        for tcp in senders() {
            let scenario = bottleneck(queue, &tcp, &red);
            let output = run(&scenario, 1, ALL);
            let counters = &output.summary.counters;
            assert!(counters.packets_not_ect > 3, "{queue:?} {tcp}: {counters:?}");
            assert_eq!(counters.packets_not_ect, dropped(&output));
            assert_eq!(numbers(summary(&scenario, 1)), numbers(output.summary));
        }
    }
}

#[test]
fn of_a_sender_with_ecn_what_is_sent_again_is_dropped_but_with_dctcp() {
    for queue in QUEUES {
        for (law, again) in [("aimd", true), ("dctcp", false)] {
            let tcp = json!({"profile": "linux", "window_law": law, "ecn": true});
            let rule = json!({"above": "12 KB", "not_ect": "drop"});
            let mut scenario = bottleneck(queue, &tcp, &rule);
            let random = json!({"process": "bernoulli", "probability": 0.002});
            scenario["loss"] = match queue {
                Queue::Slots => json!({}),
                _ => json!({"data": random}),
            };
            let output = run(&scenario, 1, ALL);
            assert!(output.summary.flows.iter().all(|flow| flow.packets_marked > 3), "{queue:?}");
            let packets = table(&output, "packets");
            let times = integers(packets, "transmission").into_iter().zip(integers(packets, "seq"));
            let rows = labels(packets, "cause").into_iter().zip(times);
            let dropped: Vec<_> = rows.filter(|&(cause, _)| cause == "not-ect").collect();
            // A SYN is not ECN-capable. Data that are new are, and with DCTCP all.
            let capable = |&&(_, (nth, seq)): &&(&str, (u64, u64))| seq > 0 && (nth == 1 || !again);
            assert_eq!(dropped.iter().filter(capable).count(), 0, "{queue:?} {law}: {dropped:?}");
        }
    }
}

#[test]
fn third_party_hosts_without_ecn_are_dropped_too() {
    for queue in QUEUES {
        for both in [false, true] {
            let rule = json!({"above": "2 KB", "not_ect": "drop"});
            let mut scenario = bottleneck(queue, &json!({}), &rule);
            scenario.as_object_mut().map(|tables| tables.remove("tcp"));
            for flow in scenario["flows"].as_array_mut().expect("a list") {
                flow["stack"] = json!("simple");
                flow["bytes"] = json!("900 KB");
                if both && queue != Queue::Slots {
                    flow["reverse"] = json!({"bytes": "300 KB"});
                }
            }
            let known = resolved(&scenario).with_stacks(Some(hosts::simple()));
            let known = known.unwrap_or_else(|error| panic!("{error}"));
            let output = burstlab_sim::Simulation::new(&known, 1, 0, ALL)
                .run(&burstlab_sim::Monitor::default());
            let counters = &output.summary.counters;
            assert!(counters.packets_not_ect > 3, "{queue:?} {both}: {counters:?}");
            assert_eq!(counters.packets_not_ect, dropped(&output));
            let ended = counters.packets_delivered + counters.packets_lost;
            assert_eq!(counters.packets_sent, ended + counters.packets_in_flight);
        }
    }
}

#[test]
fn where_there_are_no_flows_it_is_refused() {
    let mut scenario = bottleneck(Queue::Sender, &json!({}), &dropping());
    scenario["network"] = json!({"core_nodes": 1});
    scenario["edge"] = json!({"assembly": "none"});
    scenario["access"]["shared"] = json!(true);
    scenario.as_object_mut().map(|tables| tables.remove("signalling"));
    scenario["flows"] = json!([]);
    scenario["traffic"] = json!([{"side": "sender", "pattern": "poisson", "rate": "4 Mb/s"}]);
    assert_eq!(refused(&scenario).path(), "access.marking.not_ect");
}

/// A rule that drops, often.
fn any_rule() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1u64..20).prop_map(|kb| json!({"above": format!("{kb} KB"), "not_ect": "drop"})),
        (1u64..10, 1u64..20).prop_map(|(least, more)| json!({"rule": "red",
            "least": format!("{least} KB"), "most": format!("{} KB", least + more),
            "chance": 0.2, "weight": 0.1, "not_ect": "drop"})),
    ]
}

/// Any scenario, with such rules at links, and at ports where bursts may wait.
fn any_scenario() -> impl Strategy<Value = Value> {
    let sides = prop_oneof![
        2 => Just(vec![Queue::Sender]),
        2 => Just(vec![Queue::Receiver]),
        1 => Just(vec![Queue::Sender, Queue::Receiver]),
        1 => Just(vec![]),
    ];
    let any = prop_oneof![
        2 => ahead::any_path(),
        2 => ahead_linux::any_path(),
        2 => ahead::any_mesh(),
        2 => ahead_linux::any_mesh(),
        1 => duplex::any_scenario(),
        2 => ops::any_network(),
    ];
    (any, sides, any_rule(), any_rule()).prop_map(|(mut scenario, sides, rule, other)| {
        for table in ["/access", "/access/receiver", "/edge"] {
            let table = scenario.pointer_mut(table).and_then(Value::as_object_mut);
            table.map(|table| table.remove("marking"));
        }
        // Some queue has to mark, where senders heed marks.
        let tcp = &scenario["tcp"];
        let heeds = tcp["window_law"] == "dctcp" || tcp["ecn"] == true;
        let sides = if sides.is_empty() && heeds { vec![Queue::Sender] } else { sides };
        for side in sides {
            scenario = at(side, scenario, &rule);
        }
        let topology = scenario["network"]["topology"].as_str();
        let mesh = topology.is_some_and(|topology| topology != "path");
        if !scenario["ops"].is_null() {
            return at(Queue::Slots, scenario, &other);
        }
        match mesh && scenario["core"]["injection"].is_null() {
            true => at(Queue::Port, scenario, &other),
            false => scenario,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn tracing_changes_nothing_and_all_is_conserved(
        scenario in any_scenario(),
        seed in 0u64..1000,
        cut in 1u32..9000,
    ) {
        let traced = run(&scenario, seed, ALL);
        let c = &traced.summary.counters;
        prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
        prop_assert_eq!(c.bursts_sent, c.bursts_delivered + c.bursts_lost + c.bursts_in_flight);
        prop_assert_eq!(c.packets_not_ect, dropped(&traced));
        let plain = run(&scenario, seed, Trace::default());
        prop_assert_eq!(numbers(traced.summary.clone()), numbers(plain.summary));
        a_clone_goes_on(&scenario, seed, cut, &traced)?;
    }

    #[test]
    fn a_run_that_is_stored_goes_on(
        scenario in any_scenario(),
        seed in 0u64..1000,
        cut in 1u32..9000,
    ) {
        goes_on(&scenario, seed, cut)?;
    }
}
