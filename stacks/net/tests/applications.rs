//! What applications do over each stack: writes with pauses.

use burstlab_net::{Lab, Run};
use burstlab_stacks::AllStacks;
use serde_json::{Value, json};

fn run(stack: &str, script: &Value) -> Run {
    let lab = Lab::path().with("flows", json!([{"script": script}])).lasting(60.0);
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
