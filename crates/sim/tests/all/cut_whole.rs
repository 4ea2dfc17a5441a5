//! Bursts of which a cut leaves nothing while their header waits.

use serde_json::json;

use crate::runs;

/// A header that waits for one processor reserves from the moment it is read (just in time), and so
/// can be cut before its burst is there.
#[test]
fn a_burst_may_be_cut_before_its_first_bit() {
    let scenario = json!({
        "network": {"topology": "ring"},
        "core": {"contention": ["conversion", "delay-line", "deflection", "segmentation",
            "retransmission"],
            "delay_lines": {"delays": ["0.2 ms", "0.2 ms", "1 ms"], "passes": 2}},
        "signalling": {"protocol": "jit", "guard": "300 us", "processors": 1},
        "edge": {"port": "shared"},
        "batches": [{"batches_per_second": 60, "hurst_arrivals": 0.8,
            "size": {"distribution": "exponential", "mean": "3 KB"}}],
        "run": {"duration": "20 s"},
    });
    let counters = runs::summary(&scenario, 747).counters;
    let ended = counters.batch_packets_delivered + counters.batch_packets_lost;
    assert!(counters.batch_packets_lost > 0, "bursts meet");
    assert_eq!(counters.batch_packets_sent, ended + counters.batch_packets_in_flight);
}
