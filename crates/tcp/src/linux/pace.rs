//! Pacing: what goes out leaves at a rate, not all at once.

use serde::{Deserialize, Serialize};

use super::Linux;
use super::clock::Reading;
use crate::segment::Transmission;

/// Segments that go without pacing at the beginning.
const FREE: u64 = 10;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pace {
    /// Whether there is pacing.
    on: bool,
    /// When the next group may leave, in ns.
    next: u64,
    /// When the timer runs out that waits for it.
    timer: Option<u64>,
    /// Data segments sent.
    sent: u64,
}

impl Pace {
    pub(crate) fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }

    /// Pacing begins, or ends: then what waits need not any more, and the timer only lets it go.
    pub(crate) fn turn(&mut self, on: bool) {
        self.on = on;
    }

    /// Whether a group has to wait at `now`; then a timer runs.
    pub(crate) fn holds(&mut self, now: u64) -> bool {
        let holds = self.on && self.next > now;
        if holds {
            self.timer.get_or_insert(self.next);
        }
        holds
    }

    /// A group of `segments` with `bytes` of data leaves at `now`, at `rate` bytes a second. What
    /// was not used of the time before counts for up to half.
    pub(crate) fn sends(&mut self, now: u64, segments: u64, bytes: u64, rate: u64) {
        let before = self.next;
        self.next = self.next.max(now);
        self.sent += segments;
        if self.on && rate > 0 && self.sent >= FREE {
            let time = (u128::from(bytes) * 1_000_000_000 / u128::from(rate)) as u64;
            self.next += time - (time / 2).min(self.next - before);
        }
    }

    /// Whether there is none.
    #[inline]
    pub(crate) fn is_off(&self) -> bool {
        !self.on
    }

    /// As [`sends`](Self::sends) for so many groups of a segment, where there is no pacing.
    #[inline]
    pub(crate) fn sends_freely(&mut self, now: u64, segments: u32) {
        self.next = self.next.max(now);
        self.sent += u64::from(segments);
    }

    /// When the next group may leave, or the last did.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Whole ticks until then.
    pub(crate) fn ticks(&self, now: u64) -> u64 {
        if self.on { self.next.saturating_sub(now) / 1_000_000 } else { 0 }
    }

    pub(crate) fn deadline(&self) -> Option<u64> {
        self.timer
    }

    fn take(&mut self, now: u64) -> bool {
        let due = self.timer.is_some_and(|at| at <= now);
        if due {
            self.timer = None;
        }
        due
    }
}

impl Linux {
    /// Twice the window a round trip in slow start, 1.2 times else, in bytes a second.
    pub(super) fn update_pacing_rate(&mut self) {
        if let Some(rate) = self.law.pacing_rate() {
            self.pacing_rate = rate;
            return;
        }
        self.update_pacing_rate_of(self.outstanding());
    }

    /// The same for a law that does not decide on it, with so many segments outstanding.
    pub(super) fn update_pacing_rate_of(&mut self, outstanding: u32) {
        let srtt_8 = self.estimator.srtt_8();
        let ratio = if self.window.cwnd < self.window.ssthresh / 2 { 200 } else { 120 };
        let segments = u64::from(self.window.cwnd.max(outstanding));
        let rate = self.options.payload * 80_000 * ratio * segments;
        self.pacing_rate = rate.checked_div(srtt_8).unwrap_or(rate);
    }

    /// What waited may leave.
    pub(super) fn on_pacing(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        if !self.pace.take(now.ns) {
            return;
        }
        if self.lost > self.again && self.window.cwnd > self.in_flight() {
            self.send_lost(now, out);
        }
        self.push(now, out);
    }
}
