//! Properties of each stack over each network: conservation, the same result each time, and an
//! account of each lost burst.

use std::thread;

use burstlab_net::{Lab, Run};
use burstlab_stacks::AllStacks;
use serde_json::json;

/// Stacks and congestion controls.
const ALL: &[(&str, &str)] = &[
    ("quinn", "cubic"),
    ("quinn", "new-reno"),
    ("quinn", "bbr"),
    ("noq", "cubic"),
    ("noq", "bbr3"),
    ("quiche", "cubic"),
    ("quiche", "bbr2"),
    ("smoltcp", "reno"),
    ("smoltcp", "cubic"),
];

/// Those that this build has.
fn each(mut test: impl FnMut(&str, &str)) {
    let stacks = AllStacks::shared();
    let known = stacks.names();
    let built = ALL.iter().filter(|(stack, _)| known.contains(stack));
    built.for_each(|(stack, control)| test(stack, control));
}

/// A run with keys and a certificate of its own.
fn run(lab: &Lab, stack: &str, control: &str) -> Run {
    lab.run(AllStacks::shared(), stack, Some(control)).unwrap_or_else(|error| panic!("{error}"))
}

fn labs() -> [Lab; 5] {
    let each = [
        Lab::path().losing(0.02),
        Lab::path().losing_in_spells(0.005, 0.5),
        Lab::path().losing_in_outages("500 ms", "30 ms"),
        Lab::path().losing_bursts(60..=66),
        Lab::reordering(),
    ];
    each.map(|lab| lab.carrying(1_000_000).lasting(200.0).seeded(5))
}

#[test]
fn transfers_end_and_nothing_is_created_or_forgotten() {
    each(|stack, control| {
        for lab in labs() {
            let run = run(&lab, stack, control);
            let flow = &run.summary().flows[0];
            assert!(run.conserves(), "{stack} {control}: {:?}", run.summary().counters);
            assert!(run.acknowledged_after_s().is_some(), "{stack} {control}: {flow:?}");
            assert!(flow.bytes_delivered >= 1_000_000, "{stack} {control}: {flow:?}");
        }
    });
}

#[test]
fn keys_threads_and_repetition_change_nothing() {
    each(|stack, control| {
        assert!(AllStacks::shared().repeats(stack, control), "{stack} {control}");
        let other = json!({"bytes": "500 KB", "stack": stack, "congestion_control": control});
        let lab = Lab::path().losing(0.05).with("flows", json!([{"bytes": "500 KB"}, other]));
        let lab = lab.seeded(3);
        let first = run(&lab, stack, control);
        let workers: Vec<_> = (0..3)
            .map(|before| {
                let (lab, name) = (lab.clone(), (stack.to_string(), control.to_string()));
                thread::spawn(move || {
                    // Each thread has made other connections before.
                    for seed in 0..before {
                        let _ = run(&lab.clone().seeded(seed), &name.0, &name.1);
                    }
                    run(&lab, &name.0, &name.1)
                })
            })
            .collect();
        for worker in workers {
            let other = worker.join().expect("it ends");
            assert_eq!(first.fingerprint(), other.fingerprint(), "{stack} {control}");
            assert_eq!(first.summary(), other.summary(), "{stack} {control}");
            assert_eq!(first.reactions(), other.reactions(), "{stack} {control}");
        }
        let other = run(&lab.seeded(4), stack, control);
        assert_ne!(first.fingerprint(), other.fingerprint(), "{stack} {control}: a seed counts");
    });
}

/// Nothing is lost, so that a seed changes nothing but what a stack draws for itself.
#[test]
fn bbr_probes_when_the_seed_says() {
    for (stack, control) in [("quinn", "bbr"), ("noq", "bbr3")] {
        let lab = Lab::path().carrying(30_000_000);
        let workers = [3, 4, 3].map(|seed| {
            let lab = lab.clone().seeded(seed);
            thread::spawn(move || run(&lab, stack, control))
        });
        let [one, other, again] = workers.map(|worker| worker.join().expect("it ends"));
        assert_eq!(one.fingerprint(), again.fingerprint(), "{stack} {control}");
        assert_ne!(one.acknowledged_after_s(), other.acknowledged_after_s(), "{stack} {control}");
    }
}

#[test]
fn each_lost_burst_is_behind_a_reaction() {
    each(|stack, control| {
        let lab = Lab::path().losing(0.03).carrying(3_000_000).seeded(9);
        let run = run(&lab, stack, control);
        let (lost, explained) = (run.lost_bursts(), run.explained_bursts());
        assert!(lost.len() > 5, "{stack} {control}: there is something to explain");
        let silent: Vec<_> = lost.difference(&explained).collect();
        assert!(silent.is_empty(), "{stack} {control}: nobody reacts to {silent:?} of {lost:?}");
    });
}

#[test]
fn what_is_misspelt_is_refused_with_a_fix() {
    let lab = Lab::path().carrying(1000);
    let error = lab.run(AllStacks::shared(), "quin", None).expect_err("there is none");
    assert!(error.fix().contains("quinn"), "{error}");
    let error = lab.with("edge.timer", "1 parsec").run_tcp().expect_err("that is no time");
    assert_eq!(error.path(), "edge.timer");
    assert!(Lab::of("[edge").is_err());
}
