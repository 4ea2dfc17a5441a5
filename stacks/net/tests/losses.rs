//! Reports of losses, over many seeds. On this path nothing is late and nothing overtakes, so
//! whoever takes a packet for lost is right. Each lost burst is behind a reaction, or it carried
//! nothing that is retransmitted. `BURSTLAB_SEEDS=56` makes it a thousand runs.

use std::collections::BTreeSet;

use burstlab_net::{Lab, Run};
use burstlab_stacks::AllStacks;

/// Stacks and congestion controls, and whether each packet that one takes for lost was lost or not
/// read: TCP that goes back sends again what came, and quiche does not tell what it could not read.
const ALL: &[(&str, &str, bool)] = &[
    ("quinn", "cubic", true),
    ("quinn", "new-reno", true),
    ("quinn", "bbr", true),
    ("noq", "cubic", true),
    ("noq", "bbr3", true),
    ("quiche", "cubic", false),
    ("quiche", "bbr2", false),
    ("smoltcp", "reno", false),
    ("smoltcp", "cubic", false),
];

/// Seeds of each.
fn seeds() -> u64 {
    let asked = std::env::var("BURSTLAB_SEEDS").ok();
    asked.map_or(4, |asked| asked.parse().expect("a number of seeds"))
}

/// Flows: with data in one direction, or both ways.
const ONE_WAY: &str = r#"{"bytes": "100 KB"}"#;
const BOTH_WAYS: &str = r#"{"bytes": "60 KB", "reverse": {"bytes": "60 KB", "start": "5 ms"}}"#;
const REPLY: &str = r#"{"bytes": "2 KB", "reverse": {"bytes": "100 KB", "reply": true}}"#;

/// Lost bursts whose data had come before, as the headers of TCP say: who goes back sends again
/// what came, and nobody misses that.
fn needless(run: &Run) -> BTreeSet<u64> {
    let (mut came, mut needed, mut lost) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut packets = run.packets();
    packets.retain(|packet| packet.from_sender && packet.carries == "data");
    for packet in packets {
        let ip = &packet.says;
        let word = |at: usize| u32::from_be_bytes([ip[at], ip[at + 1], ip[at + 2], ip[at + 3]]);
        let data = 20 + usize::from(ip[32] >> 4) * 4..ip.len();
        let bytes = data.map(|at| (packet.flow, word(24).wrapping_add(at as u32)));
        let old = bytes.clone().all(|byte| came.contains(&byte));
        match (packet.fate, packet.burst) {
            ("lost", Some(burst)) if old => drop(lost.insert(burst)),
            ("lost", Some(burst)) => drop(needed.insert(burst)),
            _ => came.extend(bytes),
        }
    }
    &lost - &needed
}

/// Checks a run; returns how many bursts were lost in it.
fn check(run: &Run, sure: bool, what: &str) -> usize {
    let (explained, lost) = (run.explained_bursts(), run.lost_bursts());
    let mut silent = &lost - &explained;
    if !silent.is_empty() && what.starts_with("smoltcp") {
        silent = &silent - &needless(run);
    }
    assert!(silent.is_empty(), "{what}: no row for the bursts {silent:?} of {lost:?}");
    let wrong = run.reactions().into_iter().filter(|one| one.kind == "spurious-retransmission");
    let wrong: Vec<_> = wrong.map(|one| (one.flow, one.packet)).collect();
    let gone = run.packets().into_iter().filter(|one| one.from_sender && one.fate == "lost");
    let gone: BTreeSet<_> = gone.map(|one| (one.flow, one.number)).collect();
    let mistaken: Vec<_> = wrong.iter().filter(|packet| gone.contains(packet)).collect();
    assert!(mistaken.is_empty(), "{what}: lost, and reported as spurious: {mistaken:?}");
    if sure {
        assert!(wrong.is_empty(), "{what}: reported as spurious: {wrong:?}");
    }
    for flow in &run.summary().flows {
        let ends = flow.ended.is_some() || flow.acknowledged_after_s.is_some();
        assert!(ends, "{what}: {flow:?}");
    }
    assert!(run.conserves(), "{what}");
    run.lost_cargo().len()
}

