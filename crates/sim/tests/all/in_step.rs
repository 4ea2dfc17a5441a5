//! Effects of synchronisation that are avoided: sources and rounds that begin together, and routes
//! that take turns. A name keeps the draws of an entry whatever stands before it. A run is the time
//! from 0 up to its duration, which is no more part of it.

use burstlab_sim::{Summary, Trace};
use serde_json::{Value, json};

use crate::runs::columns::{codes, integers, labels, table, wide};
use crate::runs::{ALL, merged, refused, resolved, run, summary};

/// A source at constant rate: a packet of 1000 B each millisecond.
fn cbr(from: &str) -> Value {
    json!({"from": from, "to": "5", "rate": "8 Mb/s", "packet_size": "1000 B"})
}

/// Four sources over one wavelength to one node, 0.3 % of what it carries.
fn star(traffic: &Value) -> Value {
    json!({"network": {"topology": "star", "nodes": 5, "wavelengths": 1, "link_delay": "1 us"},
        "flows": [], "traffic": traffic, "run": {"duration": "1 s"}})
}

/// When packets of other traffic were sent, by source, and which share of each was lost.
fn sent(scenario: &Value, seed: u64) -> Vec<(Vec<u64>, f64)> {
    let output = run(scenario, seed, ALL);
    let packets = table(&output, "packets");
    let (flows, at) = (integers(packets, "flow"), wide(packets, "sent_ps"));
    let (fates, kinds) = (labels(packets, "fate"), labels(packets, "kind"));
    let mut found: Vec<(Vec<u64>, f64)> = Vec::new();
    for (place, flow) in flows.into_iter().enumerate().filter(|one| kinds[one.0] == "udp") {
        let flow = flow as usize;
        found.resize(found.len().max(flow + 1), (Vec::new(), 0.0));
        found[flow].0.push(at[place]);
        found[flow].1 += f64::from(u8::from(fates[place] == "lost"));
    }
    found.into_iter().map(|(at, lost)| (at.clone(), lost / at.len() as f64)).collect()
}

#[test]
fn sources_at_constant_rate_are_not_in_step() {
    let names = ["1", "2", "3", "4"].map(cbr);
    for seed in 1..6 {
        let found = sent(&star(&json!(names)), seed);
        let mut firsts: Vec<u64> = found.iter().map(|one| one.0[0]).collect();
        assert!(firsts.iter().all(|&at| at < 1_000_000_000), "within a packet's time: {firsts:?}");
        assert!(found.iter().all(|one| one.0.windows(2).all(|w| w[1] - w[0] == 1_000_000_000)));
        assert!(found.iter().all(|one| one.1 == 0.0), "{seed}");
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 4);
    }
    // Each of one entry draws too, and each seed.
    let firsts = |seed| -> Vec<u64> {
        let count = merged(cbr("1"), &json!({"count": 3}));
        sent(&star(&json!([count])), seed).iter().map(|one| one.0[0]).collect()
    };
    let (one, other) = (firsts(1), firsts(2));
    assert!(one[0] != one[1] && one[1] != one[2] && one != other, "{one:?} {other:?}");
}

#[test]
fn a_phase_that_is_given_holds() {
    let phased = |phase: &str| merged(cbr("1"), &json!({"phase": phase, "start": "2 ms"}));
    let found = sent(&star(&json!([phased("0 s"), phased("250 us")])), 1);
    assert_eq!((found[0].0[0], found[1].0[0]), (2_000_000_000, 2_250_000_000));
    let periodic =
        merged(phased("3 ms"), &json!({"pattern": "periodic", "on": "2 ms", "period": "10 ms"}));
    let found = sent(&star(&json!([periodic])), 1);
    let at: Vec<u64> = found[0].0.iter().take(4).map(|at| at / 1_000_000_000).collect();
    assert_eq!(at, [5, 6, 15, 16]);
    // All in step, the first of them in the order of ties wins each time.
    let together = ["1", "2", "3", "4"].map(|from| merged(cbr(from), &json!({"phase": "0 s"})));
    let lost: Vec<f64> = sent(&star(&json!(together)), 1).iter().map(|one| one.1).collect();
    assert_eq!(lost.iter().filter(|&&share| share == 0.0).count(), 1, "{lost:?}");
    let poisson = merged(phased("1 ms"), &json!({"pattern": "poisson"}));
    let error = refused(&star(&json!([poisson])));
    assert_eq!(error.path(), "traffic[0].phase");
}

