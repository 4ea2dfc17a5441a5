//! Connections that die are reported: when, why and of which flow.

use burstlab_net::Lab;
use burstlab_stacks::AllStacks;

#[test]
fn a_connection_that_hears_nothing_ends_and_is_named() {
    let known = AllStacks::shared();
    // The idle time-out of quiche is none by itself.
    for stack in ["quinn", "noq"].iter().filter(|stack| known.names().contains(stack)) {
        let lab = Lab::path().losing_bursts(40..=4000).carrying(1_000_000).lasting(500.0);
        let run = lab.run(AllStacks::shared(), stack, None).expect("it is sound");
        let flow = &run.summary().flows[0];
        assert_eq!(flow.ended.as_deref(), Some("idle"), "{stack}: {flow:?}");
        let at = flow.ended_s.expect("it ended");
        assert!((30.0..200.0).contains(&at), "{stack}: at {at} s");
        let warnings = run.summary().warnings.join("\n");
        assert!(warnings.contains("flow 0") && warnings.contains("idle time-out"), "{warnings}");
        assert!(!warnings.contains("run.drain"), "no longer run would end it: {warnings}");
        let late: Vec<_> = run.reactions().into_iter().filter(|one| one.at_s >= at).collect();
        assert!(late.is_empty(), "{stack}: an idle time-out is no probe time-out: {late:?}");
    }
}

#[test]
fn a_connection_that_is_done_has_not_ended_before_its_time() {
    let known = AllStacks::shared();
    for stack in known.names() {
        let lab = Lab::path().losing(0.02).carrying(100_000).lasting(300.0);
        let lab = lab.with("run.drain", "200 s").seeded(3);
        let run = lab.run(AllStacks::shared(), stack, None).expect("it is sound");
        let flow = &run.summary().flows[0];
        assert!(flow.completed_s.is_some() && flow.ended.is_none(), "{stack}: {flow:?}");
        assert_eq!(run.summary().warnings, Vec::<String>::new(), "{stack}");
    }
}
