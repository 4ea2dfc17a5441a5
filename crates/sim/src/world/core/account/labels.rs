//! The numbers by which users know bursts: one each, in the order in which bursts are closed; on a
//! path each direction has an order of its own. A label names a burst in tables, in surgery and in
//! the digest. The engine knows a burst by its [`BurstId`](crate::world::core::burst::BurstId).
//!
//! The map from a label to a burst is made here, as the burst is closed: every question about a
//! label comes later. Scheduled losses count bursts likewise, each kind separately.

use serde::{Deserialize, Serialize};

use crate::measure::Recorder;
use crate::world::core::payload::Payload;

/// The labels that were given, in each direction.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Labels {
    given: [u64; 2],
}

impl Labels {
    /// A burst of a direction is closed: its label.
    #[inline]
    pub(crate) fn next(&mut self, direction: usize) -> u64 {
        self.given[direction] += 1;
        self.given[direction]
    }

    /// So many bursts of a direction are closed.
    #[inline]
    pub(crate) fn pass(&mut self, direction: usize, bursts: u64) {
        self.given[direction] += bursts;
    }

    /// How many each direction has, which is the last one.
    #[inline]
    pub(crate) fn given(&self) -> [u64; 2] {
        self.given
    }
}

/// Notes in the trace in which burst packets are: those that it carries, and those that a script
/// lost as they joined it.
pub(crate) fn record_label(
    (label, payload, killed): (u64, &Payload, &[u32]),
    recorder: &mut Recorder,
) {
    payload.rows().for_each(|rows| recorder.in_burst(rows, label));
    killed.iter().for_each(|&row| recorder.in_burst((row, 1), label));
}
