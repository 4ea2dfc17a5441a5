//! How the window shrinks: proportional rate reduction (RFC 6937), a time-out, and what comes back
//! where a reduction was for nothing or is excused.

use super::{Earlier, Path};
use crate::linux::ack_facts::Delivery;
use crate::linux::context::{AckContext, Stage};
use crate::linux::law::{Cause, LawEvent, LinuxLaw};
use crate::linux::window::{INFINITE, current_ssthresh};

impl Path {
    /// The threshold may come back after the reduction that begins.
    pub(crate) fn remember_threshold(&mut self, stage: Stage) {
        self.window.prior_ssthresh = current_ssthresh(&self.window, stage);
    }

    /// It does not.
    pub(crate) fn forget_threshold(&mut self) {
        self.window.prior_ssthresh = 0;
    }

    /// Begins to shrink the window to the size that the law decides.
    pub(crate) fn begin_reduction(&mut self, cause: Cause, context: &AckContext) {
        let window = &mut self.window;
        window.credit = 0;
        window.prior_cwnd = window.cwnd;
        (window.prr_delivered, window.prr_out) = (0, 0);
        self.window.ssthresh = self.threshold(context, cause);
    }

    /// RFC 6937 section 3.1, with the bound of one segment more than was delivered only where the
    /// ACK moved and nothing new is lost (RFC 6937bis).
    pub(crate) fn reduce(&mut self, delivery: Delivery, flight: u32) {
        let window = &mut self.window;
        if delivery.delivered == 0 || window.prior_cwnd == 0 {
            return;
        }
        let flight = i64::from(flight);
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

    /// So many segments went while the window shrinks.
    #[inline]
    pub(crate) fn count_reduced(&mut self, segments: u32) {
        self.window.prr_out += segments;
    }

    /// The window has shrunk, or a repair is over; `shrunk`: the tick, where the window goes to the
    /// threshold.
    pub(crate) fn end_reduction(&mut self, shrunk: Option<u64>) {
        let window = &mut self.window;
        if let Some(tick) = shrunk
            && !self.law.paces()
            && window.ssthresh < INFINITE
        {
            (window.cwnd, window.stamp) = (window.ssthresh, tick);
        }
        self.law.reduced(window);
    }

    /// The aim of the last reduction, in segments: the threshold, but with a law that paces, and
    /// after a time-out, what the window is.
    pub(crate) fn reduced_to(&self, by_timeout: bool) -> u32 {
        let at_once = self.law.paces() || by_timeout;
        if at_once { self.window.cwnd } else { self.window.ssthresh.min(self.window.prior_cwnd) }
    }

    /// A time-out, which costs as much as a loss.
    pub(crate) fn time_out(&mut self, context: &AckContext) {
        self.remember_threshold(context.stage);
        self.window.prior_cwnd = self.window.cwnd;
        self.window.ssthresh = self.threshold(context, Cause::Timeout);
        self.law.on_event(LawEvent::Loss, &mut self.window, context);
    }

    /// After a time-out, with `flight` in flight.
    pub(crate) fn collapse(&mut self, flight: u32, tick: u64) {
        self.window.cwnd = flight + 1;
        self.window.credit = 0;
        self.window.stamp = tick;
    }

    /// The last reduction was for nothing; returns whether the window and the threshold come back.
    pub(crate) fn undo(&mut self, context: &AckContext) -> (bool, bool) {
        self.window.stamp = context.clock.tick;
        if self.window.prior_ssthresh == 0 {
            return (false, false);
        }
        self.window.cwnd = self.law.undone(&self.window);
        self.law.undo(context);
        let raised = self.window.prior_ssthresh > self.window.ssthresh;
        self.window.ssthresh = self.window.ssthresh.max(self.window.prior_ssthresh);
        (true, raised)
    }

    /// The state that a reduction which follows would change.
    pub(crate) fn earlier(&self) -> Earlier {
        // A law that judges its own losses knows of the excuse, and does not go back.
        let law = if self.law.judges() { LinuxLaw::Reno } else { self.law.clone() };
        let window = self.window.clone();
        Earlier { window, law, rto: (self.round_trip.rto(), self.round_trip.backoff()) }
    }

    /// All is as it was then.
    pub(crate) fn go_back(&mut self, earlier: Earlier) {
        self.window = earlier.window;
        match &mut self.law {
            LinuxLaw::Foreign(law) if law.judges => law.go_back(),
            law => *law = earlier.law,
        }
        self.round_trip.set_rto(earlier.rto);
    }
}
