//! Batches that enter assembly queues without an event each, against a twin that takes each packet
//! alone.

use burstlab_optical::{Assembler, AssemblyPolicy};
use burstlab_sim::scenario::Resolved;
use burstlab_sim::traffic::Batch;
use burstlab_sim::{Monitor, Output, Simulation, Trace, sequence};
use burstlab_units::{Bytes, Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::columns::{integers, table};
use crate::runs::{refused, resolved};

fn run(resolved: &Resolved, seed: u64) -> Output {
    let trace = Trace { packets: true, bursts: true, ..Trace::default() };
    Simulation::new(resolved, seed, 0, trace).run(&Monitor::default())
}

/// The network of E1 to E4 with a flow from E1 to E2, its ACKs in the queue of the reverse path,
/// and batches of two kinds.
fn scenario(edge: &Value, core: &Value, batches: &Value) -> Value {
    let mut edge = edge.clone();
    edge["ack"] = json!({"with_data": true});
    json!({
        "network": {"topology": "martinez", "link_rate": "20 Mb/s", "wavelengths": 2},
        "signalling": {"guard": "300 us"}, "edge": edge, "core": core,
        "access": {"rate": "20 Mb/s", "delay": "1 ms"},
        "tcp": {"variant": "sack", "window": 20, "delayed_ack": false},
        "flows": [{"from": "E1", "to": "E2"}],
        "batches": batches,
        "run": {"duration": "2 s"},
    })
}

/// A burst: when it was opened and closed, its packets and its bytes.
type Closed = (u64, u64, u64, u64);

/// The bursts of a queue, from the trace, in order.
fn traced(output: &Output, (from, to): (u64, u64)) -> Vec<Closed> {
    let column = |name| integers(table(output, "bursts"), name);
    let (froms, tos, opened) = (column("from"), column("to"), column("opened_ps"));
    let (closed, packets, bytes) = (column("closed_ps"), column("packets"), column("bytes"));
    let rows = (0..froms.len()).filter(|&row| (froms[row], tos[row]) == (from, to));
    let mut bursts: Vec<Closed> =
        rows.map(|row| (opened[row], closed[row], packets[row], bytes[row])).collect();
    bursts.sort_unstable();
    bursts
}

/// When packets of flows entered the queue of a kind, 0 for data and 1 for ACKs, and their sizes.
fn followed(output: &Output, kind: u64) -> Vec<(Time, u64)> {
    let column = |name| integers(table(output, "packets"), name);
    let (kinds, entered, sizes) = (column("kind"), column("ingress_ps"), column("size_bytes"));
    let entries = (0..kinds.len()).filter(|&row| kinds[row] == kind && entered[row] < u64::MAX);
    entries.map(|row| (Time::from_ps(entered[row]), sizes[row])).collect()
}

/// Packet by packet.
fn twin(
    (policy, at_most): (AssemblyPolicy, bool),
    batches: &[Batch],
    followed: &[(Time, u64)],
    end: Time,
) -> Vec<Closed> {
    let mut arrivals: Vec<(Time, u8, u64)> = followed.iter().map(|&(at, n)| (at, 1, n)).collect();
    for batch in batches {
        let (size, packet) = (u64::from(batch.bytes), u64::from(batch.packet));
        let starts = (0..size).step_by(packet as usize);
        arrivals.extend(starts.map(|start| (batch.at, 0, packet.min(size - start))));
    }
    arrivals.sort_by_key(|&(at, kind, _)| (at, kind));
    let mut queue = Assembler::new(policy).with_at_most(at_most);
    let mut bursts = Vec::new();
    let mut close = |queue: &mut Assembler<()>, at: Time| {
        let mut packets = Vec::new();
        let burst = queue.close(&mut packets);
        bursts.push((burst.opened.as_ps(), at.as_ps(), packets.len() as u64, burst.bytes.get()));
    };
    for (at, _, size) in arrivals.into_iter().filter(|&(at, ..)| at <= end) {
        if let Some(due) = queue.poll_timeout().filter(|&due| due <= at) {
            close(&mut queue, due);
        }
        if queue.overflows(Bytes::new(size)) {
            close(&mut queue, at);
        }
        if queue.push(at, (), Bytes::new(size)) {
            close(&mut queue, at);
        }
    }
    if let Some(due) = queue.poll_timeout().filter(|&due| due <= end) {
        close(&mut queue, due);
    }
    bursts.sort_unstable();
    bursts
}

fn policies() -> Vec<(Value, AssemblyPolicy, bool)> {
    let ms = Span::from_ms;
    vec![
        (json!({"assembly": "none"}), AssemblyPolicy::None, false),
        (json!({"assembly": "timer", "timer": "7 ms"}), AssemblyPolicy::Timer(ms(7)), false),
        (
            json!({"assembly": "size", "size": "9 KB"}),
            AssemblyPolicy::Size(Bytes::new(9000)),
            false,
        ),
        (
            json!({"assembly": "hybrid", "timer": "7 ms", "size": "9 KB"}),
            AssemblyPolicy::Hybrid(ms(7), Bytes::new(9000)),
            false,
        ),
        (
            json!({"assembly": "hybrid", "timer": "7 ms", "size": "9.1 KB", "at_most": true}),
            AssemblyPolicy::Hybrid(ms(7), Bytes::new(9100)),
            true,
        ),
        (
            // Smaller than many packets.
            json!({"assembly": "size", "size": "800 B", "at_most": true}),
            AssemblyPolicy::Size(Bytes::new(800)),
            true,
        ),
        (
            json!({"assembly": "adaptive", "timer": "9 ms", "timer_min": "1 ms", "size": "6 KB",
                "weight": 0.3}),
            AssemblyPolicy::Adaptive {
                size: Bytes::new(6000),
                shortest: ms(1),
                longest: ms(9),
                weight: 0.3,
            },
            false,
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn bursts_are_those_of_an_event_a_packet(
        policy in 0usize..7,
        mean in 100u64..12_000,
        rate in 20u32..600,
        two in any::<bool>(),
        cuts in any::<bool>(),
        hurst in prop_oneof![Just(0.5), Just(0.85)],
        seed in 0u64..1000,
    ) {
        let (edge, policy, at_most) = policies().swap_remove(policy);
        let core = if cuts { json!({"contention": ["segmentation"]}) } else { json!({}) };
        let mut batches = vec![json!({"batches_per_second": rate, "hurst_sizes": hurst,
            "size": {"distribution": "exponential", "mean": format!("{mean} B")}})];
        if two {
            batches.push(json!({"batches_per_second": 100, "packet_size": "400 B",
                "start": "200 ms", "stop": "1700 ms",
                "size": {"distribution": "fixed", "mean": "1 KB"}}));
        }
        let resolved = resolved(&scenario(&edge, &core, &json!(batches)));
        let output = run(&resolved, seed);
        let end = Time::ZERO + Span::from_secs(2);
        // Nodes are numbered from 1, C1 and C2 first. Data go from E1 to E2, ACKs back.
        for ((from, to), names, kind) in
            [((3, 4), ("E1", "E2"), Some(0)), ((4, 3), ("E2", "E1"), Some(1)),
             ((3, 5), ("E1", "E3"), None)]
        {
            let all = (0..batches.len()).flat_map(|index| {
                sequence(&resolved, index, names, (seed, 0), 5000).expect("they are there")
            });
            let all: Vec<Batch> = all.collect();
            let followed = kind.map_or_else(Vec::new, |kind| followed(&output, kind));
            // Where the network is full there may be no ACK.
            prop_assert!(kind != Some(0) || !followed.is_empty());
            let expected = twin((policy, at_most), &all, &followed, end);
            prop_assert!(!expected.is_empty());
            prop_assert_eq!(traced(&output, (from, to)), expected, "{:?}", names);
        }
    }
}

/// Packets that reach an edge node until the end count, whether they have entered a queue yet or
/// not.
#[test]
fn what_is_sent_is_what_was_drawn() {
    let batches = json!([{"batches_per_second": 300, "from": "E3",
        "size": {"distribution": "exponential", "mean": "4 KB"}}]);
    for edge in [
        json!({"assembly": "hybrid", "timer": "50 ms", "size": "30 KB"}),
        json!({"assembly": "timer", "timer": "50 ms"}),
    ] {
        let resolved = resolved(&scenario(&edge, &json!({}), &batches));
        let c = Simulation::new(&resolved, 4, 0, Trace::default()).run(&Monitor::default());
        let c = c.summary.counters;
        let end = Time::ZERO + Span::from_secs(2);
        let drawn: Vec<Batch> = ["E1", "E2", "E4"]
            .iter()
            .flat_map(|to| sequence(&resolved, 0, ("E3", to), (4, 0), 2000).expect("there"))
            .filter(|batch| batch.at <= end)
            .collect();
        let bytes: u64 = drawn.iter().map(|batch| u64::from(batch.bytes)).sum();
        let packets: u64 = drawn.iter().map(|batch| u64::from(batch.bytes.div_ceil(1500))).sum();
        assert_eq!(c.batches_sent, drawn.len() as u64);
        assert_eq!((c.batch_packets_sent, c.batch_bytes_sent), (packets, bytes));
        assert!(c.batches_in_flight > 0 && c.batches_delivered > 1000);
        // Bursts of batches alone are background bursts.
        assert!(c.background_bursts_delivered > 50);
    }
}

/// The ratio of packets counts what was in bursts that were lost over what was in bursts.
#[test]
fn lost_packets_over_packets_sent_in_bursts() {
    let batches = json!([{"batches_per_second": 500,
        "size": {"distribution": "exponential", "mean": "3 KB"}}]);
    let edge = json!({"assembly": "hybrid", "timer": "10 ms", "size": "20 KB", "at_most": true});
    let resolved = resolved(&scenario(&edge, &json!({}), &batches));
    let output = run(&resolved, 9);
    let network = output.summary.network.as_ref().expect("a mesh");
    let bursts = table(&output, "bursts");
    let (packets, fates) = (integers(bursts, "packets"), integers(bursts, "fate"));
    let count = |fate: u64| {
        packets.iter().zip(&fates).filter(|(_, other)| **other == fate).map(|(n, _)| n).sum::<u64>()
    };
    assert_eq!((network.all.packets, network.all.packets_lost), (count(1) + count(2), count(2)));
    assert!(network.all.packets_lost > 100, "{}", network.all.packets_lost);
    let ratio = network.all.packets_lost as f64 / network.all.packets as f64;
    assert!((network.all.packet_loss_ratio - ratio).abs() < 1e-12);
}

#[test]
fn what_batches_cannot_be_is_refused() {
    let good = json!([{"size": {"distribution": "fixed", "mean": "1 KB"}}]);
    let edge = json!({"assembly": "timer", "timer": "1 ms"});
    let cases = [
        ("hurst_arrivals", json!(0.4), "batches[0].hurst_arrivals"),
        ("hurst_sizes", json!(1.0), "batches[0].hurst_sizes"),
        ("batches_per_second", json!(0.0), "batches[0].batches_per_second"),
        ("packet_size", json!("0 B"), "batches[0].packet_size"),
        ("from", json!("C1"), "batches[0].from"),
        ("class", json!(1000), "batches[0].class"),
        ("stop", json!("0 s"), "batches[0].stop"),
        ("size", json!({"distribution": "exponential"}), "batches[0].size.mean"),
    ];
    for (field, value, path) in cases {
        let mut batches = good.clone();
        batches[0][field] = value;
        let scenario = scenario(&edge, &json!({}), &batches);
        assert_eq!(refused(&scenario).path(), path);
    }
    assert_eq!(refused(&json!({"batches": good})).path(), "batches");
}
