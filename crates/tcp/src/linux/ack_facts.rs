//! An ACK: as it arrives, and the facts that it turned out to report.

use serde::{Deserialize, Serialize};

use super::rate::Newest;

/// An ACK as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// All segments below have arrived.
    pub next: u64,
    /// Segments that arrived out of order: runs `[left, right)`, a duplicate first.
    pub blocks: &'a [(u64, u64)],
    /// The receiver's window in bytes.
    pub window: u64,
    /// The time stamp it echoes, in ms of the sender's clock.
    pub echo: Option<u64>,
    /// Whether it echoes a mark.
    pub ece: bool,
    /// Whether it came with data, so that it is no duplicate ACK and has a newer window.
    pub with_data: bool,
}

/// The facts that an ACK turned out to report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckFacts {
    /// It moved the cumulative ACK.
    pub(super) advanced: bool,
    /// It has nothing but a new cumulative ACK, as header prediction expects.
    pub(super) plain: bool,
    /// It changed the receiver's window, or came with data.
    pub(super) window: bool,
    /// It took segments away, some of which had been sent again.
    pub(super) acked: bool,
    pub(super) again_acked: bool,
    /// It reported segments.
    pub(super) sacked: bool,
    /// It acknowledged or reported a segment that was sent once, before the last reduction.
    pub(super) original: bool,
    pub(super) ece: bool,
    /// Something arrived twice, and that was the probe.
    pub(super) duplicate: bool,
    pub(super) duplicate_of_probe: bool,
    /// The first segment is one that was reported before.
    pub(super) reneged: bool,
    pub(super) set_timer: bool,
    /// Something that was sent again is lost again.
    pub(super) lost_again: bool,
    /// The lowest segment that came late.
    pub(super) reordered: u64,
    /// Segments that blocks report.
    pub(super) delivered: u32,
    /// When the first and the last segment that blocks report were sent.
    pub(super) first_sent: Option<u64>,
    pub(super) last_sent: Option<u64>,
    /// The newest segment it is about.
    pub(super) newest: Newest,
    /// The round trip that it measured, and whether its ACK was probably delayed.
    pub(super) rtt: Option<u64>,
    pub(super) delayed: bool,
}

impl AckFacts {
    /// Whether it is no duplicate ACK.
    pub(super) fn is_news(&self) -> bool {
        self.window || self.acked
    }
}

/// The segments that an ACK delivered.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) delivered: u32,
    pub(crate) lost: u32,
    /// Whether the cumulative ACK moved.
    pub(crate) advanced: bool,
}
