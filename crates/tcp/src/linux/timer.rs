//! The one timer of a connection, which is set for one purpose at a time.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::clock::Clock;

/// What the timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// The retransmission time-out.
    Timeout,
    /// A tail loss probe (RFC 8985 section 7).
    Probe,
    /// Segments that may be reordered rather than lost (RFC 8985 section 6.3).
    Reordering,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LinuxTimer {
    clock: Clock,
    purpose: Option<Purpose>,
    /// The tick it was set for, and the one at which the wheel gets there.
    set: Option<(u64, u64)>,
}

impl LinuxTimer {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, purpose: None, set: None }
    }

    /// Sets it `ticks` ahead. One that is set for the same tick stays where it is in the wheel.
    pub(crate) fn set(&mut self, now: Time, purpose: Purpose, ticks: u64) {
        let tick = self.clock.tick(now);
        let expires = tick + ticks;
        self.purpose = Some(purpose);
        if self.set.is_none_or(|(set, _)| set != expires) {
            self.set = Some((expires, self.clock.fires(tick, expires)));
        }
    }

    /// It has no purpose any more; it still runs, for nothing.
    pub(crate) fn clear(&mut self) {
        self.purpose = None;
    }

    pub(crate) fn purpose(&self) -> Option<Purpose> {
        self.purpose
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        let (_, fires) = self.set?;
        self.purpose.map(|_| self.clock.at(fires))
    }

    /// Returns what it was for if it is due.
    pub(crate) fn take(&mut self, now: Time) -> Option<Purpose> {
        let (_, fires) = self.set?;
        if self.clock.at(fires) > now {
            return None;
        }
        self.set = None;
        self.purpose
    }
}
