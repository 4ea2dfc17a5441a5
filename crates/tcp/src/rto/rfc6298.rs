//! RFC 6298, in picoseconds.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// RFC 6298 (5.7): the time-out with which data begin when the SYN had to be sent again.
const RTO_AFTER_LATE_SYN: Span = Span::from_secs(3);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rfc6298 {
    granularity: Span,
    sample: Span,
    /// `None` before the first measurement.
    smoothed: Option<Span>,
    variance: Span,
    rto: Span,
}

impl Rfc6298 {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            granularity: config.rto_tick,
            sample: Span::ZERO,
            smoothed: None,
            variance: Span::ZERO,
            rto: config.rto_initial,
        }
    }

    /// Section 2: (2.2) for the first measurement, (2.3) for those that follow.
    pub(super) fn measure(&mut self, rtt: Span) {
        self.sample = rtt;
        let smoothed = match self.smoothed {
            None => {
                self.variance = rtt / 2;
                rtt
            }
            Some(smoothed) => {
                let error = if rtt > smoothed { rtt - smoothed } else { smoothed - rtt };
                self.variance = weighted(self.variance, 3, error);
                weighted(smoothed, 7, rtt)
            }
        };
        self.smoothed = Some(smoothed);
        self.rto = smoothed + self.granularity.max(self.variance.saturating_mul(4));
    }

    pub(super) fn on_late_syn(&mut self) {
        if self.smoothed.is_none() && self.rto < RTO_AFTER_LATE_SYN {
            self.rto = RTO_AFTER_LATE_SYN;
        }
    }

    pub(super) fn rto(&self) -> Span {
        self.rto
    }

    /// Last measurement, SRTT, RTTVAR.
    pub(super) fn view(&self) -> (Span, Span, Span) {
        (self.sample, self.smoothed.unwrap_or(Span::ZERO), self.variance)
    }
}

/// `(old * weight + new) / (weight + 1)`.
fn weighted(old: Span, weight: u64, new: Span) -> Span {
    (old.saturating_mul(weight) + new) / (weight + 1)
}
