//! Properties of every mesh, whatever the scenario: conservation, determinism, and the same numbers
//! as a path where it is one.

use std::collections::{BTreeMap, BTreeSet};

use burstlab_sim::{BurstSummary, Output, Trace};
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value, json};

use crate::runs::chunks::{joined, run_in_chunks};
use crate::runs::columns::{codes, differing, integers, labels, table, wide};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, BURSTS, a_clone_goes_on, are_same, numbers, run, simulation};

/// Bursts of two ingresses: those of the first are open for longer.
fn two_ingresses(edge: &Value) -> Output {
    let scenario = json!({
        "network": {"topology": "line", "nodes": 3, "link_rate": "50 Mb/s"},
        "edge": edge,
        "flows": [{"from": "1", "to": "3"}, {"from": "2", "to": "3", "count": 3}],
        "run": {"duration": "433 ms"},
    });
    run(&scenario, 1, ALL)
}

#[test]
fn bursts_are_numbered_in_the_order_in_which_they_are_closed() {
    let output = two_ingresses(&json!({"assembly": "hybrid", "size": "9 KB", "timer": "3 ms"}));
    let bursts = table(&output, "bursts");
    let column = |name| integers(bursts, name);
    let times = column("closed_ps").into_iter().zip(column("opened_ps"));
    let mut all: Vec<(u64, (u64, u64))> = column("burst").into_iter().zip(times).collect();
    all.sort_unstable();
    let numbers: Vec<u64> = all.iter().map(|one| one.0).collect();
    assert!(numbers.len() > 50 && numbers.iter().copied().eq(1..=numbers.len() as u64));
    assert!(all.is_sorted_by_key(|one| one.1.0), "as they are closed");
    assert!(!all.is_sorted_by_key(|one| one.1.1), "not as they are opened");
}

#[test]
fn packets_that_wait_as_a_run_ends_are_in_bursts_beyond_all_others() {
    let output = two_ingresses(&json!({"assembly": "timer", "timer": "40 ms"}));
    let last = integers(table(&output, "bursts"), "burst").into_iter().max();
    let joined = integers(table(&output, "packets"), "burst").into_iter();
    let joined = joined.filter(|&burst| burst != u64::MAX);
    let beyond: BTreeSet<u64> = joined.filter(|&burst| Some(burst) > last).collect();
    let first = last.map_or(1, |last| last + 1);
    assert!(beyond.len() > 1, "packets wait in queues of both ingresses");
    assert!(beyond.iter().copied().eq(first..first + beyond.len() as u64), "{beyond:?}");
}

/// What nodes do, in any order.
fn contention(two_way: bool) -> impl Strategy<Value = Vec<&'static str>> {
    let steps = match two_way {
        true => vec!["conversion", "delay-line"],
        false => {
            vec!["conversion", "delay-line", "deflection", "segmentation", "retransmission"]
        }
    };
    let most = steps.len();
    subsequence(steps, 0..=most).prop_shuffle()
}

