//! The one timer of a connection, which is set for one purpose at a time.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::clock::{Clock, Reading};

/// The purpose of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// The retransmission time-out.
    Timeout,
    /// A tail loss probe (RFC 8985 section 7).
    Probe,
    /// Segments that may be reordered rather than lost (RFC 8985 section 6.2 step 5).
    Reordering,
    /// A probe of the receiver's window (RFC 9293 section 3.8.6.1).
    Persist,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LinuxTimer {
    clock: Clock,
    purpose: Option<Purpose>,
    /// The tick it was set for, and the one at which it was: they say when the wheel gets there.
    set: Option<(u64, u64)>,
}

impl LinuxTimer {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, purpose: None, set: None }
    }

    /// Sets it `ticks` ahead. One that is set for the same tick stays where it is in the wheel.
    #[inline]
    pub(crate) fn set(&mut self, now: Reading, purpose: Purpose, ticks: u64) {
        let expires = now.tick + ticks;
        self.purpose = Some(purpose);
        if self.set.is_none_or(|(set, _)| set != expires) {
            self.set = Some((expires, now.tick));
        }
    }

    /// The same after it was set for another tick.
    #[inline]
    pub(crate) fn set_anew(&mut self, now: Reading, purpose: Purpose, ticks: u64) {
        self.purpose = Some(purpose);
        self.set = Some((now.tick + ticks, now.tick));
    }

    /// It has no purpose any more; it still runs, for nothing.
    pub(crate) fn clear(&mut self) {
        self.purpose = None;
    }

    pub(crate) fn purpose(&self) -> Option<Purpose> {
        self.purpose
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        let set = self.set.filter(|_| self.purpose.is_some())?;
        Some(self.fires(set))
    }

    /// Whether it surely does not run out at `tick` or before: the wheel is never early.
    #[inline]
    pub(crate) fn is_after(&self, tick: u64) -> bool {
        self.set.is_none_or(|(expires, _)| tick <= expires)
    }

    /// When the wheel gets to a timer.
    #[inline]
    fn fires(&self, (expires, at): (u64, u64)) -> Time {
        self.clock.at(self.clock.fires(at, expires))
    }

    /// Returns its purpose if it is due.
    pub(crate) fn take(&mut self, now: Time) -> Option<Purpose> {
        if self.fires(self.set?) > now {
            return None;
        }
        self.set = None;
        self.purpose
    }
}
