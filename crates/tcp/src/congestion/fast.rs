//! The window law of FAST TCP. Its target is the window at which `alpha` segments wait in queues.
//! Each round trip the window covers a share of the distance to the target, and at most doubles.

use serde::{Deserialize, Serialize};

use super::{Course, SSTHRESH_MIN};
use crate::config::Config;
use crate::round::Round;

/// Wei, Jin, Low and Hegde 2006, section IV.B. Slow start is the same law: far from its aim the
/// window doubles. The round-trip time is the mean of a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    fn law() -> Fast {
        let given =
            Overrides { fast_alpha: Some(10), fast_gamma: Some(0.5), ..Overrides::default() };
        Fast::new(&Config::resolve(&given).expect("is valid"))
    }

    fn next(window: f64, base_over_rtt: f64, used: bool) -> f64 {
        let law = law();
        let mut course = Course { cwnd: window, ssthresh: 64.0, each_ack: 0.0 };
        law.on_round(&mut course, &Round { base_over_rtt, queued: 0.0, used });
        course.cwnd
    }

    #[test]
    fn the_window_goes_by_the_formula() {
        assert_eq!(next(4.0, 1.0, true), 8.0, "at most twice");
        assert_eq!(next(100.0, 1.0, true), 105.0, "half the distance to 110");
        assert_eq!(next(100.0, 0.9, true), 100.0, "ten wait: at rest");
        assert_eq!(next(100.0, 0.5, true), 80.0, "half the distance to 60");
        assert_eq!(next(100.0, 1.0, false), 100.0, "no growth of what is not used");
        assert_eq!(next(100.0, 0.5, false), 80.0);
    }

    #[test]
    fn a_loss_halves_the_window() {
        assert_eq!([4.0, 9.0, 100.0].map(|window| law().reduced(window)), [2.0, 4.5, 50.0]);
    }
}