fn core() -> impl Strategy<Value = (Value, Value)> {
    let protocol = prop_oneof![3 => Just("jet"), 1 => Just("jit"), 1 => Just("two-way")];
    let scheduler = prop_oneof![
        Just("first-fit"),
        Just("horizon"),
        Just("lauc-vf"),
        Just("ff-vf"),
        Just("min-ev"),
        Just("best-fit"),
    ];
    let conversion = prop_oneof![Just("full"), Just("none"), Just("limited")];
    let injected = proptest::bool::weighted(0.3);
    let flags = (any::<bool>(), any::<bool>(), injected);
    (protocol, scheduler, conversion, 0u32..3, flags).prop_flat_map(
        |(protocol, scheduler, conversion, processors, (trailer, buffered, injected))| {
            contention(protocol == "two-way").prop_map(move |steps| {
                let mut core = json!({
                    "scheduler": scheduler, "conversion": conversion, "contention": steps,
                });
                if steps.contains(&"segmentation") {
                    core["segmentation"] = json!({"trailer": trailer});
                }
                if conversion == "limited" {
                    core["conversion_range"] = json!(1);
                }
                if conversion != "none" && buffered {
                    let shared = if trailer { "node" } else { "output" };
                    core["converters"] = json!({"number": processors, "shared": shared});
                }
                if steps.contains(&"delay-line") {
                    core["delay_lines"] = json!({"delays": ["0.2 ms", "0.2 ms", "1 ms"],
                        "passes": 1 + processors});
                    if trailer {
                        core["delay_lines"]["passes_on_path"] = json!(1 + processors);
                    }
                }
                if injected && protocol != "two-way" {
                    core["injection"] = json!({"data": 0.1, "ack": 0.05,
                        "per": if trailer { "node" } else { "burst" }});
                }
                if buffered && steps.contains(&"retransmission") {
                    core["retransmission"] = json!({"attempts": 2, "buffer": "30 KB"});
                }
                let mut signalling = json!({"protocol": protocol, "guard": "300 us"});
                if protocol == "two-way" {
                    signalling["requests"] = json!(3);
                }
                if processors > 0 {
                    signalling["processors"] = json!(processors);
                }
                (core, signalling)
            })
        },
    )
}

fn edge() -> impl Strategy<Value = Value> {
    let data = prop_oneof![
        Just(json!({"assembly": "none"})),
        (1u64..8).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
        Just(json!({"assembly": "hybrid", "timer": "5 ms", "size": "6 KB"})),
        Just(json!({"assembly": "hybrid", "timer": "5 ms", "size": "6 KB", "at_most": true})),
        Just(json!({"assembly": "adaptive", "timer": "8 ms", "timer_min": "1 ms",
            "size": "8 KB", "weight": 0.3})),
        Just(json!({"assembly": "cwnd-classes", "cwnd_thresholds": [4, 9],
            "class_timers": ["1 ms", "3 ms", "6 ms"]})),
    ];
    let ack = prop_oneof![
        Just(json!({"assembly": "none"})),
        Just(json!({"assembly": "timer", "timer": "2 ms"})),
        Just(json!({"with_data": true})),
    ];
    let queues = prop_oneof![Just("destination"), Just("class"), Just("flow")];
    (data, ack, queues, any::<bool>(), any::<bool>(), 1u32..4).prop_map(
        |(mut edge, ack, queues, shared, padded, burstifiers)| {
            edge["ack"] = ack;
            edge["queues"] = json!(queues);
            edge["port"] = json!(if shared { "shared" } else { "fifo" });
            edge["class_offsets"] = json!(["0 us", "300 us"]);
            if queues != "flow" {
                edge["burstifiers"] = json!(burstifiers);
            }
            if padded {
                edge["min_size"] = json!("2 KB");
            }
            edge
        },
    )
}

/// Batches of some pairs, and perhaps more of all, of which most are split over bursts.
fn batches() -> impl Strategy<Value = Value> {
    let hurst = prop_oneof![Just(0.5), Just(0.8)];
    let mean = prop_oneof![Just("300 B"), Just("3 KB"), Just("20 KB")];
    (hurst.clone(), hurst, mean, 0u32..2, any::<bool>()).prop_map(
        |(arrivals, sizes, mean, class, more)| {
            let first = json!({"batches_per_second": 60, "class": class,
                "hurst_arrivals": arrivals, "hurst_sizes": sizes,
                "size": {"distribution": "exponential", "mean": mean}});
            let second = json!({"batches_per_second": 40, "packet_size": "700 B",
                "start": "100 ms", "stop": "900 ms",
                "size": {"distribution": "fixed", "mean": "1 KB"}});
            if more { json!([first, second]) } else { json!([first]) }
        },
    )
}

