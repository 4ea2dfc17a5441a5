//! RACK (RFC 8985): a segment is lost if one that was sent sufficiently later has arrived.

use serde::{Deserialize, Serialize};

use super::{Purpose, Repair, Site, Stage};
use crate::linux::clock::ticks;
use crate::linux::path::Delivery;
use crate::linux::queue::{AGAIN, EVER, LOST, Unacked};
use crate::linux::round_trip::TIMEOUT_LEAST_US;

/// Recoveries without a spurious retransmission after which the reordering window is small again
/// (RFC 8985 section 6.2 step 4).
pub(super) const PERSIST: u32 = 16;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rack {
    /// When the segment that was sent last of those delivered was sent, and one past its number.
    sent: (u64, u64),
    /// Its round trip.
    rtt: u64,
    /// Whether there is something new to look at.
    advanced: bool,
    /// Quarters of the shortest round trip that make the reordering window.
    steps: u64,
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
    pub(super) fn take(&mut self, site: &Site, seq: u64, sent: &Unacked) {
        let rtt = site.now.us.saturating_sub(sent.at());
        // Sooner than a round trip after it was sent again: the ACK is of the first transmission.
        if !sent.is(AGAIN | EVER) || rtt >= site.path.round_trip().shortest() {
            self.advance((sent.at(), seq + 1), rtt);
        }
    }

    /// For how long after `us` a segment that was last sent at `at` may be missing yet.
    pub(super) fn left(&self, us: u64, at: u64, window: u64) -> i64 {
        (self.rtt + window) as i64 - us.saturating_sub(at) as i64
    }

    /// A reduction was taken back: what is lost is looked for again.
    pub(super) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// What was reported twice may have been reordered.
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

impl Repair {
    fn reordering_window(&self, site: &Site) -> u64 {
        let counted =
            site.options.rack_counts && site.queue.counts()[0] >= self.reordering.segments();
        let certain = self.stage >= Stage::Recovery || counted;
        if !self.reordering.was_seen() && certain {
            return 0;
        }
        let window = (site.path.round_trip().shortest() >> 2) * self.rack.steps;
        window.min(site.path.round_trip().srtt_8() >> 3)
    }

    /// Marks what is lost by now; returns how long to wait for what may be, in microseconds.
    fn rack_detect(&mut self, site: &mut Site) -> u64 {
        site.path.note_time(site.now.us);
        let window = self.reordering_window(site);
        let mut wait = 0;
        let mut at = site.queue.oldest();
        while let Some(seq) = at {
            at = site.queue.newer(seq);
            let sent = site.queue.get(seq);
            if sent.is(LOST) && !sent.is(AGAIN) {
                continue;
            }
            if self.rack.sent <= (sent.at(), seq + 1) {
                break;
            }
            let left = self.rack.left(site.now.us, sent.at(), window);
            if left <= 0 {
                self.mark_lost(site, seq);
                site.queue.unlist(seq);
            } else {
                wait = wait.max(left as u64);
            }
        }
        wait
    }

    /// Looks for losses after an ACK; returns whether the timer waits for reordering.
    pub(super) fn rack_mark(&mut self, site: &mut Site) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let wait = self.rack_detect(site);
        if wait > 0 {
            let wait = ticks(wait + TIMEOUT_LEAST_US).min(site.path.round_trip().rto());
            site.timer.set(site.now, Purpose::Reordering, wait);
        }
        wait > 0
    }

    /// What may have been reordered is late now; returns whether something is lost.
    pub(crate) fn take_late(&mut self, site: &mut Site) -> bool {
        let (flight, lost) = (site.queue.in_flight(), site.queue.totals().1);
        self.rack_detect(site);
        if flight == site.queue.in_flight() {
            return false;
        }
        if self.stage != Stage::Recovery {
            self.enter_recovery(site, false);
            if !site.path.law().paces() && !self.reductions.excused {
                let lost = (site.queue.totals().1 - lost) as u32;
                let delivery = Delivery { delivered: 1, lost, advanced: false };
                site.path.reduce(delivery, site.queue.in_flight());
            }
        }
        true
    }
}
