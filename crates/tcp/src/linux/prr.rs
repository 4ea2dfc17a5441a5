//! Proportional rate reduction (RFC 6937): how much may be sent while the window shrinks.

use serde::{Deserialize, Serialize};

use super::clock::Reading;
use super::law::Cause;
use super::window::INFINITE;
use super::{Linux, ReducedBy, Stage};

/// What an ACK delivered.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) delivered: u32,
    pub(crate) lost: u32,
    /// Whether the cumulative ACK moved.
    pub(crate) advanced: bool,
}

impl Linux {
    /// Begins to shrink the window to what the law says.
    pub(super) fn begin_reduction(&mut self, now: Reading, by: ReducedBy, cause: Cause) {
        self.reductions.note(by);
        self.high = self.next;
        self.probed = None;
        self.tells_reduction = self.options.ecn;
        let window = &mut self.window;
        window.credit = 0;
        window.prior_cwnd = window.cwnd;
        (window.prr_delivered, window.prr_out) = (0, 0);
        self.window.ssthresh = self.threshold(now, cause);
    }

    /// Section 3.1, with the bound of one segment more than was delivered only where the ACK moved
    /// and nothing new is lost (RFC 6937bis).
    pub(super) fn reduce(&mut self, delivery: Delivery) {
        if delivery.delivered == 0 || self.window.prior_cwnd == 0 {
            return;
        }
        let flight = i64::from(self.in_flight());
        let window = &mut self.window;
        window.prr_delivered += delivery.delivered;
        let (delivered, out) = (i64::from(window.prr_delivered), i64::from(window.prr_out));
        let room = i64::from(window.ssthresh) - flight;
        let mut may = if room < 0 {
            let prior = i64::from(window.prior_cwnd);
            (i64::from(window.ssthresh) * delivered + prior - 1) / prior - out
        } else {
            let more = i64::from(delivery.advanced && delivery.lost == 0);
            room.min((delivered - out).max(i64::from(delivery.delivered)) + more)
        };
        // The first retransmission always goes.
        may = may.max(i64::from(out == 0));
        window.cwnd = (flight + may).max(1) as u32;
    }

    /// The window has shrunk, or a repair is over.
    pub(super) fn end_reduction(&mut self, tick: u64) {
        if self.law.paces() {
            return;
        }
        let reduced = self.stage == Stage::Cwr || self.undo_marker.is_some();
        if self.window.ssthresh < INFINITE && reduced {
            self.window.cwnd = self.window.ssthresh;
            self.window.stamp = tick;
        }
    }

    /// A mark, or a probe that repaired a loss, shrinks the window without a repair.
    pub(super) fn enter_cwr(&mut self, now: Reading) {
        self.window.prior_ssthresh = 0;
        if self.stage < Stage::Cwr {
            self.undo_marker = None;
            self.begin_reduction(now, ReducedBy::Mark, Cause::Mark);
            self.set_stage(Stage::Cwr, now);
        }
    }
}
