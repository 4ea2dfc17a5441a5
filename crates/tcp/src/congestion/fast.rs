//! The window law of FAST TCP: each round trip the window goes part of the way to where `alpha`
//! segments of it wait in queues, and at most doubles.

use super::{Course, Round};
use crate::config::Config;
use crate::window::SSTHRESH_MIN;

/// Wei, Jin, Low and Hegde 2006, section IV.B. Slow start is the same law: far from its aim the
/// window doubles. The round-trip time is the mean of a round.
#[derive(Clone, Debug)]
pub(crate) struct Fast {
    alpha: f64,
    gamma: f64,
}

impl Fast {
    pub(crate) fn new(config: &Config) -> Self {
        Self { alpha: f64::from(config.fast_alpha), gamma: config.fast_gamma }
    }

    pub(super) fn on_round(&self, course: &mut Course, round: &Round) {
        let window = course.cwnd;
        let aim = round.base_over_rtt * window + self.alpha;
        let next = ((1.0 - self.gamma) * window + self.gamma * aim).min(2.0 * window);
        if next < window || round.used {
            course.cwnd = next.max(1.0);
        }
        // There is no slow start that a threshold could end.
        course.ssthresh = SSTHRESH_MIN;
    }

    /// A loss halves the window, as in Reno.
    pub(super) fn reduced(&self, window: f64) -> f64 {
        window / 2.0
    }
}
