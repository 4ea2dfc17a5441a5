//! Slow start of Vegas: the window doubles every other round trip and stands still in between, so
//! that the delay can be measured; it ends when the delay rises.

use serde::{Deserialize, Serialize};

use crate::congestion::{Course, SSTHRESH_MIN};
use crate::round::Round;

/// Brakmo and Peterson 1995, section IV; ns-2 `v_gamma_`, `v_slowstart_`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct EveryOther {
    /// Segments kept in queues beyond which slow start ends.
    gamma: f64,
    /// Whether the round that begins is one of growth.
    grows: bool,
}

impl EveryOther {
    /// ns-2 `v_slowstart_`.
    pub(super) const RESTART_WINDOW: f64 = 2.0;

    /// The SYN counts as a round of growth.
    pub(crate) fn new(gamma: f64) -> Self {
        Self { gamma, grows: true }
    }

    /// A round trip is over.
    pub(crate) fn on_round(&mut self, course: &mut Course, round: &Round) {
        self.grows = !self.grows;
        if self.grows && round.queued > self.gamma {
            // Enough: a part of the last doubling is given back.
            course.cwnd = (course.cwnd - course.cwnd / 8.0).max(2.0);
            course.ssthresh = SSTHRESH_MIN;
            course.each_ack = 0.0;
        } else {
            course.each_ack = if self.grows { 1.0 } else { 0.0 };
        }
    }
}
