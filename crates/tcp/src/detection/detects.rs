//! Reports that a detector gets, and its answers.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// The report of a node of the optical network to a sender, about a burst with its segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// The ingress edge has sent the burst (burst ACK of the ingress).
    Left,
    /// The egress edge has received the burst (burst ACK of the egress).
    Arrived,
    /// A core node has dropped the burst (burst NAK).
    Dropped,
}

/// The facts about the sender that a detector may use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outstanding {
    /// The congestion window within the receiver's, without inflation.
    pub(crate) window: f64,
    /// Segments sent since the last time-out and not acknowledged: what this time-out waits for.
    pub(crate) segments: Range<u64>,
}

/// A detector: each method is a report to it, some with its answer. A detector ignores a report
/// whose method it leaves as it is.
pub(super) trait Detects {
    /// Duplicate ACKs have found a loss; `window` is what it was before its reduction.
    fn on_fast_retransmit(&mut self, _window: f64) {}

    /// Segment `seq` goes out again: what was known of it is out of date.
    fn on_retransmission(&mut self, _seq: u64) {}

    /// All below `next` has arrived.
    fn on_progress(&mut self, _next: u64) {}

    /// A notice of `burst` arrives; returns whether the loss is to be repaired at once.
    fn on_notice(&mut self, _: Notice, _burst: u64, _segments: &[u64], _: &Outstanding) -> bool {
        false
    }

    /// Reports the truth about the coming time-out, to the detector that may know it.
    fn tell(&mut self, _truth: Verdict) {}

    /// The timer has run out: what is it?
    fn on_timeout(&mut self, outstanding: &Outstanding) -> Verdict;

    /// Whether it never errs, so that it may excuse a sender of any window.
    fn is_sure(&self) -> bool {
        false
    }
}

/// Whether every outstanding segment, of which there must be one, is among `segments`, which rise.
pub(super) fn covers(segments: &[u64], outstanding: &Outstanding) -> bool {
    !outstanding.segments.is_empty()
        && outstanding.segments.clone().all(|seq| segments.binary_search(&seq).is_ok())
}

/// A verdict from the answer to "was it one burst?".
pub(super) fn false_if(one_burst: bool) -> Verdict {
    if one_burst { Verdict::False } else { Verdict::True }
}
