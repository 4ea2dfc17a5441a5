//! The pools of wavelength converters of a network.

use burstlab_optical::converters::ConverterPool;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::scenario::{ConverterSharing, Converters};
use crate::topology::Graph;

/// The converters of the nodes. Both lists are empty if every node has as many as it needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pools {
    all: Vec<ConverterPool>,
    /// By fibre: the pool of its output.
    of: Vec<u32>,
}

/// Stands for no pool: the node has as many converters as it needs.
const UNLIMITED: u32 = u32::MAX;

impl Pools {
    /// The pools of a network, by the converters of each node.
    pub(super) fn new(graph: &Graph, at: impl Fn(u32) -> Option<Converters>) -> Self {
        let (mut all, mut of) = (Vec::new(), vec![UNLIMITED; graph.links.len()]);
        for node in 0..graph.nodes.len() as u32 {
            let Some(Converters { number, shared }) = at(node) else { continue };
            for (place, &link) in graph.outgoing(node).iter().enumerate() {
                if place == 0 || shared == ConverterSharing::Output {
                    all.push(ConverterPool::new(number));
                }
                of[link as usize] = all.len() as u32 - 1;
            }
        }
        if all.is_empty() {
            of.clear();
        }
        Self { all, of }
    }

    /// Whether every node has as many converters as it needs.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.all.is_empty()
    }

    /// The pool of the output to a fibre; `None`: the node has as many converters as it needs.
    pub(super) fn of(&self, link: u32) -> Option<&ConverterPool> {
        let &place = self.of.get(link as usize)?;
        self.all.get(place as usize)
    }

    pub(super) fn of_mut(&mut self, link: u32) -> Option<&mut ConverterPool> {
        let &place = self.of.get(link as usize)?;
        self.all.get_mut(place as usize)
    }

    pub(super) fn measure_from(&mut self, now: Time) {
        self.all.iter_mut().for_each(|pool| pool.measure_from(now));
    }

    /// By node: its converters, if their number is limited, and how long converters were taken
    /// by `now`, together. Empty if no node has a limit.
    pub(super) fn busy(&self, now: Time, graph: &Graph) -> Vec<Option<(u64, Span)>> {
        let mut last = UNLIMITED;
        let mut sum = |node: u32| {
            let mut found = None;
            for &link in graph.outgoing(node) {
                let place = self.of[link as usize];
                if place == last {
                    continue;
                }
                last = place;
                let Some(pool) = self.all.get(place as usize) else { continue };
                let (number, busy) = found.unwrap_or_default();
                found = Some((number + u64::from(pool.number()), busy + pool.busy(now)));
            }
            found
        };
        let nodes = if self.all.is_empty() { 0 } else { graph.nodes.len() as u32 };
        (0..nodes).map(&mut sum).collect()
    }
}
