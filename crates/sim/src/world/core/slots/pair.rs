//! The buffer between two edge nodes.

use burstlab_optical::slotted::{Pacer, RateCut, Reassembly, Slotter, Smoother};
use serde::{Deserialize, Serialize};

use super::tally::PairTally;
use crate::world::packet::Packet;

/// The buffer of an edge node for another one, and what comes out of it there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pair {
    pub(super) ends: (u32, u32),
    /// The place of its route among those of the two edge nodes.
    pub(super) place: u32,
    pub(super) route: Vec<u32>,
    pub(super) buffer: Slotter<Packet>,
    pub(super) pacer: Pacer,
    /// Absent where it sends in the next free slot.
    pub(super) smooth: Option<Smooth>,
    pub(super) whole: Reassembly,
    pub(super) tally: PairTally,
}

impl Pair {
    /// Whether it has something to send in a slot, if its output is free.
    #[inline]
    pub(super) fn may_send(&self, slot: u64) -> bool {
        self.pacer.due() <= slot && !self.buffer.is_empty()
    }
}

/// The rate of a buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Smooth {
    pub(super) smoother: Smoother,
    pub(super) rate: RateCut,
    /// Bits that waited when its rate was first cut since the last negotiation.
    pub(super) mark: f64,
    /// Whether its rate is granted: one that was idle gives it back.
    pub(super) holds: bool,
}
