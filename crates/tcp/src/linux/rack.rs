//! RACK (RFC 8985): a segment is lost if one that was sent sufficiently later has arrived.

use serde::{Deserialize, Serialize};

use super::clock::{Reading, ticks};
use super::path::Delivery;
use super::queue::{AGAIN, LOST};
use super::timer::Purpose;
use super::{Linux, Stage, TIMEOUT_LEAST_US};
use crate::segment::Transmission;

/// Recoveries without a spurious retransmission after which the reordering window is small again
/// (RFC 8985 section 6.2 step 4).
pub(crate) const PERSIST: u32 = 16;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rack {
    /// When the segment that was sent last of those delivered was sent, and one past its number.
    sent: (u64, u64),
    /// Its round trip.
    rtt: u64,
    /// Whether there is something new to look at.
    pub(super) advanced: bool,
    /// Quarters of the shortest round trip that make the reordering window.
    steps: u64,
    pub(super) persist: u32,
    pub(super) dsack_seen: bool,
    last_delivered: u64,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            sent: (0, 0),
            rtt: 0,
            advanced: false,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            last_delivered: 0,
        }
    }

    /// A segment that was sent once, at `at`, and the last of which is below `end`, is delivered.
    #[inline]
    pub(super) fn take_plain(&mut self, us: u64, at: u64, end: u64) {
        self.advanced = true;
        self.rtt = us.saturating_sub(at);
        self.sent = self.sent.max((at, end));
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

impl Linux {
    /// A segment that was sent at `at`, and the last of which is below `end`, has been delivered.
    pub(super) fn rack_advance(&mut self, us: u64, again: bool, at: u64, end: u64) {
        let rtt = us.saturating_sub(at);
        // Sooner than a round trip after it was sent again: the ACK is of the first transmission.
        if again && rtt < self.path.estimator().shortest() {
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt = rtt;
        self.rack.sent = self.rack.sent.max((at, end));
    }

    fn reordering_window(&self) -> u64 {
        let counted = self.options.rack_counts && self.queue.counts()[0] >= self.reordering;
        let certain = self.stage >= Stage::Recovery || counted;
        if !self.reordering_seen && certain {
            return 0;
        }
        let window = (self.path.estimator().shortest() >> 2) * self.rack.steps;
        window.min(self.path.estimator().srtt_8() >> 3)
    }

    /// By when segment `seq` should have been heard of, less `us`.
    pub(super) fn rack_left(&self, us: u64, seq: u64, window: u64) -> i64 {
        (self.rack.rtt + window) as i64 - us.saturating_sub(self.queue.get(seq).at()) as i64
    }

    /// Marks what is lost by now; returns how long to wait for what may be, in microseconds.
    fn rack_detect(&mut self, us: u64) -> u64 {
        self.path.note_time(us);
        let window = self.reordering_window();
        let mut wait = 0;
        let mut at = self.queue.oldest();
        while let Some(seq) = at {
            at = self.queue.newer(seq);
            let sent = self.queue.get(seq);
            if sent.is(LOST) && !sent.is(AGAIN) {
                continue;
            }
            if self.rack.sent <= (sent.at(), seq + 1) {
                break;
            }
            let left = self.rack_left(us, seq, window);
            if left <= 0 {
                self.mark_lost(seq);
                self.queue.unlist(seq);
            } else {
                wait = wait.max(left as u64);
            }
        }
        wait
    }

    /// Looks for losses after an ACK; returns whether the timer waits for reordering.
    pub(super) fn rack_mark(&mut self, now: Reading) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let wait = self.rack_detect(now.us);
        if wait > 0 {
            let wait = ticks(wait + TIMEOUT_LEAST_US).min(self.path.rto());
            self.timer.set(now, Purpose::Reordering, wait);
        }
        wait > 0
    }

    /// What may have been reordered is late now.
    pub(super) fn on_reordering_timeout(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        let (flight, lost) = (self.queue.in_flight(), self.queue.totals().1);
        self.rack_detect(now.us);
        if flight != self.queue.in_flight() {
            if self.stage != Stage::Recovery {
                self.enter_recovery(now, false);
                if !self.path.law().paces() && !self.reductions.excused {
                    let lost = (self.queue.totals().1 - lost) as u32;
                    let delivery = Delivery { delivered: 1, lost, advanced: false };
                    self.path.reduce(delivery, self.queue.in_flight());
                }
            }
            self.send_lost(now, out);
        }
        if self.timer.purpose() != Some(Purpose::Timeout) {
            self.rearm(now);
        }
    }
}
