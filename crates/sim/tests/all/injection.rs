//! Contention that a scenario injects: how often, where, what resolves it, what it leaves alone.

use std::collections::BTreeMap;

use burstlab_sim::{Column, NetworkSummary, Trace};
use serde_json::{Value, json};

use crate::runs::columns::{column, integers, table, wide};
use crate::runs::{BURSTS, lost_to, merge, merged, refused, run, summary};

/// A ring of six nodes with nothing on it but constant traffic from node 1 to node 4, a packet a
/// burst and 2000 of them a second; `change` is laid over it.
fn ring(change: &Value) -> Value {
    let mut scenario = json!({
        "network": {"topology": "ring", "nodes": 6, "link_delay": "1 ms", "wavelengths": 8,
            "link_rate": "1 Gb/s"},
        "edge": {"assembly": "none", "port": "shared"}, "signalling": {"guard": "10 us"},
        "traffic": [{"from": "1", "to": "4", "pattern": "cbr", "rate": "8 Mb/s",
            "packet_size": "500 B"}],
        "run": {"duration": "20 s"},
    });
    merge(&mut scenario, change);
    scenario
}

fn network(change: &Value) -> NetworkSummary {
    let scenario = merged(ring(&json!({"flows": []})), change);
    summary(&scenario, 1).network.expect("a mesh")
}

/// Whether a count of `n` trials is within five standard deviations of its mean.
fn near(count: u64, n: u64, chance: f64) -> bool {
    let (n, count) = (n as f64, count as f64);
    (count - n * chance).abs() < 5.0 * (n * chance * (1.0 - chance)).sqrt() + 1e-9
}

#[test]
fn bursts_meet_it_at_its_rate_evenly_among_the_nodes_of_their_route() {
    for (port, nodes) in [("shared", &["1", "2", "3"][..]), ("fifo", &["2", "3"])] {
        let network = network(&json!({
            "edge": {"port": port}, "core": {"injection": {"data": 0.05}}}));
        let n = network.all.bursts;
        assert!(n > 39_000, "{n}");
        assert_eq!(lost_to(&network.all, "injected-contention"), network.all.bursts_lost);
        assert_eq!(network.all.resolutions.injected, network.all.resolutions.contentions);
        assert!(near(network.all.bursts_lost, n, 0.05), "{} of {n}", network.all.bursts_lost);
        for node in &network.nodes {
            let share =
                if nodes.contains(&node.name.as_str()) { 1.0 / nodes.len() as f64 } else { 0.0 };
            assert!(near(node.all.bursts_lost, n, 0.05 * share), "{port} {node:?}");
            assert_eq!(node.all.contention, 0, "no burst blocked another");
        }
    }
}

#[test]
fn the_chance_of_a_node_is_met_at_each() {
    let network = network(&json!({"core": {"injection": {"data": 0.05, "per": "node"}}}));
    let mut reach = 1.0;
    for name in ["1", "2", "3"] {
        let node = network.nodes.iter().find(|node| node.name == name).expect("a node");
        assert!(near(node.all.bursts_lost, network.all.bursts, 0.05 * reach), "{node:?}");
        reach *= 0.95;
    }
}

#[test]
fn each_attempt_draws_anew() {
    let network = network(&json!({"core": {
        "injection": {"data": 0.1}, "contention": ["retransmission"]}}));
    let (n, steps) = (network.all.bursts, &network.all.resolutions);
    assert!(near(steps.resent, n, 0.1), "{steps:?}");
    assert!(near(network.all.bursts_lost, n, 0.01), "{} of {n}", network.all.bursts_lost);
    assert_eq!(steps.injected, steps.resent + network.all.bursts_lost);
    let thrice = json!({"core": {"injection": {"data": 1.0}, "contention": ["retransmission"],
        "retransmission": {"attempts": 3}}});
    let network = self::network(&thrice);
    assert_eq!(network.all.bursts_lost, network.all.bursts, "a certain contention each time");
}

