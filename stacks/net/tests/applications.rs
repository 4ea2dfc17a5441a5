//! Applications over each stack: writes with pauses, data in both directions, requests and
//! replies, and several streams.

use burstlab_net::{Lab, PacketRow, Run};
use burstlab_stacks::AllStacks;
use serde_json::{Value, json};

fn run(stack: &str, script: &Value) -> Run {
    run_flow(path(), stack, &json!({"script": script}))
}

fn path() -> Lab {
    Lab::path().lasting(60.0)
}

fn run_flow(lab: Lab, stack: &str, flow: &Value) -> Run {
    let lab = lab.with("flows", json!([flow]));
    lab.run(AllStacks::shared(), stack, None).unwrap_or_else(|error| panic!("{stack}: {error}"))
}

/// Packets of data sent between two instants, in seconds, and their bytes.
fn sent(run: &Run, from: f64, to: f64) -> (usize, u64) {
    let at = |ps: u64| ps as f64 / 1e12;
    let packets = run.packets().into_iter();
    let mine = packets.filter(|one| one.from_sender && one.carries == "data");
    let mine = mine.filter(|one| (from..to).contains(&at(one.sent_ps)));
    mine.fold((0, 0), |(count, sum), one| (count + 1, sum + u64::from(one.size)))
}

#[test]
fn a_script_is_written_when_it_says() {
    for stack in AllStacks::shared().names() {
        let script = json!([
            {"at": "0 s", "bytes": "20 KB"},
            {"at": "2 s", "bytes": "300 B"},
            {"at": "2 s", "bytes": "300 B"},
            {"at": "9.5 s", "bytes": "1 MB"},
        ]);
        let run = run(stack, &script);
        let flow = &run.summary().flows[0];
        assert_eq!((flow.bytes, flow.bytes_delivered), (Some(1_020_600), 1_020_600), "{stack}");
        assert_eq!((flow.timeouts, flow.retransmissions), (0, 0), "{stack}: pauses are no losses");
        let (count, bytes) = sent(&run, 0.0, 1.0);
        assert!(count >= 14 && (20_000..25_000).contains(&bytes), "{stack}: {count} {bytes}");
        assert_eq!(sent(&run, 1.0, 2.0).0, 0, "{stack}: nothing is sent in a pause");
        let (count, bytes) = sent(&run, 2.0, 3.0);
        assert!(count <= 2 && (600..800).contains(&bytes), "{stack}: {count} {bytes}");
        assert_eq!(sent(&run, 3.0, 9.5).0, 0, "{stack}: nor in the next one");
        assert!(sent(&run, 9.5, 60.0).1 > 1_000_000, "{stack}");
        let done = run.acknowledged_after_s().expect("it ends");
        assert!((9.7..10.5).contains(&done), "{stack}: {done}");
    }
}

#[test]
fn a_write_before_the_connection_is_there_waits_for_it() {
    for stack in AllStacks::shared().names() {
        let run =
            run(stack, &json!([{"at": "1 us", "bytes": "1 KB"}, {"at": "5 ms", "bytes": "1 KB"}]));
        let flow = &run.summary().flows[0];
        assert_eq!(flow.bytes_delivered, 2000, "{stack}");
        assert!(run.acknowledged_after_s().is_some_and(|at| at < 0.2), "{stack}: {flow:?}");
    }
}

/// A pause longer than the idle time-out of quinn and noq ends their connections, and nobody waits
/// for the write that was to come.
#[test]
fn a_pause_may_outlast_a_connection() {
    let script = json!([{"at": "0 s", "bytes": "1 KB"}, {"at": "50 s", "bytes": "1 KB"}]);
    for stack in AllStacks::shared().names() {
        let run = run(stack, &script);
        let flow = &run.summary().flows[0];
        let dies = ["quinn", "noq"].contains(&stack);
        assert_eq!(flow.ended.as_deref(), dies.then_some("idle"), "{stack}: {flow:?}");
        assert_eq!(flow.bytes_delivered, if dies { 1000 } else { 2000 }, "{stack}");
    }
}

/// Packets of a flow are numbered from 0 without a gap, all from its sender.
fn is_numbered(run: &Run, flow: u32, what: &str) {
    let all: Vec<_> = run.packets().into_iter().filter(|one| one.flow == flow).collect();
    let numbers = all.iter().map(|one| one.number);
    assert!(numbers.eq(0..all.len() as u64), "{what}: flow {flow}");
    assert!(all.iter().all(|one| one.from_sender), "{what}: each packet is one of a sender");
}

#[test]
fn data_go_both_ways() {
    let flow = json!({"bytes": "300 KB", "reverse": {"bytes": "500 KB", "start": "100 ms"}});
    for stack in AllStacks::shared().names() {
        let run = run_flow(path(), stack, &flow);
        for (number, bytes) in [(0, 300_000), (1, 500_000)] {
            let flow = &run.summary().flows[number];
            assert_eq!((flow.bytes, flow.bytes_delivered), (Some(bytes), bytes), "{stack}");
            assert_eq!((flow.timeouts, flow.retransmissions), (0, 0), "{stack}: {flow:?}");
            let time = flow.acknowledged_after_s.expect("it ends");
            assert!((0.1..1.0).contains(&time), "{stack}: {time}");
            assert!(flow.rtt_s.is_some() || stack == "smoltcp", "{stack}");
            is_numbered(&run, number as u32, stack);
        }
        assert_eq!(run.summary().counters.acks_sent, 0, "{stack}: each packet is one of data");
        assert!(run.conserves() && run.summary().warnings.is_empty(), "{stack}");
        let mut packets = run.packets().into_iter();
        let is_back = |one: &PacketRow| one.flow == 1 && one.carries == "data" && one.size > 1000;
        let back = packets.find(is_back);
        assert!(back.expect("it sends").sent_ps >= 100_000_000_000, "{stack}: it waits");
    }
}

