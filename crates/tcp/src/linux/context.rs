//! The state of a connection that window laws may read.

use serde::{Deserialize, Serialize};

use super::clock::Reading;

/// Where a connection stands.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Stage {
    /// All is in order.
    #[default]
    Open,
    /// Something was reported out of order, or was sent again.
    Disorder,
    /// The window shrinks because of a mark.
    Cwr,
    /// Losses are being repaired.
    Recovery,
    /// A time-out is being repaired.
    Loss,
}

impl Stage {
    /// Whether the window shrinks.
    pub(super) fn reduces(self) -> bool {
        matches!(self, Self::Cwr | Self::Recovery)
    }
}

/// The state of its connection that a law may use besides the window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckContext {
    pub(super) clock: Reading,
    pub(super) stage: Stage,
    /// All below are acknowledged.
    pub(super) acked: u64,
    /// The next segment to be sent.
    pub(super) next: u64,
    pub(super) in_flight: u32,
    /// Segments delivered so far, and those of them whose ACK had an ECN echo.
    pub(super) delivered: u64,
    pub(super) marked: u64,
    /// Segments taken for lost so far, sent, and sent again.
    pub(super) lost: u64,
    pub(super) sent: u64,
    pub(super) again: u64,
    /// When data were last delivered, in microseconds, and last sent, in ticks.
    pub(super) delivered_at: u64,
    pub(super) last_sent: u64,
    /// The smoothed and the shortest round trip in microseconds.
    pub(super) srtt: u64,
    pub(super) shortest: u64,
    /// When the next group may leave, in ns.
    pub(super) next_group: u64,
    /// The receiver's window in bytes.
    pub(super) receiver_window: u64,
    /// Whether there was a time-out since the last progress.
    pub(super) repeated: bool,
    pub(super) payload: u64,
    pub(super) initial_window: u32,
    /// Most segments of a group; 1: there are no groups.
    pub(super) group_most: u32,
}

impl AckContext {
    /// By how much the next group has to wait, in microseconds.
    pub(super) fn ahead(&self) -> u64 {
        self.next_group.saturating_sub(self.clock.ns) / 1000
    }
}
