//! Burst length estimation: the sender alone guesses how many of its segments a burst can hold.

use serde::{Deserialize, Serialize};

use crate::config::{BleOrder, Config};
use crate::discriminator::{Discriminator, Verdict, false_if};
use crate::moment::Moment;

/// Yu et al. 2004, section IV.A, steps 1 to 4.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ble {
    /// Estimated segments of this connection in a burst (the paper's burst_wd).
    burst_window: f64,
    losses: u64,
    timeouts: u64,
    order: BleOrder,
    /// A burst must be longer than this to be the cause of a false time-out.
    burst_min: f64,
}

impl Ble {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            burst_window: 0.0,
            losses: 0,
            timeouts: 0,
            order: config.ble_order,
            burst_min: f64::from(config.ble_burst_min),
        }
    }

    fn decide(&self, window: f64) -> Verdict {
        false_if(window <= self.burst_window && self.burst_window > self.burst_min)
    }
}

impl Discriminator for Ble {
    /// Steps 2 and 3: a loss that left enough of the window to arrive was at most half of it.
    fn on_loss(&mut self, moment: &Moment) {
        let half = moment.window / 2.0;
        self.burst_window = if self.losses == 0 { half } else { self.burst_window.min(half) };
        self.losses += 1;
    }

    /// Steps 2 and 4, and the decision.
    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        let window = moment.window;
        let before = self.decide(window);
        self.burst_window = match (self.losses, self.timeouts) {
            (0, _) => window,
            (_, 0) => self.burst_window.min(window),
            _ => self.burst_window.max(window),
        };
        let first = self.losses == 0;
        self.losses += 1;
        self.timeouts += 1;
        // The first loss has no estimate to decide by but its own.
        if first || self.order == BleOrder::UpdateFirst { self.decide(window) } else { before }
    }
}
