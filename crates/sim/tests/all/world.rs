//! Properties of every run, whatever the scenario: conservation, causality, determinism.

use burstlab_sim::{FLOWS_WHEN_STOPPED, Monitor, Output, Piece, Trace};
use proptest::prelude::*;
use serde_json::json;

use crate::runs::chunks::{joined, run_in_chunks};
use crate::runs::columns::{codes, differing, table, wide};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, BURSTS, a_clone_goes_on, are_same, numbers, run, simulation, summary};

/// Any scenario of the path, small enough to run in milliseconds.
pub(crate) fn any_scenario() -> impl Strategy<Value = serde_json::Value> {
    let edge = prop_oneof![
        Just(json!({"assembly": "none"})),
        (1u64..60).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
        (1u64..40, 1u64..20).prop_map(|(t, s)| {
            json!({"assembly": "hybrid", "timer": format!("{t} ms"), "size": format!("{s} KB")})
        }),
    ];
    let loss = prop_oneof![
        Just(json!({"process": "none"})),
        (0.0f64..0.5).prop_map(|p| json!({"process": "bernoulli", "probability": p})),
        (2u64..30).prop_map(|n| json!({"process": "every", "n": n})),
        (8u64..30).prop_map(|n| json!({"process": "batch", "n": n, "size": 4})),
        Just(json!({"process": "gilbert-elliott", "good_to_bad": 0.02, "bad_to_good": 0.3})),
        (1u64..900, 1u64..90).prop_map(|(up, down)| json!({"process": "outages",
            "mean_up": format!("{up} ms"), "mean_down": format!("{down} ms")})),
        (1u64..900, 1u64..90).prop_map(|(good, bad)| json!({"process": "gilbert-elliott",
            "mean_good": format!("{good} ms"), "mean_bad": format!("{bad} ms"),
            "loss_bad": 0.7})),
        (1u64..40).prop_map(|k| json!({"process": "script", "bursts": [k], "carrying": [k + 7]})),
    ];
    let tcp = (
        prop_oneof![
            4 => prop_oneof![Just("tahoe"), Just("reno"), Just("new-reno"), Just("sack")],
            2 => prop_oneof![Just("vegas"), Just("fast")],
        ],
        prop_oneof![Just("rfc"), Just("ns2"), Just("ns2-2003")],
        1u32..120,
        any::<bool>(),
    );
    (edge.clone(), edge, loss.clone(), loss, tcp, 1u32..4, any::<bool>(), any::<bool>()).prop_map(
        |(mut edge, ack, data_loss, ack_loss, tcp, flows, shared, stored)| {
            let (variant, profile, window, delayed) = tcp;
            let (variant, law) = match variant {
                "vegas" => (variant, "vegas"),
                "fast" => ("sack", "fast"),
                _ => (variant, "aimd"),
            };
            let ack_loss =
                if ack_loss["process"] == "script" { json!({"process": "none"}) } else { ack_loss };
            edge["ack"] = ack;
            json!({
                "access": {"rate": "1 Mb/s", "shared": shared, "queue": 30},
                "core": {"forwarding": if stored { "store-and-forward" } else { "cut-through" }},
                "edge": edge,
                "loss": {"data": data_loss, "ack": ack_loss},
                "tcp": {"variant": variant, "window_law": law, "profile": profile, "window": window,
                    "delayed_ack": delayed},
                "flows": [{"count": flows, "stagger": "30 ms"}, {"bytes": "40 KB"}],
                "run": {"duration": "8 s"},
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_appears_or_vanishes(scenario in any_scenario(), seed in 0u64..1000) {
        let output = run(&scenario, seed, Trace::default());
        let c = &output.summary.counters;
        prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
        prop_assert_eq!(c.acks_sent, c.acks_delivered + c.acks_lost + c.acks_in_flight);
        prop_assert_eq!(c.bursts_sent, c.bursts_delivered + c.bursts_lost + c.bursts_in_flight);
        prop_assert_eq!(
            c.ack_bursts_sent,
            c.ack_bursts_delivered + c.ack_bursts_lost + c.ack_bursts_in_flight
        );
        for flow in &output.summary.flows {
            prop_assert!(flow.segments_delivered <= flow.packets_delivered);
            prop_assert!(flow.packets_delivered + flow.packets_lost <= flow.packets_sent);
            prop_assert!(flow.retransmissions <= flow.packets_sent);
        }
    }

    #[test]
    fn tracing_changes_nothing_and_the_same_seed_gives_the_same_run(
        scenario in any_scenario(),
        seed in 0u64..1000,
    ) {
        let traced = run(&scenario, seed, ALL);
        let plain = run(&scenario, seed, Trace::default());
        // A run that is not traced does at once what this one does in several events.
        prop_assert_eq!(numbers(traced.summary.clone()), numbers(plain.summary));
        let again = run(&scenario, seed, ALL);
        // Debug text, because the NaN of an ACK's missing cwnd is not equal to itself.
        prop_assert_eq!(differing(&traced.tables, &again.tables), None);
    }

    #[test]
    fn a_run_that_is_cut_and_cloned_is_the_run_in_one_piece(
        scenario in any_scenario(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        let whole = run(&scenario, seed, ALL);
        a_clone_goes_on(&scenario, seed, cut, &whole)?;
    }

    #[test]
    fn a_run_that_is_stored_and_read_is_the_run_in_one_piece(
        scenario in any_scenario(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on(&scenario, seed, cut)?;
    }

    #[test]
    fn chunks_are_the_whole_tables(
        scenario in any_scenario(),
        seed in 0u64..1000,
        bits in 0u32..9,
        slice in 1u32..200,
    ) {
        let whole = joined(run(&scenario, seed, ALL));
        let simulation = simulation(&scenario, seed, ALL);
        let (joined, _) = run_in_chunks(simulation, 1 << bits, slice);
        are_same(&joined, &whole)?;
    }

    #[test]
    fn causes_precede_effects(scenario in any_scenario(), seed in 0u64..1000) {
        let output = run(&scenario, seed, ALL);
        let packets = &output.tables[0];
        let (kind, fate) = (codes(packets, "kind"), codes(packets, "fate"));
        let steps =
            ["sent_ps", "ingress_ps", "departed_ps", "egress_ps", "delivered_ps", "acked_ps"];
        for (row, &fate) in fate.iter().enumerate() {
            let delivered = wide(packets, "delivered_ps")[row];
            prop_assert_eq!(fate == 1, delivered != u64::MAX);
            let mut last = 0;
            // A lost transmission is acknowledged when another one of its segment gets through.
            let known = if fate == 1 { 6 } else { 4 };
            for step in &steps[..known] {
                let at = wide(packets, step)[row];
                if at != u64::MAX {
                    // The ACK of an earlier transmission may come before this one arrives.
                    let early = *step == "acked_ps";
                    prop_assert!(early || at >= last, "row {row}: {step} {at} < {last}");
                    last = at;
                }
            }
        }
        let lost = fate.iter().zip(kind).filter(|&(&fate, &kind)| fate == 2 && kind == 0).count();
        prop_assert_eq!(lost as u64, output.summary.counters.packets_lost);
        let sent = kind.iter().filter(|&&kind| kind == 0).count();
        prop_assert_eq!(sent as u64, output.summary.counters.packets_sent);
        let bursts = table(&output, "bursts");
        for row in 0..codes(bursts, "fate").len() {
            let at = |column| wide(bursts, column)[row];
            prop_assert!(at("opened_ps") <= at("closed_ps"));
            prop_assert!(at("closed_ps") <= at("departed_ps"));
        }
        if scenario["core"]["forwarding"] == "cut-through" {
            let directions = codes(bursts, "direction");
            for direction in [0, 1] {
                // 10 Gb/s: a byte takes 800 ps. Bursts that are lost at a core node leave as well.
                let mut free_at = 0;
                let order = wide(bursts, "burst");
                let mut rows: Vec<usize> =
                    (0..directions.len()).filter(|&row| directions[row] == direction).collect();
                rows.sort_by_key(|&row| order[row]);
                for row in rows {
                    let departed = wide(bursts, "departed_ps")[row];
                    prop_assert!(departed >= free_at, "row {row} overlaps the burst before it");
                    free_at = departed + 800 * wide(bursts, "bytes")[row];
                }
            }
        }
    }
}

#[test]
fn the_fate_of_a_burst_does_not_depend_on_what_else_is_drawn() {
    // The same losses by number, whether ACKs are lost at random too or not.
    let scenario = |ack: f64| {
        json!({"edge": {"assembly": "timer", "timer": "40 ms"},
            "loss": {"data": {"process": "bernoulli", "probability": 0.1},
                     "ack": {"process": "bernoulli", "probability": ack}},
            "run": {"bursts": 300, "duration": "1000 s"}})
    };
    let lost = |output: &Output| -> Vec<u64> {
        let bursts = &output.tables[0];
        let numbers = wide(bursts, "burst").iter().zip(codes(bursts, "fate"));
        let directions = codes(bursts, "direction");
        numbers
            .zip(directions)
            .filter(|&((_, &fate), &direction)| fate == 2 && direction == 0)
            .map(|((&number, _), _)| number)
            .collect()
    };
    let (with, without) = (run(&scenario(0.05), 9, BURSTS), run(&scenario(0.0), 9, BURSTS));
    assert_eq!(lost(&with), lost(&without));
    assert!(lost(&with).len() > 10);
    assert_eq!(with.summary.counters.bursts_sent, 300);
    assert!(with.summary.counters.ack_bursts_lost > 0);
}

#[test]
fn a_long_run_holds_what_may_change_and_a_few_chunks_of_each_table() {
    // A flow that waits for its timer waits long, while the others send on.
    let scenario = |duration: u32| {
        json!({"access": {"rate": "2 Mb/s"}, "edge": {"assembly": "timer", "timer": "5 ms"},
            "loss": {"data": {"process": "bernoulli", "probability": 0.01},
                     "ack": {"process": "bernoulli", "probability": 0.01}},
            "tcp": {"window": 40, "variant": "reno", "rto_min": "20 s"}, "flows": [{"count": 3}],
            "run": {"duration": format!("{duration} s")}})
    };
    let chunk = 512;
    let rows = |duration| {
        let simulation = simulation(&scenario(duration), 4, ALL);
        let (output, most) = run_in_chunks(simulation, chunk, 100);
        (wide(&output.tables[0], "sent_ps").len() as u64, most)
    };
    let (few, many) = (rows(60), rows(1200));
    assert!(few.0 > 3_000 && many.0 > 40_000, "{few:?} {many:?}");
    // Three windows and their ACKs, twice; three chunks of packets, one of each of four other
    // tables; the rows of a slice.
    let bound = 2 * 3 * 2 * 40 + 7 * u64::from(chunk) + 300;
    assert!(many.1 < bound, "{} rows were held, more than {bound}", many.1);
}

#[test]
fn a_run_that_is_stopped_hands_over_what_was_done() {
    let scenario = json!({"loss": {"data": {"process": "bernoulli", "probability": 0.05}},
        "run": {"duration": "300 s"}});
    let (mut whole, chunks) = (simulation(&scenario, 2, ALL), simulation(&scenario, 2, ALL));
    let mut chunks = chunks.in_chunks_of(16);
    let mut pieces = Vec::new();
    whole.advance(5000);
    for _ in 0..50 {
        chunks.advance(100);
        pieces.extend(chunks.drain());
    }
    let drained = pieces.len();
    let ((whole, tables), (stopped, rest)) = (whole.finish(), chunks.finish());
    assert!(whole.interrupted && stopped == whole);
    let sent = |pieces: &[Piece]| -> Vec<u64> {
        let rows = pieces.iter().filter_map(|piece| match piece {
            Piece::Rows(table) | Piece::Early(table) if table.name == "packets" => Some(table),
            _ => None,
        });
        rows.flat_map(|table| wide(table, "sent_ps").to_vec()).collect()
    };
    pieces.extend(rest);
    assert!(drained > 100, "{drained}");
    assert_eq!(sent(&pieces), sent(&tables));
}

#[test]
fn a_consumer_that_fails_ends_the_run() {
    let scenario = json!({"run": {"duration": "1000000 s"}});
    let mut taken = 0;
    let simulation = simulation(&scenario, 2, ALL).in_chunks_of(1024);
    let end = simulation.stream(&Monitor::default(), |_| {
        taken += 1;
        if taken < 3 { Ok(()) } else { Err("the disk is full") }
    });
    assert_eq!((end.err(), taken), (Some("the disk is full"), 3));
}

#[test]
fn a_script_that_never_comes_true_is_said() {
    let scenario = json!({"loss": {"data": {"process": "script", "bursts": [999_999],
        "carrying": [888_888], "packets": [[777_777, 1]]}}, "run": {"duration": "1 s"}});
    let warnings = summary(&scenario, 1).warnings;
    for number in ["999999", "888888", "777777"] {
        assert!(warnings.iter().any(|warning| warning.contains(number)), "{number}: {warnings:?}");
    }
}

#[test]
fn a_finite_transfer_completes_and_ends_the_run() {
    let scenario = json!({"access": {"rate": "10 Mb/s"}, "flows": [{"bytes": "96 KB"}],
        "tcp": {"window": 1000}, "run": {"duration": "100 s"}});
    let summary = summary(&scenario, 1);
    let flow = &summary.flows[0];
    assert_eq!(flow.segments_delivered, 100, "96 KB in segments of 960 B");
    assert_eq!(flow.completed_s, Some(summary.simulated_s));
    assert!(summary.simulated_s < 1.5, "{}", summary.simulated_s);
}

#[test]
fn a_scripted_application_writes_when_told() {
    let scenario = json!({"flows": [{"script": [{"at": "0 s", "bytes": "1 KB"},
        {"at": "3 s", "bytes": "1 KB"}]}], "run": {"duration": "100 s"}});
    let summary = summary(&scenario, 1);
    assert_eq!(summary.flows[0].segments_delivered, 4, "twice 960 B and 40 B");
    let done = summary.flows[0].completed_s.expect("it completes");
    assert!((3.1..4.0).contains(&done), "{done}");
}

#[test]
fn senders_hear_of_bursts_that_nodes_pass_whole_and_packet_by_packet() {
    // Nothing is lost, and nothing is on the way at the end: each burst has a notice of each edge.
    for forwarding in ["cut-through", "store-and-forward"] {
        for (mode, each) in [("ingress", 1), ("egress", 1), ("both", 2)] {
            for edge in [
                json!({"assembly": "timer", "timer": "5 ms"}),
                json!({"assembly": "hybrid", "size": "3 KB", "timer": "5 ms"}),
            ] {
                let scenario = json!({
                    "core": {"forwarding": forwarding},
                    "edge": edge,
                    "tcp": {"variant": "sack", "window": 20, "detector": "back", "back_mode": mode},
                    "flows": [{"bytes": "300 KB"}],
                    "run": {"duration": "20 s"},
                });
                let counters = summary(&scenario, 1).counters;
                assert!(counters.bursts_delivered > 5, "{scenario}: {counters:?}");
                assert_eq!(counters.notices_sent, each * counters.bursts_sent, "{scenario}");
            }
        }
    }
}

#[test]
fn a_full_access_queue_drops_and_says_so() {
    let scenario = json!({"access": {"queue": 5}, "tcp": {"window": 60}});
    let output = run(&scenario, 1, Trace { packets: true, ..Trace::default() });
    let lost = output.summary.counters.packets_lost;
    assert!(lost > 0);
    let overflow = codes(&output.tables[0], "cause").iter().filter(|&&cause| cause == 3).count();
    assert_eq!(overflow as u64, lost);
}

#[test]
fn of_a_run_that_is_stopped_the_first_flows_are_told_and_all_are_in_the_totals() {
    let count = FLOWS_WHEN_STOPPED as u64 + 3;
    let scenario = json!({
        "flows": [{ "count": count }],
        "run": { "duration": "30 s" },
    });
    let stopped = |monitor: &Monitor| {
        let mut simulation = simulation(&scenario, 1, Trace::default());
        for _ in 0..20 {
            simulation.advance(100_000);
        }
        simulation.conclude(monitor).0
    };
    let cancelled = Monitor::default();
    cancelled.cancel();
    let (whole, brief) = (stopped(&Monitor::default()), stopped(&cancelled));
    assert_eq!(whole.flows.len() as u64, count);
    assert_eq!(brief.flows[..], whole.flows[..FLOWS_WHEN_STOPPED]);
    assert_eq!((&brief.counters, &brief.fingerprint), (&whole.counters, &whole.fingerprint));
    assert!(whole.counters.packets_sent > count, "{:?}", whole.counters);
    assert!(whole.warnings.is_empty(), "{:?}", whole.warnings);
    let words = format!("only the first {FLOWS_WHEN_STOPPED} of {count} flows have numbers here");
    assert!(
        brief.warnings.len() == 1 && brief.warnings[0].contains(&words),
        "{:?}",
        brief.warnings
    );
}
