//! Classes without effect: those of packets whose queues mix classes, and offset times of classes
//! that no burst has.

use std::collections::BTreeSet;

use super::{Assembly, NetworkKind, Queues, Scenario};

/// A warning for each entry whose class has no effect, and for the offset times of classes that no
/// burst has.
pub(super) fn warnings(scenario: &Scenario) -> Vec<String> {
    let mut found = Vec::new();
    if let Some((why, fix)) = why_mixed(scenario) {
        let classes = written(scenario).into_iter().filter(|(_, class)| *class > 0);
        found.extend(classes.map(|(path, class)| {
            format!("{path} = {class} has no effect: {why}; {fix}, or remove it")
        }));
    }
    found.extend(idle_offsets(scenario));
    found
}

/// Why the queues of a scenario mix the classes of packets, and what separates them; `None` where
/// each class has queues of its own.
fn why_mixed(scenario: &Scenario) -> Option<(&'static str, &'static str)> {
    let separate = "write edge.queues = \"class\"";
    match scenario.kind() {
        NetworkKind::Slots => return Some(("slots have no classes", "use a burst-switched mesh")),
        NetworkKind::Path => {
            return Some(("a path has one queue", "use a mesh with edge.queues = \"class\""));
        }
        NetworkKind::Mesh => {}
    }
    if scenario.edge.assembly == Assembly::CwndClasses {
        let why = "edge.assembly = \"cwnd-classes\" sorts packets by the window of their sender";
        return Some((why, "choose another edge.assembly"));
    }
    match scenario.edge.queues {
        Queues::Class => None,
        Queues::Destination => {
            Some(("edge.queues = \"destination\" puts all classes into one queue", separate))
        }
        Queues::Flow => {
            Some(("with edge.queues = \"flow\" all bursts of packets are of class 0", separate))
        }
    }
}

/// The classes that entries give to their packets, with their paths.
fn written(scenario: &Scenario) -> Vec<(String, u32)> {
    let flows = scenario.flows().iter().map(|one| one.class).collect();
    let demand = scenario.demand.iter().map(|one| one.class).collect();
    let traffic = scenario.traffic.iter().map(|one| one.class).collect();
    let batches = scenario.batches.iter().map(|one| one.class).collect();
    let tables: [(&str, Vec<u32>); 4] =
        [("flows", flows), ("demand", demand), ("traffic", traffic), ("batches", batches)];
    let mut all = Vec::new();
    for (table, classes) in tables {
        let paths = classes.into_iter().enumerate();
        all.extend(paths.map(|(index, class)| (format!("{table}[{index}].class"), class)));
    }
    all
}

/// Warns of an extra offset time of a class that no burst has.
fn idle_offsets(scenario: &Scenario) -> Option<String> {
    let there = burst_classes(scenario);
    let offsets = (0..).zip(&scenario.edge.class_offsets);
    let mut idle = offsets.filter(|(class, offset)| !offset.is_zero() && !there.contains(class));
    let (class, offset) = idle.next()?;
    let names: Vec<String> = there.iter().map(ToString::to_string).collect();
    Some(format!(
        "edge.class_offsets[{class}] = {offset} has no effect: no burst is of class {class}, only \
         of {}; give entries that class{}, or write 0 s",
        if names.is_empty() { "none".to_string() } else { names.join(", ") },
        match why_mixed(scenario) {
            Some((_, separate)) => format!(" and {separate}"),
            None => String::new(),
        },
    ))
}

/// The classes that bursts can have.
fn burst_classes(scenario: &Scenario) -> BTreeSet<u32> {
    let edge = &scenario.edge;
    let packets = scenario.packet_classes();
    let queued = match (edge.assembly, edge.queues) {
        (Assembly::CwndClasses, _) => (0..=edge.cwnd_thresholds.len() as u32).collect(),
        (_, Queues::Class) => packets,
        (_, Queues::Destination | Queues::Flow) if packets.is_empty() => packets,
        (_, Queues::Destination | Queues::Flow) => BTreeSet::from([0]),
    };
    queued.into_iter().chain(scenario.bursts.iter().map(|bursts| bursts.class)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(written: &Value) -> Vec<String> {
        let scenario = Scenario::from_json(&written.to_string()).expect("it reads");
        let warnings = scenario.resolve().unwrap_or_else(|error| panic!("{error}")).warnings;
        warnings.into_iter().filter(|line| line.contains("class")).collect()
    }

    fn mesh(edge: &Value) -> Value {
        json!({"network": {"topology": "nsfnet", "wavelengths": 4}, "edge": edge,
               "flows": [{"class": 0}, {"class": 2}]})
    }

    #[test]
    fn a_class_in_queues_of_all_classes_is_named() {
        for queues in ["destination", "flow"] {
            let lines = found(&mesh(&json!({"queues": queues})));
            let [line] = lines.as_slice() else { panic!("{queues}: {lines:?}") };
            assert!(line.starts_with("flows[1].class = 2 has no effect"), "{line}");
            assert!(line.contains("write edge.queues = \"class\""), "{line}");
        }
        assert_eq!(found(&mesh(&json!({"queues": "class"}))), [""; 0]);
    }

    #[test]
    fn classes_of_windows_leave_none_to_packets() {
        let edge = json!({"assembly": "cwnd-classes", "cwnd_thresholds": [9],
                          "class_timers": ["1 ms", "2 ms"], "queues": "class"});
        let lines = found(&mesh(&edge));
        assert!(lines[0].contains("cwnd-classes"), "{lines:?}");
    }

    #[test]
    fn a_path_and_slots_have_no_classes() {
        let path = json!({"flows": [{"class": 1}]});
        assert!(found(&path)[0].contains("a path has one queue"), "{:?}", found(&path));
        let slots = json!({"network": {"topology": "star", "nodes": 4, "wavelengths": 1},
                           "ops": {}, "flows": [{"class": 1}]});
        assert!(found(&slots)[0].contains("slots have no classes"), "{:?}", found(&slots));
    }

    #[test]
    fn an_offset_of_a_class_that_no_burst_has_is_named() {
        let offsets = json!(["0 s", "100 us", "200 us"]);
        let lines = found(&mesh(&json!({"queues": "class", "class_offsets": offsets})));
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("edge.class_offsets[1] = 100 us has no effect"), "{lines:?}");
        assert!(lines[0].contains("only of 0, 2"), "{lines:?}");
        let lines =
            found(&mesh(&json!({"queues": "class", "class_offsets": ["0 s", "0 s", "1 us"]})));
        assert_eq!(lines, [""; 0]);
    }

    #[test]
    fn bursts_that_are_drawn_have_the_class_of_their_entry() {
        let length = json!({"mean": "15 KB"});
        let written = json!({"network": {"topology": "nsfnet", "wavelengths": 4}, "flows": [],
                             "edge": {"class_offsets": ["0 s", "100 us"]},
                             "bursts": [{"erlangs": 1.0, "class": 1, "length": length},
                                        {"erlangs": 1.0, "length": length}]});
        assert_eq!(found(&written), [""; 0]);
    }
}
