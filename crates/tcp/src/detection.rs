//! Telling a time-out after one lost burst from one that means congestion (Burst TCP: Yu, Qiao,
//! Liu, INFOCOM 2004, section IV).

mod back;
mod ble;
mod bnak;
mod em;
pub(crate) mod named;
mod oracle;

use serde::{Deserialize, Serialize};

use crate::config::{BackMode, BnakDelay, ClassNotices, Config, Detector, WindowLaw};
use crate::discriminator::{BurstReport, Discriminator, Verdict};
use crate::foreign::{self, Classes, HasLaw};
use crate::moment::Moment;
use crate::segment::Transmission;
use back::Back;
use ble::Ble;
use bnak::Bnak;
use em::Em;
use oracle::Oracle;

/// Reports of its bursts that a sender needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listens {
    /// Burst ACKs of the ingress.
    pub left: bool,
    /// Burst ACKs of the egress.
    pub arrived: bool,
    /// Burst NAKs, and how they travel.
    pub dropped: Option<NakDelay>,
}

/// How long a burst NAK takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NakDelay {
    /// The delay of the reverse path from the node.
    Path,
    /// As long as the ACKs of the burst would have taken.
    Rtt,
    /// No time: perfect knowledge.
    None,
}

impl Listens {
    /// The reports that the detector of `config` needs.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let (acks, naks) = match config.detector {
            Detector::None | Detector::Ble => (false, false),
            Detector::Law if config.window_law.is_scheme() => {
                (false, config.window_law == WindowLaw::Bcl)
            }
            Detector::Python | Detector::Law => match config.class_notices {
                None | Some(ClassNotices::None) => (false, false),
                Some(ClassNotices::Acks) => (true, false),
                Some(ClassNotices::Naks) => (false, true),
                Some(ClassNotices::All) => (true, true),
            },
            Detector::Back => (true, false),
            Detector::Bnak => (false, true),
            Detector::Em => (true, true),
            Detector::Oracle => {
                return Self { dropped: Some(NakDelay::None), ..Self::default() };
            }
        };
        // It counts the bursts that leave.
        let em = config.detector == Detector::Em;
        Self {
            left: acks && (em || config.back_mode != BackMode::Egress),
            arrived: acks && !em && config.back_mode != BackMode::Ingress,
            dropped: naks.then_some(match config.bnak_delay {
                BnakDelay::Path => NakDelay::Path,
                BnakDelay::Rtt => NakDelay::Rtt,
            }),
        }
    }

    /// Whether it needs burst ACKs.
    #[must_use]
    pub fn to_edges(self) -> bool {
        self.left || self.arrived
    }

    /// Whether it needs any report.
    #[must_use]
    pub fn at_all(self) -> bool {
        self != Self::default()
    }

    /// Whether nodes of the network send it messages.
    #[must_use]
    pub fn to_nodes(self) -> bool {
        self.at_all() && self.dropped != Some(NakDelay::None)
    }
}

/// The axis of false-time-out detection: the discriminator of a sender, if it has one, and the
/// guard that all of them share. A new one is a file of its own and a line in each place here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Detection {
    method: Method,
    window_min: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Method {
    None,
    Ble(Ble),
    Back(Back),
    Bnak(Bnak),
    Oracle(Oracle),
    Em(Box<Em>),
    /// The window law; whether it is a class of Python, which gets each ACK.
    Law(bool),
    /// Not stored: a run with a class of Python is not. The last case, since a case that is left
    /// out would shift the numbers of all behind it.
    #[serde(skip)]
    Class(Box<dyn Discriminator>),
}

impl Detection {
    pub(crate) fn new(config: &Config, classes: Option<&dyn Classes>) -> Self {
        let method = match config.detector {
            Detector::None => Method::None,
            Detector::Ble => Method::Ble(Ble::new(config)),
            Detector::Back => Method::Back(Back::new(config)),
            Detector::Bnak => Method::Bnak(Bnak::new(config)),
            Detector::Oracle => Method::Oracle(Oracle::default()),
            Detector::Em => Method::Em(Box::new(Em::new(config))),
            Detector::Python => Method::Class(foreign::detector(config, classes)),
            Detector::Law => Method::Law(config.window_law == WindowLaw::Python),
        };
        Self { method, window_min: f64::from(config.detector_window_min) }
    }

    /// Whether there is a discriminator.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.method, Method::None)
    }

    /// Whether it gets each ACK and each mark. The built-in ones get progress alone, so that the
    /// last of many ACKs is enough.
    #[inline]
    pub(crate) fn heeds_acks(&self) -> bool {
        matches!(self.method, Method::Class(_) | Method::Law(true))
    }

    /// Whether the window law judges its losses.
    pub(crate) fn is_law(&self) -> bool {
        matches!(self.method, Method::Law(_))
    }

    fn one<'a>(&'a mut self, law: &'a mut dyn HasLaw) -> Option<&'a mut dyn Discriminator> {
        match &mut self.method {
            Method::None => None,
            Method::Ble(one) => Some(one),
            Method::Back(one) => Some(one),
            Method::Bnak(one) => Some(one),
            Method::Oracle(one) => Some(one),
            Method::Em(one) => Some(&mut **one),
            Method::Class(one) => Some(&mut **one),
            Method::Law(_) => law.judge(),
        }
    }

    /// Reports something to the discriminator, if there is one.
    pub(crate) fn report(
        &mut self,
        law: &mut dyn HasLaw,
        report: impl FnOnce(&mut dyn Discriminator),
    ) {
        if let Some(one) = self.one(law) {
            report(one);
        }
    }

    /// These have gone out, some of them again.
    pub(crate) fn on_transmissions(&mut self, law: &mut dyn HasLaw, sent: &[Transmission]) {
        self.report(law, |one| {
            for again in sent.iter().filter(|sent| sent.retransmission) {
                one.on_retransmission(again.seq);
            }
        });
    }

    /// Returns whether the loss is to be repaired at once.
    pub(crate) fn on_burst_nak(
        &mut self,
        law: &mut dyn HasLaw,
        report: &BurstReport,
        moment: &Moment,
    ) -> bool {
        let enough = moment.window >= self.window_min;
        let Some(one) = self.one(law) else { return false };
        one.on_burst_nak(report, moment) && (enough || one.is_sure())
    }

    /// Whether a repair that a burst NAK asks for may cost nothing: who knows the truth knows too
    /// whether more than this is lost.
    pub(crate) fn allows_repair(&mut self, law: &mut dyn HasLaw, moment: &Moment) -> bool {
        let sure = self.one(law).is_some_and(|one| one.is_sure());
        !sure || self.judge(law, moment, false) == Verdict::False
    }

    /// Judges a time-out, or a reduction without one. A window below the least one is not excused,
    /// so that a run of false time-outs ends in a true one; one that is sure needs no such guard.
    pub(crate) fn judge(
        &mut self,
        law: &mut dyn HasLaw,
        moment: &Moment,
        timed_out: bool,
    ) -> Verdict {
        let enough = moment.window >= self.window_min;
        let Some(one) = self.one(law) else { return Verdict::True };
        let verdict = if timed_out { one.on_timeout(moment) } else { one.on_reduction(moment) };
        if enough || one.is_sure() { verdict } else { Verdict::True }
    }
}

#[cfg(test)]
mod tests;