#[test]
fn the_phase_moves_no_other_draw() {
    let poisson = merged(cbr("2"), &json!({"pattern": "poisson"}));
    let drawn = sent(&star(&json!([cbr("1"), poisson])), 3);
    let fixed = merged(cbr("1"), &json!({"phase": "0 s"}));
    let fixed = sent(&star(&json!([fixed, poisson])), 3);
    assert_ne!(drawn[0].0, fixed[0].0);
    assert_eq!(drawn[1].0, fixed[1].0);
}

/// Five senders that answer a sixth node together, over two wavelengths and one port.
fn incast(change: &Value) -> Value {
    let scenario = json!({
        "network": {"topology": "star", "nodes": 6, "link_delay": "1 us", "wavelengths": 2},
        "access": {"rate": "10 Gb/s", "delay": "1 us"},
        "edge": {"port": "shared", "assembly": "timer", "timer": "5 us"},
        "demand": [{"pattern": "incast", "senders": 5, "receiver": "6", "every": "5 ms",
            "size": {"mean": "1 KB"}}],
        "tcp": {"rto_min": "1 ms", "rto_initial": "2 ms"},
        "run": {"duration": "4 s", "drain": "1 s"},
    });
    merged(scenario, change)
}

/// Packets that connections lost, on average, by the node of the sender.
fn losses(scenario: &Value, seed: u64) -> Vec<f64> {
    let output = run(scenario, seed, Trace::default());
    let rows = table(&output, "connections");
    let (from, lost) = (integers(rows, "from"), integers(rows, "packets_lost"));
    let mut sums = vec![(0.0, 0.0); 7];
    for (from, lost) in from.into_iter().zip(lost) {
        let sum = &mut sums[from as usize];
        *sum = (sum.0 + lost as f64, sum.1 + 1.0);
    }
    sums.into_iter().filter(|sum| sum.1 > 0.0).map(|(lost, all)| lost / all).collect()
}

#[test]
fn no_sender_of_a_round_wins_by_its_number() {
    // With a spread of about a burst many of them meet.
    for spread in [json!({}), json!({"spread": "3 us"})] {
        let mut scenario = incast(&json!({}));
        let demand = merged(scenario["demand"][0].clone(), &spread);
        scenario["demand"] = json!([demand]);
        let lost = losses(&scenario, 4);
        let mean = lost.iter().sum::<f64>() / 5.0;
        assert!(mean > 0.05, "they meet: {lost:?}");
        // 800 rounds: a mean is known to about 5 %.
        assert!(lost.iter().all(|one| (one / mean - 1.0).abs() < 0.25), "{spread}: {lost:?}");
    }
    // At one instant ties decide, and the lower number wins each time.
    let mut scenario = incast(&json!({}));
    scenario["demand"][0]["spread"] = json!("0 s");
    let lost = losses(&scenario, 4);
    let (least, most) = lost.iter().fold((f64::MAX, 0f64), |(a, b), &one| (a.min(one), b.max(one)));
    assert!(least == 0.0 && most > 1.0, "{lost:?}");
}

#[test]
fn two_demands_that_meet_are_not_in_step() {
    let pair = |from: &str| {
        json!({"pattern": "trace", "spread": "2 us",
            "trace": (0..400).map(|n| json!([format!("{} ms", 5 * n), from, "6", "1 KB"]))
                .collect::<Vec<_>>()})
    };
    let mut scenario = incast(&json!({"network": {"wavelengths": 1}}));
    scenario["demand"] = json!([pair("1"), pair("2")]);
    let lost = losses(&scenario, 1);
    assert!(lost.iter().all(|&one| one > 0.05), "{lost:?}");
    assert!((lost[0] / lost[1] - 1.0).abs() < 0.5, "{lost:?}");
    let resolved = resolved(&incast(&json!({})));
    let spread = resolved.scenario.demand[0].spread.map(|one| one.to_string());
    assert_eq!(spread.as_deref(), Some("800 ns"), "a segment of 1000 B at 10 Gb/s");
}

#[test]
fn flows_that_start_together_may_be_spread() {
    let scenario = json!({
        "network": {"topology": "star", "nodes": 4, "link_delay": "1 us"},
        "flows": [{"from": "1", "to": "4", "count": 3, "start": "1 ms", "spread": "2 ms",
            "bytes": "3 KB"}, {"from": "2", "to": "4", "bytes": "3 KB"}],
    });
    let output = run(&scenario, 1, ALL);
    let packets = table(&output, "packets");
    let first = |flow: u64| {
        let flows = integers(packets, "flow").into_iter().zip(wide(packets, "sent_ps"));
        flows.filter(|one| one.0 == flow).map(|one| *one.1).min().expect("it sends")
    };
    let starts: Vec<u64> = (0..3).map(first).collect();
    assert!(starts.iter().all(|at| (1_000_000_000..3_000_000_000).contains(at)), "{starts:?}");
    assert!(starts[0] != starts[1] && starts[1] != starts[2], "{starts:?}");
    assert_eq!(first(3), 0);
}

