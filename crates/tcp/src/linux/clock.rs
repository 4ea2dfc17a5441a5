//! The clocks of a host that counts ticks: microseconds for round trips, ticks for timers, and a
//! timer wheel that is coarser the further ahead a timer is set.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// A tick of Linux with `HZ` 1000.
const TICK_PS: u64 = 1_000_000_000;
/// Where the levels of the wheel begin, in ticks from now, and the binary logarithm of what each
/// counts by: 64 buckets a level, each level eight times as coarse (facts of `kernel/time/timer.c`,
/// Linux 6.12).
const LEVELS: [(u64, u32); 5] = [(63, 0), (504, 3), (4_032, 6), (32_256, 9), (u64::MAX, 12)];

/// How simulated time looks to the host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Clock {
    /// By how much the host's clock is ahead of a whole tick at simulated time zero.
    phase: Span,
    /// Its count of ticks then, as far as the wheel sees it.
    wheel: u64,
}

/// The readings of a clock at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) now: Time,
    pub(crate) ns: u64,
    pub(crate) us: u64,
    pub(crate) tick: u64,
}

impl Clock {
    pub(crate) fn new(phase: Span, wheel: u64) -> Self {
        Self { phase, wheel }
    }

    /// Nanoseconds, cut.
    #[inline]
    pub(crate) fn ns(&self, now: Time) -> u64 {
        (now.as_ps() + self.phase.as_ps()) / 1_000
    }

    /// Microseconds, cut.
    #[inline]
    pub(crate) fn us(&self, now: Time) -> u64 {
        self.ns(now) / 1_000
    }

    /// Whole ticks.
    #[inline]
    pub(crate) fn tick(&self, now: Time) -> u64 {
        (now.as_ps() + self.phase.as_ps()) / TICK_PS
    }

    /// All three.
    #[inline]
    pub(crate) fn read(&self, now: Time) -> Reading {
        let ns = self.ns(now);
        let us = ns / 1_000;
        Reading { now, ns, us, tick: us / 1_000 }
    }

    /// When it is so many nanoseconds.
    pub(crate) fn at_ns(&self, ns: u64) -> Time {
        Time::from_ps((ns * 1_000).saturating_sub(self.phase.as_ps()))
    }

    /// When tick `tick` begins.
    pub(crate) fn at(&self, tick: u64) -> Time {
        Time::from_ps((tick * TICK_PS).saturating_sub(self.phase.as_ps()))
    }

    /// When a segment was sent whose time stamp an ACK echoes at `now`, by the time stamps of both.
    pub(crate) fn echoed(&self, now: Time, echo: u64) -> Time {
        let ms = self.tick(now).saturating_sub(echo).max(1);
        Time::from_ps(now.as_ps().saturating_sub(Span::from_ms(ms).as_ps()))
    }

    /// The tick at which a timer runs out that is set at `tick` for `expires`: never early, and
    /// late by up to a bucket of its level.
    pub(crate) fn fires(&self, tick: u64, expires: u64) -> u64 {
        let ahead = expires.saturating_sub(tick);
        let shift = LEVELS.iter().find(|level| ahead < level.0).map_or(12, |level| level.1);
        ((((expires + self.wheel) >> shift) + 1) << shift) - self.wheel
    }
}

/// The earlier one of two deadlines.
#[inline]
pub(crate) fn earliest(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, None) => one,
        (None, other) => other,
    }
}

/// Microseconds as ticks, rounded up.
#[inline]
#[expect(clippy::manual_div_ceil, reason = "a remainder more, several times for each ACK")]
pub(crate) fn ticks(us: u64) -> u64 {
    (us + 999) / 1000
}

/// Whole microseconds of a span.
pub(crate) fn whole_us(span: Span) -> u64 {
    span.as_ps() / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_as_coarse_as_its_level() {
        let clock = Clock::new(Span::ZERO, 32);
        assert_eq!(clock.fires(100, 162), 163);
        // From 63 ticks on: multiples of 8, counted with the wheel.
        assert_eq!(clock.fires(100, 163), 168);
        assert_eq!(clock.fires(100, 168), 176);
        // From 504 ticks on: multiples of 64 less 32.
        assert_eq!(clock.fires(100, 604), 608);
        assert_eq!(clock.fires(100, 608), 672);
    }

    #[test]
    fn a_tick_begins_before_simulated_time_by_the_phase() {
        let clock = Clock::new(Span::from_us(52), 0);
        assert_eq!(clock.tick(Time::from_ps(947_000_000)), 0);
        assert_eq!(clock.tick(Time::from_ps(948_000_000)), 1);
        assert_eq!(clock.at(1), Time::from_ps(948_000_000));
    }
}