/// Any mesh, slow enough that bursts meet all the time, small enough to run in milliseconds.
fn any_mesh() -> impl Strategy<Value = Value> {
    let network = prop_oneof![
        (4u32..7, 1u32..4).prop_map(|(n, w)| json!({"topology": "ring", "nodes": n,
            "link_delay": "1 ms", "wavelengths": w, "routes_per_pair": 2,
            "route_choice": "random"})),
        (1u32..4).prop_map(|w| json!({"topology": "dumbbell", "nodes": 3,
            "link_delay": "2 ms", "wavelengths": w})),
        Just(json!({"topology": "nsfnet-8e6c", "wavelengths": 2, "routing": "hops"})),
    ];
    let loss = prop_oneof![
        3 => Just(json!({"process": "none"})),
        1 => (0usize..4).prop_map(|node| {
            json!({"process": "bernoulli", "probability": 0.1, "node": node})
        }),
    ];
    let tcp = (
        prop_oneof![Just("reno"), Just("new-reno"), Just("sack")],
        prop_oneof![
            Just(("none", "aimd")),
            Just(("ble", "aimd")),
            Just(("back", "aimd")),
            Just(("bnak", "aimd")),
            Just(("oracle", "aimd")),
            Just(("em", "aimd")),
            Just(("law", "bcl")),
            Just(("law", "saimd")),
        ],
        any::<bool>(),
    );
    let others = (any::<bool>(), batches());
    (network, core(), edge(), loss.clone(), loss, tcp, others).prop_map(
        |(
            mut network,
            (mut core, signalling),
            edge,
            data,
            ack,
            (variant, (detector, law), delayed),
            (own, batches),
        )| {
            network["link_rate"] = json!("20 Mb/s");
            if network["wavelengths"] == 1 {
                core.as_object_mut().expect("a table").remove("converters");
            }
            let nodes = match network["topology"].as_str() {
                Some("nsfnet-8e6c") => ["1", "14"],
                Some("dumbbell") => ["left1", "right2"],
                _ => ["1", "3"],
            };
            // Senders that listen need bursts to hear of.
            let none = edge["assembly"] == "none";
            let (detector, law) = if none { ("ble", "aimd") } else { (detector, law) };
            if own {
                let set = json!({"scheduler": "ff-vf", "conversion": "none"});
                core["group"] = json!([{"first": 2, "set": set}]);
            }
            json!({
                "network": network, "core": core, "signalling": signalling, "edge": edge,
                "access": {"rate": "20 Mb/s", "delay": "0.1 ms", "shared": own, "queue": 40},
                "loss": {"data": data, "ack": ack},
                "tcp": {"variant": variant, "window": 30, "detector": detector,
                    "window_law": law, "delayed_ack": delayed},
                "flows": [{"from": nodes[0], "to": nodes[1], "count": 2, "class": 1}],
                "demand": [{"flows_per_second": 6, "per": "node",
                    "size": {"distribution": "exponential", "mean": "20 KB"}}],
                "traffic": [{"from": nodes[1], "to": nodes[0], "pattern": "poisson",
                    "rate": "1 Mb/s", "packet_size": "500 B"}],
                "bursts": [{"erlangs": 0.4, "per": "node", "class": 1,
                    "length": {"distribution": "exponential", "mean": "5 KB"}}],
                "batches": batches,
                "run": {"duration": "1500 ms", "warmup": "200 ms", "sample": "100 ms"},
            })
        },
    )
}