/// The transfers that began, and those of them that were not received at the end.
fn began(summary: &Summary) -> (u64, u64, u64) {
    let demand = &summary.demand[0];
    (demand.started, demand.cohort, demand.censored)
}

#[test]
fn nothing_begins_as_the_run_ends() {
    let scenario = |change: Value| {
        let scenario = json!({
            "network": {"topology": "leaf-spine", "link_delay": "1 us", "wavelengths": 16},
            "access": {"rate": "10 Gb/s", "delay": "1 us"},
            "demand": [{"pattern": "permutation", "every": "10 ms", "size": {"mean": "1 KB"}}],
            "run": {"duration": "50 ms"},
        });
        merged(scenario, &change)
    };
    let nodes = summary(&scenario(json!({"run": {"duration": "5 ms"}})), 1).demand[0].started;
    for spread in ["0 s", "800 ns"] {
        for drain in [json!({}), json!({"run": {"drain": "1 s"}})] {
            let mut whole = scenario(drain);
            whole["demand"][0]["spread"] = json!(spread);
            let found = summary(&whole, 1);
            assert_eq!(began(&found), (5 * nodes, 5 * nodes, 0), "{spread}");
            assert!(found.demand[0].received_mean_s.is_some());
            // The measured time begins with the warm-up's end: its round is part of it.
            whole["run"]["warmup"] = json!("20 ms");
            assert_eq!(began(&summary(&whole, 1)), (5 * nodes, 3 * nodes, 0), "{spread}");
        }
    }
    // Nor does a flow, a packet of another source, or a row of a trace.
    for drain in [Value::Null, json!("1 s")] {
        let mut scenario = json!({
            "network": {"topology": "line", "nodes": 3, "wavelengths": 4, "link_delay": "1 ms"},
            "flows": [{"bytes": "1 KB"}, {"bytes": "1 KB", "start": "100 ms"}],
            "traffic": [{"from": "1", "to": "3", "rate": "8 Mb/s", "phase": "0 s"}],
            "demand": [{"pattern": "trace", "trace":
                (0..100).map(|n| json!([format!("{} ms", 10 * n), "1", "3", "2 KB"]))
                    .collect::<Vec<_>>()}],
            "failures": [{"link": ["1", "2"], "down": "100 ms"}],
            "run": {"duration": "100 ms"},
        });
        if !drain.is_null() {
            scenario["run"]["drain"] = drain;
        }
        let output = run(&scenario, 1, ALL);
        assert_eq!(output.summary.demand[0].started, 10);
        assert_eq!(output.summary.flows[1].segments_delivered, 0);
        let packets = table(&output, "packets");
        let udp = labels(packets, "kind").into_iter().zip(wide(packets, "sent_ps"));
        let in_time = udp.filter(|one| one.0 == "udp" && *one.1 < 100_000_000_000).count();
        assert_eq!(in_time, 100);
        assert!(codes(packets, "fate").len() > 100);
        let heard = output.summary.warnings.join("\n");
        for part in [
            "demand[0].trace: 90 of 100 rows never begin: the first of them would at 100 ms",
            "flows[1].start: the flow would begin at 100 ms",
        ] {
            assert!(heard.contains(part), "{heard}");
        }
        // Fibres fail while the run drains, too.
        let drains = scenario["run"].get("drain").is_some();
        let late = heard.contains("failures[0].down: the failure would begin at 100 ms");
        assert_eq!(late, !drains, "{heard}");
        if scenario["run"].get("drain").is_none() {
            let last = wide(packets, "sent_ps").iter().max();
            assert!(last < Some(&100_000_000_000), "{last:?}");
            assert_eq!(output.summary.counters.bursts_lost, 0);
        }
    }
}

