//! The window law of Vegas: as many segments wait in queues as `alpha` to `beta` say.

use serde::{Deserialize, Serialize};

use super::Course;
use crate::config::{Config, VegasRules};
use crate::round::Round;

/// Brakmo and Peterson 1995, section III; ns-2 `Agent/TCP/Vegas`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Vegas {
    alpha: f64,
    beta: f64,
    as_ns2: bool,
}

impl Vegas {
    /// The smallest window that a decrease leaves.
    const WINDOW_MIN: f64 = 2.0;

    pub(crate) fn new(config: &Config) -> Self {
        Self {
            alpha: f64::from(config.vegas_alpha),
            beta: f64::from(config.vegas_beta),
            as_ns2: config.vegas_rules == VegasRules::Ns2,
        }
    }

    /// One segment more or less, or none. ns-2 spreads the segment more over the ACKs of the next
    /// round and leaves the slow-start threshold where it is, above the window if need be.
    pub(super) fn on_round(&self, course: &mut Course, round: &Round) {
        course.each_ack = 0.0;
        if round.queued > self.beta {
            course.cwnd = (course.cwnd - 1.0).max(Self::WINDOW_MIN);
            if !self.as_ns2 {
                course.ssthresh = course.ssthresh.min(course.cwnd);
            }
        } else if round.queued < self.alpha {
            if self.as_ns2 {
                course.each_ack = 1.0 / course.cwnd;
            } else if round.used {
                course.cwnd += 1.0;
            }
        }
    }

    /// A quarter less: the delay has kept the window near where it should be.
    pub(super) fn reduced(&self, window: f64) -> f64 {
        window - window / 4.0
    }
}
