//! The parts of a run: it warms up, it is measured, and it may drain.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Which part of a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RunPhase {
    WarmUp,
    Measured {
        from: Time,
    },
    /// What is under way goes on until it is done.
    Drain {
        from: Time,
        until: Time,
    },
}

impl RunPhase {
    /// Since when the run is measured, if the warm-up is over.
    pub(super) fn since(self) -> Option<Time> {
        match self {
            Self::WarmUp => None,
            Self::Measured { from } | Self::Drain { from, .. } => Some(from),
        }
    }

    /// Whether the run is measured now.
    pub(super) fn is_measured(self) -> bool {
        matches!(self, Self::Measured { .. })
    }

    /// Whether the measured time is over.
    pub(super) fn drains(self) -> bool {
        matches!(self, Self::Drain { .. })
    }

    /// The measured time ends, and the run drains.
    pub(super) fn ends(&mut self, until: Time) {
        if let Self::Measured { from } = *self {
            *self = Self::Drain { from, until };
        }
    }

    /// How long was measured by `now`; a run that ends as it warms up counts from its beginning.
    pub(super) fn span(self, now: Time) -> Span {
        let (from, until) = match self {
            Self::WarmUp => (Time::ZERO, now),
            Self::Measured { from } => (from, now),
            Self::Drain { from, until } => (from, until),
        };
        until.since(from)
    }
}
