//! What is told of losses, over many seeds: on this path nothing is late and nothing overtakes, so
//! that whoever takes a packet for lost is right, and each lost burst is behind a reaction or
//! carried nothing that is sent again. `BURSTLAB_SEEDS=56` makes it a thousand runs.

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

/// Checks a run; returns how many bursts were lost in it.
fn check(run: &Run, sure: bool, what: &str) -> usize {
    let (told, lost) = (run.explained_bursts(), run.lost_bursts());
    let silent: Vec<_> = lost.difference(&told).collect();
    assert!(silent.is_empty(), "{what}: no row for the bursts {silent:?} of {lost:?}");
    let wrong = run.reactions().into_iter().filter(|one| one.kind == "spurious-retransmission");
    let wrong: Vec<u64> = wrong.map(|one| one.packet).collect();
    let gone = run.lost_packets();
    let mistaken: Vec<_> = wrong.iter().filter(|packet| gone.contains(packet)).collect();
    assert!(mistaken.is_empty(), "{what}: lost, and told to be spurious: {mistaken:?}");
    let flow = &run.summary().flows[0];
    if sure {
        assert!(wrong.is_empty(), "{what}: told to be spurious: {wrong:?}");
    }
    assert!(flow.ended.is_some() || run.acknowledged_after_s().is_some(), "{what}: {flow:?}");
    assert!(run.conserves(), "{what}");
    run.lost_cargo().len()
}

#[test]
fn what_was_lost_is_never_spurious_and_always_told() {
    let known = AllStacks::shared();
    let built = ALL.iter().filter(|(stack, ..)| known.names().contains(stack));
    for &(stack, control, sure) in built {
        let mut lost = 0;
        for timer in ["none", "1 ms"] {
            let lab = Lab::path().losing(0.03).carrying(100_000).lasting(300.0);
            let lab = match timer {
                "none" => lab.with("edge", serde_json::json!({"assembly": "none"})),
                _ => lab,
            };
            for seed in 1..=seeds() {
                let run = lab.clone().seeded(seed).run(AllStacks::shared(), stack, Some(control));
                let run = run.unwrap_or_else(|error| panic!("{error}"));
                lost += check(&run, sure, &format!("{stack} {control} {timer} seed {seed}"));
            }
        }
        assert!(lost > 0, "{stack} {control}: there is something to tell");
    }
}

/// The first bursts are the handshake: whichever is lost, nothing is told wrongly.
#[test]
fn a_handshake_that_is_lost_is_no_spurious_loss() {
    let known = AllStacks::shared();
    for &(stack, control, sure) in ALL.iter().filter(|(s, ..)| known.names().contains(s)) {
        for first in 1..=6 {
            for last in first..=first + 2 {
                let lab = Lab::path().losing_bursts(first..=last).carrying(20_000).lasting(300.0);
                let run = lab.run(AllStacks::shared(), stack, Some(control));
                let run = run.unwrap_or_else(|error| panic!("{error}"));
                check(&run, sure, &format!("{stack} {control} bursts {first} to {last}"));
            }
        }
    }
}
