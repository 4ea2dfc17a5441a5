//! Networks whose pairs of nodes are too many for lists of them.

use burstlab_sim::{Monitor, Simulation, Trace};
use serde_json::json;

use crate::runs::resolved;

/// The counts and queues of pairs of 1,500 nodes are maps, and of 1,000 nodes lists. The two are a
/// star each, in which other nodes make no difference.
#[test]
fn nodes_without_traffic_change_nothing() {
    let run = |nodes: u32| {
        let scenario = json!({
            "network": {"topology": "star", "nodes": nodes},
            "edge": {"assembly": "timer", "timer": "1 ms", "burstifiers": 8},
            "loss": {"data": {"process": "bernoulli", "probability": 0.05}},
            "flows": [
                {"from": "1", "to": "1000", "count": 3},
                {"from": "999", "to": "2", "bytes": "100 KB"},
                {"from": "1000", "to": "1"},
            ],
            "run": {"duration": "300 ms"},
        });
        let resolved = resolved(&scenario);
        let (seed, trace) = (7, Trace::default());
        let summary = Simulation::new(&resolved, seed, 0, trace).run(&Monitor::default()).summary;
        let network = summary.network.expect("a mesh");
        assert_eq!(network.all.routes.len(), 4, "both directions of two pairs");
        (summary.flows, network.all.routes)
    };
    assert_eq!(run(1000), run(1500));
}
