//! Instants and spans, in integer picoseconds.
//!
//! A sum that passes the last instant is [`Time::NEVER`]. That is exact, not an estimate: every run
//! ends far below it (a scenario is refused otherwise), so such an event does not happen in the
//! run, and any later time is never too. So a queue whose line is free in 300 days holds the right
//! packets, in the right order, to the end of the run. A measured length of time, such as a wait,
//! is not computed from it.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use serde::{Deserialize, Serialize};

/// Picoseconds in a second.
pub(crate) const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the start of the run. Range 0 to about 1.8e7 s (213 days).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(u64);

/// A length of time in picoseconds. Never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than the end of every run.
    pub const NEVER: Self = Self(u64::MAX);
    /// The greatest instant.
    pub const MAX: Self = Self::NEVER;

    /// The instant `ps` picoseconds after the start.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start, rounded to the nearest `f64`; for display and statistics only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The span from `earlier` to `self`.
    ///
    /// # Panics
    /// When `earlier` is later than `self`: an event order that is a bug of the simulator.
    #[must_use]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.checked_sub(earlier.0).expect("`earlier` lies after `self`"))
    }

    /// `self + span`, or [`Time::NEVER`] where that cannot be represented, as `+` answers too.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The instant before this one; the start of the run has none but itself.
    #[inline]
    #[must_use]
    pub const fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// `ns` nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// `us` microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// `ms` milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// `s` seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s * PS_PER_S)
    }

    /// The span of `s` seconds, rounded to the nearest picosecond; negative and NaN become zero,
    /// and what is too long becomes [`Span::MAX`].
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Self {
        // `as` saturates, which is what the contract above says.
        Self((s * PS_PER_S as f64).round() as u64)
    }

    /// Picoseconds.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest `f64`; for display and statistics only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Whether the span is empty.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self * factor`, or [`Span::MAX`] where that cannot be represented.
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        self.saturating_add(span)
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    #[inline]
    fn sub(self, span: Span) -> Self {
        Self(self.0 - span.0)
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<u64> for Span {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:012} s", self.0 / PS_PER_S, self.0 % PS_PER_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_the_last_instant_is_never() {
        let late = Time::from_ps(u64::MAX - 5);
        assert_eq!(late + Span::from_ps(4), Time::from_ps(u64::MAX - 1));
        assert_eq!(late + Span::from_ps(6), Time::NEVER);
        assert_eq!(Time::NEVER + Span::from_ps(1), Time::NEVER);
        let mut at = late;
        at += Span::MAX;
        assert_eq!(at, Time::NEVER);
        assert!(at - Span::from_secs(1_000_000) > Time::ZERO + Span::from_secs(17_000_000));
        assert_eq!(
            (Time::ZERO.before(), Time::from_ps(8).before()),
            (Time::ZERO, Time::from_ps(7))
        );
    }

    #[test]
    #[should_panic(expected = "overflow")]
    fn a_length_of_time_is_counted_in_full_or_not_at_all() {
        let _ = Span::MAX + Span::from_ps(1);
    }
}
