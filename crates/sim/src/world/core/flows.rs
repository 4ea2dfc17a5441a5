//! The optical network's facts about a flow: between which nodes its packets go, which reports its
//! sender needs, and how many bursts carried it. Hosts provide them; the network asks hosts
//! nothing.

use burstlab_tcp::Listens;
use serde::{Deserialize, Serialize};

use crate::world::packet::Parcel;
use crate::world::train::Train;

/// A flow as its host registers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::world) struct Address {
    /// The flow's number: its slot may hold another one by now.
    pub(in crate::world) id: u32,
    /// The key of its draws.
    pub(in crate::world) key: u64,
    /// Nodes of the sender and of the receiver.
    pub(in crate::world) from: u32,
    pub(in crate::world) to: u32,
    /// Class of its packets, where queues are kept by class.
    pub(in crate::world) class: u32,
    /// The reports of its bursts that its sender needs.
    pub(in crate::world) listens: Listens,
    /// Whether it goes back on a connection with data in both directions: its sender is where
    /// the receiver of the other flow is.
    pub(in crate::world) back: bool,
    /// Whether its hosts are a third-party stack, whose connection may end at any packet. Not
    /// stored: a run with such hosts is not.
    #[serde(skip)]
    pub(in crate::world) third_party: bool,
}

/// A flow that is there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct FlowEntry {
    address: Address,
    /// Whether the connection is gone, and its slot empty.
    vacant: bool,
    /// One past the last segment that its application has written.
    limit: u64,
    carried: Carried,
    /// The assembly queues of its data and of its ACKs, counted from 1, once they are known to stay
    /// the same; 0: not known.
    queues: [u32; 2],
}

/// Bursts that carried a segment of a flow, and those of them that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::world) struct Carried {
    pub(in crate::world) bursts: u64,
    pub(in crate::world) lost: u64,
}

/// All flows, by slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct Flows {
    entries: Vec<FlowEntry>,
}

impl Flows {
    /// A flow takes a slot.
    pub(in crate::world) fn register(&mut self, slot: u32, address: Address) {
        let slot = slot as usize;
        if self.entries.len() <= slot {
            self.entries.resize_with(slot + 1, FlowEntry::default);
        }
        self.entries[slot] = FlowEntry { address, ..FlowEntry::default() };
    }

    /// The connection in a slot is gone.
    pub(in crate::world) fn vacate(&mut self, slot: u32) {
        self.entries[slot as usize].vacant = true;
    }

    /// The application of a flow has written all segments below `limit`.
    pub(in crate::world) fn supply(&mut self, slot: u32, limit: u64) {
        self.entries[slot as usize].limit = limit;
    }

    #[inline]
    pub(super) fn address(&self, slot: u32) -> &Address {
        &self.entries[slot as usize].address
    }

    /// The queue of the data of a flow, or of its ACKs, where it was [found](Self::found).
    #[inline]
    pub(super) fn queue(&self, slot: u32, ack: bool) -> Option<usize> {
        let queue = self.entries[slot as usize].queues[usize::from(ack)];
        queue.checked_sub(1).map(|queue| queue as usize)
    }

    /// All data of a flow, or all its ACKs, go to this queue.
    pub(super) fn found(&mut self, slot: u32, ack: bool, queue: usize) {
        self.entries[slot as usize].queues[usize::from(ack)] = queue as u32 + 1;
    }

    /// Whether flow `id` is still in its slot.
    pub(super) fn is_there(&self, slot: u32, id: u32) -> bool {
        let entry = &self.entries[slot as usize];
        entry.address.id == id && !entry.vacant
    }

    /// Bursts carried a segment of a flow.
    #[inline]
    pub(super) fn carried(&mut self, slot: u32, bursts: u64) {
        self.entries[slot as usize].carried.bursts += bursts;
    }

    /// A burst that carried a segment of a flow is lost.
    pub(super) fn lost(&mut self, slot: u32) {
        self.entries[slot as usize].carried.lost += 1;
    }

    /// The bursts of a flow.
    pub(in crate::world) fn bursts_of(&self, slot: u32) -> Carried {
        self.entries[slot as usize].carried
    }

    /// Whether more comes for certain behind a train: behind a segment that is sent for the first
    /// time, and behind an ACK after which its flow goes on. Of a third-party stack nobody knows.
    #[inline]
    pub(super) fn go_on_behind<P: Parcel>(&self, train: &Train<P>) -> bool {
        let last = train.packet(train.count - 1);
        let entry = self.entries.get(last.flow() as usize);
        let third_party = entry.is_some_and(|entry| entry.address.third_party);
        match last.segment() {
            _ if third_party => false,
            Some((_, nth)) => nth == 1,
            None => entry.is_some_and(|entry| last.number() < entry.limit),
        }
    }
}
