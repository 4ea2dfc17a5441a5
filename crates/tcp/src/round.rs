//! The facts of a round trip for a window law.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

/// The counts of a sender in a round trip. It ends with the ACK of the first segment that was sent
/// in it, or when all outstanding segments are retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tallied {
    /// Segments that went out, those sent again included.
    pub sent: u64,
    /// Segments that were acknowledged for the first time.
    pub acked: u64,
    /// Segments that went out again, having been taken for lost.
    pub lost: u64,
    /// How long it took.
    pub span: Span,
}

impl Tallied {
    /// Segments acknowledged a second, the delivery rate of the round; `None`: it took no time.
    #[must_use]
    pub fn delivery_rate(&self) -> Option<f64> {
        (!self.span.is_zero()).then(|| self.acked as f64 / self.span.as_secs_f64())
    }
}

/// A round trip, as a law that goes by delay sees it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Round {
    /// The shortest round-trip time over that of this round, 0 to 1.
    pub base_over_rtt: f64,
    /// Segments of this connection that wait in queues.
    pub queued: f64,
    /// Whether the sender made use of its window.
    pub used: bool,
}