/// Conservation of the bursts of every kind.
fn kept(bursts: &BurstSummary) -> Result<(), TestCaseError> {
    prop_assert!(bursts.bursts_lost <= bursts.bursts);
    prop_assert!(bursts.packets_cut <= bursts.packets_lost);
    prop_assert!(bursts.packets_lost <= bursts.packets);
    prop_assert!(bursts.bytes_cut <= bursts.bytes_lost && bursts.bytes_lost <= bursts.bytes);
    let run = &bursts.run;
    prop_assert_eq!(run.bytes_sent, run.bytes_delivered + run.bytes_lost + run.bytes_in_flight);
    prop_assert!(bursts.bytes <= run.bytes_delivered + run.bytes_lost);
    prop_assert!(bursts.bytes_lost <= run.bytes_lost, "{:?}", bursts);
    prop_assert!(bursts.control_wait_s <= bursts.longest_control_wait_s + 1e-12);
    prop_assert!(bursts.processor_wait_s <= bursts.longest_processor_wait_s + 1e-12);
    let sum = |lost: Vec<u64>| lost.iter().sum::<u64>();
    let causes = bursts.causes.iter().map(|one| one.bursts).collect();
    let routes = bursts.routes.iter().map(|one| one.lost).collect();
    let hops = bursts.hops.iter().map(|one| one.lost).collect();
    let sizes = bursts.sizes.iter().map(|one| one.lost).collect();
    for parts in [causes, routes, hops, sizes] {
        prop_assert_eq!(sum(parts), bursts.bursts_lost);
    }
    Ok(())
}

