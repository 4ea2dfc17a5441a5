//! How many segments may be outstanding.

use crate::config::{Config, SsthreshBasis, WindowHalving};
use crate::congestion::{Aimd, WindowLaw};
use crate::slow_start::SlowStart;

/// The smallest slow-start threshold (RFC 5681 equation (4); ns-2 `slowdown`).
const SSTHRESH_MIN: f64 = 2.0;

/// The congestion window, its inflation during fast recovery, and the receiver's window.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Congestion window in segments, without inflation.
    pub(crate) cwnd: f64,
    /// Slow-start threshold in segments.
    pub(crate) ssthresh: f64,
    /// Segments that left the network during fast recovery, on top of `cwnd` (ns-2 `dupwnd_`).
    pub(crate) inflation: u64,
    /// The receiver's window in segments.
    pub(crate) receiver: u64,
    law: WindowLaw,
    slow_start: SlowStart,
    halving: WindowHalving,
    basis: SsthreshBasis,
    limited: bool,
}

impl Window {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            // The SYN goes alone.
            cwnd: 1.0,
            ssthresh: f64::from(config.initial_ssthresh),
            inflation: 0,
            receiver: u64::from(config.window),
            law: WindowLaw::Aimd(Aimd),
            slow_start: SlowStart::Standard,
            halving: config.window_halving,
            basis: config.ssthresh_basis,
            limited: config.cwnd_limited,
        }
    }

    /// Segments that may be outstanding.
    #[inline]
    pub(crate) fn segments(&self) -> u64 {
        (self.cwnd as u64).saturating_add(self.inflation).min(self.receiver)
    }

    /// The congestion window within the receiver's, without inflation.
    pub(crate) fn plain(&self) -> f64 {
        self.cwnd.min(self.receiver as f64)
    }

    /// Halves the window and goes on in congestion avoidance: a burst was lost, and that is all
    /// (Yu et al. 2004, section IV; the threshold is not below 2, the window not below 1).
    pub(crate) fn excuse(&mut self) {
        let half = self.plain() / 2.0;
        self.ssthresh = half.max(SSTHRESH_MIN);
        self.cwnd = half.max(1.0);
        self.inflation = 0;
    }

    /// Opens the window for an ACK of new data.
    #[inline]
    pub(crate) fn grow(&mut self) {
        let grown = if self.cwnd < self.ssthresh {
            self.slow_start.grown(self.cwnd)
        } else {
            self.law.grown(self.cwnd)
        };
        self.set(grown);
    }

    /// Sets the congestion window, within the receiver's if so configured.
    #[inline]
    pub(crate) fn set(&mut self, cwnd: f64) {
        self.cwnd = if self.limited { cwnd.min(self.receiver as f64) } else { cwnd };
    }

    /// Reduces the window after a loss found by duplicate ACKs, `flight` segments being out.
    pub(crate) fn reduce(&mut self, flight: u64) {
        let (half, ssthresh) = self.halved(flight);
        (self.cwnd, self.ssthresh) = (half, ssthresh);
    }

    /// Lowers the threshold after a time-out (not when the same segment times out again, on the
    /// basis of the flight: RFC 5681 section 3.1) and begins again with one segment.
    pub(crate) fn restart(&mut self, flight: u64, again: bool) {
        if !(again && self.basis == SsthreshBasis::Flight) {
            self.ssthresh = self.halved(flight).1;
        }
        self.cwnd = 1.0;
    }

    /// Lowers the threshold and begins with one segment, though no time-out occurred (Tahoe).
    pub(crate) fn collapse(&mut self, flight: u64) {
        self.restart(flight, false);
    }

    /// Window and threshold after a reduction.
    fn halved(&mut self, flight: u64) -> (f64, f64) {
        let half = match (self.basis, self.halving) {
            (SsthreshBasis::Flight, _) => {
                let half = self.law.reduced(flight as f64).floor().max(SSTHRESH_MIN);
                return (half, half);
            }
            (SsthreshBasis::Window, WindowHalving::Real) => {
                let window = (self.cwnd + self.inflation as f64).min(self.receiver as f64);
                self.law.reduced(window)
            }
            (SsthreshBasis::Window, WindowHalving::Integer) => {
                self.law.reduced(self.segments() as f64).floor()
            }
        };
        (half, half.floor().max(SSTHRESH_MIN))
    }
}
