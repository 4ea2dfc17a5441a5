//! A slotted network of optical packets: conservation, determinism, closed forms, and that
//! congestion control loses nothing.

mod numbers;
mod stored;

use burstlab_sim::scenario::Scenario;
use burstlab_sim::{Column, Monitor, OpsSummary, Output, Simulation, Summary, Table, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use numbers::numbers;

const ALL: Trace = Trace { packets: true, bursts: true, cwnd: true, ledger: true };

fn simulation(scenario: &Value, seed: u64, trace: Trace) -> Simulation {
    Simulation::new(&stored::resolved(scenario), seed, 0, trace)
}

fn run(scenario: &Value, seed: u64, trace: Trace) -> Output {
    simulation(scenario, seed, trace).run(&Monitor::default())
}

fn plain(scenario: &Value) -> Summary {
    run(scenario, 1, Trace::default()).summary
}

fn ops(summary: &Summary) -> &OpsSummary {
    summary.ops.as_ref().expect("a slotted network")
}

/// Two ingress edges, a core node and an egress, as Lu and Hunter 2009, fig. 1, with a source of
/// UDP at the other ingress; 10 Mb/s, so that a slot of 576 B takes 0.46 ms.
fn two_to_one(ops: &Value) -> Value {
    json!({
        "network": {"topology": "custom", "link_rate": "10 Mb/s",
            "node": [{"name": "in", "role": "edge"}, {"name": "udp", "role": "edge"},
                {"name": "core", "role": "core"}, {"name": "out", "role": "edge"}],
            "link": [{"from": "in", "to": "core", "delay": "10 ms"},
                {"from": "udp", "to": "core", "delay": "1 ms"},
                {"from": "core", "to": "out", "delay": "10 ms"}]},
        "access": {"rate": "100 Mb/s", "delay": "5 ms"},
        "ops": ops,
        "tcp": {"variant": "reno", "window": 1000, "segment_size": "576 B"},
        "flows": [{"count": 4, "stagger": "100 ms", "from": "in", "to": "out"}],
        "traffic": [{"pattern": "periodic", "rate": "4 Mb/s", "packet_size": "576 B",
            "period": "2 s", "from": "udp", "to": "out"}],
        "run": {"duration": "30 s"},
    })
}

fn dlcc() -> impl Strategy<Value = Value> {
    let filter = prop::sample::select(vec!["all", "first-three", "off"]);
    let reading = prop::sample::select(vec!["recommended", "literal"]);
    let share = prop::sample::select(vec!["full", "proportional"]);
    let way = prop::sample::select(vec!["dedicated", "piggybacked"]);
    (filter, reading, share, way, any::<(bool, bool)>()).prop_map(
        |(filter, reading, share, notification, (rate_cut, acks))| {
            json!({"filter": filter, "reading": reading, "share": share, "rate_cut": rate_cut,
                "acks": acks, "notification": notification})
        },
    )
}

fn rules() -> impl Strategy<Value = Value> {
    let order = prop::sample::select(vec!["random", "rotating", "fixed"]);
    let packing = prop::sample::select(vec!["one", "several"]);
    let acks = prop::sample::select(vec!["slotted", "free"]);
    let refusal = prop::sample::select(vec!["keep", "partial"]);
    let size = prop::sample::select(vec!["200 B", "640 B", "2 KB"]);
    let smooth = prop::bool::weighted(0.8);
    (0u32..25, order, packing, acks, refusal, size, smooth, prop::option::of(dlcc())).prop_map(
        |(buffer, order, packing, acks, refusal, size, smooth, dlcc)| {
            let mut rules = json!({"buffer": buffer, "order": order, "packing": packing,
                "acks": acks, "slot_size": size, "slot_header": "8 B",
                "smoothing": {"enabled": smooth, "refusal": refusal, "units": 5,
                    "min_rate": 0.05},
                "congestion": {"threshold": 0.5, "rtt_max": "50 ms"}});
            if let Some(dlcc) = dlcc {
                rules["dlcc"] = dlcc;
            }
            rules
        },
    )
}

fn any_network() -> impl Strategy<Value = Value> {
    let shape = prop_oneof![
        Just(json!({"topology": "ring", "nodes": 5})),
        Just(json!({"topology": "star", "nodes": 4})),
        Just(json!({"topology": "dumbbell", "nodes": 2})),
    ];
    let variant = prop::sample::select(vec!["reno", "new-reno", "sack", "tahoe"]);
    (shape, rules(), 1u32..3, variant, any::<(bool, bool)>(), air()).prop_map(
        |(mut network, ops, wavelengths, variant, (shared, delayed), air)| {
            let ends = match network["topology"].as_str() {
                Some("dumbbell") => ["left1", "right2", "left2"],
                _ => ["1", "3", "2"],
            };
            network["link_rate"] = json!("4 Mb/s");
            network["link_delay"] = json!("3 ms");
            network["wavelengths"] = json!(wavelengths);
            let mut scenario = json!({
                "network": network, "ops": ops,
                "access": {"rate": "20 Mb/s", "delay": "0.1 ms", "shared": shared, "queue": 30},
                "tcp": {"variant": variant, "window": 60, "delayed_ack": delayed,
                    "segment_size": "600 B"},
                "flows": [{"from": ends[0], "to": ends[1], "count": 2},
                    {"from": ends[2], "to": ends[1], "count": 2, "bytes": "40 KB"}],
                "demand": [{"flows_per_second": 4, "per": "node",
                    "size": {"distribution": "exponential", "mean": "15 KB"}}],
                "traffic": [
                    {"from": ends[2], "to": ends[1], "pattern": "periodic", "rate": "3 Mb/s",
                        "packet_size": "500 B", "on": "200 ms", "period": "600 ms", "count": 2},
                    {"from": ends[1], "to": ends[0], "pattern": "poisson", "rate": "1 Mb/s",
                        "packet_size": "900 B"}],
                "run": {"duration": "2500 ms", "warmup": "200 ms", "sample": "100 ms"},
            });
            if let Some(mut cell) = air {
                cell["node"] = json!(ends[1]);
                scenario["wlan"] = json!([cell]);
                scenario["demand"] = json!([]);
            }
            scenario
        },
    )
}

/// A cell of 802.11b at the node that most is for, or none.
fn air() -> impl Strategy<Value = Option<Value>> {
    let cell = (0.0..0.4f64, 3u32..60).prop_map(
        |(loss, queue)| json!({"loss": "frame-error", "probability": loss, "base_queue": queue}),
    );
    prop::option::of(cell)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_appears_or_vanishes(scenario in any_network(), seed in 0u64..1000) {
        let summary = run(&scenario, seed, Trace::default()).summary;
        let c = &summary.counters;
        prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
        prop_assert_eq!(c.acks_sent, c.acks_delivered + c.acks_lost + c.acks_in_flight);
        prop_assert_eq!(c.other_sent, c.other_delivered + c.other_lost + c.other_in_flight);
        prop_assert!(c.packets_delivered > 0);
        let net = ops(&summary);
        let dropped = net.slots_dropped_contention + net.slots_dropped_congestion;
        prop_assert_eq!(net.slots_sent, net.slots_delivered + dropped + net.slots_in_flight);
        let buffer = scenario["ops"]["buffer"].as_u64().expect("a size");
        prop_assert!(u64::from(net.buffer_max) <= buffer);
        for switch in &net.switches {
            prop_assert_eq!(switch.arrived, switch.left + switch.dropped + switch.waiting);
        }
        prop_assert_eq!(net.switches.iter().map(|switch| switch.dropped).sum::<u64>(), dropped);
        prop_assert_eq!(net.edges.iter().map(|pair| pair.slots).sum::<u64>(), net.slots_sent);
        for port in &net.ports {
            prop_assert!(port.utilisation <= 1.0);
            let dropped = port.dropped_contention + port.dropped_congestion;
            prop_assert!(port.carried + dropped <= port.arrived);
        }
    }

    #[test]
    fn tracing_changes_nothing_and_a_run_can_be_cut_and_cloned(
        scenario in any_network(),
        seed in 0u64..1000,
        cut in 1u32..20_000,
    ) {
        let whole = run(&scenario, seed, ALL);
        let plain = run(&scenario, seed, Trace::default());
        prop_assert_eq!(numbers(whole.summary.clone()), numbers(plain.summary));
        let mut first = simulation(&scenario, seed, ALL);
        first.advance(cut);
        let copy = first.clone();
        first.advance(cut);
        drop(first);
        let resumed = copy.run(&Monitor::default());
        prop_assert_eq!(&resumed.summary, &whole.summary);
        prop_assert_eq!(format!("{:?}", resumed.tables), format!("{:?}", whole.tables));
    }

    #[test]
    fn a_run_that_is_stored_and_read_is_the_run_in_one_piece(
        scenario in any_network(),
        seed in 0u64..1000,
        cut in 1u32..20_000,
    ) {
        let (whole, pieces) = stored::whole_and_in_pieces(&scenario, seed, cut);
        prop_assert_eq!(&pieces.summary, &whole.summary);
        prop_assert_eq!(format!("{:?}", pieces.tables), format!("{:?}", whole.tables));
    }

    /// Losses by contention, which nobody notifies, by congestion, behind the network, of ACKs.
    #[test]
    fn with_congestion_control_every_byte_arrives(
        dlcc in dlcc(),
        threshold in 0.0..1.0f64,
        acks in prop::sample::select(vec!["slotted", "free"]),
        buffer in 0u32..8,
        queue in 3u32..40,
        seed in 0u64..1000,
    ) {
        let mut scenario = lossy(&dlcc, threshold, acks, buffer);
        scenario["access"]["receiver"]["queue"] = json!(queue);
        let delivered = delivered_in_the_end(&scenario, seed);
        prop_assert_eq!(delivered, vec![300_000u64.div_ceil(576 - 40); 4]);
    }
}

/// Four files of 300 KB over a network that drops slots in contention and congestion, before a
/// queue that drops segments. A time-out of 60 s, the longest, is no multiple of the period of the
/// UDP: else each of a flow's last tries would meet the same phase of it.
fn lossy(dlcc: &Value, threshold: f64, acks: &str, buffer: u32) -> Value {
    let mut scenario = two_to_one(&json!({"acks": acks, "buffer": buffer,
        "unsmoothed": ["udp"], "dlcc": dlcc, "smoothing": {"min_rate": 0.2},
        "congestion": {"threshold": threshold, "rtt_max": "50 ms"}}));
    scenario["access"]["receiver"] = json!({"rate": "3 Mb/s", "queue": 20});
    scenario["flows"][0]["bytes"] = json!("300 KB");
    scenario["traffic"][0]["rate"] = json!("8 Mb/s");
    scenario["traffic"][0]["period"] = json!("310 ms");
    scenario["traffic"][0]["on"] = json!("100 ms");
    scenario["traffic"].as_array_mut().expect("a list").push(json!({"from": "out",
        "to": "in", "pattern": "poisson", "rate": "2 Mb/s", "packet_size": "576 B"}));
    scenario["run"]["duration"] = json!("20000 s");
    scenario
}

/// What each flow has received when all are done; else at the end of the run. The other traffic is
/// endless, and so is the run: it is ended as soon as all are done.
fn delivered_in_the_end(scenario: &Value, seed: u64) -> Vec<u64> {
    let mut simulation = simulation(scenario, seed, Trace::default());
    loop {
        let goes_on = simulation.advance(20_000);
        let (summary, _) = simulation.clone().finish();
        if !goes_on || summary.flows.iter().all(|flow| flow.completed_s.is_some()) {
            assert!(goes_on, "a flow is not done after 20,000 s, some 80 million events");
            return summary.flows.iter().map(|flow| flow.segments_delivered).collect();
        }
    }
}

/// Where the longest time-out is 200 periods of the UDP, the last segments of a flow meet the same
/// phase of it at each try, and it takes most of an hour; they arrive all the same.
#[test]
fn bytes_arrive_where_the_time_out_is_in_step_with_the_udp() {
    let mut scenario = lossy(&json!({}), 0.1, "slotted", 3);
    scenario["traffic"][0]["period"] = json!("300 ms");
    scenario["access"]["receiver"]["queue"] = json!(5);
    let delivered = delivered_in_the_end(&scenario, 36);
    assert_eq!(delivered, [300_000u64.div_ceil(576 - 40); 4]);
}