/// Flows, and the bursts that carried a data packet of them; those of the bursts that were lost
/// with such a packet, which was not cut off before. By the traces.
fn bursts_of_flows(output: &Output) -> [BTreeSet<(u64, u64)>; 2] {
    let (bursts, packets) = (table(output, "bursts"), table(output, "packets"));
    let is = |table, name, label: &str| -> Vec<bool> {
        labels(table, name).into_iter().map(|one| one == label).collect()
    };
    let fates = integers(bursts, "burst").into_iter().zip(is(bursts, "fate", "lost"));
    let closed: BTreeMap<u64, bool> = fates.collect();
    let (data, cut) = (is(packets, "kind", "data"), is(packets, "cause", "cut"));
    let travelled = integers(packets, "flow").into_iter().zip(integers(packets, "burst"));
    let rows: Vec<_> = travelled.zip(data.into_iter().zip(cut)).filter(|row| row.1.0).collect();
    // Packets of a burst that is still open have its number.
    let in_bursts = rows.iter().filter(|&((_, burst), _)| closed.contains_key(burst));
    let died = in_bursts.clone().filter(|&((_, burst), (_, cut))| !cut && closed[burst]);
    [in_bursts.map(|row| row.0).collect(), died.map(|row| row.0).collect()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn nothing_appears_or_vanishes(scenario in any_mesh(), seed in 0u64..1000) {
        let output = run(&scenario, seed, Trace::default());
        let c = &output.summary.counters;
        prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
        prop_assert_eq!(c.acks_sent, c.acks_delivered + c.acks_lost + c.acks_in_flight);
        prop_assert_eq!(c.other_sent, c.other_delivered + c.other_lost + c.other_in_flight);
        prop_assert_eq!(c.bursts_sent, c.bursts_delivered + c.bursts_lost + c.bursts_in_flight);
        prop_assert_eq!(
            c.ack_bursts_sent,
            c.ack_bursts_delivered + c.ack_bursts_lost + c.ack_bursts_in_flight
        );
        prop_assert_eq!(
            c.background_bursts_sent,
            c.background_bursts_delivered + c.background_bursts_lost
                + c.background_bursts_in_flight
        );
        prop_assert_eq!(c.batches_sent, c.batches_delivered + c.batches_lost + c.batches_in_flight);
        prop_assert_eq!(
            c.batch_packets_sent,
            c.batch_packets_delivered + c.batch_packets_lost + c.batch_packets_in_flight
        );
        prop_assert_eq!(
            c.batch_bytes_sent,
            c.batch_bytes_delivered + c.batch_bytes_lost + c.batch_bytes_in_flight
        );
        prop_assert!(c.batches_delivered > 0);
        prop_assert!(c.packets_delivered > 0 && c.background_bursts_delivered > 0);
        let network = output.summary.network.as_ref().expect("a mesh");
        let by_cause: u64 = network.all.causes.iter().map(|cause| cause.bursts).sum();
        prop_assert_eq!(by_cause, network.all.bursts_lost);
        let by_route: u64 = network.all.routes.iter().map(|route| route.bursts).sum();
        prop_assert_eq!(by_route, network.all.bursts);
        for link in &network.links {
            let shares = link.wavelengths.iter().chain([&link.utilisation]);
            prop_assert!(shares.clone().all(|share| (0.0..=1.0).contains(share)));
            let kinds = [&link.data, &link.acks, &link.background];
            for port in kinds.into_iter().chain([&link.all]) {
                let fates = port.carried + port.lost + port.deflected + port.resent + port.refused;
                prop_assert_eq!(port.offered, fates);
                prop_assert!(port.contended <= port.offered, "{port:?}");
            }
            prop_assert_eq!(link.all.offered, kinds.iter().map(|port| port.offered).sum::<u64>());
        }
        for bursts in [&network.data, &network.acks, &network.background, &network.all] {
            kept(bursts)?;
        }
        let demand = &output.summary.demand[0];
        let ids = integers(table(&output, "connections"), "id");
        prop_assert_eq!(ids.len() as u64, demand.started);
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        prop_assert_eq!(sorted.len(), ids.len(), "a connection leaves one row");
    }

    #[test]
    fn tracing_changes_nothing_and_a_run_can_be_cut_and_cloned(
        scenario in any_mesh(),
        seed in 0u64..1000,
        cut in 1u32..20_000,
    ) {
        let whole = run(&scenario, seed, ALL);
        let plain = run(&scenario, seed, Trace::default());
        prop_assert_eq!(numbers(whole.summary.clone()), numbers(plain.summary));
        a_clone_goes_on(&scenario, seed, cut, &whole)?;
    }

    #[test]
    fn a_run_that_is_stored_and_read_is_the_run_in_one_piece(
        scenario in any_mesh(),
        seed in 0u64..1000,
        cut in 1u32..20_000,
    ) {
        goes_on(&scenario, seed, cut)?;
    }

    #[test]
    fn chunks_are_the_whole_tables(
        scenario in any_mesh(),
        seed in 0u64..1000,
        bits in 0u32..9,
        slice in 1u32..500,
    ) {
        let whole = joined(run(&scenario, seed, ALL));
        let simulation = simulation(&scenario, seed, ALL);
        let (joined, _) = run_in_chunks(simulation, 1 << bits, slice);
        are_same(&joined, &whole)?;
    }

    #[test]
    fn what_is_traced_is_what_is_counted(scenario in any_mesh(), seed in 0u64..1000) {
        let output = run(&scenario, seed, ALL);
        let c = &output.summary.counters;
        let packets = table(&output, "packets");
        let (kinds, fates) = (codes(packets, "kind"), codes(packets, "fate"));
        let count = |kind, fate| {
            let rows = kinds.iter().zip(fates);
            rows.filter(|&(&k, &f)| (k, f) == (kind, fate)).count() as u64
        };
        prop_assert_eq!(count(0, 0), c.packets_in_flight);
        prop_assert_eq!(count(0, 1), c.packets_delivered);
        prop_assert_eq!(count(0, 2), c.packets_lost);
        prop_assert_eq!(count(1, 0), c.acks_in_flight);
        prop_assert_eq!(count(1, 2), c.acks_lost);
        prop_assert_eq!(count(2, 0), c.other_in_flight);
        prop_assert_eq!(count(2, 1), c.other_delivered);
        prop_assert_eq!(count(2, 2), c.other_lost);
        let fates = codes(table(&output, "bursts"), "fate");
        let lost = fates.iter().filter(|&&fate| fate == 2).count() as u64;
        prop_assert_eq!(lost, c.bursts_lost + c.ack_bursts_lost + c.background_bursts_lost);
        let flying = fates.iter().filter(|&&fate| fate == 0).count() as u64;
        prop_assert_eq!(
            flying,
            c.bursts_in_flight + c.ack_bursts_in_flight + c.background_bursts_in_flight
        );
    }

    #[test]
    fn the_bursts_of_a_flow_are_those_that_carried_its_packets(
        scenario in any_mesh(),
        seed in 0u64..1000,
    ) {
        let output = run(&scenario, seed, ALL);
        let [all, died] = bursts_of_flows(&output);
        for flow in &output.summary.flows {
            let of = |bursts: &BTreeSet<(u64, u64)>| {
                bursts.iter().filter(|&&(id, _)| id == u64::from(flow.id)).count() as u64
            };
            prop_assert_eq!((flow.bursts, flow.bursts_lost), (of(&all), of(&died)));
        }
    }

    #[test]
    fn bursts_share_no_wavelength_in_the_trace(mut scenario in any_mesh(), seed in 0u64..1000) {
        // A tail that is cut from a burst that was lost further on comes too late for its rows.
        if let Some(steps) = scenario["core"]["contention"].as_array_mut() {
            steps.retain(|step| step != "segmentation");
        }
        if let Some(core) = scenario["core"].as_object_mut() {
            core.remove("segmentation");
        }
        let output = run(&scenario, seed, ALL);
        let column = |name| integers(table(&output, "bursts_hops"), name);
        let [from, to] = [column("from"), column("to")];
        let [wavelength, departed, end] = ["wavelength", "departed_ps", "end_ps"].map(column);
        let mut held: Vec<_> = (0..from.len())
            .filter(|&row| wavelength[row] != u64::MAX)
            .map(|row| ((from[row], to[row], wavelength[row]), departed[row], end[row]))
            .collect();
        held.sort_unstable();
        prop_assert!(held.len() > 10, "{}", held.len());
        for pair in held.windows(2) {
            prop_assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1, "{pair:?}");
        }
    }
}