#[test]
fn what_comes_too_late_to_have_an_effect_is_said() {
    let heard = |change: Value| {
        let mut scenario = json!({
            "network": {"topology": "ring", "nodes": 5, "link_delay": "1 ms"},
            "flows": [{"count": 5, "bytes": "1 KB"}],
            "failures": [{"link": ["1", "2"], "down": "10 ms"}],
            "run": {"duration": "50 ms"},
        });
        for (table, fields) in change.as_object().expect("tables") {
            match scenario[table].as_array_mut() {
                Some(entries) => merge(&mut entries[0], fields),
                None => merge(&mut scenario[table], fields),
            }
        }
        summary(&scenario, 1).warnings.join("\n")
    };
    let spread = heard(json!({"flows": {"spread": "200 ms"}}));
    assert!(spread.contains("flows[0].spread = 200 ms: a flow begins with probability 0.25"));
    assert!(!heard(json!({"flows": {"spread": "50 ms"}})).contains("spread"));
    let reroute = "failures[0].reroute: the change of routes would begin at 70 ms";
    assert!(heard(json!({"failures": {"reroute": "60 ms"}})).contains(reroute));
    let drained = json!({"failures": {"reroute": "60 ms"}, "run": {"drain": "1 s"}});
    assert!(!heard(drained).contains("reroute"));
    for field in ["sample", "occupancy"] {
        let late = heard(json!({"run": {field: "60 ms"}}));
        assert!(late.contains(&format!("run.{field} = 60 ms has no effect")), "{late}");
        assert!(!heard(json!({"run": {field: "50 ms"}})).contains("no effect"));
    }
}

fn merge(table: &mut Value, fields: &Value) {
    for (name, value) in fields.as_object().expect("fields") {
        table[name] = value.clone();
    }
}

#[test]
fn a_batch_begins_before_the_end_or_not_at_all() {
    let scenario = |stop: &str| {
        json!({"network": {"topology": "line", "nodes": 3, "link_delay": "1 ms"}, "flows": [],
            "edge": {"assembly": "timer", "timer": "1 ms"},
            "batches": [{"batches_per_second": 1e6, "size": {"mean": "100 B"}, "stop": stop}],
            "run": {"duration": "10 ms"}})
    };
    // The same arrivals, whether the entry ends with the run or by itself.
    let count = |stop| summary(&scenario(stop), 1).counters;
    assert_eq!(count("10 ms"), count("20 ms"));
}

#[test]
fn samples_come_up_to_the_end_and_looks_in_step_are_said() {
    let scenario = json!({
        "network": {"topology": "line", "nodes": 3, "link_delay": "1 ms"},
        "demand": [{"pattern": "permutation", "every": "10 ms", "size": {"mean": "1 KB"}}],
        "run": {"duration": "100 ms", "sample": "20 ms", "occupancy": "20 ms"},
    });
    let output = run(&scenario, 1, Trace::default());
    let at = wide(table(&output, "samples"), "t_ps");
    assert_eq!(at.last(), Some(&100_000_000_000));
    let heard = output.summary.warnings.join("\n");
    for field in ["run.sample", "run.occupancy"] {
        assert!(heard.contains(&format!("{field} = 20 ms is a multiple of demand[0].every")));
    }
    let mut other = scenario;
    other["run"]["sample"] = json!("7 ms");
    other["run"]["occupancy"] = json!("7 ms");
    assert!(summary(&other, 1).warnings.iter().all(|line| !line.contains("multiple")));
}

#[test]
fn what_has_no_effect_is_said() {
    let heard = |scenario: Value| {
        let found = resolved(&scenario);
        [&found.warnings[..], &found.dropped[..]].concat().join("\n")
    };
    let endless = json!({"flows": [{}], "run": {"drain": "1 s"}});
    assert!(heard(endless).contains("run.drain = 1 s has no effect"), "endless flows only");
    let mixed = json!({"flows": [{}, {"bytes": "1 KB"}], "run": {"drain": "1 s"}});
    assert_eq!(heard(mixed), "");
    let marks = json!({"access": {"marking": {"above": "30 KB"}, "rate": "8 Mb/s"}});
    assert!(heard(marks.clone()).contains("access.marking marks nothing"));
    let linux = json!({"variant": "linux", "profile": "linux", "ecn": true});
    let some = merged(marks.clone(), &json!({"flows": [{"tcp": linux}, {}]}));
    assert_eq!(heard(some), "");
    let given = merged(marks, &json!({"flows": [{}], "tcp": {"ecn": true}}));
    assert!(heard(given).contains("tcp.ecn = true has no effect: no sender looks at it"));
    let own = json!({"flows": [{"tcp": {"ecn": true, "rack": true}}, {}]});
    let own = heard(own);
    assert!(own.contains("flows[0].tcp.ecn") && own.contains("flows[0].tcp.rack"), "{own}");
    let none = json!({"network": {"topology": "line", "nodes": 3}, "flows": [],
        "tcp": {"ecn": true}, "bursts": [{"length": {"mean": "10 KB"}}]});
    let none = heard(none);
    assert!(none.contains("tcp.ecn = true has no effect: there is no sender"), "{none}");
    let late = json!({"flows": [{"count": 5, "stagger": "3 s"},
        {"script": [{"at": "1 s", "bytes": "1 KB"}, {"at": "10 s", "bytes": "1 KB"}]}]});
    let late = heard(late);
    assert!(late.contains("the last of 5 flows, of which 4 begin, would begin at 12 s"), "{late}");
    assert!(late.contains("flows[1].script[1].at"), "{late}");
}

