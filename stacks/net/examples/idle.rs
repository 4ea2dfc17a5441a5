//! Three series of senders whose applications pause or have little to send, after questions in
//! trackers: does CUBIC count a pause as time to grow in (mozilla/neqo#2955), does the window of
//! BBR grow without bound on a trickle (quinn-rs/quinn#2798), and is BBR slow after one
//! (private-octopus/picoquic#1547)? Prints a line of CSV for each run, always the same:
//!
//! ```sh
//! cargo run --release --example idle > idle.csv
//! ```

use std::io::Write;
use std::sync::Arc;

use burstlab_net::{Lab, Run, Stacks};
use burstlab_stacks::AllStacks;
use serde_json::{Value, json};

/// The senders that are asked, as far as they are built.
const SENDERS: [(&str, &str); 6] = [
    ("quinn", "cubic"),
    ("noq", "cubic"),
    ("quinn", "bbr"),
    ("noq", "bbr3"),
    ("quiche", "cubic"),
    ("quiche", "bbr2"),
];

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    /// The question.
    pub(crate) question: &'static str,
    /// The sender.
    pub(crate) sender: String,
    /// A time: of the pause, or since the beginning, in seconds.
    pub(crate) x_s: f64,
    /// A window, in packets: before the pause, or then.
    pub(crate) before: f64,
    /// The largest window of the ten round trips after the pause, in packets.
    pub(crate) after: f64,
    /// How long the last write took to be acknowledged, in seconds.
    pub(crate) took_s: f64,
    /// Packets lost after the pause.
    pub(crate) lost: usize,
}

/// 40 Mb/s, 20 ms there and back, bursts of what comes within 1 ms, a queue of 70 packets, which is
/// one product of the two.
fn lab(script: &[Value]) -> Lab {
    let lab = Lab::path().with("access.queue", 70).with("flows", json!([{"script": script}]));
    lab.lasting(120.0).watching_windows()
}

fn write(at_s: f64, bytes: u64) -> Value {
    json!({"at": format!("{at_s} s"), "bytes": format!("{bytes} B")})
}

/// The largest window between two instants, in packets; the last one before, if none changes.
fn window(run: &Run, from: f64, to: f64) -> f64 {
    let at = |ps: u64| ps as f64 / 1e12;
    let windows = run.windows();
    let known = |row: &&burstlab_net::WindowRow| row.cwnd.is_some();
    let last = windows.iter().filter(known).rfind(|row| at(row.at_ps) < from);
    let within = windows.iter().filter(|row| (from..to).contains(&at(row.at_ps)));
    let within = within.filter_map(|row| row.cwnd);
    within.fold(last.and_then(|row| row.cwnd).unwrap_or(0.0), f64::max)
}

fn shown(
    (question, x_s): (&'static str, f64),
    (stack, control): (&str, &str),
    run: &Run,
    at_s: f64,
) -> Shown {
    let lost = run.packets().into_iter().filter(|one| one.from_sender && one.fate == "lost");
    Shown {
        question,
        sender: format!("{stack} {control}"),
        x_s,
        before: window(run, at_s, at_s),
        after: window(run, at_s, at_s + 0.2),
        took_s: run.acknowledged_after_s().map_or(f64::INFINITY, |time| time - at_s),
        lost: lost.filter(|one| one.sent_ps as f64 / 1e12 > at_s).count(),
    }
}

/// 3 MB, of which a burst is lost, a pause, and 3 MB.
fn pause(stacks: &Arc<dyn Stacks>, sender: (&str, &str)) -> Vec<Shown> {
    let run = |pause: f64| {
        let at_s = 1.0 + pause;
        let lab = lab(&[write(0.0, 3_000_000), write(at_s, 3_000_000)]).losing_bursts(150..=150);
        let run = lab.run(Arc::clone(stacks), sender.0, Some(sender.1));
        shown(("pause", pause), sender, &run.unwrap_or_else(|error| panic!("{error}")), at_s)
    };
    [0.1, 1.0, 5.0, 20.0].map(run).to_vec()
}

/// 1,000 bytes each 10 ms, from the beginning on: the window after some seconds.
fn trickle(stacks: &Arc<dyn Stacks>, sender: (&str, &str)) -> Vec<Shown> {
    let script: Vec<Value> = (0..4000).map(|n| write(f64::from(n) / 100.0, 1000)).collect();
    let run = lab(&script).run(Arc::clone(stacks), sender.0, Some(sender.1));
    let run = run.unwrap_or_else(|error| panic!("{error}"));
    [1.0, 5.0, 10.0, 20.0, 40.0].map(|at_s| shown(("trickle", at_s), sender, &run, at_s)).to_vec()
}

/// 3 MB, 1,000 bytes each 100 ms for some seconds, and 3 MB.
fn after_a_trickle(stacks: &Arc<dyn Stacks>, sender: (&str, &str)) -> Vec<Shown> {
    let run = |seconds: u32| {
        let at_s = 2.0 + f64::from(seconds);
        let little = (0..seconds * 10).map(|n| write(2.0 + f64::from(n) / 10.0, 1000));
        let little: Vec<Value> = little.collect();
        let script = [vec![write(0.0, 3_000_000)], little, vec![write(at_s, 3_000_000)]].concat();
        let run = lab(&script).run(Arc::clone(stacks), sender.0, Some(sender.1));
        let run = run.unwrap_or_else(|error| panic!("{error}"));
        shown(("after-a-trickle", f64::from(seconds)), sender, &run, at_s)
    };
    [0, 2, 10, 30].map(run).to_vec()
}

/// All runs of a question, or of all.
pub(crate) fn all(question: Option<&str>) -> Vec<Shown> {
    let stacks = AllStacks::shared();
    let known = stacks.names();
    let mut found = Vec::new();
    for sender in SENDERS.into_iter().filter(|(stack, _)| known.contains(stack)) {
        let is = |name: &str| question.is_none_or(|question| question == name);
        if is("pause") {
            found.extend(pause(&stacks, sender));
        }
        if is("trickle") {
            found.extend(trickle(&stacks, sender));
        }
        if is("after-a-trickle") {
            found.extend(after_a_trickle(&stacks, sender));
        }
    }
    found
}

#[allow(dead_code, reason = "the test of the page has this file as a module")]
fn main() {
    let mut out = std::io::stdout().lock();
    let head = "question,sender,x_s,window_before,window_after,took_s,packets_lost";
    writeln!(out, "{head}").expect("the output is open");
    for one in all(std::env::args().nth(1).as_deref()) {
        let Shown { question, sender, x_s, before, after, took_s, lost } = one;
        let line = format!("{question},{sender},{x_s},{before:.1},{after:.1},{took_s:.4},{lost}");
        writeln!(out, "{line}").expect("the output is open");
    }
}
