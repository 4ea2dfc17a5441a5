//! In the steady state nothing is allocated: what a run needs it has after its first seconds.

use allocation_counter::measure;
use burstlab_sim::Trace;
use serde_json::{Value, json};

use crate::runs;

/// Events between two looks at the monitor, or fewer where they take long.
const SLICE: u32 = 1000;

/// Calls of the allocator in the `later` slices that follow the `first` ones.
fn allocations(scenario: &Value, first: u32, later: u32) -> u64 {
    let mut simulation = runs::simulation(scenario, 1, Trace::default());
    let mut advance = |slices: u32| {
        assert!((0..slices).all(|_| simulation.advance(SLICE)), "the run is long enough");
    };
    advance(first);
    measure(|| advance(later)).count_total
}

#[test]
fn a_path_without_loss_allocates_nothing() {
    let path = |edge: Value| {
        json!({"edge": edge, "tcp": {"variant": "sack", "profile": "ns2", "window": 200},
            "run": {"duration": "100000 s"}})
    };
    for edge in [
        json!({"assembly": "timer", "timer": "1 ms"}),
        json!({"assembly": "timer", "timer": "1 ms",
            "ack": {"assembly": "timer", "timer": "2 ms"}}),
        json!({"assembly": "hybrid", "timer": "5 ms", "size": "20 KB"}),
        json!({"assembly": "none"}),
    ] {
        assert_eq!(allocations(&path(edge.clone()), 100, 100), 0, "{edge}");
    }
}

#[test]
fn losses_on_a_path_allocate_nothing() {
    for variant in ["sack", "tahoe", "reno", "new-reno", "sack"] {
        let path = json!({"edge": {"assembly": "timer", "timer": "1 ms"},
            "tcp": {"variant": variant, "profile": "ns2", "window": 64},
            "loss": {"data": {"process": "bernoulli", "probability": 0.01}},
            "run": {"duration": "100000 s"}});
        assert_eq!(allocations(&path, 1000, 100), 0, "{variant}");
    }
}

#[test]
fn a_mesh_allocates_nothing() {
    let all = json!({
        "contention": ["conversion", "delay-line", "deflection", "retransmission"],
        "delay_lines": {"delays": ["100 us"]}
    });
    for (wavelengths, core) in [(16, json!({})), (1, json!({})), (1, all)] {
        let mesh = json!({
            "network": {"topology": "nsfnet", "wavelengths": wavelengths, "link_rate": "1 Gb/s"},
            "signalling": {"guard": "20 us"},
            "core": core,
            "access": {"rate": "100 Mb/s", "delay": "1 ms"},
            "edge": {"assembly": "timer", "timer": "5 ms",
                "ack": {"assembly": "timer", "timer": "5 ms"}},
            "tcp": {"profile": "ns2", "variant": "sack", "window": 100},
            "flows": [{"from": "1", "to": "14", "count": 10},
                {"from": "3", "to": "9", "count": 10}],
            "run": {"duration": "100000 s"},
        });
        assert_eq!(allocations(&mesh, 400, 100), 0, "{mesh}");
    }
}