#[test]
fn what_resolves_contention_resolves_it() {
    let of = |steps: Value, more: Value| {
        let mut core = json!({"injection": {"data": 0.05}, "contention": steps});
        merge(&mut core, &more);
        network(&json!({"core": core}))
    };
    let lines = json!({"delay_lines": {"delays": ["100 us"]}});
    let delayed = of(json!(["conversion", "segmentation", "delay-line"]), lines);
    assert_eq!(
        (delayed.all.bursts_lost, delayed.all.resolutions.injected),
        (0, delayed.all.resolutions.delayed)
    );
    // From each node of the ring the other direction has at most four fibres more.
    let around = json!({"deflection": {"hop_limit": 4}});
    let deflected = of(json!(["deflection"]), around);
    assert!(deflected.all.resolutions.deflected > 0);
    assert_eq!(
        deflected.all.resolutions.injected,
        deflected.all.resolutions.deflected + deflected.all.bursts_lost
    );
    // The whole fibre is taken, and there is no burst to cut.
    let neither = of(json!(["conversion", "segmentation"]), json!({}));
    assert_eq!(neither.all.bursts_lost, neither.all.resolutions.injected);
    assert_eq!(neither.all.resolutions.converted + neither.all.resolutions.segmented, 0);
}

#[test]
fn who_meets_it_depends_on_nothing_else() {
    let fates = |change: Value| {
        let scenario = ring(&json!({"flows": [], "core": {"injection": {"data": 0.05}}}));
        let output = run(&merged(scenario, &change), 1, BURSTS);
        let column = |name| integers(table(&output, "bursts"), name);
        let rows = column("closed_ps").into_iter().zip(column("direction"));
        let rows = rows.zip(column("cause")).zip(column("node"));
        let data = rows.filter(|(((_, kind), _), _)| *kind == 0);
        let mut data: Vec<_> = data.map(|(((at, _), cause), node)| (at, cause, node)).collect();
        data.sort_unstable();
        data
    };
    let plain = fates(json!({}));
    assert!(plain.len() > 39_000 && plain.iter().filter(|row| row.1 == 9).count() > 1000);
    let others = json!({"bursts": [{"from": "2", "to": "3", "erlangs": 0.01,
        "length": {"distribution": "fixed", "mean": "1 KB"}}]});
    assert_eq!(plain, fates(others), "background bursts draw for themselves");
    let lossy = json!({"loss": {"data": {"process": "every", "n": 1000, "node": 0}}});
    let lossy = fates(lossy);
    let differ = plain.iter().zip(&lossy).filter(|(a, b)| a != b).count();
    assert_eq!((plain.len(), differ), (lossy.len(), plain.len() / 1000), "only those picked");
}

#[test]
fn what_is_drawn_for_a_burst_hangs_on_no_other_node() {
    let others = json!({"from": "4", "to": "1", "pattern": "cbr", "rate": "7 Mb/s",
        "packet_size": "500 B"});
    let drawn = |other: bool| {
        let mut scenario = ring(&json!({
            "network": {"routes_per_pair": 2, "route_choice": "random"},
            "edge": {"wavelength": "random"}, "flows": [],
            "core": {"injection": {"data": 0.05}, "contention": ["retransmission"]}}));
        if other {
            scenario["traffic"].as_array_mut().expect("a list").push(others.clone());
        }
        let output = run(&scenario, 1, BURSTS);
        let column = |name| integers(table(&output, "bursts"), name);
        let ends = column("closed_ps").into_iter().zip(column("from"));
        let fates = column("cause").into_iter().zip(column("node")).zip(column("attempts"));
        let mine = column("burst").into_iter().zip(ends).zip(fates);
        let mine = mine.filter(|((_, (_, from)), _)| *from == 1);
        let mine: BTreeMap<_, _> = mine.map(|((n, (at, _)), fate)| (n, (at, fate))).collect();
        let hop = |name| integers(table(&output, "bursts_hops"), name);
        let taken = hop("from").into_iter().zip(hop("wavelength"));
        let hops = hop("burst").into_iter().zip(hop("hop").into_iter().zip(taken));
        let hops = hops.filter_map(|(n, taken)| Some((mine.get(&n)?.0, taken)));
        let mut hops: Vec<_> = hops.collect();
        hops.sort_unstable();
        let mut fates: Vec<_> = mine.into_values().collect();
        fates.sort_unstable();
        (fates, hops)
    };
    let (alone, together) = (drawn(false), drawn(true));
    assert!(alone.0.len() > 39_000 && alone.1.len() > 100_000);
    assert!(alone == together, "its route, its wavelength, and who meets contention");
}