/// Short transfers with losses, in bursts of what comes within a time, or of single packets.
fn lab(stack: &str, timer: &str, flow: &str) -> Lab {
    let flow: serde_json::Value = serde_json::from_str(flow).expect("it is JSON");
    let lab = Lab::path().losing(0.03).with("flows", serde_json::json!([flow])).lasting(300.0);
    let lab = if stack == "smoltcp" { lab.capturing() } else { lab };
    match timer {
        "none" => lab.with("edge", serde_json::json!({"assembly": "none"})),
        _ => lab,
    }
}

/// Runs and checks it with a seed; returns how many bursts were lost.
fn checked(
    (stack, control, sure): (&str, &str, bool),
    (timer, flow): (&str, &str),
    seed: u64,
) -> usize {
    let run = lab(stack, timer, flow).seeded(seed).run(AllStacks::shared(), stack, Some(control));
    let run = run.unwrap_or_else(|error| panic!("{error}"));
    check(&run, sure, &format!("{stack} {control} {timer} {flow} seed {seed}"))
}

/// As [`checked`] over all seeds and both timers; returns how many bursts were lost.
fn all_seeds(one: (&str, &str, bool), flow: &str) -> usize {
    let runs = ["none", "1 ms"].map(|timer| (1..=seeds()).map(move |seed| (timer, seed)));
    let lost = runs.into_iter().flatten().map(|(timer, seed)| checked(one, (timer, flow), seed));
    lost.sum()
}

#[test]
fn what_was_lost_is_never_spurious_and_always_told() {
    let known = AllStacks::shared();
    for &one in ALL.iter().filter(|(stack, ..)| known.names().contains(stack)) {
        assert!(all_seeds(one, ONE_WAY) > 0, "{one:?}: there is something to tell");
    }
}

#[test]
fn the_same_holds_with_data_both_ways() {
    let known = AllStacks::shared();
    for &one in ALL.iter().filter(|(stack, ..)| known.names().contains(stack)) {
        for flow in [BOTH_WAYS, REPLY] {
            assert!(all_seeds(one, flow) > 0, "{one:?}: there is something to tell");
        }
    }
}

/// Runs of which something was wrong once: what fills a datagram of a handshake counted as a packet
/// of data, a packet of data had the number and size of one of the handshake, and TCP that goes
/// back sent parts of packets again.
#[test]
fn what_was_once_told_wrongly_is_right() {
    let known = AllStacks::shared();
    for (name, timer, seed) in [
        ("quiche cubic", "none", 31),
        ("noq cubic", "none", 250),
        ("noq bbr3", "none", 483),
        ("noq bbr3", "1 ms", 250),
        ("smoltcp reno", "1 ms", 49),
        ("smoltcp reno", "none", 177),
        ("smoltcp reno", "1 ms", 200),
        ("smoltcp cubic", "1 ms", 128),
    ] {
        let is = |(stack, control, _): &&(&str, &str, bool)| format!("{stack} {control}") == name;
        let one = ALL.iter().find(is).expect("it is among them");
        if known.names().contains(&one.0) {
            checked(*one, (timer, ONE_WAY), seed);
        }
    }
}

/// The first bursts are the handshake: whichever is lost, no report is wrong.
#[test]
fn a_handshake_that_is_lost_is_no_spurious_loss() {
    let known = AllStacks::shared();
    for &(stack, control, sure) in ALL.iter().filter(|(s, ..)| known.names().contains(s)) {
        for first in 1..=6 {
            for last in first..=first + 2 {
                for flow in [ONE_WAY, BOTH_WAYS] {
                    let lab = lab(stack, "1 ms", flow).losing_bursts(first..=last);
                    let run = lab.run(AllStacks::shared(), stack, Some(control));
                    let run = run.unwrap_or_else(|error| panic!("{error}"));
                    check(
                        &run,
                        sure,
                        &format!("{stack} {control} bursts {first} to {last} {flow}"),
                    );
                }
            }
        }
    }
}
