//! The goodput of a flow in the measured time is never above the rate of its links, wherever the
//! warm-up ends.

use burstlab_sim::Summary;
use serde_json::json;

use crate::runs::summary;

/// One flow over a lossy path whose links are slower than all else.
fn slow(seed: u64, warmup: u64) -> Summary {
    let scenario = json!({
        "network": {"link_delay": "20 ms"},
        "access": {"rate": "10 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "tcp": {"variant": "sack", "window": 400},
        "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
        "run": {"duration": format!("{} ms", warmup + 250), "warmup": format!("{warmup} ms")},
    });
    summary(&scenario, seed)
}

#[test]
fn goodput_is_never_above_the_rate_of_the_link() {
    let mut before = 0;
    for seed in 0..150 {
        let all = slow(seed, 1000 + 7 * seed);
        let flow = &all.flows[0];
        let payload = 960.0 * 8.0;
        // A packet may be half sent as measuring begins.
        let most = 10e6 + 8000.0 / all.measured_s;
        assert!(flow.throughput_bps <= most, "seed {seed}: {}", flow.throughput_bps);
        assert!(flow.goodput_bps <= flow.throughput_bps * 0.96 + 1e-6, "seed {seed}: {flow:?}");
        let bits = 8.0 * flow.bytes_delivered as f64;
        assert!(bits / all.measured_s <= flow.throughput_bps * 0.96 + 1e-6, "seed {seed}");
        assert!(flow.goodput_bps * all.measured_s <= bits + 1e-3, "seed {seed}");
        let progress = flow.bytes_in_order as f64 * 8.0;
        assert!((progress - flow.segments_delivered as f64 * payload).abs() < 1e-3);
        assert!(flow.goodput_bps * all.measured_s <= progress + 1e-3, "seed {seed}");
        before += u64::from(progress / all.measured_s > most);
    }
    assert!(before > 0, "some run began in the middle of a recovery: {before}");
}

#[test]
fn without_a_warm_up_all_that_is_in_order_is_goodput() {
    for seed in 0..5 {
        let all = slow(seed, 0);
        let flow = &all.flows[0];
        let whole = flow.segments_delivered as f64 * 960.0 * 8.0 / all.measured_s;
        assert!((flow.goodput_bps - whole).abs() < 1e-9 * whole, "{flow:?}");
        assert!(flow.bytes_delivered >= flow.bytes_in_order);
    }
}

/// A transfer ends with a short segment; that it is short counts on either side of the warm-up.
#[test]
fn a_short_last_segment_counts_its_bytes() {
    for warmup in [0, 300, 600, 900, 1200] {
        let scenario = json!({"access": {"rate": "1 Mb/s"}, "flows": [{"bytes": "100100 B"}],
            "tcp": {"window": 1000}, "run": {"duration": "100 s",
            "warmup": format!("{warmup} ms")}});
        let flow = summary(&scenario, 1).flows.remove(0);
        let all = flow.segments_delivered;
        assert_eq!(flow.bytes_in_order, all * 960 - (960 - 100_100 % 960), "{warmup} ms");
        assert!(all > 0 && flow.bytes_delivered == flow.bytes_in_order);
    }
}