#[test]
fn what_enters_a_node_leaves_it_or_is_lost_there() {
    for (port, steps) in [
        ("fifo", json!(["deflection", "segmentation"])),
        ("shared", json!(["segmentation", "delay-line", "deflection"])),
        ("shared", json!(["deflection"])),
        ("fifo", json!([])),
    ] {
        let mut core = json!({"contention": steps});
        if steps.as_array().is_some_and(|steps| steps.contains(&json!("delay-line"))) {
            core["delay_lines"] = json!({"delays": ["20 us", "50 us"]});
        }
        let scenario = json!({
            "network": {"topology": "nsfnet", "wavelengths": 2},
            "core": core, "edge": {"port": port}, "signalling": {"guard": "5 us"},
            "bursts": [{"erlangs": 1.2, "per": "node", "stop": "900 ms",
                "length": {"distribution": "exponential", "mean": "50 KB"}}],
            "run": {"duration": "1 s"},
        });
        let network = run(&scenario, 5, Trace::default()).summary.network.expect("a mesh");
        assert!(network.all.bursts > 100_000 && network.all.resolutions.contentions > 1000);
        let lossy = steps.as_array().is_some_and(|steps| steps.len() < 2);
        assert!(network.all.bursts_lost > 0 || !lossy);
        for node in &network.nodes {
            let into = network.links.iter().filter(|link| link.to == node.name);
            let out = network.links.iter().filter(|link| link.from == node.name);
            let begun = network.all.routes.iter().filter(|route| route.from == node.name);
            let done = network.all.routes.iter().filter(|route| route.to == node.name);
            let arrived: u64 = into.map(|link| link.all.carried).sum();
            let started: u64 = begun.map(|route| route.bursts).sum();
            let left: u64 = out.map(|link| link.all.carried).sum();
            let landed: u64 = done.map(|route| route.bursts - route.lost).sum();
            assert_eq!(arrived + started, left + landed + node.all.bursts_lost, "{steps} {node:?}");
        }
    }
}

