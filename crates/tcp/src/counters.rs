//! The counters of a sender.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::segment::Ack;

/// Counts of a sender's actions so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderCounters {
    /// Segments handed to the link, the SYN and retransmissions included.
    pub segments_sent: u64,
    /// Of these, segments that had been sent before.
    pub retransmissions: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Of these, time-outs that the detector took for false.
    pub excused_timeouts: u64,
    /// Reductions of the window by the variant `"linux"`, by a time-out or before one, that the
    /// detector took for those of one lost burst, and that cost no window.
    pub excused_reductions: u64,
    /// Lost bursts that a notice let the sender repair before the time-out.
    pub early_repairs: u64,
    /// Losses found by duplicate ACKs, each of which reduced the window; with Vegas every
    /// retransmission that no time-out made.
    pub fast_retransmits: u64,
    /// ACKs that arrived, whatever they said.
    pub acks: u64,
    /// Of these, ACKs that repeated the cumulative ACK while segments were outstanding.
    pub duplicate_acks: u64,
    /// Of these, ACKs of segments never sent or of nothing at all, which were ignored.
    pub invalid_acks: u64,
}

impl SenderCounters {
    /// Counts an ACK where `outstanding` was sent and is not acknowledged; returns whether it may
    /// be of what was sent.
    pub(crate) fn count(&mut self, ack: &Ack, outstanding: Range<u64>) -> bool {
        self.acks += 1;
        if ack.next == 0 || ack.next > outstanding.end {
            self.invalid_acks += 1;
            return false;
        }
        if ack.next == outstanding.start && !outstanding.is_empty() {
            self.duplicate_acks += 1;
        }
        true
    }
}
