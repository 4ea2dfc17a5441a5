//! Buffers that a few segments fill: the receiver's window closes below a segment, and opens again.

use burstlab_sim::Trace;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::{merged, summary};

fn path(change: &Value) -> Value {
    let path = json!({
        "network": {"core_nodes": 2, "link_rate": "100 Gb/s", "link_delay": "1 ms"},
        "access": {"rate": "100 Mb/s", "delay": "10 us"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "tcp": {"profile": "linux"},
        "flows": [{"bytes": "1 MB"}],
        "run": {"duration": "2000 s"},
    });
    merged(path, change)
}

#[test]
fn a_segment_that_fills_half_the_buffer_does_not_end_the_connection() {
    let lossless = json!({
        "tcp": {"segment_size": "64 KB"},
        "flows": [{"bytes": "5 MB"}],
    });
    let flow = &summary(&path(&lossless), 1).flows[0];
    assert!(flow.completed_s.is_some_and(|took| took < 5.0), "{flow:?}");
}

#[test]
fn jumbo_segments_behind_a_hole_do_not_end_the_connection() {
    let lossy = json!({
        "tcp": {"segment_size": "9000 B", "receive_buffer_max": "128 KiB"},
        "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
        "flows": [{"bytes": "20 MB"}],
    });
    let flow = &summary(&path(&lossy), 1).flows[0];
    assert!(flow.completed_s.is_some_and(|took| took < 20.0), "{flow:?}");
}

/// Segments and buffers of all sizes, with losses in both directions.
fn any_buffers() -> impl Strategy<Value = Value> {
    let segments = prop_oneof![
        Just("576 B"),
        Just("1500 B"),
        Just("9000 B"),
        Just("33 KB"),
        Just("64 KB"),
        Just("65535 B"),
    ];
    let (first, more) = (4_u64..200, 0_u64..1000);
    let loss = prop_oneof![Just(0.0), 0.0_f64..0.1];
    let law = prop_oneof![Just("cubic"), Just("aimd"), Just("bbr"), Just("vegas")];
    let bits = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (segments, first, more, 1_u32..6, loss, law, bits).prop_map(
        |(segment, first, more, window, loss, law, bits)| {
            let (grouping, sack, scaling, delayed, narrow) = bits;
            let mut tcp = json!({
                "segment_size": segment,
                "receive_buffer": format!("{first} KB"),
                "receive_buffer_max": format!("{} KB", first + more),
                "window_law": law,
                "grouping": grouping,
                "sack": sack,
                "window_scaling": scaling,
                "delayed_ack": delayed,
            });
            if narrow {
                tcp["window"] = json!(window);
            }
            let process = json!({"process": "bernoulli", "probability": loss});
            let loss =
                if loss > 0.0 { json!({"data": process, "ack": process}) } else { json!({}) };
            json!({"tcp": tcp, "loss": loss})
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_transfer_ends_whatever_the_buffer(change in any_buffers(), seed in 0_u64..1000) {
        let scenario = path(&merged(change, &json!({"flows": [{"bytes": "100 KB"}]})));
        let ran = crate::runs::run(&scenario, seed, Trace::default()).summary;
        prop_assert!(ran.flows[0].completed_s.is_some(), "{:?}", ran.flows[0]);
        prop_assert_eq!(ran.warnings, Vec::<String>::new());
    }
}
