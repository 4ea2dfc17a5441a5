//! The congestion window in whole segments, and whether the sender makes use of it.

use serde::{Deserialize, Serialize};

use super::context::Stage;

/// "Not set yet."
pub(crate) const INFINITE: u32 = 0x7fff_ffff;

/// The threshold as it is while the window shrinks, else at least three quarters of the window.
pub(crate) fn current_ssthresh(window: &LinuxWindow, stage: Stage) -> u32 {
    if stage.reduces() {
        return window.ssthresh;
    }
    window.ssthresh.max((window.cwnd >> 1) + (window.cwnd >> 2))
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LinuxWindow {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    /// Segments that were acknowledged towards the next segment of the window.
    pub(crate) credit: u32,
    /// The window before the last reduction.
    pub(crate) prior_cwnd: u32,
    /// The threshold before the last reduction; 0: it is not to come back.
    pub(crate) prior_ssthresh: u32,
    /// Segments delivered and sent since the reduction began (RFC 6937).
    pub(crate) prr_delivered: u32,
    pub(crate) prr_out: u32,
    /// When the window was last in use or changed, in ticks.
    pub(crate) stamp: u64,
    /// Most segments outstanding since then.
    pub(crate) used: u32,
    /// Whether the window, and not the data or the receiver, was the limit in this round trip.
    pub(crate) is_limit: bool,
    /// Most segments outstanding in this round trip.
    pub(crate) most: u32,
    /// The round trip ends when this is acknowledged.
    pub(crate) round: u64,
}

impl LinuxWindow {
    pub(crate) fn new() -> Self {
        Self {
            cwnd: 2,
            ssthresh: INFINITE,
            credit: 0,
            prior_cwnd: 0,
            prior_ssthresh: 0,
            prr_delivered: 0,
            prr_out: 0,
            stamp: 0,
            used: 0,
            is_limit: false,
            most: 0,
            round: 0,
        }
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether the window may grow: it was the limit, or in slow start more than half of it was in
    /// use, so that it may double.
    pub(crate) fn may_grow(&self) -> bool {
        self.is_limit || (self.in_slow_start() && self.cwnd < 2 * self.most)
    }

    /// Slow start by `acked` segments up to the threshold; returns the rest of them.
    pub(crate) fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// A segment more for each `each` acknowledged.
    pub(crate) fn additive(&mut self, each: u32, acked: u32) {
        if self.credit >= each {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= each {
            let more = self.credit / each;
            self.credit -= more * each;
            self.cwnd += more;
        }
    }

    /// As Reno grows.
    pub(crate) fn reno(&mut self, acked: u32) {
        self.scalable(u32::MAX, acked);
    }

    /// Slow start, then as Scalable TCP grows: by a segment for each window of at most `most`
    /// segments.
    pub(crate) fn scalable(&mut self, most: u32, acked: u32) {
        if !self.may_grow() {
            return;
        }
        let left = if self.in_slow_start() { self.slow_start(acked) } else { acked };
        if left > 0 {
            self.additive(self.cwnd.min(most), left);
        }
    }
}