/// A ring in which everything draws that has entries.
fn everything() -> Value {
    json!({
        "network": {"topology": "ring", "nodes": 4, "link_rate": "1 Gb/s", "link_delay": "1 ms",
            "wavelengths": 2, "route_choice": "ecmp", "routes_per_pair": 2},
        "signalling": {"guard": "300 us"},
        "edge": {"assembly": "timer", "timer": "2 ms", "burstifiers": 2},
        "tcp": {"send_jitter": "1 ms"},
        "flows": [{"name": "f", "from": "1", "to": "3", "count": 2, "spread": "3 ms"}],
        "traffic": [{"name": "t", "from": "2", "to": "4", "rate": "4 Mb/s"},
            {"name": "u", "from": "2", "to": "4", "rate": "4 Mb/s", "pattern": "poisson"}],
        "bursts": [{"name": "b", "erlangs": 0.2, "length": {"mean": "30 KB"}}],
        "batches": [{"name": "a", "batches_per_second": 500, "size": {"mean": "2 KB"}}],
        "demand": [{"name": "d", "flows_per_second": 20, "size": {"mean": "10 KB"}},
            {"name": "r", "pattern": "incast", "senders": 2, "every": "50 ms",
                "size": {"mean": "10 KB"}}],
        "run": {"duration": "1 s"},
    })
}

#[test]
fn an_idle_entry_before_named_ones_changes_none_of_their_numbers() {
    let plain = summary(&everything(), 5);
    assert!(plain.counters.bursts_lost > 0 && plain.demand[0].completed > 0);
    assert_eq!(plain.flows[0].label, "f");
    assert_eq!((&*plain.demand[0].label, &*plain.demand[1].label), ("d", "r"));
    let idle = [
        ("flows", json!({"start": "2 s"})),
        ("traffic", json!({"start": "2 s", "from": "1", "to": "2"})),
        ("bursts", json!({"start": "2 s", "length": {"mean": "30 KB"}})),
        ("batches", json!({"start": "2 s", "size": {"mean": "2 KB"}})),
        ("demand", json!({"start": "2 s", "size": {"mean": "2 KB"}})),
    ];
    for named in [false, true] {
        for (table, entry) in &idle {
            let mut scenario = everything();
            let mut entry = entry.clone();
            if named {
                entry["name"] = json!("idle");
            }
            scenario[table].as_array_mut().expect("a list").insert(0, entry);
            let mut found = summary(&scenario, 5);
            match *table {
                "flows" => drop(found.flows.remove(0)),
                "demand" => drop(found.demand.remove(0)),
                _ => {}
            }
            for flow in &mut found.flows {
                flow.id -= u32::from(*table == "flows");
            }
            found.fingerprint.clone_from(&plain.fingerprint);
            found.warnings.clone_from(&plain.warnings);
            // It names flows and demands by their place.
            found.speed.because.clone_from(&plain.speed.because);
            assert_eq!(found, plain, "{table}");
        }
    }
}

#[test]
fn the_order_of_named_entries_changes_no_draw() {
    let mut scenario = everything();
    let times = |scenario: &Value, source: usize| sent(scenario, 2)[source].0.clone();
    let (first, second) = (times(&scenario, 0), times(&scenario, 1));
    scenario["traffic"].as_array_mut().expect("a list").reverse();
    assert_eq!((times(&scenario, 1), times(&scenario, 0)), (first, second));
}

#[test]
fn a_name_that_two_entries_have_or_that_is_none_is_refused() {
    for table in ["flows", "traffic", "bursts", "batches", "demand"] {
        let mut scenario = everything();
        let first = scenario[table][0].clone();
        scenario[table].as_array_mut().expect("a list").push(first);
        let last = scenario[table].as_array().map_or(0, Vec::len) - 1;
        let error = refused(&scenario);
        assert_eq!(error.path(), format!("{table}[{last}].name"));
        assert!(error.to_string().contains("has this name too"), "{error}");
        for name in ["", "a/b", "a\nb"] {
            scenario[table][last]["name"] = json!(name);
            assert_eq!(refused(&scenario).path(), format!("{table}[{last}].name"), "{name:?}");
        }
    }
}