/// A path and the line of four nodes that it is, with one flow and its offset time.
fn twins(edge: &Value, tcp: &Value, flow: &Value, seconds: u64) -> [Output; 2] {
    let scenario = |network: Value, offsets: Value, ends: Value| {
        let mut edge = edge.clone();
        let mut flow = flow.clone();
        for (into, from) in [(&mut flow, &ends), (&mut edge, &offsets["edge"])] {
            let from = from.as_object().expect("a table").clone();
            into.as_object_mut().expect("a table").extend(from);
        }
        if let Some(ack) = offsets.get("ack") {
            edge["ack"]["offset"] = ack.clone();
        }
        json!({
            "network": network, "edge": edge, "tcp": tcp, "flows": [flow],
            "signalling": offsets["signalling"], "access": {"rate": "10 Mb/s", "delay": "1 ms"},
            "run": {"duration": format!("{seconds} s"), "warmup": "1 s"},
        })
    };
    let path = scenario(
        json!({"core_nodes": 2, "link_delay": "3 ms"}),
        json!({"edge": {"offset": "200 us"}, "ack": "200 us", "signalling": {}}),
        json!({}),
    );
    let line = scenario(
        json!({"topology": "line", "nodes": 4, "link_delay": "3 ms", "edges": ["1", "4"]}),
        json!({"edge": {}, "signalling": {"offset": "200 us"}}),
        json!({"from": "1", "to": "4"}),
    );
    [run(&path, 1, ALL), run(&line, 1, ALL)]
}

#[test]
fn a_line_without_contention_is_a_path() {
    let timer = json!({"assembly": "timer", "timer": "4 ms",
        "ack": {"assembly": "timer", "timer": "2 ms"}});
    let hybrid = json!({"assembly": "hybrid", "timer": "6 ms", "size": "9 KB", "ack": {}});
    let none = json!({"assembly": "none", "ack": {}});
    let finite = json!({"bytes": "3 MB"});
    for edge in [timer, hybrid, none] {
        for tcp in [json!({"window": 50}), json!({"variant": "reno", "delayed_ack": true})] {
            for flow in [json!({}), finite.clone()] {
                let [path, line] = twins(&edge, &tcp, &flow, 8);
                assert!(path.summary.counters.packets_delivered > 1000);
                let [mut of_path, mut of_line] = [path.summary.flows, line.summary.flows];
                for flow in of_path.iter_mut().chain(&mut of_line) {
                    // A path does not count the bursts of a flow.
                    flow.bursts = 0;
                }
                assert_eq!(of_path, of_line, "{edge} {tcp} {flow}");
                assert_eq!(path.summary.fingerprint, line.summary.fingerprint, "{edge} {tcp}");
                let packets = |mut tables: Vec<burstlab_sim::Table>| {
                    tables.truncate(1);
                    // Bursts are numbered by direction on a path, and all together in a mesh.
                    tables[0].columns.retain(|column| column.0 != "burst");
                    tables
                };
                let found = differing(&packets(path.tables), &packets(line.tables));
                assert_eq!(found, None, "{edge} {tcp} {flow}");
            }
        }
    }
}

#[test]
fn a_connection_that_is_done_leaves_nothing_but_its_row() {
    let scenario = json!({
        "network": {"topology": "star", "nodes": 6, "link_delay": "0.1 ms"},
        "edge": {"assembly": "timer", "timer": "1 ms", "ack": {"with_data": true}},
        "access": {"rate": "100 Mb/s", "delay": "0.1 ms"},
        "demand": [{"flows_per_second": 200, "size": {"mean": "10 KB"}}],
        "tcp": {"delayed_ack": false},
        "run": {"duration": "20 s"},
    });
    let output = run(&scenario, 1, Trace { packets: true, ..Trace::default() });
    let demand = &output.summary.demand[0];
    assert!(demand.started > 20_000, "{demand:?}");
    assert!(demand.started - demand.completed < 100, "{demand:?}");
    // Little's law: open connections = arrivals a second x time of a connection.
    let little = demand.started as f64 / 20.0 * demand.departed.completion_time_s;
    assert!((demand.active / little - 1.0).abs() < 0.02, "{} and {little}", demand.active);
}