#[test]
fn acks_have_a_chance_of_their_own() {
    let change = json!({"traffic": [], "flows": [{"from": "1", "to": "4"}],
        "tcp": {"window": 4, "rto_min": "200 ms"},
        "core": {"injection": {"ack": 0.1}}, "run": {"duration": "60 s"}});
    let c = summary(&ring(&change), 1).counters;
    assert_eq!(c.bursts_lost, 0);
    assert!(near(c.ack_bursts_lost, c.ack_bursts_sent, 0.1), "{c:?}");
    assert!(c.ack_bursts_lost > 100);
}

#[test]
fn mistakes_are_answered() {
    let error = |change: Value| refused(&ring(&change)).to_string();
    let injection = |data: Value| json!({"core": {"injection": {"data": data}}});
    for wrong in [json!(-0.1), json!(1.5), json!("often")] {
        let text = error(injection(wrong));
        assert!(text.contains("core.injection.data"), "{text}");
    }
    let mut two_way = injection(json!(0.1));
    two_way["signalling"] = json!({"protocol": "two-way"});
    assert!(error(two_way).contains("two-way"), "no contention there");
    let mut star = injection(json!(0.1));
    star["edge"] = json!({"port": "fifo"});
    star["network"] = json!({"topology": "line", "nodes": 2});
    star["traffic"] = json!([]);
    assert!(error(star).contains("shared"), "nobody asks for a second fibre");
    let text = refused(&json!({"core": {"injection": {"data": 0.1}}})).to_string();
    assert!(text.contains("no contention"), "{text}");
}

/// A flow of Vegas from node 1 to node 4, three fibres of 1 ms, one burst a window.
#[test]
fn a_sender_sees_what_sending_again_adds() {
    let change = json!({"traffic": [], "flows": [{"from": "1", "to": "4"}],
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "access": {"rate": "1 Gb/s", "delay": "10 ms"},
        "tcp": {"variant": "vegas", "window": 40, "delayed_ack": false},
        "core": {"injection": {"data": 0.05}, "contention": ["retransmission"]},
        "run": {"duration": "100 s"}});
    let output = run(&ring(&change), 1, Trace { cwnd: true, ..Trace::default() });
    let cwnd = table(&output, "cwnd");
    let (samples, base) = (integers(cwnd, "sample_ps"), wide(cwnd, "base_rtt_ps"));
    let Column::F64(queued) = column(cwnd, "queued") else { panic!("no fractions") };
    let samples: Vec<u64> = samples.into_iter().filter(|&sample| sample != u64::MAX).collect();
    assert!(samples.len() > 10_000, "{}", samples.len());
    let shortest = *samples.iter().min().expect("samples");
    assert_eq!(base.last(), Some(&shortest));
    // A message of loss and the burst again: from node 1 at once, from nodes 2 and 3 over one fibre
    // and two, there and back; a packet waits up to a timer more than the one that waits least.
    let extra = |sample: u64| (sample - shortest) / 1_000_000;
    let share = |from: u64, to: u64| {
        let many = samples.iter().filter(|&&one| (from..to).contains(&extra(one))).count();
        many as f64 / samples.len() as f64
    };
    let (near, far) = (share(2000, 3000), share(4000, 5000));
    assert!(near > 0.005 && far > 0.005, "{near} {far}");
    assert!(share(5000, 60_000) < 0.001, "nothing adds more");
    // 40 segments of 30 ms and more, 4 ms late: Diff is about 40 x 4 / 35.
    let most = queued.iter().copied().filter(|one| !one.is_nan()).fold(0.0, f64::max);
    assert!((3.0..6.0).contains(&most), "{most}");
}
