//! Counts of a slotted network, by output, by buffer, by kind of slot, and of all.

use std::collections::VecDeque;

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::measure::SlotSummary;

/// What an output has seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SlotLinkTally {
    pub(super) arrived: u64,
    pub(super) carried: u64,
    /// Of these, in the warm-up.
    pub(super) early: u64,
    /// By contention, by congestion.
    pub(super) dropped: [u64; 2],
}

/// What the buffer between two edge nodes has seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PairTally {
    pub(super) slots: u64,
    pub(super) requests: u64,
    pub(super) refused: u64,
    pub(super) frozen: u64,
    pub(super) cuts: u64,
    pub(super) backlog: f64,
    pub(super) most: f64,
}

impl PairTally {
    /// So many bits wait at the end of a unit.
    pub(super) fn samples(&mut self, bits: f64) {
        self.backlog += bits;
        self.most = self.most.max(bits);
    }
}

/// What became of slots of a kind.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct SlotTally {
    pub(super) sent: u64,
    pub(super) delivered: u64,
    /// By contention, by congestion.
    pub(super) dropped: [u64; 2],
    /// By surgery.
    pub(super) killed: u64,
}

impl SlotTally {
    pub(super) fn summary(self, in_flight: u64) -> SlotSummary {
        let [contention, congestion] = self.dropped;
        SlotSummary {
            slots_sent: self.sent,
            slots_delivered: self.delivered,
            slots_dropped_contention: contention,
            slots_dropped_congestion: congestion,
            slots_killed: self.killed,
            slots_in_flight: in_flight,
        }
    }
}

/// What the network has seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct OpsTally {
    pub(super) delivered: u64,
    /// With data, of ACKs alone.
    pub(super) kinds: [SlotTally; 2],
    pub(super) padding: u64,
    pub(super) notifications: u64,
    pub(super) ack_sets: u64,
    pub(super) filtered: u64,
    pub(super) copies: u64,
    /// Fast retransmissions that ACKs of an edge began.
    pub(in crate::world) retransmissions: u64,
    pub(super) backlog: f64,
    pub(super) most: f64,
    /// Bits above those at the first notification: sum, those of the last second, and their most.
    pub(super) extra: f64,
    /// The sum in the warm-up.
    pub(super) extra_early: f64,
    pub(super) last: VecDeque<f64>,
    pub(super) window: usize,
    pub(super) extra_most: f64,
    /// The slot and the unit with which measuring begins.
    pub(super) from: (u64, u64),
    /// When that is, and what was sent, delivered and dropped before.
    pub(super) early: (Time, [u64; 3]),
}

impl OpsTally {
    pub(super) fn new(unit: Span) -> Self {
        let window = (Span::from_secs(1).as_ps() / unit.as_ps()).max(1) as usize;
        Self { window, ..Self::default() }
    }

    /// So many bits wait in all buffers at the end of a unit, and so many of them since
    /// notifications.
    pub(super) fn samples(&mut self, bits: f64, extra: f64) {
        self.backlog += bits;
        self.most = self.most.max(bits);
        self.extra += extra;
        if self.last.len() == self.window {
            self.last.pop_front();
        }
        self.last.push_back(extra);
        if extra > 0.0 {
            // Before the run nothing waited: a second that has not passed yet is a whole one.
            let mean = self.last.iter().sum::<f64>() / self.window as f64;
            self.extra_most = self.extra_most.max(mean);
        }
    }
}
