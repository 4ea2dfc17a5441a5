//! Delaying segments by a random time, against phase effects (Floyd and Jacobson 1992).

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// Whether segments that a window releases have to wait. A sender owns no generator: it asks for a
/// delay, and the driver answers with the end of the wait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hold {
    /// No delay reaches this.
    below: Span,
    state: Holding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Holding {
    /// Nothing ever waits.
    Off,
    /// Nothing waits now.
    Free,
    /// Something could be sent; the delay is not given yet.
    Asking,
    /// Something may be sent then.
    Until(Time),
    /// The delay is over: whatever may go goes now.
    Open,
}

impl Hold {
    pub(crate) fn new(config: &Config) -> Self {
        let below = config.send_jitter;
        Self { below, state: if below.is_zero() { Holding::Off } else { Holding::Free } }
    }

    /// Whether nothing ever waits.
    #[inline(always)]
    pub(crate) fn is_off(&self) -> bool {
        self.state == Holding::Off
    }

    /// Something could be sent: whether it has to wait. One delay is for all that comes before it
    /// ends (ns-2 `delsnd_timer_`).
    #[inline(always)]
    pub(crate) fn holds(&mut self) -> bool {
        self.state != Holding::Off && self.has_to_wait()
    }

    fn has_to_wait(&mut self) -> bool {
        if self.state == Holding::Free {
            self.state = Holding::Asking;
        }
        self.state != Holding::Open
    }

    /// The upper bound of the delay that is asked for.
    #[inline]
    pub(crate) fn asks(&self) -> Option<Span> {
        (self.state == Holding::Asking).then_some(self.below)
    }

    /// Returns what was asked.
    pub(crate) fn until(&mut self, at: Time) {
        if self.state == Holding::Asking {
            self.state = Holding::Until(at);
        }
    }

    /// When the delay ends.
    pub(crate) fn ends(&self) -> Option<Time> {
        match self.state {
            Holding::Until(at) => Some(at),
            _ => None,
        }
    }

    /// Nothing waits, until it [closes](Self::close).
    pub(crate) fn open(&mut self) {
        self.state = Holding::Open;
    }

    pub(crate) fn close(&mut self) {
        self.state = Holding::Free;
    }
}