#[test]
fn a_reply_begins_when_all_of_the_request_has_come() {
    let reply = json!({"reply": true, "start": "250 ms", "script": [
        {"at": "0 s", "bytes": "400 KB"}, {"at": "2 s", "bytes": "1 KB"},
    ]});
    for stack in AllStacks::shared().names() {
        let script = json!([{"at": "0 s", "bytes": "1 KB"}, {"at": "1 s", "bytes": "1 KB"}]);
        let run = run_flow(path(), stack, &json!({"script": script, "reverse": reply}));
        let [request, reply] = [0, 1].map(|flow| &run.summary().flows[flow]);
        let came = request.received_s.expect("it comes");
        assert!((1.0..1.1).contains(&came), "{stack}: {came}");
        let mut packets = run.packets().into_iter();
        // quiche does not tell which packet has data: a large one has.
        let first = packets.find(|one| one.flow == 1 && one.carries == "data" && one.size > 1000);
        let first = first.map(|one| one.sent_ps as f64 / 1e12);
        let first = first.expect("it replies");
        assert!((came + 0.25..came + 0.2501).contains(&first), "{stack}: {first}");
        assert_eq!(reply.bytes_delivered, 401_000, "{stack}");
        let after = reply.received_after_s.expect("it comes");
        assert!((2.0..2.1).contains(&after), "{stack}: {after} s after it began");
        assert_eq!((reply.timeouts, reply.retransmissions), (0, 0), "{stack}: {reply:?}");
    }
}

#[test]
fn a_lost_burst_is_recovered_in_both_directions() {
    for stack in AllStacks::shared().names() {
        let lab = path().losing_bursts(30..=35);
        let flow = json!({"bytes": "300 KB", "reverse": {"bytes": "300 KB"}});
        let run = run_flow(lab, stack, &flow);
        assert!(run.conserves(), "{stack}");
        for (number, flow) in run.summary().flows.iter().enumerate() {
            assert_eq!(flow.bytes_delivered, 300_000, "{stack}");
            let lost = flow.packets_lost;
            assert!(lost > 0 && flow.retransmissions > 0, "{stack} {number}: {flow:?}");
            let seen = run.reactions().into_iter().filter(|one| one.flow == number as u32);
            assert!(seen.map(|one| one.lost_packets).sum::<u64>() > 0, "{stack} {number}");
        }
    }
}

/// The other end of a stack that has ended its data goes on until it has ended its own.
#[test]
fn an_end_without_data_hears_the_other_out() {
    let flow = json!({"bytes": "1 KB", "reverse": {"reply": true, "bytes": "3 MB"}});
    for stack in AllStacks::shared().names() {
        let run = run_flow(path(), stack, &flow);
        assert_eq!(run.summary().flows[1].bytes_delivered, 3_000_000, "{stack}");
        let endless = json!({"bytes": "1 KB", "reverse": {"reply": true}});
        let run = run_flow(path().lasting(2.0), stack, &endless);
        let flow = &run.summary().flows[1];
        assert!(flow.bytes_delivered > 1_000_000 && flow.bytes.is_none(), "{stack}: {flow:?}");
    }
}

#[test]
fn streams_share_what_is_written() {
    for stack in AllStacks::shared().names() {
        for flow in [
            json!({"bytes": "1 MB", "streams": 7}),
            json!({"bytes": "3 B", "streams": 7}),
            json!({"bytes": "200 KB", "streams": 100, "reverse": {"bytes": "300 KB"}}),
        ] {
            if stack == "smoltcp" {
                let lab = path().with("flows", json!([flow]));
                let error = lab.run(AllStacks::shared(), stack, None).expect_err("TCP has one");
                assert!(error.to_string().contains("flows[0].streams"), "{error}");
                continue;
            }
            let run = run_flow(path(), stack, &flow);
            for flow in &run.summary().flows {
                assert_eq!(Some(flow.bytes_delivered), flow.bytes, "{stack}");
                let done = flow.acknowledged_after_s.expect("it ends");
                assert!(done < 1.0 && flow.retransmissions == 0, "{stack}: {flow:?}");
            }
        }
    }
    let lab = path().with("flows", json!([{"streams": 2}]));
    let error = lab.run_tcp().expect_err("our own TCP has one").to_string();
    assert!(error.contains("flows[0].streams"), "{error}");
}

/// A stream may have 1.25 MB ahead, so that over a long path several go faster than one.
#[test]
fn more_streams_let_more_be_on_the_way() {
    for stack in ["quinn", "noq"] {
        let time = |streams: u32| {
            let lab = path().with("network.link_delay", "100 ms");
            let lab = lab.with("access.rate", "200 Mb/s");
            let run = run_flow(lab, stack, &json!({"bytes": "30 MB", "streams": streams}));
            run.acknowledged_after_s().expect("it ends")
        };
        let [one, five] = [1, 5].map(time);
        assert!(five < 0.7 * one, "{stack}: {one} s with one, {five} s with five");
    }
}
