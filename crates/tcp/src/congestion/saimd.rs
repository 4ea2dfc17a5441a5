//! SAIMD: the more the recent round trips stand out from earlier ones, the more a loss costs.

use std::collections::VecDeque;

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use super::Aimd;
use crate::config::Config;
use crate::discriminator::{Discriminator, Verdict, false_if};
use crate::moment::Moment;

/// Statistical AIMD (Shihada, Ho and Zhang 2009). Built from the paper's abstract: the place of the
/// short-term round trips in the spectrum of the long-term ones is the confidence that a loss is
/// congestion, and the window is adjusted by this confidence. The abstract has no formula: the
/// place of the mean of the last `short` round trips among the last `long` ones, a cut in
/// proportion to the confidence, and the bound of a detector are choices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Saimd {
    short: usize,
    long: usize,
    sure: f64,
    /// The last `long` round trips, newest last.
    history: VecDeque<Span>,
}

impl Saimd {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            short: config.saimd_short.unwrap_or(8) as usize,
            long: config.saimd_long.unwrap_or(500) as usize,
            sure: config.saimd_sure.unwrap_or(0.7),
            history: VecDeque::new(),
        }
    }

    /// An ACK measured a round trip.
    pub(super) fn measured(&mut self, rtt: Span) {
        if self.history.len() == self.long {
            self.history.pop_front();
        }
        self.history.push_back(rtt);
    }

    /// The part of the history that is shorter than the mean of the recent round trips, 0 to 1.
    fn confidence(&self) -> f64 {
        let recent = self.history.len().saturating_sub(self.short);
        let (sum, count) = (self.history.range(recent..))
            .fold((0_u128, 0_u128), |(sum, n), rtt| (sum + u128::from(rtt.as_ps()), n + 1));
        if count == 0 {
            return 1.0; // nothing is known yet
        }
        let below = |rtt: &&Span| u128::from(rtt.as_ps()) * count < sum;
        self.history.iter().filter(below).count() as f64 / self.history.len() as f64
    }

    /// The rest of `window` after a loss: all if it is no congestion, half if it surely is.
    pub(super) fn reduced(&self, window: f64) -> f64 {
        let cut = 1.0 - Aimd::USUAL.reduced(1.0);
        window * (1.0 - self.confidence() * cut)
    }
}

impl Discriminator for Saimd {
    fn on_timeout(&mut self, _: &Moment) -> Verdict {
        false_if(self.confidence() <= self.sure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, WindowLaw};

    fn law(short: u32, long: u32, sure: f64, trips: &[u64]) -> Saimd {
        let given = Overrides {
            window_law: Some(WindowLaw::Saimd),
            saimd_short: Some(short),
            saimd_long: Some(long),
            saimd_sure: Some(sure),
            ..Overrides::default()
        };
        let mut law = Saimd::new(&Config::resolve(&given).expect("is valid"));
        trips.iter().for_each(|&trip| law.measured(Span::from_ms(trip)));
        law
    }

    #[test]
    fn the_place_of_the_recent_among_all_is_the_confidence() {
        // The mean of 30 and 50 is longer than 10, 20 and 30, of five.
        assert_eq!(law(2, 8, 0.7, &[10, 20, 60, 30, 50]).confidence(), 0.6);
        // As long as all others: no queue has grown.
        assert_eq!(law(3, 8, 0.7, &[20; 7]).confidence(), 0.0);
        assert_eq!(law(2, 8, 0.7, &[]).confidence(), 1.0, "nothing is known");
        // The first two are forgotten.
        assert_eq!(law(1, 4, 0.7, &[1, 2, 20, 20, 20, 30]).confidence(), 0.75);
    }

    #[test]
    fn the_cut_follows_the_confidence() {
        assert_eq!(law(2, 8, 0.7, &[10, 20, 60, 30, 50]).reduced(20.0), 14.0);
        assert_eq!(law(2, 8, 0.7, &[20, 20, 20]).reduced(20.0), 20.0);
        assert_eq!(law(2, 8, 0.7, &[]).reduced(20.0), 10.0);
    }

    #[test]
    fn a_timeout_is_excused_up_to_the_bound() {
        let trips = [10, 20, 60, 30, 50];
        for (sure, verdict) in [(0.6, Verdict::False), (0.59, Verdict::True)] {
            assert_eq!(law(2, 8, sure, &trips).on_timeout(&Moment::default()), verdict);
        }
    }
}
