//! Laws that are written outside of this crate, their answers, and who makes these laws and
//! detectors.

use std::fmt;

use crate::config::{Config, PythonClass};
use crate::discriminator::Discriminator;
use crate::moment::Moment;
use burstlab_units::Span;

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

    /// The law's own detector excuses a time-out, or repairs a burst before it. The answer is the
    /// rest of [`Moment::window`], without slow start. The sender of Linux keeps its window, and
    /// does not ask.
    fn on_excused(&mut self, _: &Moment) -> Decision {
        Decision::Usual
    }

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

    /// The law as the detector of its own losses; `None`: it judges none.
    fn judge(&mut self) -> Option<&mut dyn Discriminator> {
        None
    }

    /// The same in the same state, for a connection that goes on apart.
    fn duplicate(&self) -> Box<dyn ForeignLaw>;
}

/// The part of a sender that has the window law.
pub(crate) trait HasLaw {
    /// The law, if it is written outside of this crate.
    fn foreign(&mut self) -> Option<&mut dyn ForeignLaw>;

    /// The law as the detector of its own losses; `None`: it judges none.
    fn judge(&mut self) -> Option<&mut dyn Discriminator> {
        self.foreign()?.judge()
    }
}

/// Whoever makes laws and detectors of the classes that a configuration names.
pub trait Classes: fmt::Debug + Send + Sync {
    /// A law for one connection.
    fn law(&self, class: &PythonClass) -> Box<dyn ForeignLaw>;

    /// A detector for one connection.
    fn detector(&self, class: &PythonClass) -> Box<dyn Discriminator>;
}

impl Clone for Box<dyn ForeignLaw> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

/// The law that `config` names.
pub(crate) fn law(config: &Config, classes: Option<&dyn Classes>) -> Box<dyn ForeignLaw> {
    needed(classes).law(needed(config.window_law_class.as_ref()))
}

/// The detector that `config` names.
pub(crate) fn detector(config: &Config, classes: Option<&dyn Classes>) -> Box<dyn Discriminator> {
    needed(classes).detector(needed(config.detector_class.as_ref()))
}

fn needed<T>(given: Option<T>) -> T {
    given.expect("a resolved configuration with a class names it, and comes with who makes it")
}
