//! What a round trip tells a window law.

use serde::{Deserialize, Serialize};

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
