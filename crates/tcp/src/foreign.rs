//! Laws and detectors outside of this crate: their inputs and their answers.

use std::fmt;

use crate::config::{Config, PythonClass};
use crate::round::{Round, Tallied};
use crate::verdict::Verdict;
use burstlab_units::{Span, Time};

/// The state of a sender when a law or a detector is asked.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The present instant.
    pub now: Time,
    /// Congestion window in segments, without the inflation of fast recovery.
    pub cwnd: f64,
    /// Slow-start threshold in segments.
    pub ssthresh: f64,
    /// For a law at a reduction: the size that it reduces, in segments, as `ssthresh_basis` and
    /// `window_halving` define it. For a detector, and at an ACK: the congestion window within the
    /// receiver's. At a loss a detector receives the size before its reduction.
    pub window: f64,
    /// The receiver's window in segments.
    pub receiver_window: u64,
    /// Segments sent since the last fall-back and not acknowledged.
    pub flight: u64,
    /// The first segment that is not acknowledged; segment 0 is the SYN.
    pub first: u64,
    /// The next segment to send in order.
    pub next: u64,
    /// Segments that this ACK acknowledges for the first time.
    pub acked: u64,
    /// The round trip that this ACK measured.
    pub rtt: Option<Span>,
    /// The shortest round trip so far.
    pub base_rtt: Option<Span>,
    /// The smoothed round trip and its deviation; `None` before the first measurement.
    pub smoothed: Option<(Span, Span)>,
    /// The time-out that the timer would be set to now, back-off included.
    pub rto: Span,
    /// The round trip that this ACK ended.
    pub round: Option<Round>,
    /// The counts of the last round trip that has ended; `None` before there is one.
    pub tallied: Option<Tallied>,
    /// The rate at which data without headers are delivered, in bit/s: the newest sample of the
    /// sender of Linux (draft-cheng-iccrg-delivery-rate-estimation); for the others what was
    /// acknowledged in the last whole round trip. `None` before there is one.
    pub delivery_rate: Option<f64>,
    /// Whether the application, which had nothing more to send, was what limited that sample.
    pub app_limited: bool,
    /// Data segments delivered so far, those that SACK blocks report included.
    pub delivered: u64,
    /// Of the segments that this ACK delivers, those whose ACK echoes a mark; and so far in all.
    pub marked: u64,
    /// See [`Moment::marked`].
    pub delivered_marked: u64,
    /// Bytes of data in a full segment.
    pub payload: u64,
    /// Whether losses, or with the sender of Linux a mark, are being repaired.
    pub repairing: bool,
    /// Whether the same segment times out again.
    pub repeated: bool,
}

/// The answer of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// As AIMD has it.
    Usual,
    /// To an ACK: the congestion window from now on. To a loss or a time-out: what remains of
    /// [`Moment::window`], to be rounded as the configuration says; after a time-out it is the
    /// threshold, and the window begins again.
    Window(f64),
    /// Congestion window and slow-start threshold from now on.
    Both {
        /// In segments; less than one is one.
        cwnd: f64,
        /// In segments; less than two is two.
        ssthresh: f64,
    },
}

/// The least time that a law's timer may be set ahead: none at the same instant again and again.
pub const TIMER_LEAST: Span = Span::from_us(1);

/// A window law. Its answers are finite and not negative.
pub trait ForeignLaw: fmt::Debug + Send + Sync {
    /// Whether it is asked below the slow-start threshold too.
    fn rules_slow_start(&self) -> bool;

    /// An ACK of new data opens the window.
    fn on_ack(&mut self, moment: &Moment) -> Decision;

    /// Duplicate ACKs have found a loss.
    fn on_loss(&mut self, moment: &Moment) -> Decision;

    /// The retransmission timer has run out, and the time-out is a true one.
    fn on_timeout(&mut self, moment: &Moment) -> Decision;

    /// An ACK has echoed a mark, once a window: asked by the sender of Linux alone.
    fn on_mark(&mut self, moment: &Moment) -> Decision {
        self.on_loss(moment)
    }

    /// Whether it returns [`pacing_rate`](Self::pacing_rate). The sender of Linux then asks it at
    /// each ACK, and leaves a window that is not made use of as it is.
    fn paces(&self) -> bool {
        false
    }

    /// The rate of data without headers in bit/s, above 0 and finite; `None`: no pacing. Asked
    /// after the SYN's ACK, each ACK, each time-out and each timer.
    fn pacing_rate(&mut self, _: &Moment) -> Option<f64> {
        None
    }

    /// Whether it returns [`next_timer`](Self::next_timer).
    fn has_timer(&self) -> bool {
        false
    }

    /// In what time [`on_timer`](Self::on_timer) is to be called, at least [`TIMER_LEAST`]; `None`:
    /// not at all. Asked whenever the pacing rate is; each answer takes the place of the last.
    fn next_timer(&mut self, _: &Moment) -> Option<Span> {
        None
    }

    /// The time has come: the window from now on. [`Decision::Usual`] leaves it as it is, as does
    /// any answer while losses are repaired.
    fn on_timer(&mut self, _: &Moment) -> Decision {
        Decision::Usual
    }

    /// The same in the same state, for a connection that goes on apart.
    fn duplicate(&self) -> Box<dyn ForeignLaw>;
}

/// A detector of false time-outs.
pub trait ForeignDetector: fmt::Debug + Send + Sync {
    /// New data were acknowledged.
    fn on_ack(&mut self, moment: &Moment);

    /// Duplicate ACKs have found a loss.
    fn on_loss(&mut self, moment: &Moment);

    /// The retransmission timer has run out: what is it?
    fn on_timeout(&mut self, moment: &Moment) -> Verdict;

    /// The same in the same state, for a connection that goes on apart.
    fn duplicate(&self) -> Box<dyn ForeignDetector>;
}

/// Whoever makes laws and detectors of the classes that a configuration names.
pub trait Classes: fmt::Debug + Send + Sync {
    /// A law for one connection.
    fn law(&self, class: &PythonClass) -> Box<dyn ForeignLaw>;

    /// A detector for one connection.
    fn detector(&self, class: &PythonClass) -> Box<dyn ForeignDetector>;
}

impl Clone for Box<dyn ForeignLaw> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

impl Clone for Box<dyn ForeignDetector> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

/// The law that `config` names.
pub(crate) fn law(config: &Config, classes: Option<&dyn Classes>) -> Box<dyn ForeignLaw> {
    let (class, classes) = needed(config.window_law_class.as_ref(), classes);
    classes.law(class)
}

/// The detector that `config` names.
pub(crate) fn detector(config: &Config, classes: Option<&dyn Classes>) -> Box<dyn ForeignDetector> {
    let (class, classes) = needed(config.detector_class.as_ref(), classes);
    classes.detector(class)
}

fn needed<'a>(
    class: Option<&'a PythonClass>,
    classes: Option<&'a dyn Classes>,
) -> (&'a PythonClass, &'a dyn Classes) {
    let class = class.expect("a resolved configuration has the class that it names");
    (class, classes.expect("who makes a sender with foreign classes says who makes these"))
}
