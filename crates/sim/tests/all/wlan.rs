//! Wireless cells between hosts and their access links.

use burstlab_sim::{Column, Table, WlanWay};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::columns::{codes, column, differing, table, wide};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, a_clone_goes_on, numbers, refused, run, summary};

/// One New-Reno flow over a wide path, its receiver or its sender on the air.
fn one_flow(wlan: &Value, delayed_ack: bool) -> Value {
    json!({
        "network": {"link_rate": "1 Gb/s", "link_delay": "1 ms"},
        "access": {"rate": "100 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "none"},
        "tcp": {"variant": "new-reno", "window": 128, "segment_size": "1500 B",
            "delayed_ack": delayed_ack},
        "wlan": [wlan],
        "run": {"duration": "65 s", "warmup": "5 s"},
    })
}

fn goodput(wlan: &Value, delayed_ack: bool) -> f64 {
    summary(&one_flow(wlan, delayed_ack), 1).flows[0].goodput_bps / 1e6
}

#[test]
fn goodput_is_what_the_overheads_leave() {
    // `burstlab.analytic.wlan.tcp_goodput`: where all back-offs are added, and where those of
    // segments and ACKs run side by side.
    for (wlan, delayed_ack, [least, most]) in [
        (json!({}), false, [4.036, 4.318]),
        (json!({"side": "sender"}), false, [4.036, 4.318]),
        (json!({"basic_rate": "2 Mb/s"}), false, [4.198, 4.505]),
        (json!({"rts_threshold": "0 B"}), false, [2.751, 2.921]),
        (json!({"rts_threshold": "0 B", "basic_rate": "2 Mb/s"}), false, [3.024, 3.231]),
        (json!({}), true, [4.794, 5.1]),
    ] {
        let measured = goodput(&wlan, delayed_ack);
        assert!((least..most).contains(&measured), "{wlan}: {measured:.3} Mb/s");
        let off = measured / most - 1.0;
        assert!(delayed_ack || off > -0.02, "{wlan}: {measured:.3} Mb/s, not {most}");
    }
    let plain = goodput(&json!({}), false);
    assert!((4.0..4.3).contains(&plain), "{plain}");
}

#[test]
fn residual_loss_is_the_error_to_the_power_of_the_limit() {
    for (wlan, error, residual) in [
        (json!({"loss": "frame-error", "probability": 0.518}), 0.518, 0.0),
        (json!({"loss": "frame-error", "probability": 0.3, "short_retries": 2}), 0.3, 0.0),
        // Q(1) of the data frames; and of their ACKs, which change nothing.
        (
            json!({"loss": "shadowing", "margin_db": 6.0, "sigma_db": 6.0, "short_retries": 2}),
            0.158_655,
            0.0,
        ),
        (json!({"loss": "residual", "probability": 0.01}), 0.0, 0.01),
    ] {
        let mut scenario = one_flow(&wlan, false);
        scenario["flows"] = json!([{"count": 2}]);
        scenario["run"]["duration"] = json!("200 s");
        let summary = summary(&scenario, 3);
        let directions = [&summary.wlan[0].down, &summary.wlan[0].up];
        for one in directions {
            let ended = (one.delivered + one.retry_dropped + one.residual_lost) as f64;
            // Collisions make some tries fail besides.
            let met = one.collisions as f64 / one.data_frames as f64;
            let tries = scenario["wlan"][0]["short_retries"].as_i64().unwrap_or(7) as i32;
            let try_fails = 1.0 - (1.0 - error) * (1.0 - met);
            let expected = if error > 0.0 { try_fails.powi(tries) } else { residual };
            let band = 3.3 * (expected * (1.0 - expected) / ended).sqrt() + 0.1 * expected;
            let ratio = one.residual_loss_ratio;
            assert!((ratio - expected).abs() < band, "{wlan}: {ratio:.5}, not {expected:.5}");
            assert!(ended > 1000.0, "{wlan}");
        }
    }
}

#[test]
fn losses_on_the_air_are_known_by_their_cause() {
    let wlan = json!({"loss": "frame-error", "probability": 0.25, "short_retries": 3,
        "base_queue": 4});
    let output = run(&one_flow(&wlan, true), 1, ALL);
    let (summary, packets) = (&output.summary, &output.tables[0]);
    let (down, up) = (&summary.wlan[0].down, &summary.wlan[0].up);
    assert!(down.retry_dropped > 9 && down.queue_dropped > 9 && up.retry_dropped > 9);
    let caused = |label: &str| count(packets, "cause", label);
    assert_eq!(caused("wireless"), down.retry_dropped + up.retry_dropped);
    assert_eq!(caused("wireless-queue"), down.queue_dropped + up.queue_dropped);
    assert_eq!(summary.counters.packets_lost, down.retry_dropped + down.queue_dropped);
    assert_eq!(summary.counters.acks_lost, up.retry_dropped + up.queue_dropped);
    let ledger = table(&output, "ledger_losses");
    assert!(count(ledger, "cause", "wireless") > 0 && count(ledger, "cause", "wireless-queue") > 0);
}

/// Packets lost on the air before the optical network were not in it, and those lost behind it
/// were: totals of packets that crossed it distinguish the two.
#[test]
fn losses_before_the_network_and_behind_it_are_told_apart() {
    let rules = json!({"loss": "frame-error", "probability": 0.3, "short_retries": 2});
    for side in ["sender", "receiver"] {
        let mut wlan = rules.clone();
        wlan["side"] = json!(side);
        let output = run(&one_flow(&wlan, false), 1, ALL);
        let (c, packets) = (&output.summary.counters, &output.tables[0]);
        assert!(c.packets_lost > 20 && c.packets_in_flight < 10, "{side}: {c:?}");
        let crossed = left_the_network(packets);
        assert_eq!(c.packets_crossed, crossed, "{side}");
        let lost_behind = c.packets_lost * u64::from(side == "receiver");
        assert!(crossed.abs_diff(c.packets_delivered + lost_behind) < 10, "{side}");
        // The access links are wires: before the cell of a receiver, behind that of a sender.
        let on_wires = if side == "sender" {
            2 * c.packets_delivered
        } else {
            2 * (c.packets_delivered + c.packets_lost)
        };
        assert!(c.access_offered.abs_diff(on_wires) < 10, "{side}: {}", c.access_offered);
    }
}

/// Data packets that have a time at which they left the optical network.
fn left_the_network(packets: &Table) -> u64 {
    let (left, kinds) = (wide(packets, "egress_ps"), codes(packets, "kind"));
    left.iter().zip(kinds).filter(|&(&at, &kind)| kind == 0 && at != u64::MAX).count() as u64
}

/// Frames last whole microseconds, and so a station may have something to send at the very instant
/// a frame of another one ends.
#[test]
fn a_station_may_send_as_a_frame_ends() {
    let mut scenario = one_flow(&json!({"side": "sender"}), false);
    scenario["run"] = json!({"duration": "5 ms"});
    for start in 0..1500 {
        scenario["flows"] = json!([{"count": 1}, {"start": format!("{start} us")}]);
        let c = summary(&scenario, 1).counters;
        assert!(c.packets_sent >= 2 && c.packets_lost == 0, "{start}");
    }
}

fn count(table: &Table, name: &str, label: &str) -> u64 {
    let Column::Category(codes, labels) = column(table, name) else { panic!("no category {name}") };
    let code = labels.iter().position(|one| *one == label).expect("a label") as u8;
    codes.iter().filter(|&&one| one == code).count() as u64
}

/// Any cell, with stations for `flows` flows.
fn any_cell(flows: usize) -> impl Strategy<Value = Value> {
    let rate = || prop_oneof![Just("1 Mb/s"), Just("2 Mb/s"), Just("5.5 Mb/s"), Just("11 Mb/s")];
    let place = (-300.0..300.0, -300.0..300.0);
    let positions = prop::collection::vec(place, flows);
    let loss = prop_oneof![
        Just(json!({"loss": "none"})),
        (0.0..0.8).prop_map(|p| json!({"loss": "frame-error", "probability": p})),
        (0.0..0.8).prop_map(|p| json!({"loss": "frame-error", "probability": p, "frames": "data"})),
        (0.0..0.3).prop_map(|p| json!({"loss": "residual", "probability": p})),
        (-2.0..20.0).prop_map(|margin| json!({"loss": "shadowing", "margin_db": margin})),
        (1.0..400.0).prop_map(|m| json!({"loss": "shadowing", "distance_m": m, "sigma_db": 0.0})),
        positions.prop_map(|places| json!({"loss": "shadowing", "positions": places})),
    ];
    let bound = || prop_oneof![Just(None), (0u32..20).prop_map(Some)];
    let threshold = prop_oneof![Just(None), Just(Some("0 B")), Just(Some("500 B"))];
    let tries = (1u32..8, 1u32..8);
    (rate(), rate(), any::<bool>(), threshold, tries, (bound(), bound()), loss).prop_map(
        |(rate, basic, short, threshold, (tries, long), (base, station), mut cell)| {
            cell["rate"] = json!(rate);
            cell["basic_rate"] = json!(basic);
            cell["preamble"] = json!(if short { "short" } else { "long" });
            cell["rts_threshold"] = json!(threshold);
            cell["short_retries"] = json!(tries);
            cell["long_retries"] = json!(long);
            cell["base_queue"] = json!(base);
            cell["station_queue"] = json!(station);
            if !cell["positions"].is_array() {
                cell["hidden"] = json!(tries % 2 == 0);
            }
            cell
        },
    )
}

fn any_edge() -> impl Strategy<Value = Value> {
    let edge = || {
        prop_oneof![
            Just(json!({"assembly": "none"})),
            (1u64..20).prop_map(|t| json!({"assembly": "timer", "timer": format!("{t} ms")})),
            (1u64..20, 1u64..20).prop_map(|(t, s)| {
                json!({"assembly": "hybrid", "timer": format!("{t} ms"), "size": format!("{s} KB")})
            }),
        ]
    };
    (edge(), edge()).prop_map(|(mut edge, ack)| {
        edge["ack"] = ack;
        edge
    })
}

fn any_tcp() -> impl Strategy<Value = Value> {
    let variant = prop_oneof![Just("tahoe"), Just("reno"), Just("new-reno"), Just("sack")];
    let profile = prop_oneof![Just("rfc"), Just("ns2")];
    (variant, profile, 1u32..120, any::<bool>()).prop_map(|(variant, profile, window, delayed)| {
        json!({"variant": variant, "profile": profile, "window": window, "delayed_ack": delayed})
    })
}

/// Hosts on the air at either side of a path, or at both.
fn any_path() -> impl Strategy<Value = Value> {
    let loss = prop_oneof![Just(0.0), 0.0..0.2];
    let cells = (0usize..3, any_cell(3), any_cell(3));
    (cells, any_edge(), any_tcp(), loss, any::<bool>(), prop_oneof![Just(None), Just(Some(20))])
        .prop_map(|((which, mut near, mut far), edge, tcp, loss, shared, queue)| {
            (near["side"], far["side"]) = (json!("sender"), json!("receiver"));
            let cells = match which {
                0 => json!([near]),
                1 => json!([far]),
                _ => json!([far, near]),
            };
            json!({
                "access": {"rate": "20 Mb/s", "delay": "1 ms", "shared": shared, "queue": queue},
                "edge": edge, "tcp": tcp, "wlan": cells,
                "loss": {"data": {"process": "bernoulli", "probability": loss}},
                "flows": [{"count": 2, "stagger": "30 ms"}, {"bytes": "40 KB"}],
                "run": {"duration": "4 s", "warmup": "1 s"},
            })
        })
}

/// Hosts on the air at one node of a mesh or two, and others that are not.
fn any_mesh() -> impl Strategy<Value = Value> {
    (any_cell(3), any_cell(3), any::<bool>(), any_edge(), any_tcp(), any::<bool>()).prop_map(
        |(mut one, mut other, both, edge, tcp, shared)| {
            (one["node"], other["node"]) = (json!("1"), json!("3"));
            let mut edge = edge;
            if edge["assembly"] == "none" {
                edge = json!({"assembly": "timer", "timer": "2 ms"});
            }
            json!({
                "network": {"topology": "ring", "nodes": 4, "wavelengths": 1,
                    "link_rate": "50 Mb/s"},
                "access": {"rate": "20 Mb/s", "delay": "1 ms", "shared": shared},
                "signalling": {"guard": "300 us"},
                "edge": edge, "tcp": tcp,
                "wlan": if both { json!([one, other]) } else { json!([one]) },
                "flows": [{"from": "1", "to": "3", "count": 2}, {"from": "2", "to": "4"},
                    {"from": "3", "to": "1", "bytes": "60 KB"}, {"from": "4", "to": "2"}],
                "run": {"duration": "2 s", "warmup": "500 ms"},
            })
        },
    )
}

/// The same hosts behind slots in place of bursts. Edge nodes write no ACKs: copies that they send
/// have no row in the trace.
fn any_slots() -> impl Strategy<Value = Value> {
    (any_mesh(), 0u32..20, any::<bool>(), any::<bool>()).prop_map(
        |(mut scenario, buffer, free, cut)| {
            let table = scenario.as_object_mut().expect("a table");
            for bursts in ["edge", "signalling"] {
                table.remove(bursts);
            }
            let acks = if free { "free" } else { "slotted" };
            scenario["ops"] = json!({"buffer": buffer, "acks": acks});
            if cut {
                scenario["ops"]["dlcc"] = json!({"acks": false});
            }
            scenario
        },
    )
}

fn any_scenario() -> impl Strategy<Value = Value> {
    prop_oneof![any_path(), any_mesh(), any_slots()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_appears_or_vanishes(scenario in any_scenario(), seed in 0u64..1000) {
        let summary = summary(&scenario, seed);
        let c = &summary.counters;
        prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
        prop_assert_eq!(c.acks_sent, c.acks_delivered + c.acks_lost + c.acks_in_flight);
        prop_assert_eq!(c.bursts_sent, c.bursts_delivered + c.bursts_lost + c.bursts_in_flight);
        prop_assert!(c.packets_crossed <= c.packets_sent);
        prop_assert_eq!(summary.wlan.len(), scenario["wlan"].as_array().map_or(0, Vec::len));
        let kept = |one: &WlanWay| {
            let lost = one.retry_dropped + one.residual_lost + one.queue_dropped;
            one.delivered + lost + one.in_flight == one.offered && one.given_up >= one.retry_dropped
        };
        prop_assert!(summary.wlan.iter().all(|cell| kept(&cell.down) && kept(&cell.up)));
    }

    #[test]
    fn tracing_changes_nothing_and_what_is_traced_is_what_is_counted(
        scenario in any_scenario(),
        seed in 0u64..1000,
    ) {
        let traced = run(&scenario, seed, ALL);
        let plain = summary(&scenario, seed);
        prop_assert_eq!(numbers(traced.summary.clone()), numbers(plain));
        let again = run(&scenario, seed, ALL);
        prop_assert_eq!(differing(&traced.tables, &again.tables), None);
        let (packets, c) = (&traced.tables[0], &traced.summary.counters);
        prop_assert_eq!(count(packets, "fate", "lost"), c.packets_lost + c.acks_lost);
        let cells = traced.summary.wlan.iter().flat_map(|cell| [&cell.down, &cell.up]);
        let on_air: u64 = cells.clone().map(|one| one.retry_dropped + one.residual_lost).sum();
        let queues: u64 = cells.map(|one| one.queue_dropped).sum();
        prop_assert_eq!(count(packets, "cause", "wireless"), on_air);
        prop_assert_eq!(count(packets, "cause", "wireless-queue"), queues);
    }

    #[test]
    fn a_run_that_is_cut_stored_and_read_is_the_run_in_one_piece(
        scenario in any_scenario(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on(&scenario, seed, cut)?;
        a_clone_goes_on(&scenario, seed, cut, &run(&scenario, seed, ALL))?;
    }
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut scenario = one_flow(&json!({}), true);
    change(&mut scenario);
    refused(&scenario).to_string()
}

#[test]
fn mistakes_are_answered() {
    let cell = |field: &'static str, value: Value| {
        refusal(move |scenario| scenario["wlan"][0][field] = value)
    };
    for (message, expected) in [
        (
            cell("rate", json!("54 Mb/s")),
            "wlan[0].rate = 54 Mb/s: there is no such rate; write \"1 Mb/s\", ",
        ),
        (cell("short_retries", json!(0)), "wlan[0].short_retries = 0: out of range"),
        (cell("cw_max", json!(15)), "wlan[0].cw_max = 15: no largest window; write 31 to 32767"),
        (cell("node", json!("1")), "wlan[0].node = \"1\": it belongs to a mesh"),
        (cell("probability", json!(0.1)), "wlan[0].probability = 0.1: loss = \"none\""),
        (cell("loss", json!("residual")), "wlan[0].probability: loss = \"residual\" needs it"),
        (cell("loss", json!("shadowing")), "wlan[0].margin_db: loss = \"shadowing\" needs"),
    ] {
        assert!(message.starts_with(expected), "{message}");
    }
    let shadowing = |more: Value| {
        refusal(move |scenario| {
            scenario["wlan"][0] = more;
            scenario["wlan"][0]["loss"] = json!("shadowing");
        })
    };
    for (message, expected) in [
        (shadowing(json!({"positions": [[1, 2], [3, 4]]})), "wlan[0].positions = 2 places"),
        (shadowing(json!({"margin_db": 3, "distance_m": 3})), "wlan[0].distance_m: margin_db"),
        (shadowing(json!({"distance_m": -1})), "wlan[0].distance_m = -1: out of range"),
        (shadowing(json!({"positions": [[1, 2]], "hidden": true})), "wlan[0].hidden = true"),
        (
            refusal(|scenario| scenario["wlan"] = json!([{}, {}])),
            "wlan[1].side = \"receiver\": there is a cell already",
        ),
        (
            refusal(|scenario| scenario["tcp"]["segment_size"] = json!("4 KB")),
            "tcp.segment_size = 4 KB: it fits into no frame",
        ),
    ] {
        assert!(message.starts_with(expected), "{message}");
    }
}
