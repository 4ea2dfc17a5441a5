//! Detectors of false time-outs, and how what they go by comes to the senders.

use proptest::prelude::*;
use serde_json::{Value, json};

/// Any detector: what goes into `tcp`, how messages cross access links, and the node at which
/// bursts are lost.
pub(crate) fn any_detector() -> impl Strategy<Value = (Value, &'static str, u64)> {
    let bnak =
        (prop_oneof![Just("path"), Just("rtt")], any::<bool>()).prop_map(|(delay, again)| {
            let partial = if again { "recheck" } else { "true-timeout" };
            json!({"detector": "bnak", "bnak_delay": delay, "bnak_partial": partial})
        });
    let back = prop_oneof![Just("ingress"), Just("egress"), Just("both")]
        .prop_map(|mode| json!({"detector": "back", "back_mode": mode}));
    let detector = prop_oneof![
        1 => Just(json!({"detector": "ble"})),
        2 => back,
        2 => bnak,
        2 => Just(json!({"detector": "oracle"})),
    ];
    let transport = prop_oneof![4 => Just("out-of-band"), 1 => Just("in-band")];
    (detector, transport, 0u64..4)
}

/// A path whose bursts are lost at a node, with senders that listen; of two entries of flows the
/// second one alone where `some`.
pub(crate) fn with_detector(
    mut scenario: Value,
    (detector, transport, node): (Value, &str, u64),
    some: bool,
) -> Value {
    scenario["edge"]["notices"] = json!(transport);
    scenario["network"]["core_nodes"] = json!(3);
    if scenario["loss"]["data"]["process"] != json!("none") {
        scenario["loss"]["data"]["node"] = json!(node);
    }
    if scenario["tcp"]["variant"] == json!("tahoe") {
        scenario["tcp"]["variant"] = json!("reno");
    }
    let listens = detector["detector"] == json!("back") || detector["detector"] == json!("bnak");
    if scenario["edge"]["assembly"] == json!("none") && listens {
        return scenario;
    }
    let table = detector.as_object().expect("it is a table").clone();
    if some {
        let mut listening = scenario["flows"][0].clone();
        listening["count"] = json!(1);
        listening["start"] = json!("1 ms");
        listening["tcp"] = Value::Object(table);
        scenario["flows"].as_array_mut().expect("it is a list").push(listening);
    } else {
        scenario["tcp"].as_object_mut().expect("it is a table").extend(table);
    }
    scenario
}
