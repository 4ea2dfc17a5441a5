//! How many segments may be outstanding.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use crate::config::{Config, SsthreshBasis, WindowHalving, WindowLaw};
use crate::congestion::{Aimd, Bcl, Course, Fast, Law, SSTHRESH_MIN, Saimd, Vegas};
use crate::discriminator::Discriminator;
use crate::foreign::{self, Classes, Decision, ForeignLaw, HasLaw};
use crate::round::Round;
use crate::slow_start::{EveryOther, SlowStart};

/// The congestion window, its inflation during fast recovery, and the receiver's window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Window {
    /// Congestion window in segments, without inflation.
    pub(crate) cwnd: f64,
    /// Slow-start threshold in segments.
    pub(crate) ssthresh: f64,
    /// Segments that left the network during fast recovery, on top of `cwnd` (ns-2 `dupwnd_`).
    pub(crate) inflation: u64,
    /// The receiver's window in segments.
    pub(crate) receiver: u64,
    /// The same, to compare with `cwnd`.
    pub(crate) edge: f64,
    law: Law,
    slow_start: SlowStart,
    /// By how much an ACK opens the window of a law that goes by round trips.
    each_ack: f64,
    halving: WindowHalving,
    basis: SsthreshBasis,
    /// Whether the congestion window stays within the receiver's.
    pub(crate) limited: bool,
}

impl Window {
    pub(crate) fn new(config: &Config, classes: Option<&dyn Classes>) -> Self {
        let (law, slow_start) = match config.window_law {
            // Those of Linux are in its own sender.
            WindowLaw::Aimd
            | WindowLaw::Cubic
            | WindowLaw::Dctcp
            | WindowLaw::Bbr
            | WindowLaw::Bbr3
            | WindowLaw::Scalable
            | WindowLaw::Highspeed
            | WindowLaw::Htcp
            | WindowLaw::Illinois
            | WindowLaw::Veno
            | WindowLaw::Westwood => (Law::Aimd(Aimd::new(config)), SlowStart::Standard),
            WindowLaw::Vegas => (
                Law::Vegas(Vegas::new(config)),
                SlowStart::EveryOther(EveryOther::new(f64::from(config.vegas_gamma))),
            ),
            WindowLaw::Bcl => (Law::Bcl(Box::new(Bcl::new(config))), SlowStart::Standard),
            WindowLaw::Saimd => (Law::Saimd(Box::new(Saimd::new(config))), SlowStart::Standard),
            WindowLaw::Fast => (Law::Fast(Fast::new(config)), SlowStart::ByLaw),
            WindowLaw::Python => (Law::Foreign(foreign::law(config, classes)), SlowStart::Standard),
        };
        Self {
            // The SYN goes alone.
            cwnd: 1.0,
            ssthresh: f64::from(config.initial_ssthresh),
            inflation: 0,
            receiver: u64::from(config.window),
            edge: f64::from(config.window),
            law,
            slow_start,
            each_ack: 0.0,
            halving: config.window_halving,
            basis: config.ssthresh_basis,
            limited: config.cwnd_limited,
        }
    }

    /// Segments that may be outstanding.
    #[inline]
    pub(crate) fn segments(&self) -> u64 {
        if self.cwnd >= self.edge {
            return self.receiver;
        }
        // Below the edge it is below 2^32, and converted faster so.
        u64::from(self.cwnd as u32).saturating_add(self.inflation).min(self.receiver)
    }

    /// The congestion window within the receiver's, without inflation.
    pub(crate) fn plain(&self) -> f64 {
        self.cwnd.min(self.edge)
    }

    /// Reduces the window and goes on in congestion avoidance: a burst was lost, and that is all
    /// (Yu et al. 2004, section IV: to half; the threshold is not below 2, the window not below 1).
    pub(crate) fn excuse(&mut self, decision: Decision) {
        let (cwnd, ssthresh) = match decision {
            Decision::Usual => (self.plain() / 2.0, None),
            Decision::Window(remains) => (remains, None),
            Decision::Both { cwnd, ssthresh } => (cwnd, Some(ssthresh)),
        };
        self.ssthresh = ssthresh.unwrap_or(cwnd).max(SSTHRESH_MIN);
        self.cwnd = cwnd.max(1.0);
        self.inflation = 0;
    }

