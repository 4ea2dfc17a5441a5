//! Networks of many equal paths, as in data centres and supercomputers.

use super::graph::{Cable, Graph, Node, Role};

/// A fat tree of `pods` pods (Al-Fares, Loukissas and Vahdat 2008, section 3). With `half` for
/// half of `pods`: of each pod nodes `tor1-1` to `tor1-half`, which alone have hosts, and `agg1-1`
/// and so on, all joined with all; then `half` times `half` core nodes, of which those from
/// `core1` to `core{half}` are joined with the first `agg` of each pod, the next with the second.
///
/// # Panics
/// When `pods` is odd or 0.
#[must_use]
pub fn fat_tree(pods: u32, cable: Cable) -> Graph {
    assert!(pods > 0 && pods.is_multiple_of(2), "a fat tree has an even number of pods");
    let half = pods / 2;
    let mut nodes = Vec::new();
    for (tier, role) in [("tor", Role::Edge), ("agg", Role::Core)] {
        let places = (1..=pods).flat_map(|pod| (1..=half).map(move |n| (pod, n)));
        nodes.extend(places.map(|(pod, n)| Node::new(format!("{tier}{pod}-{n}"), role)));
    }
    nodes.extend((1..=half * half).map(|n| Node::new(format!("core{n}"), Role::Core)));
    let tor = move |pod: u32, n: u32| pod * half + n;
    let agg = move |pod: u32, n: u32| (pods + pod) * half + n;
    let core = move |group: u32, n: u32| (2 * pods + group) * half + n;
    let all = move |of: u32| (0..of).flat_map(move |a| (0..half).map(move |b| (a, b)));
    let below = (0..pods)
        .flat_map(move |pod| all(half).map(move |(a, b)| (tor(pod, a), agg(pod, b), cable)));
    let above = (0..pods)
        .flat_map(move |pod| all(half).map(move |(a, b)| (agg(pod, a), core(a, b), cable)));
    Graph::of_pairs(nodes, below.chain(above))
}

/// Nodes `leaf1` and so on, which alone have hosts, each joined with each of `spine1` and so on.
#[must_use]
pub fn leaf_spine(leaves: u32, spines: u32, cable: Cable) -> Graph {
    let mut nodes: Vec<Node> =
        (1..=leaves).map(|n| Node::new(format!("leaf{n}"), Role::Edge)).collect();
    nodes.extend((1..=spines).map(|n| Node::new(format!("spine{n}"), Role::Core)));
    let pairs = (0..leaves).flat_map(|leaf| (0..spines).map(move |n| (leaf, leaves + n, cable)));
    Graph::of_pairs(nodes, pairs)
}

/// A grid of as many nodes along each dimension as `dimensions` says, closed in each to a ring; a
/// dimension of 2 has one cable, not two. A node is named after its coordinates from 1, such as
/// `1-4`; the last one changes fastest. All have hosts and switch.
///
/// # Panics
/// When there is no dimension, or one below 2.
#[must_use]
pub fn torus(dimensions: &[u32], cable: Cable) -> Graph {
    assert!(!dimensions.is_empty(), "a torus has a dimension");
    assert!(dimensions.iter().all(|&size| size >= 2), "a dimension has at least 2 nodes");
    let count: u32 = dimensions.iter().product();
    // Nodes from one to the next along each dimension.
    let strides: Vec<u32> =
        (0..dimensions.len()).map(|axis| dimensions[axis + 1..].iter().product()).collect();
    let axes = || dimensions.iter().zip(&strides);
    let name = |node: u32| {
        let places: Vec<String> =
            axes().map(|(&size, &stride)| (node / stride % size + 1).to_string()).collect();
        Node::new(places.join("-"), Role::Both)
    };
    let mut pairs = Vec::new();
    for node in 0..count {
        for (&size, &stride) in axes() {
            let place = node / stride % size;
            if place + 1 < size {
                pairs.push((node, node + stride, cable));
            } else if size > 2 {
                pairs.push((node, node - place * stride, cable));
            }
        }
    }
    Graph::of_pairs((0..count).map(name).collect(), pairs)
}
