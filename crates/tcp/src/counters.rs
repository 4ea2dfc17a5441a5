//! What a sender counts.

use serde::{Deserialize, Serialize};

/// What a sender has done so far.
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
