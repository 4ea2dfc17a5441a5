//! Totals of bursts, and of batches.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use crate::measure::NetworkTally;
use crate::world::core::payload::Load;

/// Totals by kind of burst.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct BurstCounts {
    pub(in crate::world) sent: u64,
    pub(in crate::world) delivered: u64,
    pub(in crate::world) lost: u64,
    /// The bytes that they carried, in a mesh.
    pub(in crate::world) bytes_sent: u64,
    pub(in crate::world) bytes_delivered: u64,
    pub(in crate::world) bytes_lost: u64,
}

impl BurstCounts {
    /// Bursts set out that carry so many bytes.
    #[inline]
    pub(super) fn sent(&mut self, bursts: u64, bytes: u64) {
        self.sent += bursts;
        self.bytes_sent += bytes;
    }

    /// Bursts landed that carry so many bytes.
    #[inline]
    pub(super) fn delivered(&mut self, bursts: u64, bytes: u64) {
        self.delivered += bursts;
        self.bytes_delivered += bytes;
    }
}

/// The fates of batches that left their queue.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct BatchCounts {
    pub(in crate::world) delivered: Load,
    pub(in crate::world) lost: Load,
}

/// How long the parts of a network were reserved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world::core) struct TimeReserved {
    /// By fibre and wavelength.
    pub(in crate::world::core) channels: Vec<Vec<Span>>,
    /// By node, how many converters it has, and their time together; empty if no node has a limit.
    pub(in crate::world::core) converters: Vec<Option<(u64, Span)>>,
}

/// The counts at the end of the measured time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MeasuredNetwork {
    pub(super) tally: NetworkTally,
    pub(super) busy: TimeReserved,
}
