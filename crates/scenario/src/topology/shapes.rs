//! Shapes that are made by rule.

use burstlab_optical::Fibre;
use burstlab_units::Span;

use super::graph::{Cable, Graph, Link, Node, Role};

/// A chain between two edge nodes: `ingress`, `core1`, `core2` and so on, `egress`. `delays` are
/// the delays of the fibres from ingress to egress, at least one, equal in both directions. Link
/// `2n` leads towards the egress, `2n + 1` back.
///
/// # Panics
/// When there is no delay.
#[must_use]
pub fn path(delays: &[Span], wavelengths: u32) -> Graph {
    assert!(!delays.is_empty(), "a path has a fibre");
    let core = (1..delays.len()).map(|n| Node::new(format!("core{n}"), Role::Core));
    let mut nodes = vec![Node::new("ingress", Role::Edge)];
    nodes.extend(core);
    nodes.push(Node::new("egress", Role::Edge));
    let cable = |&delay| Cable { fibre: Fibre::of(delay), wavelengths, fibres: 1 };
    Graph::of_pairs(nodes, (0..).zip(delays).map(|(n, delay)| (n, n + 1, cable(delay))))
}

/// Nodes `1` to `count` in a row, each with its neighbours; all have hosts and switch.
#[must_use]
pub fn line(count: u32, cable: Cable) -> Graph {
    Graph::of_pairs(numbered(count), (1..count).map(|n| (n - 1, n, cable)))
}

/// Nodes `1` to `count`, at least 3, in a circle; all have hosts and switch.
///
/// # Panics
/// When `count` is below 3.
#[must_use]
pub fn ring(count: u32, cable: Cable) -> Graph {
    assert!(count >= 3, "a ring has at least 3 nodes");
    Graph::of_pairs(numbered(count), (0..count).map(|n| (n, (n + 1) % count, cable)))
}

/// A node `hub` that only switches, and around it nodes `1` to `count` that only have hosts. Links
/// `2n` lead to the hub from node `n + 1`.
#[must_use]
pub fn star(count: u32, cable: Cable) -> Graph {
    let mut nodes = vec![Node::new("hub", Role::Core)];
    nodes.extend((1..=count).map(|n| Node::new(n.to_string(), Role::Edge)));
    Graph::of_pairs(nodes, (1..=count).map(|n| (n, 0, cable)))
}

/// Two core nodes, `left` and `right`, one fibre between them, and `count` edge nodes on each side:
/// `left1`, `left2` and so on, `right1` and so on. Link 0 leads from left to right, link 1 back.
#[must_use]
pub fn dumbbell(count: u32, cable: Cable) -> Graph {
    let mut nodes = vec![Node::new("left", Role::Core), Node::new("right", Role::Core)];
    let mut links = vec![Link::new(0, 1, cable), Link::new(1, 0, cable)];
    for (core, side) in [(0, "left"), (1, "right")] {
        for n in 1..=count {
            let node = nodes.len() as u32;
            nodes.push(Node::new(format!("{side}{n}"), Role::Edge));
            links.extend([Link::new(node, core, cable), Link::new(core, node, cable)]);
        }
    }
    Graph::new(nodes, links)
}

/// Edge nodes `E1` to `E4`, the odd ones on core node `C1`, the even ones on `C2`. Links 0 and 1
/// are the fibre between the core nodes, which is the one that most pairs share.
#[must_use]
pub fn martinez(wavelengths: u32) -> Graph {
    let cable = |ms| Cable { fibre: Fibre::of(Span::from_ms(ms)), wavelengths, fibres: 1 };
    let mut nodes = vec![Node::new("C1", Role::Core), Node::new("C2", Role::Core)];
    nodes.extend((1..=4).map(|n| Node::new(format!("E{n}"), Role::Edge)));
    let access = (1..=4).map(|n| (n + 1, (n + 1) % 2, cable(1)));
    Graph::of_pairs(nodes, std::iter::once((0, 1, cable(5))).chain(access))
}

fn numbered(count: u32) -> Vec<Node> {
    (1..=count).map(|n| Node::new(n.to_string(), Role::Both)).collect()
}
