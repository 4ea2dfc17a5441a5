//! The time of a run as the instants of the standard library that a stack is handed.

use std::time::{Duration, Instant};

use burstlab_units::{Span, Time};

const PS_OF_NS: u64 = 1000;

/// Where the time of a connection begins. Stacks look at differences of instants alone, so that it
/// makes no difference when that is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    #[allow(clippy::disallowed_methods, reason = "there is no other source of an instant")]
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    /// An instant of a run, to the nanosecond below.
    pub(crate) fn instant(self, now: Time) -> Instant {
        self.0 + Duration::from_nanos(now.as_ps() / PS_OF_NS)
    }

    /// When an instant is in a run.
    pub(crate) fn time(self, instant: Instant) -> Time {
        let ns = instant.saturating_duration_since(self.0).as_nanos();
        Time::from_ps(u64::try_from(ns).unwrap_or(u64::MAX).saturating_mul(PS_OF_NS))
    }
}

/// A duration of a stack.
pub(crate) fn span(duration: Duration) -> Span {
    Span::from_ns(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / PS_OF_NS))
}