    /// The window that the law leaves after a loss that it takes for no congestion.
    pub(crate) fn excused(&mut self) -> f64 {
        self.law.excused(self.plain())
    }

    /// Opens the window for an ACK of new data.
    #[inline(always)]
    pub(crate) fn grow(&mut self) {
        let grown = if self.cwnd < self.ssthresh {
            self.slow_start.grown(self.cwnd)
        } else {
            self.law.grown(self.cwnd)
        };
        self.set(grown);
    }

    /// Whether each ACK opens it as it is usual, below the threshold and above.
    #[inline]
    pub(crate) fn goes_by_acks(&self) -> bool {
        matches!((&self.law, self.slow_start), (Law::Aimd(_) | Law::Bcl(_), SlowStart::Standard))
    }

    /// By how many segments it opens each round trip above the threshold, if it [goes by
    /// ACKs](Self::goes_by_acks).
    #[inline]
    pub(crate) fn alpha(&self) -> f64 {
        self.law.alpha()
    }

    /// A round trip is over: whatever rules the window now decides on the next one.
    pub(crate) fn follow(&mut self, round: &Round) {
        let Self { cwnd, ssthresh, each_ack, .. } = *self;
        let mut course = Course { cwnd, ssthresh, each_ack };
        match &mut self.slow_start {
            SlowStart::EveryOther(slow_start) if cwnd < ssthresh => {
                slow_start.on_round(&mut course, round);
            }
            _ => self.law.on_round(&mut course, round),
        }
        (self.ssthresh, self.each_ack) = (course.ssthresh, course.each_ack);
        self.set(course.cwnd);
    }

    /// Opens the window for an ACK of new data as was decided on for this round trip; not while the
    /// sender does not make use of it.
    pub(crate) fn grow_along(&mut self, used: bool) {
        if self.law.goes_by_acks() {
            return self.grow();
        }
        // A whole segment for each ACK is slow start's.
        if self.each_ack >= 1.0 && self.cwnd >= self.ssthresh {
            self.each_ack = 0.0;
        }
        if self.each_ack > 0.0 && used {
            self.set(self.cwnd + self.each_ack);
        }
    }

    /// Segments were reordered and not lost: the window and the threshold from now on.
    pub(crate) fn go_on(&mut self, cwnd: f64, ssthresh: f64) {
        self.ssthresh = ssthresh.max(SSTHRESH_MIN);
        self.set(cwnd);
    }

    /// An ACK measured a round trip.
    pub(crate) fn measured(&mut self, rtt: Span) {
        self.law.measured(rtt);
    }

    /// Sets the congestion window, within the receiver's if so configured.
    #[inline]
    pub(crate) fn set(&mut self, cwnd: f64) {
        self.cwnd = if self.limited { cwnd.min(self.edge) } else { cwnd };
    }

    /// Reduces the window after a loss found by duplicate ACKs, `flight` segments being out from
    /// `first` on.
    pub(crate) fn reduce(&mut self, flight: u64, first: u64) {
        let window = self.reducible(flight);
        let remains = self.law.reduced(window, first);
        (self.cwnd, self.ssthresh) = self.rounded(remains);
    }

    /// Lowers the threshold after a time-out (not when the same segment times out again, on the
    /// basis of the flight: RFC 5681 section 3.1) and begins again with one segment,
    /// in Vegas with two.
    pub(crate) fn restart(&mut self, (flight, first): (u64, u64), again: bool) {
        if !self.keeps_threshold(again) {
            let remains = self.law.after_timeout(self.reducible(flight), first);
            self.ssthresh = self.rounded(remains).1;
        }
        self.cwnd = self.slow_start.restart_window();
    }

    /// Whether a time-out leaves the threshold, not being the first of its segment.
    fn keeps_threshold(&self, again: bool) -> bool {
        again && self.basis == SsthreshBasis::Flight
    }

