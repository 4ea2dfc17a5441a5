//! RACK (RFC 8985): a segment is lost if one that was sent sufficiently later has arrived.

use serde::{Deserialize, Serialize};

use crate::linux::queue::{AGAIN, EVER, Unacked};

/// Recoveries without a spurious retransmission after which the reordering window is small again
/// (RFC 8985 section 6.2 step 4).
pub(super) const PERSIST: u32 = 16;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rack {
    /// When the segment that was sent last of those delivered was sent, and one past its number.
    pub(super) sent: (u64, u64),
    /// Its round trip.
    rtt: u64,
    /// Whether there is something new to look at.
    pub(super) advanced: bool,
    /// Quarters of the shortest round trip that make the reordering window.
    pub(super) steps: u64,
    pub(super) persist: u32,
    dsack_seen: bool,
    last_delivered: u64,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self { steps: 1, ..Self::default() }
    }

    /// A segment is delivered that was `sent` at some time and ends below some number, after so
    /// long a round trip.
    #[inline]
    pub(super) fn advance(&mut self, sent: (u64, u64), rtt: u64) {
        self.advanced = true;
        self.rtt = rtt;
        self.sent = self.sent.max(sent);
    }

    /// Segment `seq`, last sent as `sent` says, has been delivered.
    pub(super) fn take(&mut self, us: u64, shortest: u64, seq: u64, sent: &Unacked) {
        let rtt = us.saturating_sub(sent.at());
        // Sooner than a round trip after it was sent again: the ACK is of the first transmission.
        if !sent.is(AGAIN | EVER) || rtt >= shortest {
            self.advance((sent.at(), seq + 1), rtt);
        }
    }

    /// For how long after `us` a segment that was last sent at `at` may be missing yet.
    pub(super) fn left(&self, us: u64, at: u64, window: u64) -> i64 {
        (self.rtt + window) as i64 - us.saturating_sub(at) as i64
    }

    /// A reduction was undone: losses are looked for again.
    pub(super) fn find_losses_again(&mut self) {
        self.advanced = true;
    }

    /// A segment that was reported twice may have been reordered.
    pub(super) fn note_duplicate(&mut self) {
        self.dsack_seen = true;
    }

    /// Whether [`adapt`](Self::adapt) does nothing.
    #[inline]
    pub(super) fn is_at_rest(&self) -> bool {
        !self.dsack_seen && (self.persist > 0 || self.steps == 1)
    }

    /// A D-SACK widens the reordering window, at most once a round trip; `prior` is what was
    /// delivered when the newest segment of the ACK was sent.
    pub(super) fn adapt(&mut self, prior: Option<u64>, delivered: u64) {
        let Some(prior) = prior.filter(|&prior| prior > 0) else { return };
        if prior < self.last_delivered {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = (self.steps + 1).min(0xff);
            self.dsack_seen = false;
            self.last_delivered = delivered;
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }
}
