//! Connections with data in both directions: each segment of one carries the ACK of the other.

use burstlab_sim::{Output, Summary, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::columns::{codes, integers, labels, table};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, a_clone_goes_on, numbers, refused, run, summary};

/// A byte takes 1 us on an access link and 1 ns on a fibre; propagation is 10 ms in all. So a
/// packet of S bytes takes 10 ms and 2.001 us for each byte, where it has not to wait.
fn exchange() -> Value {
    json!({
        "network": {"core_nodes": 1, "link_delay": "4 ms", "link_rate": "8 Gb/s"},
        "access": {"rate": "8 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "none"},
        "tcp": {"variant": "reno", "profile": "rfc", "segment_size": "1000 B", "syn_size": "40 B",
            "initial_window": 2, "delayed_ack": true, "delayed_ack_timeout": "100 ms"},
        "flows": [{"bytes": "2880 B", "reverse": {"bytes": "1920 B"}}],
        "run": {"duration": "10 s"},
    })
}

/// A packet: flow, what it is, its number, the ACK that it carries, when it is sent in ns.
type Sent = (u64, &'static str, u64, Option<u64>, u64);

/// The packets of a run in the order of sending.
fn sent(output: &Output) -> Vec<Sent> {
    let packets = table(output, "packets");
    let (flow, seq) = (integers(packets, "flow"), integers(packets, "seq"));
    let times = integers(packets, "sent_ps");
    let carried = table(output, "packets_acks");
    let (rows, acks) = (integers(carried, "packet"), integers(carried, "seq"));
    let flows = integers(carried, "flow");
    for (&row, &other) in rows.iter().zip(&flows) {
        assert_eq!(flow[row as usize] ^ 1, other, "it acknowledges the other direction");
    }
    let ack = |row: u64| rows.binary_search(&row).ok().map(|place| acks[place]);
    let kinds = codes(packets, "kind").iter().map(|&kind| ["data", "ack"][usize::from(kind)]);
    let rows = (0..).zip(kinds).zip(flow.iter().zip(&seq).zip(&times));
    rows.map(|((row, kind), ((&flow, &seq), &at))| (flow, kind, seq, ack(row), at / 1000)).collect()
}

#[test]
fn a_small_exchange_is_as_worked_out_by_hand() {
    let output = run(&exchange(), 1, ALL);
    // 40 B cross in 10,080,040 ns and 1000 B in 12,001,000 ns.
    let expected = [
        (0, "data", 0, None, 0),
        // The SYN that answers acknowledges the one that it answers.
        (1, "data", 0, Some(0), 10_080_040),
        // No ACK goes alone: the data that it lets go take it along.
        (0, "data", 1, Some(0), 20_160_080),
        (0, "data", 2, Some(0), 20_160_080),
        // The ACK of segment 1 would be delayed; it need not be. That of segment 2 is.
        (1, "data", 1, Some(1), 32_161_080),
        (1, "data", 2, Some(1), 32_161_080),
        (0, "data", 3, Some(1), 44_162_080),
        // The second segment since the last ACK, and nothing is left to send.
        (0, "ack", 3, None, 56_163_080),
        // Segment 2 of the flow back came at 45,162,080 ns: its ACK waits for 100 ms.
        (1, "ack", 2, None, 145_162_080),
    ];
    assert_eq!(sent(&output), expected);
    let c = &output.summary.counters;
    assert_eq!((c.packets_sent, c.packets_delivered), (7, 7));
    assert_eq!((c.acks_sent, c.acks_delivered), (2, 2), "those that go alone");
    let done: Vec<_> = output.summary.flows.iter().map(|flow| flow.completed_s).collect();
    assert_eq!(done, [Some(0.066_243_120), Some(0.155_242_120)]);
    assert_eq!(output.summary.flows[1].label, "reno (back)");
}

#[test]
fn an_ack_that_is_lost_with_its_segment_goes_with_the_next() {
    let mut scenario = exchange();
    scenario["loss"] = json!({"data": {"process": "script", "flow": 1, "packets": [[1, 1]]}});
    let output = run(&scenario, 1, ALL);
    let all = sent(&output);
    // Segment 2 comes before its turn, 1 ms after segment 1 would have, and has the same ACK. What
    // that lets go has the duplicate ACK, so that none goes alone.
    assert_eq!(all[6], (0, "data", 3, Some(0), 45_162_080));
    assert_eq!(all[7], (0, "ack", 3, None, 57_163_080));
    let again: Vec<_> = all[8..].iter().filter(|one| one.1 == "data").collect();
    assert_eq!((again.len(), (again[0].0, again[0].2, again[0].3)), (1, (1, 1, Some(3))));
    let flows = &output.summary.flows;
    assert_eq!((flows[1].timeouts, flows[1].fast_retransmits), (1, 0));
    assert!(flows.iter().all(|flow| flow.completed_s.is_some()));
}

#[test]
fn a_lost_ack_is_made_good_by_a_later_segment() {
    let mut scenario = exchange();
    // The only ACK of the first direction that goes alone; but now there is more to send back.
    scenario["loss"] = json!({"ack": {"process": "script", "flow": 0, "departures": [1]}});
    scenario["flows"][0]["reverse"] = json!({"script": [{"at": "0 s", "bytes": "1920 B"},
        {"at": "60 ms", "bytes": "960 B"}]});
    let output = run(&scenario, 1, ALL);
    let all = sent(&output);
    assert_eq!(all[7], (0, "ack", 3, None, 56_163_080));
    assert_eq!(all[8], (1, "data", 3, Some(3), 60_000_000));
    let flow = &output.summary.flows[0];
    assert_eq!((flow.completed_s, flow.timeouts), (Some(0.072_001), 0));
    // Without that segment a time-out repairs it.
    scenario["flows"][0]["reverse"] = json!({"bytes": "1920 B"});
    let flow = &summary(&scenario, 1).flows[0];
    assert_eq!((flow.retransmissions, flow.spurious_retransmissions), (1, 1));
    assert!(flow.completed_s.is_some());
}

#[test]
fn a_reply_begins_when_all_has_arrived() {
    let mut scenario = exchange();
    scenario["flows"][0]["reverse"] = json!({"bytes": "1920 B", "reply": true, "start": "5 ms"});
    let output = run(&scenario, 1, ALL);
    let all = sent(&output);
    let back: Vec<_> = all.iter().filter(|one| one.0 == 1 && one.1 == "data").collect();
    // Segments 1 and 2 come at 32.16 ms and 33.16 ms, and their ACK lets the third go.
    let arrived = 33_161_080 + 10_080_040 + 12_001_000;
    assert_eq!(back[1], &(1, "data", 1, Some(3), arrived + 5_000_000));
    assert_eq!(back.len(), 3);
    let flow = &output.summary.flows[1];
    let took = flow.acknowledged_after_s.expect("it is done");
    assert!((0.02..0.2).contains(&took), "counted from its first write: {took}");
}

#[test]
fn no_reply_begins_in_a_drain() {
    let mut scenario = exchange();
    scenario["flows"][0]["reverse"] = json!({"bytes": "1920 B", "reply": true, "start": "5 ms"});
    // All of the first direction is there at 55.2 ms, and its ACK at 66.2 ms.
    for (duration, begins) in [("50 ms", false), ("57 ms", false), ("61 ms", true)] {
        scenario["run"] = json!({"duration": duration, "drain": "10 s"});
        let flows = summary(&scenario, 1).flows;
        assert!(flows[0].completed_s.is_some(), "{duration}");
        assert_eq!(flows[1].completed_s.is_some(), begins, "{duration}");
    }
}

/// Rows of data, or of ACKs, of the first flow: number, when sent, when delivered.
fn of_first(output: &Output, kind: u8) -> Vec<(u64, u64, u64)> {
    let packets = table(output, "packets");
    let columns = ["flow", "seq", "sent_ps", "delivered_ps"].map(|name| integers(packets, name));
    let rows = codes(packets, "kind").iter().zip(&columns[0]).enumerate();
    let mine = rows.filter(|(_, (of, flow))| **of == kind && **flow == 0);
    mine.map(|(row, _)| (columns[1][row], columns[2][row], columns[3][row])).collect()
}

#[test]
fn a_direction_with_nothing_to_send_is_the_connection_in_one_direction() {
    let classic = |variant, delayed| {
        let mut tcp = exchange()["tcp"].clone();
        tcp["variant"] = json!(variant);
        tcp["delayed_ack"] = json!(delayed);
        tcp
    };
    let linux = |law, ecn| {
        json!({"profile": "linux", "window_law": law, "ecn": ecn,
        "segment_size": "1000 B"})
    };
    for (variant, tcp) in [
        ("reno", classic("reno", true)),
        ("sack", classic("sack", false)),
        ("new-reno", classic("new-reno", true)),
        ("linux cubic", linux("cubic", false)),
        ("linux bbr", linux("bbr", false)),
        ("linux dctcp", linux("dctcp", true)),
    ] {
        let mut scenario = exchange();
        scenario["tcp"] = tcp;
        scenario["access"]["marking"] = match variant {
            "linux dctcp" => json!({"above": "9 KB"}),
            _ => Value::Null,
        };
        scenario["flows"] = json!([{"bytes": "300 KB"}]);
        scenario["loss"] = json!({"data": {"process": "script", "carrying": [40, 41, 120]}});
        let one_way = run(&scenario, 1, ALL);
        scenario["flows"][0]["reverse"] = json!({"start": "20 s"});
        let two_way = run(&scenario, 1, ALL);
        // Linux ends the handshake by a packet that counts as data, or as an ACK of the flow back.
        let all = of_first(&one_way, 0);
        let ends = usize::from(variant.starts_with("linux"));
        let data = [&all[..1], &all[1 + ends..]].concat();
        assert_eq!(of_first(&two_way, 0), data, "{variant}");
        // Of the handshake one goes with the other's SYN.
        assert_eq!(of_first(&two_way, 1), of_first(&one_way, 1)[1..], "{variant}");
        let [one, two] = [&one_way, &two_way].map(|output| &output.summary.flows[0]);
        assert_eq!((one.completed_s, one.rtt_s), (two.completed_s, two.rtt_s));
        assert!(one.fast_retransmits > 0 && one.completed_s.is_some());
        let back = &two_way.summary.flows[1];
        assert_eq!((back.packets_sent, back.bytes_delivered), (1, 0), "its SYN");
    }
}

#[test]
fn data_that_repeat_an_ack_are_no_duplicates() {
    // Nobody sends back but what is due, and at once: each segment of the flow back repeats the ACK
    // of a flow that has one segment lost.
    let mut scenario = exchange();
    let write = |n| json!({"at": format!("{} ms", 40 + 3 * n), "bytes": "960 B"});
    let script: Vec<_> = (0..20).map(write).collect();
    scenario["flows"] = json!([{"bytes": "1920 B", "reverse": {"script": script}}]);
    scenario["tcp"]["window"] = json!(100);
    scenario["tcp"]["initial_window"] = json!(20);
    scenario["loss"] = json!({"data": {"process": "script", "packets": [[1, 1]]}});
    let output = run(&scenario, 1, ALL);
    let repeated = sent(&output).iter().filter(|one| one.0 == 1 && one.3 == Some(0)).count();
    assert!(repeated > 10, "{repeated}");
    let flow = &output.summary.flows[0];
    assert_eq!((flow.fast_retransmits, flow.timeouts), (0, 1));
}

#[test]
fn packets_of_both_directions_wait_for_one_another_on_a_link() {
    // The flow back fills its link: ACKs of the other that go alone wait behind its data.
    let mut scenario = exchange();
    scenario["access"]["queue"] = json!(1000);
    scenario["tcp"]["delayed_ack"] = json!(false);
    scenario["tcp"]["window"] = json!(100);
    scenario["flows"] = json!([{"script": [{"at": "2 s", "bytes": "960 B"}], "reverse": {}}]);
    let output = run(&scenario, 1, ALL);
    let acks = of_first(&output, 1);
    let &(_, left, came) = acks.iter().find(|one| one.0 == 1).expect("its ACK goes alone");
    // As each segment takes 1 ms on the link, and 100 are in flight in 24 ms.
    assert!(came - left > 10_080_040_000 + 60 * 1_000_000_000, "{} ps", came - left);
    // A full queue drops packets of both.
    scenario["access"]["queue"] = json!(4);
    let summary = summary(&scenario, 1);
    assert!(summary.counters.packets_lost > 0);
}

/// A ring of slots, whose buffers lose some of them, with and without congestion control.
fn slotted() -> impl Strategy<Value = Value> {
    let acks = prop::sample::select(vec!["slotted", "free"]);
    let packing = prop::sample::select(vec!["one", "several"]);
    (acks, packing, 1u32..9, any::<[bool; 2]>()).prop_map(
        |(acks, packing, buffer, [smooth, cut])| {
            let mut ops = json!({"acks": acks, "packing": packing, "buffer": buffer,
            "slot_size": "211 B", "slot_header": "8 B", "smoothing": {"enabled": smooth},
            "congestion": {"threshold": 0.5, "rtt_max": "50 ms"}});
            if smooth {
                ops["smoothing"] = json!({"units": 5, "min_rate": 0.05});
            }
            if cut {
                ops["dlcc"] = json!({"acks": false});
            }
            json!({"network": {"topology": "ring", "nodes": 4, "link_rate": "5 Mb/s",
            "link_delay": "1 ms", "wavelengths": 1}, "ops": ops})
        },
    )
}

/// Any network, with connections of which some have data in both directions.
pub(crate) fn any_scenario() -> impl Strategy<Value = Value> {
    let network = prop_oneof![
        3 => Just(json!({"network": {"topology": "path", "link_delay": "3 ms"}})),
        2 => Just(json!({"network": {"topology": "ring", "nodes": 4, "link_rate": "50 Mb/s",
                "link_delay": "1 ms", "wavelengths": 1},
            "signalling": {"guard": "300 us"},
            "bursts": [{"erlangs": 0.05, "length": {"mean": "20 KB"}}]})),
        2 => Just(json!({"network": {"topology": "path", "link_delay": "3 ms"},
            "wlan": [{"station_queue": 20}]})),
        1 => Just(json!({"network": {"topology": "path", "link_delay": "3 ms"},
            "core": {"forwarding": "store-and-forward"}})),
        2 => slotted(),
    ];
    let edge = prop_oneof![
        Just(json!({"assembly": "none"})),
        (1u64..9, 1u64..9)
            .prop_map(|(t, a)| json!({"assembly": "timer", "timer": format!("{t} ms"),
            "ack": {"assembly": "timer", "timer": format!("{a} ms")}})),
        Just(json!({"assembly": "hybrid", "timer": "5 ms", "size": "9 KB"})),
    ];
    let classic = prop::sample::select(vec!["tahoe", "reno", "new-reno", "sack", "vegas"]);
    let old = prop::sample::select(vec!["rfc", "ns2", "ns2-2003"]);
    let linux = prop::sample::select(vec!["cubic", "aimd", "bbr", "bbr3", "dctcp"]);
    let kind = prop_oneof![
        2 => (classic, old).prop_map(|(variant, profile)| json!({"variant": variant,
            "profile": profile})),
        1 => (linux, any::<[bool; 3]>()).prop_map(|(law, [ecn, stamps, grouping])| json!({
            "profile": "linux", "window_law": law, "ecn": ecn || law == "dctcp",
            "timestamps": stamps, "grouping": grouping})),
    ];
    let detector = prop::sample::select(vec!["none", "none", "back", "bnak", "ble"]);
    let tcp = (kind, any::<bool>(), prop::sample::select(vec!["0 s", "1 ms"]), detector);
    let back = prop_oneof![
        (1u64..60).prop_map(|k| json!({"bytes": format!("{k} KB")})),
        (1u64..60)
            .prop_map(|k| json!({"bytes": format!("{k} KB"), "reply": true, "start": "2 ms"})),
        Just(json!({"script": [{"at": "0.1 s", "bytes": "3 KB"}, {"at": "1 s", "bytes": "9 KB"}]})),
    ];
    let access = (any::<bool>(), prop::sample::select(vec![5, 30]), any::<bool>());
    (network, edge, tcp, access, 1u64..60, back, 0.0f64..0.1).prop_map(
        |(mut scenario, edge, tcp, (shared, queue, drawn), size, back, loss)| {
            let (kind, delayed, jitter, detector) = tcp;
            if scenario["ops"].is_null() {
                scenario["edge"] = edge;
                scenario["loss"] = json!({
                    "data": {"process": "bernoulli", "probability": loss},
                    "ack": {"process": "bernoulli", "probability": loss},
                });
            }
            scenario["access"] = json!({"rate": "2 Mb/s", "delay": "1 ms", "queue": queue,
                "shared": shared});
            scenario["tcp"] = json!({"window": 30, "rto_min": "200 ms", "segment_size": "500 B",
                "delayed_ack": delayed});
            if kind["profile"] != "linux" {
                scenario["tcp"]["send_jitter"] = json!(jitter);
                let bursts = scenario["ops"].is_null() && scenario["edge"]["assembly"] != "none";
                if bursts && kind["variant"] != "tahoe" && kind["variant"] != "vegas" {
                    scenario["tcp"]["detector"] = json!(detector);
                    scenario["edge"]["notices"] =
                        json!(if drawn { "in-band" } else { "out-of-band" });
                }
            } else if kind["ecn"] == true {
                scenario["access"]["marking"] = json!({"above": "2 KB"});
            }
            let fields = kind.as_object().expect("fields").clone();
            fields.into_iter().for_each(|(name, value)| scenario["tcp"][name] = value);
            let mut flows = json!([
                {"bytes": format!("{size} KB"), "count": 2, "stagger": "30 ms", "reverse": back},
                {"bytes": "20 KB"},
            ]);
            if scenario["network"]["topology"] == "ring" {
                flows[0]["from"] = json!("1");
                flows[0]["to"] = json!("3");
                flows[1]["from"] = json!("3");
                flows[1]["to"] = json!("2");
            }
            scenario["flows"] = flows;
            let ties = if drawn { "random" } else { "fixed" };
            scenario["run"] = json!({"duration": "4 s", "warmup": "1 s", "tie_break": ties,
                "drain": "4000 s"});
            scenario
        },
    )
}

fn is_conserved(summary: &Summary) -> Result<(), TestCaseError> {
    let c = &summary.counters;
    prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
    prop_assert_eq!(c.acks_sent, c.acks_delivered + c.acks_lost + c.acks_in_flight);
    prop_assert_eq!(c.bursts_sent, c.bursts_delivered + c.bursts_lost + c.bursts_in_flight);
    let sum = |of: fn(&burstlab_sim::FlowSummary) -> u64| summary.flows.iter().map(of).sum::<u64>();
    prop_assert_eq!(sum(|flow| flow.packets_sent), c.packets_sent);
    prop_assert_eq!(sum(|flow| flow.packets_lost), c.packets_lost);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn all_arrives_in_order_in_both_directions(scenario in any_scenario(), seed in 0u64..1000) {
        let mut whole = scenario;
        whole["run"] = json!({"duration": "4000 s"});
        whole.as_object_mut().map(|tables| tables.remove("bursts"));
        let summary = summary(&whole, seed);
        is_conserved(&summary)?;
        prop_assert_eq!(summary.flows.len(), 5);
        for flow in &summary.flows {
            prop_assert_eq!(Some(flow.bytes_in_order), flow.bytes, "{}", flow.label);
            prop_assert!(flow.completed_s.is_some() && flow.received_s <= flow.completed_s);
        }
    }

    #[test]
    fn a_run_is_the_same_traced_or_not(scenario in any_scenario(), seed in 0u64..1000) {
        let traced = run(&scenario, seed, ALL);
        is_conserved(&traced.summary)?;
        let plain = run(&scenario, seed, Trace::default());
        prop_assert_eq!(numbers(traced.summary), numbers(plain.summary));
    }

    #[test]
    fn a_run_that_is_cut_is_the_run_in_one_piece(
        scenario in any_scenario(),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        goes_on(&scenario, seed, cut)?;
        let whole = run(&scenario, seed, ALL);
        a_clone_goes_on(&scenario, seed, cut, &whole)?;
    }
}

#[test]
fn what_has_one_direction_is_refused() {
    let back = |change: Value| {
        let mut scenario = exchange();
        let object = change.as_object().expect("tables").clone();
        for (table, value) in object {
            scenario[table] = value;
        }
        let error = refused(&scenario);
        (error.path().to_string(), error.value().to_string())
    };
    let of = |path: &str, value: &str| (path.to_string(), value.to_string());
    let line = json!({"topology": "line", "nodes": 3, "link_rate": "10 Mb/s"});
    for (change, expected) in [
        (json!({"flows": [{"reverse": {"reply": true}}]}), of("flows[0].reverse.reply", "true")),
        (json!({"flows": [{"reverse": {"script": []}}]}), of("flows[0].reverse.script", "[]")),
        (
            json!({"network": line, "ops": {"dlcc": {}}, "flows": [{"reverse": {}}], "edge": {}}),
            of("ops.dlcc.acks", "true"),
        ),
        (
            json!({"surgery": [{"burst": 3, "operation": "spare", "direction": "ack"}]}),
            of("surgery[0].direction", "\"ack\""),
        ),
        (
            json!({"edge": {"spacing": "1 ms"}, "core": {"forwarding": "store-and-forward"}}),
            of("edge.spacing", "1 ms"),
        ),
        (
            json!({"flows": [{"reverse": {"bytes": "1 KB", "script": []}}]}),
            of("flows[0].reverse.bytes", "1 KB"),
        ),
    ] {
        assert_eq!(back(change.clone()), expected, "{change}");
    }
}

#[test]
fn bursts_of_a_path_are_operated_on_by_one_number() {
    let mut scenario = exchange();
    let bursts = |output: &Output| {
        let bursts = table(output, "bursts");
        let fates: Vec<_> = labels(bursts, "fate").iter().map(|&fate| fate == "lost").collect();
        (integers(bursts, "burst"), integers(bursts, "from"), fates)
    };
    let (numbers, from, fates) = bursts(&run(&scenario, 1, ALL));
    assert_eq!(numbers, (1..=9).collect::<Vec<_>>());
    assert!(fates.iter().all(|&lost| !lost));
    // The fifth is the first segment of data that goes back.
    assert_eq!(from[4], 3);
    scenario["surgery"] = json!([{"operation": "kill", "burst": 5}]);
    let output = run(&scenario, 1, ALL);
    let (_, from, fates) = bursts(&output);
    let lost: Vec<_> = (0..fates.len()).filter(|&row| fates[row]).collect();
    assert_eq!((lost, from[4]), (vec![4], 3));
    let flows = &output.summary.flows;
    assert_eq!(flows.iter().map(|flow| flow.packets_lost).collect::<Vec<_>>(), [0, 1]);
    // A doomed burst that is spared gives the run without a loss.
    let mut doomed = exchange();
    doomed["loss"] = json!({"data": {"process": "script", "bursts": [5]}});
    let whole = sent(&run(&exchange(), 1, ALL));
    assert_ne!(sent(&run(&doomed, 1, ALL)), whole);
    doomed["surgery"] = json!([{"operation": "spare", "burst": 5}]);
    assert_eq!(sent(&run(&doomed, 1, ALL)), whole);
}

/// The data of a flow, in order: number, when sent, the ACK that it carries.
fn data_of(all: &[Sent], flow: u64) -> Vec<(u64, u64, Option<u64>)> {
    let mine = all.iter().filter(|one| one.0 == flow && one.1 == "data" && one.2 > 0);
    mine.map(|one| (one.2, one.4, one.3)).collect()
}

fn linux() -> Value {
    json!({"profile": "linux", "segment_size": "1000 B"})
}

#[test]
fn hosts_that_send_alike_do_alike() {
    for (name, tcp) in [("sack", json!({"variant": "sack"})), ("linux", linux())] {
        let mut scenario = exchange();
        scenario["tcp"] = tcp;
        // The connection is there long before both begin, at the same instant.
        let script = json!([{"at": "1 s", "bytes": "96 KB"}, {"at": "2 s", "bytes": "9600 B"}]);
        scenario["flows"] = json!([{"script": script.clone(), "reverse": {"script": script}}]);
        let output = run(&scenario, 1, ALL);
        let all = sent(&output);
        let (forth, back) = (data_of(&all, 0), data_of(&all, 1));
        assert!(forth.len() > 100, "{name}");
        assert_eq!(forth, back, "{name}");
        let [one, other] = [0, 1].map(|flow| &output.summary.flows[flow]);
        assert_eq!(one.completed_s, other.completed_s, "{name}");
        assert_eq!(one.retransmissions + other.retransmissions, 0, "{name}");
    }
}

#[test]
fn segments_at_equal_rates_leave_no_ack_to_go_alone() {
    for (name, tcp) in [("reno", exchange()["tcp"].clone()), ("linux", linux())] {
        let mut scenario = exchange();
        scenario["tcp"] = tcp;
        scenario["tcp"]["initial_window"] = json!(10);
        // 100 segments in each direction, in turn, each 5 ms after the other host's.
        let bytes = if name == "linux" { "948 B" } else { "960 B" };
        let write = |n| json!({"at": format!("{} ms", 100 + 10 * n), "bytes": bytes});
        let script: Vec<_> = (0..100).map(write).collect();
        scenario["flows"] = json!([{"script": script, "closes": false,
            "reverse": {"script": script, "start": "5 ms"}}]);
        let output = run(&scenario, 1, ALL);
        let all = sent(&output);
        let alone: Vec<_> = all.iter().filter(|one| one.1 == "ack").collect();
        let data = all.iter().filter(|one| one.1 == "data" && one.2 > 0).count();
        assert_eq!(data, 200, "{name}");
        // One ends the handshake, and one of each host is for the last segments, behind which it
        // has none to send. A host of Linux acknowledges at once until it has answered data.
        let quick = alone.iter().filter(|one| (1..=98).contains(&one.2)).count();
        assert_eq!((alone.len() - quick, alone[0].2), (3, 0), "{name}: {alone:?}");
        assert_eq!(quick, if name == "linux" { 2 } else { 0 }, "{name}: {alone:?}");
        let carried = all.iter().filter(|one| one.1 == "data" && one.3.is_some()).count();
        assert_eq!(carried, 201, "{name}: all and the SYN that answers");
        // In one direction every other segment has an ACK that goes alone, or every one.
        scenario["flows"] = json!([{"script": script}]);
        let acks = summary(&scenario, 1).counters.acks_sent;
        assert!(acks >= 50, "{name}: {acks}");
    }
}
