//! Checks at the end of a run: no lost packet and no copy is left.

use super::core::Network;
use burstlab_kernel::RandomSource;

use super::World;
use crate::measure::Trace;
use crate::scenario::Scenario;

#[test]
fn an_ack_that_is_lost_with_its_segment_is_not_kept() {
    for (tcp, queue) in [("reno", 100), ("linux", 100), ("reno", 3), ("linux", 3)] {
        let text = format!(
            r#"{{"access": {{"rate": "2 Mb/s", "queue": {queue}}},
            "edge": {{"assembly": "timer", "timer": "3 ms"}},
            "loss": {{"data": {{"process": "bernoulli", "probability": 0.1}}}},
            "tcp": {{"variant": "{tcp}"}},
            "flows": [{{"bytes": "300 KB", "reverse": {{"bytes": "300 KB"}}}}],
            "run": {{"duration": "900 s", "drain": "900 s"}}}}"#
        );
        let resolved = Scenario::from_json(&text).and_then(|scenario| scenario.resolve());
        let resolved = resolved.expect("it is valid");
        let mut world = World::new(&resolved, &RandomSource::new(1, 0), Trace::default());
        while world.advance(1000) {}
        for flow in world.transit.hosts.live() {
            let tally = flow.tally();
            assert!(tally.lost > 5 && flow.settled(), "{tcp}: {tally:?}");
            assert_eq!(flow.carries_no_ack(), Some(true), "{tcp}: all is delivered or lost");
        }
    }
}

#[test]
fn a_burst_that_is_spared_leaves_no_copy_at_its_edge() {
    // Bursts meet at node 2, are sent again, and end long before the run does.
    let text = r#"{"network": {"topology": "line", "nodes": 3, "link_rate": "50 Mb/s",
            "wavelengths": 1},
        "signalling": {"guard": "300 us"},
        "core": {"contention": ["retransmission"],
            "retransmission": {"attempts": 2, "buffer": "1 MB", "wait": "1 ms"}},
        "bursts": [{"from": "1", "to": "3", "erlangs": 0.8, "stop": "500 ms",
            "length": {"mean": "20 KB"}}, {"from": "2", "to": "3", "erlangs": 0.8,
            "stop": "500 ms", "length": {"mean": "20 KB"}}],
        "surgery": [{"operation": "spare"}],
        "run": {"duration": "20 s"}}"#;
    let resolved = Scenario::from_json(text).and_then(|scenario| scenario.resolve());
    let resolved = resolved.expect("it is valid");
    let mut world = World::new(&resolved, &RandomSource::new(1, 0), Trace::default());
    while world.advance(1000) {}
    let spared = world.transit.context.surgery.summary([0, 0], false);
    assert!(spared[0].bursts > 3, "{spared:?}");
    assert_eq!(world.transit.core.copied(), 0);
}
