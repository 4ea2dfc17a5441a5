//! Data packets on their access links to an edge node. Where nobody looks at them there they are no
//! events: a packet's time of arrival is known as it is put on its link, and it enters its buffer
//! before anything else happens there.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::world::packet::DataPacket;

/// A place in the order in which packets come to edge nodes: by time, and at one instant by slot of
/// the flow, as their events would go.
pub(super) type Moment = (Time, u32);

/// What comes to the edge nodes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ingress {
    /// By slot of the flow, in order: when a packet is there, and the buffer that it is for.
    flows: Vec<VecDeque<(Time, u32, DataPacket)>>,
    /// By node: the first packet of each flow that has any.
    firsts: Vec<BinaryHeap<Reverse<Moment>>>,
}

impl Ingress {
    pub(super) fn new(nodes: usize) -> Self {
        Self { flows: Vec::new(), firsts: vec![BinaryHeap::new(); nodes] }
    }

    #[inline]
    pub(super) fn add(&mut self, node: u32, coming: (Time, u32, DataPacket)) {
        let (at, _, packet) = coming;
        let index = packet.flow() as usize;
        if self.flows.len() <= index {
            self.flows.resize_with(index + 1, VecDeque::new);
        }
        match self.flows[index].back() {
            None => self.firsts[node as usize].push(Reverse((at, packet.flow()))),
            Some(&(last, ..)) => assert!(last <= at, "a link delivers in order"),
        }
        self.flows[index].push_back(coming);
    }

    /// When the next packet is at `node`.
    #[inline]
    pub(super) fn first(&self, node: u32) -> Option<Time> {
        self.firsts[node as usize].peek().map(|&Reverse((at, _))| at)
    }

    /// Takes the next packet for `node`, if it is there before `until`.
    #[inline]
    pub(super) fn take(&mut self, node: u32, until: Moment) -> Option<(Time, u32, DataPacket)> {
        let firsts = &mut self.firsts[node as usize];
        // Most questions find nothing.
        let &Reverse(first) = firsts.peek().filter(|first| first.0 < until)?;
        let mut top = firsts.peek_mut()?;
        let queue = &mut self.flows[first.1 as usize];
        let coming = queue.pop_front();
        match queue.front() {
            Some(&(next, ..)) => top.0.0 = next,
            None => drop(PeekMut::pop(top)),
        }
        coming
    }

    /// Packets in transit.
    pub(super) fn packets(&self) -> u64 {
        self.flows.iter().map(|queue| queue.len() as u64).sum()
    }
}
