//! The retransmission timer: estimator, bounds, back-off and deadline.

mod rfc6298;
mod ticks;

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::{BackoffEnd, Config, RtoEstimator};
use rfc6298::Rfc6298;
use ticks::Ticks;

/// The sender's estimates of its round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttView {
    /// The last measurement.
    pub sample: Span,
    /// The smoothed round-trip time (SRTT); zero before the first measurement, and when the ticks
    /// estimator has forgotten it after long back-off.
    pub smoothed: Span,
    /// The smoothed deviation (RTTVAR).
    pub variance: Span,
    /// Factor on the time-out: 1, 2, 4, …
    pub backoff: u32,
    /// How many measurements were taken.
    pub samples: u64,
    /// Their sum: exact times, whatever the clock of the estimator.
    pub total: Span,
}

/// The estimator axis. A new estimator is a file of its own and a line in each place here.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Estimator {
    Ticks(Ticks),
    Rfc6298(Rfc6298),
}

/// The timer of a sender. One segment is timed at a time, and none that was sent twice (Karn).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timer {
    estimator: Estimator,
    /// The time-out that the timer would be set to now: see [`rto`](Self::rto).
    rto: Span,
    /// Constant time-out in place of the estimate; zero: none.
    fixed: Span,
    min: Span,
    max: Span,
    backoff: u32,
    backoff_max: u32,
    backoff_past_max: bool,
    backoff_end: BackoffEnd,
    deadline: Option<Time>,
    /// The segment being timed and when it was sent.
    timed: Option<(u64, Time)>,
    samples: u64,
    /// Sum of the round trips that were measured.
    total: Span,
}

impl Timer {
    pub(crate) fn new(config: &Config) -> Self {
        let estimator = match config.rto_estimator {
            RtoEstimator::Ticks => Estimator::Ticks(Ticks::new(config)),
            RtoEstimator::Rfc6298 => Estimator::Rfc6298(Rfc6298::new(config)),
        };
        let mut timer = Self {
            estimator,
            rto: Span::ZERO,
            fixed: config.rto_fixed,
            min: config.rto_min,
            max: config.rto_max,
            backoff: 1,
            backoff_max: config.rto_backoff_max,
            backoff_past_max: config.rto_backoff_past_max,
            backoff_end: config.rto_backoff_end,
            deadline: None,
            timed: None,
            samples: 0,
            total: Span::ZERO,
        };
        timer.settle();
        timer
    }

    /// The time-out that the timer would be set to now: estimate, not below the minimum, times
    /// back-off, not above the maximum.
    #[inline]
    pub(crate) fn rto(&self) -> Span {
        self.rto
    }

    /// The estimate or the back-off is another one now.
    fn settle(&mut self) {
        let (estimate, floor) = match &self.estimator {
            Estimator::Ticks(ticks) => (ticks.rto(), ticks.shortest()),
            Estimator::Rfc6298(rfc) => (rfc.rto(), Span::ZERO),
        };
        let base = if self.fixed.is_zero() { estimate.max(self.min) } else { self.fixed };
        self.rto = base.saturating_mul(u64::from(self.backoff)).min(self.max).max(floor);
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    #[inline]
    pub(crate) fn restart(&mut self, now: Time) {
        self.deadline = Some(now.saturating_add(self.rto()));
    }

    /// It is set to run out then.
    #[inline]
    pub(crate) fn set_deadline(&mut self, at: Time) {
        self.deadline = Some(at);
    }

    /// The segment that is timed, if one is.
    #[inline]
    pub(crate) fn timed(&self) -> Option<u64> {
        self.timed.map(|(seq, _)| seq)
    }

    /// Whether progress alone ends the back-off.
    #[inline]
    pub(crate) fn awaits_progress(&self) -> bool {
        self.backoff != 1 && self.backoff_end == BackoffEnd::Progress
    }

    #[inline]
    pub(crate) fn stop(&mut self) {
        self.deadline = None;
    }

    /// A segment goes out for the first time.
    #[inline]
    pub(crate) fn on_first_transmission(&mut self, now: Time, seq: u64) {
        if self.timed.is_none() {
            self.timed = Some((seq, now));
        }
    }

    /// All below `next` has arrived, which is news: takes the measurement if that includes the
    /// timed segment, and ends the back-off.
    #[inline(always)]
    pub(crate) fn on_progress(&mut self, now: Time, next: u64) {
        if self.backoff_end == BackoffEnd::Progress {
            self.end_backoff();
        }
        let Some((seq, sent)) = self.timed else { return };
        if next > seq {
            self.measure(sent, now);
        }
    }

    /// The timed segment was sent at `sent` and is acknowledged.
    fn measure(&mut self, sent: Time, now: Time) {
        self.timed = None;
        self.backoff = 1;
        self.samples += 1;
        self.total += now.since(sent);
        match &mut self.estimator {
            Estimator::Ticks(ticks) => ticks.measure(sent, now),
            Estimator::Rfc6298(rfc) => rfc.measure(now.since(sent)),
        }
        self.settle();
    }

    #[inline]
    pub(crate) fn end_backoff(&mut self) {
        if self.backoff != 1 {
            self.backoff = 1;
            self.settle();
        }
    }

    /// Drops the running measurement: its segment may be retransmitted (Karn).
    pub(crate) fn cancel_measurement(&mut self) {
        self.timed = None;
    }

    /// Doubles the time-out.
    pub(crate) fn back_off(&mut self) {
        if self.backoff < self.backoff_max || (self.backoff_past_max && self.rto() < self.max) {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if let Estimator::Ticks(ticks) = &mut self.estimator {
            ticks.on_backoff(self.backoff);
        }
        self.settle();
    }

    /// The SYN was lost by time-out and has now arrived.
    pub(crate) fn on_late_syn(&mut self) {
        if let Estimator::Rfc6298(rfc) = &mut self.estimator {
            rfc.on_late_syn();
            self.backoff = 1;
            self.settle();
        }
    }

    /// How many round trips were measured, and the last of them.
    #[inline]
    pub(crate) fn round_trips(&self) -> (u64, Span) {
        let last = match &self.estimator {
            Estimator::Ticks(ticks) => ticks.last(),
            Estimator::Rfc6298(rfc) => rfc.view().0,
        };
        (self.samples, last)
    }

    pub(crate) fn view(&self) -> RttView {
        let (sample, smoothed, variance) = match &self.estimator {
            Estimator::Ticks(ticks) => ticks.view(),
            Estimator::Rfc6298(rfc) => rfc.view(),
        };
        let (backoff, samples, total) = (self.backoff, self.samples, self.total);
        RttView { sample, smoothed, variance, backoff, samples, total }
    }
}