#[test]
fn demands_come_at_their_rate_and_go_where_they_should() {
    let scenario = |change: Value| {
        let mut demand = json!({"flows_per_second": 30, "size": {"mean": "1 KB"}});
        demand.as_object_mut().expect("a table").extend(change.as_object().expect("one").clone());
        json!({
            "network": {"topology": "ring", "nodes": 4, "link_delay": "0.1 ms"},
            "demand": [demand], "run": {"duration": "100 s"},
        })
    };
    let counts = |change: Value| -> [[u64; 4]; 4] {
        let output = run(&scenario(change), 3, Trace::default());
        let column = |name| integers(table(&output, "connections"), name);
        let mut counts = [[0; 4]; 4];
        for (from, to) in column("from").into_iter().zip(column("to")) {
            counts[from as usize][to as usize] += 1;
        }
        counts
    };
    // Five standard deviations of a Poisson count.
    let near = |count: u64, mean: f64| (count as f64 - mean).abs() < 5.0 * mean.sqrt() + 1e-9;
    let expect = |counts: [[u64; 4]; 4], mean: &dyn Fn(usize, usize) -> f64| {
        for (from, row) in counts.iter().enumerate() {
            for (to, &count) in row.iter().enumerate() {
                let mean = if from == to { 0.0 } else { mean(from, to) };
                assert!(near(count, mean), "{from} to {to}: {count}, not {mean}");
            }
        }
    };
    expect(counts(json!({})), &|_, _| 1000.0);
    expect(counts(json!({"per": "pair"})), &|_, _| 3000.0);
    expect(counts(json!({"per": "network"})), &|_, _| 250.0);
    let weights = [3.0, 1.0, 1.0, 1.0];
    let gravity = json!({"per": "network", "destination": "gravity",
        "weights": [{"node": "1", "weight": 3}]});
    let whole: f64 = 6.0 * 6.0 - 12.0;
    expect(counts(gravity.clone()), &|from, to| 3000.0 * weights[from] * weights[to] / whole);
    // The same for the mean of all nodes, and of all pairs.
    for (per, times) in [("node", 4.0), ("pair", 12.0)] {
        let mut gravity = gravity.clone();
        gravity["per"] = json!(per);
        let mean = |from: usize, to: usize| times * 3000.0 * weights[from] * weights[to] / whole;
        expect(counts(gravity), &mean);
    }
    let matrix = json!({"per": "pair", "destination": "matrix",
        "matrix": [{"from": "2", "to": "4", "weight": 0.5}]});
    expect(counts(matrix), &|from, to| if (from, to) == (1, 3) { 1500.0 } else { 0.0 });
}

#[test]
fn the_window_of_the_sender_decides_the_class() {
    // Ten-segment window: all data of the steady state are in the middle class, of 20 ms.
    let scenario = |thresholds: Value| {
        json!({
            "network": {"topology": "line", "nodes": 2, "link_delay": "1 ms"},
            "access": {"rate": "100 Mb/s", "delay": "0 s"},
            "edge": {"assembly": "cwnd-classes", "cwnd_thresholds": thresholds,
                "class_timers": ["1 ms", "20 ms", "50 ms"]},
            "flows": [{"from": "1", "to": "2"}],
            "tcp": {"window": 10, "delayed_ack": false, "initial_ssthresh": 10},
            "run": {"duration": "20 s", "warmup": "5 s"},
        })
    };
    let assembly = |thresholds: Value| {
        let output = run(&scenario(thresholds), 1, BURSTS);
        let bursts = table(&output, "bursts");
        let kinds = codes(bursts, "direction");
        let (opened, closed) = (wide(bursts, "opened_ps"), wide(bursts, "closed_ps"));
        let last = (0..kinds.len()).rev().find(|&row| kinds[row] == 0).expect("a data burst");
        (closed[last] - opened[last]) / 1_000_000_000
    };
    assert_eq!(assembly(json!([10, 11])), 20, "the threshold belongs to the class above");
    assert_eq!(assembly(json!([11, 12])), 1);
    assert_eq!(assembly(json!([2, 10])), 50);
}
