//! Telling a time-out after one lost burst from one that means congestion (Burst TCP: Yu, Qiao,
//! Liu, INFOCOM 2004, section IV).

mod back;
mod ble;
mod bnak;
mod detects;
mod oracle;

use serde::{Deserialize, Serialize};

use crate::config::{BackMode, BnakDelay, Config, Detector};
use crate::foreign::{self, Classes, ForeignDetector};
use crate::segment::Transmission;
use crate::verdict::Verdict;
use back::Back;
use ble::Ble;
use bnak::Bnak;
use detects::Detects;
pub use detects::Notice;
pub(crate) use detects::Outstanding;
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
        let nothing = Self::default();
        match config.detector {
            Detector::None | Detector::Ble | Detector::Python => nothing,
            Detector::Back => Self {
                left: config.back_mode != BackMode::Egress,
                arrived: config.back_mode != BackMode::Ingress,
                ..nothing
            },
            Detector::Bnak => Self {
                dropped: Some(match config.bnak_delay {
                    BnakDelay::Path => NakDelay::Path,
                    BnakDelay::Rtt => NakDelay::Rtt,
                }),
                ..nothing
            },
            Detector::Oracle => Self { dropped: Some(NakDelay::None), ..nothing },
        }
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

/// The axis of false-time-out detection. A new detector is a file of its own and a line in each
/// place here.
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
    /// It receives other reports: see [`Detection::foreign`]. Not stored: a run with a class of
    /// Python is not.
    #[serde(skip)]
    Foreign(Box<dyn ForeignDetector>),
}

impl Detection {
    pub(crate) fn new(config: &Config, classes: Option<&dyn Classes>) -> Self {
        let method = match config.detector {
            Detector::None => Method::None,
            Detector::Ble => Method::Ble(Ble::new(config)),
            Detector::Back => Method::Back(Back::new(config)),
            Detector::Bnak => Method::Bnak(Bnak::new(config)),
            Detector::Oracle => Method::Oracle(Oracle::default()),
            Detector::Python => Method::Foreign(foreign::detector(config, classes)),
        };
        Self { method, window_min: f64::from(config.detector_window_min) }
    }

    /// Whether there is a detector.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.method, Method::None)
    }

    /// Whether it has to hear each ACK that lets new segments go and nothing else. Ours have not:
    /// progress lets them forget, and no more, so that of many ACKs the last one will do.
    #[inline]
    pub(crate) fn heeds_progress(&self) -> bool {
        matches!(self.method, Method::Foreign(_))
    }

    /// A detector outside of this crate, which receives none of the reports for the others.
    pub(crate) fn foreign(&mut self) -> Option<&mut dyn ForeignDetector> {
        match &mut self.method {
            Method::Foreign(detector) => Some(&mut **detector),
            _ => None,
        }
    }

    /// The verdict of a detector outside of this crate on a time-out of a window of `window`.
    pub(crate) fn judged(&self, window: f64, verdict: Verdict) -> Verdict {
        if window >= self.window_min { verdict } else { Verdict::True }
    }

    fn detector(&mut self) -> Option<&mut dyn Detects> {
        match &mut self.method {
            Method::None | Method::Foreign(_) => None,
            Method::Ble(ble) => Some(ble),
            Method::Back(back) => Some(back),
            Method::Bnak(bnak) => Some(bnak),
            Method::Oracle(oracle) => Some(oracle),
        }
    }

    pub(crate) fn on_fast_retransmit(&mut self, window: f64) {
        if let Some(detector) = self.detector() {
            detector.on_fast_retransmit(window);
        }
    }

    /// These have gone out, some of them again.
    pub(crate) fn on_transmissions(&mut self, sent: &[Transmission]) {
        if let Some(detector) = self.detector() {
            for again in sent.iter().filter(|sent| sent.retransmission) {
                detector.on_retransmission(again.seq);
            }
        }
    }

    pub(crate) fn on_progress(&mut self, next: u64) {
        if let Some(detector) = self.detector() {
            detector.on_progress(next);
        }
    }

    /// Returns whether the loss is to be repaired at once.
    pub(crate) fn on_notice(
        &mut self,
        notice: Notice,
        burst: u64,
        segments: &[u64],
        outstanding: &Outstanding,
    ) -> bool {
        let enough = outstanding.window >= self.window_min;
        let Some(detector) = self.detector() else { return false };
        let repair = detector.on_notice(notice, burst, segments, outstanding);
        repair && (enough || detector.is_sure())
    }

    /// Whether a repair that a notice asks for may cost nothing: who knows the truth knows too
    /// whether more than this is lost.
    pub(crate) fn allows_repair(&mut self, lost: &Outstanding) -> bool {
        let sure = self.detector().is_some_and(|detector| detector.is_sure());
        !sure || self.on_timeout(lost) == Verdict::False
    }

    pub(crate) fn tell(&mut self, truth: Verdict) {
        if let Some(detector) = self.detector() {
            detector.tell(truth);
        }
    }

    /// The timer has run out: what is it? A window below the least one is never excused, so that a
    /// run of false time-outs ends in a true one; who knows the truth needs no such guard.
    pub(crate) fn on_timeout(&mut self, outstanding: &Outstanding) -> Verdict {
        let enough = outstanding.window >= self.window_min;
        let Some(detector) = self.detector() else { return Verdict::True };
        let verdict = detector.on_timeout(outstanding);
        if enough || detector.is_sure() { verdict } else { Verdict::True }
    }
}

#[cfg(test)]
mod tests;
