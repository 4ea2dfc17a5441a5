//! The last round trips, by which threshold-based Vegas distinguishes queues from late bursts.

use std::collections::VecDeque;

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// Threshold-based Vegas (Shihada, Zhang and Ho, ICCCN 2006). Built from the abstracts of this
/// and a later paper: at low load a burst that is sent again or deflected makes some round
/// trips longer, and congestion makes many. The abstracts have no formula: the rounds that are
/// counted, the margin, and the shortest round trip in place of the longer ones are choices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Recent {
    /// The mean round trips of the last rounds, newest last.
    trips: VecDeque<Span>,
    most: usize,
    threshold: usize,
    /// A longer one is at least so many times the shortest.
    factor: f64,
}

impl Recent {
    /// `None` where all delay stands for queues.
    pub(super) fn new(config: &Config) -> Option<Self> {
        Some(Self {
            threshold: config.vegas_threshold? as usize,
            trips: VecDeque::new(),
            most: config.vegas_recent.unwrap_or(10) as usize,
            factor: 1.0 + config.vegas_margin.unwrap_or(0.05),
        })
    }

    /// A round had the mean `rtt`; returns whether enough of the last ones are longer than `base`,
    /// the shortest.
    pub(super) fn shows_queue(&mut self, rtt: Span, base: Span) -> bool {
        if self.trips.len() == self.most {
            self.trips.pop_front();
        }
        self.trips.push_back(rtt);
        let bound = base.as_secs_f64() * self.factor;
        self.trips.iter().filter(|trip| trip.as_secs_f64() > bound).count() >= self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Variant};

    /// The answers to rounds of so many milliseconds, the shortest of which are 100.
    fn answers(threshold: u32, trips: &[u64]) -> Vec<bool> {
        let given = Overrides {
            variant: Some(Variant::Vegas),
            vegas_threshold: Some(threshold),
            vegas_recent: Some(4),
            vegas_margin: Some(0.1),
            ..Overrides::default()
        };
        let config = Config::resolve(&given).expect("is valid");
        let mut recent = Recent::new(&config).expect("there is a threshold");
        let trips = trips.iter().map(|&trip| Span::from_ms(trip));
        trips.map(|trip| recent.shows_queue(trip, Span::from_ms(100))).collect()
    }

    #[test]
    fn so_many_of_the_last_rounds_have_to_be_longer() {
        let trips = [100, 120, 100, 120, 100, 100, 120, 120, 120, 110];
        let two = [false, false, false, true, true, false, true, true, true, true];
        assert_eq!(answers(2, &trips), two);
        let three = [false, false, false, false, false, false, false, false, true, true];
        assert_eq!(answers(3, &trips), three);
        assert_eq!(answers(1, &[109, 110, 111]), [false, false, true], "the margin");
    }
}
