//! Pacing: segments leave at a rate, not all at once.

use serde::{Deserialize, Serialize};

use super::options::LinuxOptions;

/// Segments that go without pacing at the beginning.
const FREE: u64 = 10;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pace {
    /// Whether there is pacing, and whether there always is.
    on: bool,
    always: bool,
    /// Bytes a second.
    rate: u64,
    /// When the next group may leave, in ns.
    next: u64,
    /// When the timer runs out that waits for it.
    timer: Option<u64>,
    /// Data segments sent.
    sent: u64,
}

impl Pace {
    pub(crate) fn new(options: &LinuxOptions) -> Self {
        let always = options.pacing;
        Self { on: always || options.congestion.paces(), always, ..Self::default() }
    }

    /// Pacing begins, or ends: then what waits need not any more, and the timer only lets it go.
    pub(crate) fn turn(&mut self, on: bool) {
        self.on = on || self.always;
    }

    pub(crate) fn rate(&self) -> u64 {
        self.rate
    }

    pub(crate) fn set_rate(&mut self, rate: u64) {
        self.rate = rate;
    }

    /// Whether a group has to wait at `now`; then a timer runs.
    pub(crate) fn holds(&mut self, now: u64) -> bool {
        let holds = self.on && self.next > now;
        if holds {
            self.timer.get_or_insert(self.next);
        }
        holds
    }

    /// A group of `segments` with `bytes` of data leaves at `now`. Unused time before it is
    /// credited, up to half of the group's time.
    pub(crate) fn sends(&mut self, now: u64, segments: u64, bytes: u64) {
        let before = self.next;
        self.next = self.next.max(now);
        self.sent += segments;
        if self.on && self.rate > 0 && self.sent >= FREE {
            let time = (u128::from(bytes) * 1_000_000_000 / u128::from(self.rate)) as u64;
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

    /// Whether that timer is due; then it does not run any more.
    pub(crate) fn take(&mut self, now: u64) -> bool {
        let due = self.timer.is_some_and(|at| at <= now);
        if due {
            self.timer = None;
        }
        due
    }
}
