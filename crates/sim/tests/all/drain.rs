//! Completion times, and the time after the measured one in which transfers end: what is measured
//! is what a run without it measures, the fast paths tell the same times as the slow ones, and a
//! run that is cut in it goes on.

use burstlab_sim::{Column, DemandSummary, Output, Summary, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::stored::goes_on;
use crate::runs::{ALL, numbers, refused, run};

const PS: f64 = 1e-12;

/// A table of a run, by column, its chunks together.
fn column(output: &Output, table: &str, name: &str) -> Vec<u64> {
    let tables = output.tables.iter().filter(|one| one.name == table);
    let columns = tables.flat_map(|one| one.columns.iter().filter(|(column, _)| *column == name));
    let values = columns.flat_map(|(_, column)| match column {
        Column::U64(values) => values.clone(),
        Column::I64(values) => values.iter().map(|&one| one as u64).collect(),
        Column::U32(values) => values.iter().map(|&one| u64::from(one)).collect(),
        Column::Category(codes, _) => codes.iter().map(|&one| u64::from(one)).collect(),
        other => panic!("no numbers: {other:?}"),
    });
    values.collect()
}

fn connections(output: &Output) -> Vec<(&'static str, Vec<u64>)> {
    let names = ["id", "started_ps", "received_ps", "completed_ps", "bytes", "ideal_ps"];
    names.map(|name| (name, column(output, "connections", name))).to_vec()
}

/// Connections that come and go, with endless flows, finite ones, background bursts and UDP; a
/// drain that is enough, or is not.
pub(crate) fn any_drained() -> impl Strategy<Value = Value> {
    let edge = (1u64..6, prop_oneof![Just("none"), Just("timer")], any::<bool>());
    let tcp = (
        prop_oneof![Just("tahoe"), Just("reno"), Just("new-reno"), Just("sack")],
        2u32..60,
        any::<bool>(),
    );
    let extra = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let drain = prop_oneof![Just("20 s"), Just("90 ms"), Just("1 ps")];
    let loss = prop_oneof![2 => Just(0.0), 1 => Just(0.03)];
    (edge, tcp, extra, drain, loss).prop_map(
        |((timer, acks, late), (variant, window, delayed), extra, drain, loss)| {
            let (greedy, others, udp, finite) = extra;
            let mut flows = Vec::new();
            if greedy {
                flows.push(json!({"from": "1", "to": "3", "count": 2}));
            }
            if finite {
                flows.push(json!({"from": "2", "to": "4", "bytes": "90 KB", "start": "300 ms"}));
                flows.push(json!({"from": "3", "to": "4", "bytes": "9 KB",
                    "start": if late { "800 ms" } else { "10 ms" }}));
            }
            let mut scenario = json!({
                "network": {"topology": "ring", "nodes": 4, "link_delay": "1 ms",
                    "wavelengths": 1, "link_rate": "50 Mb/s"},
                "edge": {"assembly": "timer", "timer": format!("{timer} ms"),
                    "ack": {"assembly": acks}},
                "access": {"rate": "10 Mb/s", "delay": "0.3 ms",
                    "receiver": {"rate": "7 Mb/s"}},
                "signalling": {"guard": "300 us"},
                "loss": {"data": {"process": "bernoulli", "probability": loss}},
                "tcp": {"variant": variant, "window": window, "delayed_ack": delayed},
                "flows": flows,
                "demand": [{"flows_per_second": 30, "per": "node",
                    "size": {"distribution": "exponential", "mean": "20 KB"}}],
                "run": {"duration": "700 ms", "warmup": "150 ms", "drain": drain},
            });
            if acks == "timer" {
                scenario["edge"]["ack"]["timer"] = json!("2 ms");
            }
            if others {
                scenario["bursts"] = json!([{"erlangs": 0.1,
                    "length": {"distribution": "exponential", "mean": "10 KB"}}]);
            }
            if udp {
                scenario["traffic"] = json!([{"from": "1", "to": "2", "rate": "1 Mb/s",
                    "packet_size": "500 B", "pattern": "poisson"}]);
            }
            scenario
        },
    )
}

/// The summary without what the drain is for.
fn measured(mut summary: Summary) -> Summary {
    summary.counters = Default::default();
    (summary.simulated_s, summary.events_per_packet, summary.packets_per_burst) = (0.0, 0.0, 0.0);
    summary.speed = Default::default();
    summary.fingerprint.clear();
    summary.warnings.clear();
    for flow in &mut summary.flows {
        let (goodput, throughput) = (flow.goodput_bps, flow.throughput_bps);
        let (segments, rtt) = (flow.segments_delivered, (flow.rtt_s, flow.round_trips));
        let (bytes_delivered, bytes_in_order) = (flow.bytes_delivered, flow.bytes_in_order);
        let (id, label) = (flow.id, std::mem::take(&mut flow.label));
        let variant = std::mem::take(&mut flow.variant);
        *flow = burstlab_sim::FlowSummary {
            id,
            label,
            variant,
            goodput_bps: goodput,
            throughput_bps: throughput,
            bytes_delivered,
            bytes_in_order,
            segments_delivered: segments,
            rtt_s: rtt.0,
            round_trips: rtt.1,
            ..Default::default()
        };
    }
    // Bytes of a whole run.
    if let Some(network) = &mut summary.network {
        for kind in [&mut network.data, &mut network.acks, &mut network.background] {
            kind.run = Default::default();
        }
        network.all.run = Default::default();
    }
    for demand in &mut summary.demand {
        *demand = DemandSummary {
            started: demand.started,
            active: demand.active,
            cohort: demand.cohort,
            departed: demand.departed.clone(),
            ..DemandSummary::default()
        };
    }
    summary
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_drain_changes_nothing_that_is_measured(scenario in any_drained(), seed in 0u64..1000) {
        let drained = run(&scenario, seed, Trace::default());
        let mut scenario = scenario;
        scenario["run"].as_object_mut().expect("a table").remove("drain");
        let cut = run(&scenario, seed, Trace::default());
        let histograms = |output: &Output| {
            let table = output.tables.iter().find(|table| table.name == "histograms");
            format!("{table:?}")
        };
        prop_assert_eq!(histograms(&drained), histograms(&cut));
        prop_assert!(drained.summary.simulated_s >= cut.summary.simulated_s);
        prop_assert_eq!(measured(drained.summary), measured(cut.summary));
    }

    #[test]
    fn a_drain_ends_alike_however_far_hosts_are_ahead(
        scenario in any_drained(),
        seed in 0u64..1000,
    ) {
        let ahead = run(&scenario, seed, Trace::default());
        let traced = run(&scenario, seed, ALL);
        prop_assert_eq!(connections(&ahead), connections(&traced));
        prop_assert_eq!(numbers(ahead.summary), numbers(traced.summary));
    }

    #[test]
    fn a_run_that_is_stored_in_its_drain_goes_on(
        scenario in any_drained(),
        seed in 0u64..1000,
        cut in 1u32..9000,
    ) {
        goes_on(&scenario, seed, cut)?;
    }

    /// From the trace: a transfer is received as the last of its segments is first there, and no
    /// connection begins in the drain.
    #[test]
    fn a_transfer_is_received_with_its_last_segment(scenario in any_drained(), seed in 0u64..1000) {
        let output = run(&scenario, seed, ALL);
        let [flow, seq, kind, arrived] = ["flow", "seq", "kind", "delivered_ps"]
            .map(|name| column(&output, "packets", name));
        let mut first = std::collections::BTreeMap::new();
        for at in 0..flow.len() {
            if kind[at] == 0 && arrived[at] != u64::MAX {
                let place = first.entry((flow[at], seq[at])).or_insert(u64::MAX);
                *place = arrived[at].min(*place);
            }
        }
        let payload = 960;
        let received = |id: u64, bytes: u64| {
            let all = 0..=bytes.div_ceil(payload);
            let times = all.map(|seq| first.get(&(id, seq)).copied().unwrap_or(u64::MAX));
            times.max().expect("there is a SYN")
        };
        let rows = connections(&output);
        let [(_, ids), (_, started), (_, at_receiver), (_, acked), (_, bytes), (_, ideal)] =
            &rows[..]
            else { unreachable!("six columns") };
        for at in 0..ids.len() {
            prop_assert_eq!(at_receiver[at], received(ids[at], bytes[at]), "of {}", ids[at]);
            prop_assert!(started[at] <= 700_000_000_000);
            let done = at_receiver[at];
            prop_assert!(done == u64::MAX || done - started[at] >= ideal[at]);
            prop_assert!(acked[at] == u64::MAX || acked[at] >= done);
        }
        for flow in &output.summary.flows {
            if let Some(bytes) = flow.bytes {
                let done = flow.received_s.unwrap_or(f64::INFINITY);
                let found = match received(u64::from(flow.id), bytes) {
                    u64::MAX => f64::INFINITY,
                    ps => ps as f64 * PS,
                };
                prop_assert!(done == found || (done - found).abs() < 1e-9, "{done} {found}");
            }
        }
        // It ends with the last of them, or when it has to.
        let demand = &output.summary.demand[0];
        let listed = output.summary.flows.iter().filter(|flow| flow.bytes.is_some());
        let ends = listed.filter(|flow| flow.completed_s.is_some() || flow.packets_sent > 0);
        let ends = ends.map(|flow| flow.completed_s.map_or(u64::MAX, |s| (s / PS).round() as u64));
        let last = acked.iter().copied().chain(ends).max().unwrap_or(0);
        let bound = match scenario["run"]["drain"].as_str() {
            Some("20 s") => 20_700_000_000_000,
            Some("90 ms") => 790_000_000_000,
            _ => 700_000_000_001,
        };
        let end = last.clamp(700_000_000_000, bound);
        prop_assert!((output.summary.simulated_s - end as f64 * PS).abs() < 1e-9);
        prop_assert_eq!(demand.completed == demand.started, !acked.contains(&u64::MAX));
        prop_assert_eq!(demand.received_mean_s.is_some(), demand.censored == 0);
    }
}

/// One flow over a path, delayed ACKs, an odd segment at the end: its last ACK waits for the timer
/// of the receiver.
fn path() -> Value {
    json!({
        "access": {"rate": "8 Mb/s", "delay": "1 ms"},
        "network": {"link_delay": "3 ms"},
        "edge": {"assembly": "timer", "timer": "2 ms", "ack": {"assembly": "none"}},
        "tcp": {"variant": "new-reno", "delayed_ack": true, "initial_window": 2,
            "profile": "rfc"},
        "flows": [{"bytes": "30 KB"}],
        "run": {"duration": "5 s"},
    })
}

#[test]
fn the_last_ack_may_wait_long_for_its_timer() {
    let mut waits = 0;
    for kilobytes in 20..30 {
        let mut scenario = path();
        scenario["flows"][0]["bytes"] = json!(format!("{kilobytes} KB"));
        let output = run(&scenario, 1, Trace::default());
        let flow = &output.summary.flows[0];
        let received = flow.received_after_s.expect("it is done");
        let acknowledged = flow.acknowledged_after_s.expect("it is done");
        assert_eq!(flow.bytes, Some(kilobytes * 1000));
        assert!(acknowledged > received + 0.004, "the reverse path takes that long");
        waits += usize::from(acknowledged > received + 0.09);
        let traced = run(&scenario, 1, ALL).summary;
        assert_eq!(numbers(output.summary), numbers(traced));
    }
    assert!((2..9).contains(&waits), "{waits} of 10 wait for the timer");
}

#[test]
fn what_was_not_received_is_told() {
    let mut scenario = path();
    scenario["run"]["duration"] = json!("40 ms");
    let cut = run(&scenario, 1, Trace::default()).summary;
    assert_eq!((cut.flows[0].received_after_s, cut.simulated_s), (None, 0.04));
    assert!(
        cut.warnings.iter().any(|one| one.contains("1 of 1 finite") && one.contains("run.drain"))
    );
    scenario["run"]["drain"] = json!("60 s");
    let drained = run(&scenario, 1, Trace::default()).summary;
    let received = drained.flows[0].received_s.expect("it has the time");
    assert!(received > 0.04 && drained.simulated_s >= received && drained.simulated_s < 2.0);
    assert!((drained.measured_s - 0.04).abs() < 1e-12);
    assert!(drained.warnings.is_empty(), "{:?}", drained.warnings);
    assert_eq!(drained.flows[0].goodput_bps, cut.flows[0].goodput_bps);
    // A flow that never ends is waited for by nobody.
    scenario["flows"] = json!([{}]);
    assert_eq!(run(&scenario, 1, Trace::default()).summary.simulated_s, 0.04);
}

#[test]
fn the_bounds_of_a_drain_are_checked() {
    let refused = |run: Value| {
        let mut scenario = path();
        scenario["run"] = run;
        refused(&scenario).to_string()
    };
    let long = refused(json!({"duration": "1000000 s", "drain": "1000001 s"}));
    assert!(long.contains("run.drain") && long.contains("1000000 s"), "{long}");
    let bursts = refused(json!({"duration": "1 s", "drain": "1 s", "bursts": 7}));
    assert!(bursts.contains("run.drain") && bursts.contains("run.bursts"), "{bursts}");
    let samples = json!({"duration": "1 s", "drain": "9 s", "sample": "0.1 us"});
    assert!(refused(samples).contains("run.sample"));
}
