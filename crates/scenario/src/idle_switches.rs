//! Switches of a data centre that no route passes.

use super::{Network, RouteChoice};
use crate::topology::{Graph, Routes};

/// Says so where a fabric has switches that no route passes: its routes are equal so that they may
/// share the load.
pub(super) fn warning(network: &Network, graph: &Graph, routes: &Routes) -> Option<String> {
    if !network.topology.is_fabric() {
        return None;
    }
    let mut passed = vec![false; graph.nodes.len()];
    let edges = graph.edges();
    let first_only = network.route_choice() == RouteChoice::First;
    let taken = if first_only { 1 } else { usize::MAX };
    for (from, to) in edges.iter().flat_map(|&from| edges.iter().map(move |&to| (from, to))) {
        for &link in routes.peek(from, to).iter().take(taken).flatten() {
            passed[graph.link(link).to as usize] = true;
        }
    }
    let switches = (0..).zip(&graph.nodes).filter(|(_, node)| !node.role.has_hosts());
    let idle: Vec<u32> =
        switches.map(|(index, _)| index).filter(|&i| !passed[i as usize]).collect();
    let first = *idle.first()?;
    let (name, most) = (graph.name(first), network.routes_per_pair());
    Some(match most {
        1 => format!(
            "network.routes_per_pair = 1: no route passes {} switches, such as {name}; write more, \
             and route_choice = \"ecmp\", which shares the load among equal routes",
            idle.len(),
        ),
        _ if first_only => format!(
            "network.route_choice = \"first\": bursts take the first of {most} routes, and none \
             passes {} switches, such as {name}; write \"ecmp\", which shares the load among equal \
             routes",
            idle.len(),
        ),
        _ => format!(
            "network.routes_per_pair = {most}: no route passes {} switches, such as {name}; write \
             more of them",
            idle.len(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::Scenario;

    fn warnings(network: &Value) -> Vec<String> {
        let text = json!({"network": network, "flows": [{}]}).to_string();
        let resolved = Scenario::from_json(&text).expect("it reads").resolve();
        resolved.unwrap_or_else(|error| panic!("{network}: {error}")).warnings
    }

    #[test]
    fn by_default_every_spine_carries_something() {
        for network in [
            json!({"topology": "leaf-spine", "spines": 6}),
            json!({"topology": "fat-tree", "pods": 6}),
            json!({"topology": "ring"}),
        ] {
            assert_eq!(warnings(&network), [""; 0], "{network}");
        }
    }

    #[test]
    fn idle_spines_are_named() {
        let first = json!({"topology": "leaf-spine", "spines": 3, "route_choice": "first"});
        let [line] = &warnings(&first)[..] else { panic!("one warning") };
        assert!(line.contains("no route passes 2 switches, such as spine2"), "{line}");
        assert!(line.contains("route_choice = \"ecmp\""), "{line}");
        let [one] = &warnings(&json!({"topology": "leaf-spine", "spines": 3, "routes_per_pair": 3,
            "route_choice": "first"}))[..]
        else {
            panic!("one warning")
        };
        let fix = "network.route_choice = \"first\": bursts take the first of 3 routes";
        assert!(one.starts_with(fix), "{one}");
        assert!(one.contains("none passes 2 switches, such as spine2"), "{one}");
        for choice in ["ecmp", "random", "round-robin"] {
            let all = json!({"topology": "leaf-spine", "spines": 3, "routes_per_pair": 3,
                "route_choice": choice});
            assert_eq!(warnings(&all), [""; 0], "{choice}");
        }
        let few = json!({"topology": "leaf-spine", "spines": 20});
        let [line] = &warnings(&few)[..] else { panic!("one warning") };
        assert!(line.starts_with("network.routes_per_pair = 16"), "{line}");
        assert!(line.contains("no route passes 4 switches"), "{line}");
    }
}
