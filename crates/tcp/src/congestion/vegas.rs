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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    fn law(rules: VegasRules) -> Vegas {
        let given = Overrides {
            vegas_alpha: Some(2),
            vegas_beta: Some(5),
            vegas_rules: Some(rules),
            ..Overrides::default()
        };
        Vegas::new(&Config::resolve(&given).expect("is valid"))
    }

    /// Window, threshold, and what each ACK adds, after a round with so many `queued`.
    fn after(rules: VegasRules, cwnd: f64, ssthresh: f64, queued: f64, used: bool) -> [f64; 3] {
        let mut course = Course { cwnd, ssthresh, each_ack: 0.25 };
        law(rules).on_round(&mut course, &Round { base_over_rtt: 0.5, queued, used });
        [course.cwnd, course.ssthresh, course.each_ack]
    }

    #[test]
    fn between_alpha_and_beta_the_window_rests() {
        for rules in [VegasRules::Paper, VegasRules::Ns2] {
            for queued in [2.0, 3.5, 5.0] {
                assert_eq!(after(rules, 10.0, 64.0, queued, true), [10.0, 64.0, 0.0]);
            }
        }
    }

    #[test]
    fn above_beta_the_window_loses_a_segment_and_the_threshold_is_not_above_it() {
        let paper = |cwnd, ssthresh| after(VegasRules::Paper, cwnd, ssthresh, 5.5, false);
        assert_eq!(paper(10.0, 64.0), [9.0, 9.0, 0.0]);
        assert_eq!(paper(10.0, 4.0), [9.0, 4.0, 0.0], "it was below");
        assert_eq!(paper(2.5, 64.0), [2.0, 2.0, 0.0], "not below two segments");
        let ns2 = after(VegasRules::Ns2, 10.0, 64.0, 5.5, false);
        assert_eq!(ns2, [9.0, 64.0, 0.0], "ns-2 leaves the threshold");
    }

    #[test]
    fn below_alpha_the_window_gains_a_segment_at_once_or_with_the_acks() {
        let paper = |used| after(VegasRules::Paper, 10.0, 64.0, 1.9, used);
        assert_eq!(paper(true), [11.0, 64.0, 0.0]);
        assert_eq!(paper(false), [10.0, 64.0, 0.0], "no growth of what is not used");
        for used in [true, false] {
            assert_eq!(after(VegasRules::Ns2, 10.0, 64.0, 1.9, used), [10.0, 64.0, 0.1]);
        }
    }

    #[test]
    fn a_loss_takes_a_quarter() {
        let law = law(VegasRules::Paper);
        assert_eq!([4.0, 10.0, 100.0].map(|window| law.reduced(window)), [3.0, 7.5, 75.0]);
    }
}
