//! The nodes with hosts.

use serde::{Deserialize, Serialize};

use crate::topology::Graph;

/// Which of the nodes with hosts each node is, and how many these are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sites {
    each: Vec<Option<u32>>,
    count: u32,
}

impl Sites {
    pub(super) fn of(graph: &Graph) -> Self {
        let edges = graph.edges();
        let mut each = vec![None; graph.nodes.len()];
        for (site, node) in (0..).zip(&edges) {
            each[*node as usize] = Some(site);
        }
        Self { each, count: edges.len() as u32 }
    }

    /// How many pairs they make, each with itself too.
    pub(super) fn pairs(&self) -> u32 {
        self.count * self.count
    }

    /// Which of these pairs two nodes are, between which bursts travel.
    #[inline]
    pub(super) fn pair(&self, (from, to): (u32, u32)) -> u32 {
        let site = |node: u32| self.each[node as usize].expect("bursts begin and end at hosts");
        site(from) * self.count + site(to)
    }
}