    /// The window that a loss reduces, `flight` segments being out.
    pub(crate) fn reducible(&self, flight: u64) -> f64 {
        match (self.basis, self.halving) {
            (SsthreshBasis::Flight, _) => flight as f64,
            (SsthreshBasis::Window, WindowHalving::Real) => {
                (self.cwnd + self.inflation as f64).min(self.edge)
            }
            (SsthreshBasis::Window, WindowHalving::Integer) => self.segments() as f64,
        }
    }

    /// Window and threshold where `remains` is left.
    fn rounded(&self, remains: f64) -> (f64, f64) {
        match (self.basis, self.halving) {
            (SsthreshBasis::Flight, _) => {
                let whole = remains.floor().max(SSTHRESH_MIN);
                (whole, whole)
            }
            (SsthreshBasis::Window, WindowHalving::Real) => {
                (remains, remains.floor().max(SSTHRESH_MIN))
            }
            (SsthreshBasis::Window, WindowHalving::Integer) => {
                (remains.floor(), remains.floor().max(SSTHRESH_MIN))
            }
        }
    }
}

impl HasLaw for Window {
    fn foreign(&mut self) -> Option<&mut dyn ForeignLaw> {
        match &mut self.law {
            Law::Foreign(law) => Some(&mut **law),
            _ => None,
        }
    }

    fn judge(&mut self) -> Option<&mut dyn Discriminator> {
        self.law.judge()
    }
}

/// Where somebody else decides.
impl Window {
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.law, Law::Foreign(_))
    }

    /// Whether the law is asked of an ACK of new data; else slow start decides.
    pub(crate) fn asks_foreign(&self) -> bool {
        match &self.law {
            Law::Foreign(law) => self.cwnd >= self.ssthresh || law.rules_slow_start(),
            _ => false,
        }
    }

    /// An ACK has opened the window.
    pub(crate) fn grow_to(&mut self, decision: Decision) {
        match decision {
            Decision::Usual if self.cwnd < self.ssthresh => {
                self.set(SlowStart::Standard.grown(self.cwnd));
            }
            Decision::Usual => self.set(Aimd::USUAL.grown(self.cwnd)),
            Decision::Window(cwnd) => self.set(cwnd.max(1.0)),
            Decision::Both { cwnd, ssthresh } => self.set_both(cwnd, ssthresh),
        }
    }

    /// A loss has reduced the window, of which `window` was to be reduced.
    pub(crate) fn reduce_to(&mut self, window: f64, decision: Decision) {
        if let Decision::Both { cwnd, ssthresh } = decision {
            return self.set_both(cwnd, ssthresh);
        }
        (self.cwnd, self.ssthresh) = self.rounded(Self::remains(window, decision));
    }

    /// A time-out, not the first of its segment where `again`.
    pub(crate) fn restart_with(&mut self, window: f64, again: bool, decision: Decision) {
        if let Decision::Both { cwnd, ssthresh } = decision {
            return self.set_both(cwnd, ssthresh);
        }
        if !self.keeps_threshold(again) {
            self.ssthresh = self.rounded(Self::remains(window, decision)).1;
        }
        self.cwnd = self.slow_start.restart_window();
    }

    /// A loss of Tahoe, which is no time-out.
    pub(crate) fn collapse_with(&mut self, window: f64, decision: Decision) {
        self.ssthresh = match decision {
            Decision::Both { ssthresh, .. } => ssthresh.max(SSTHRESH_MIN),
            _ => self.rounded(Self::remains(window, decision)).1,
        };
        self.cwnd = self.slow_start.restart_window();
    }

    /// The window that a decision leaves of `window`: at least one segment, or half of the former.
    fn remains(window: f64, decision: Decision) -> f64 {
        match decision {
            Decision::Window(remains) => remains.max((window / 2.0).min(1.0)),
            _ => Aimd::USUAL.reduced(window),
        }
    }

    fn set_both(&mut self, cwnd: f64, ssthresh: f64) {
        self.ssthresh = ssthresh.max(SSTHRESH_MIN);
        self.set(cwnd.max(1.0));
    }
}
