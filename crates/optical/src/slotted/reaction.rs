//! The response of an ingress edge's rate to reports of congestion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which loss rate is subtracted from the scheduled rate after several notifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// The mean of all that were notified since the last negotiation.
    #[default]
    Recommended,
    /// As printed: the first, then the second, then the mean of those before, which is the second
    /// for ever, whatever is notified.
    Literal,
    /// The one that was notified last.
    Last,
    /// The largest that was notified since the last negotiation.
    Largest,
    /// Each in turn: it is taken off the rate at which the buffer sends at present, so that the
    /// rate falls with every notification.
    Present,
}

/// Whether a buffer may negotiate its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negotiation {
    /// It may.
    Open,
    /// Not yet: the backlog has not become less.
    Frozen,
}

/// The rate of a buffer that cuts it by the loss rate of each notification, and negotiates again
/// when what waits becomes less (Lu and Hunter 2009, section III).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RateCut {
    reading: Reading,
    least: f64,
    /// The rate that was granted last.
    scheduled: f64,
    /// Notifications since, their sum and their latest effect.
    heard: u64,
    sum: f64,
    cut: f64,
    /// The backlog at the last negotiation, held or not.
    backlog: f64,
}

impl RateCut {
    /// A buffer that was granted `scheduled`, and never sends at less than `least`.
    #[must_use]
    pub fn new(reading: Reading, least: f64, scheduled: f64) -> Self {
        Self { reading, least, scheduled, heard: 0, sum: 0.0, cut: 0.0, backlog: 0.0 }
    }

    /// The rate at which it sends.
    #[must_use]
    pub fn rate(&self) -> f64 {
        (self.scheduled - self.cut).max(self.least)
    }

    /// The least rate at which it sends.
    #[must_use]
    pub fn least(&self) -> f64 {
        self.least
    }

    /// The rate that was granted.
    #[must_use]
    pub fn scheduled(&self) -> f64 {
        self.scheduled
    }

    /// Whether it was cut and may not negotiate.
    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.heard > 0
    }

    /// A notification comes that carries the loss rate `loss`.
    pub fn hears(&mut self, loss: f64) {
        self.heard += 1;
        self.sum += loss;
        match self.reading {
            Reading::Recommended => self.cut = self.sum / self.heard as f64,
            Reading::Literal if self.heard > 2 => {}
            Reading::Literal | Reading::Last => self.cut = loss,
            Reading::Largest => self.cut = self.cut.max(loss),
            // A rate that is the least already stays so.
            Reading::Present => self.cut = (self.cut + loss).min(self.scheduled),
        }
    }

    /// It is time to negotiate, and so much waits. After a notification it may as soon as less
    /// waits than at the time before, or nothing; the cut then ends.
    pub fn negotiates(&mut self, backlog: f64) -> Negotiation {
        let before = std::mem::replace(&mut self.backlog, backlog);
        if self.is_frozen() && backlog >= before && backlog > 0.0 {
            return Negotiation::Frozen;
        }
        (self.heard, self.sum, self.cut) = (0, 0.0, 0.0);
        Negotiation::Open
    }

    /// It is granted `rate`.
    pub fn grant(&mut self, rate: f64) {
        self.scheduled = rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(reading: Reading, losses: &[f64]) -> Vec<f64> {
        let mut cut = RateCut::new(reading, 0.01, 0.9);
        let rate = |&loss: &f64| {
            cut.hears(loss);
            ((0.9 - cut.rate()) * 1e6).round() / 1e6
        };
        losses.iter().map(rate).collect()
    }

    #[test]
    fn the_printed_rule_stops_listening_after_two() {
        let losses = [0.1, 0.2, 0.3, 0.4];
        assert_eq!(cuts(Reading::Literal, &losses), [0.1, 0.2, 0.2, 0.2]);
        assert_eq!(cuts(Reading::Recommended, &losses), [0.1, 0.15, 0.2, 0.25]);
    }

    #[test]
    fn each_reading_takes_off_what_its_name_says() {
        let losses = [0.2, 0.1, 0.3, 0.1];
        assert_eq!(cuts(Reading::Last, &losses), losses);
        assert_eq!(cuts(Reading::Largest, &losses), [0.2, 0.2, 0.3, 0.3]);
        assert_eq!(cuts(Reading::Present, &losses), [0.2, 0.3, 0.6, 0.7]);
        assert_eq!(cuts(Reading::Present, &[0.5, 0.5, 0.5]), [0.5, 0.89, 0.89], "the least rate");
    }

    /// An excess of 0.2 is reported in the window in which it is counted, and from then on as far
    /// as it is still lost. With the mean of the reports the rate settles at half the excess, and
    /// half of it is lost for ever; with the largest report all of it goes.
    #[test]
    fn a_mean_of_what_is_still_lost_settles_at_half() {
        let left = |reading| {
            let mut cut = RateCut::new(reading, 0.01, 0.9);
            (1..=10).for_each(|part| cut.hears(0.02 * f64::from(part)));
            for _ in 0..100_000 {
                let lost = cut.rate() - 0.7;
                if lost > 1e-9 {
                    cut.hears(lost);
                }
            }
            cut.rate() - 0.7
        };
        let mean = left(Reading::Recommended);
        assert!((mean - 0.1).abs() < 0.002, "{mean}");
        assert!(left(Reading::Largest).abs() < 1e-9);
    }

    #[test]
    fn it_is_frozen_until_less_waits() {
        let mut cut = RateCut::new(Reading::Recommended, 0.1, 0.5);
        assert_eq!(cut.negotiates(10.0), Negotiation::Open);
        cut.hears(2.0);
        assert_eq!(cut.rate(), 0.1, "never less than the least");
        assert_eq!(cut.negotiates(12.0), Negotiation::Frozen);
        assert_eq!(cut.negotiates(12.0), Negotiation::Frozen, "not less");
        assert!(cut.is_frozen());
        assert_eq!(cut.negotiates(11.0), Negotiation::Open);
        assert_eq!((cut.rate(), cut.is_frozen()), (0.5, false));
        cut.grant(0.7);
        cut.hears(0.2);
        assert!((cut.rate() - 0.5).abs() < 1e-12, "counted from the new rate");
        assert_eq!(cut.negotiates(0.0), Negotiation::Open);
    }
}
