//! Growth of the window above the slow-start threshold, and its reduction at a loss.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use crate::discriminator::Discriminator;
use crate::foreign::ForeignLaw;
use crate::round::Round;

mod aimd;
mod bcl;
mod fast;
mod saimd;
mod vegas;

pub(crate) use aimd::Aimd;
pub(crate) use bcl::Bcl;
pub(crate) use fast::Fast;
pub(crate) use saimd::Saimd;
pub(crate) use vegas::Vegas;

/// The smallest slow-start threshold (RFC 5681 equation (4); ns-2 `slowdown`).
pub(crate) const SSTHRESH_MIN: f64 = 2.0;

/// A decision of a law that works once a round trip.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Course {
    /// Congestion window in segments.
    pub(crate) cwnd: f64,
    /// Slow-start threshold in segments.
    pub(crate) ssthresh: f64,
    /// By how much each ACK of new data opens the window until the round trip is over.
    pub(crate) each_ack: f64,
}

/// The window-law axis. A new law is a file of its own and a line in each place here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Law {
    /// Additive increase, multiplicative decrease.
    Aimd(Aimd),
    /// The delay decides, by steps of a segment.
    Vegas(Vegas),
    /// The delay decides, by how far the window is from where it should be.
    Fast(Fast),
    /// AIMD whose cut follows the place of the recent round trips among all.
    Saimd(Box<Saimd>),
    /// AIMD whose steps follow burst NAKs.
    Bcl(Box<Bcl>),
    /// A law outside of this crate decides. It receives more than the others need: see
    /// `flow/python_law.rs`. Not stored: a run with a class of Python is not.
    #[serde(skip)]
    Foreign(Box<dyn ForeignLaw>),
}

impl Law {
    /// The window, in segments, after one more ACK of new data in congestion avoidance.
    pub(crate) fn grown(&mut self, cwnd: f64) -> f64 {
        match self {
            Self::Aimd(law) => law.grown(cwnd),
            Self::Saimd(_) => Aimd::USUAL.grown(cwnd),
            Self::Bcl(law) => law.steps().grown(cwnd),
            // Round trips decide, or somebody else.
            Self::Vegas(_) | Self::Fast(_) | Self::Foreign(_) => cwnd,
        }
    }

    /// A round trip in congestion avoidance is over.
    pub(crate) fn on_round(&mut self, course: &mut Course, round: &Round) {
        match self {
            Self::Aimd(_) | Self::Saimd(_) | Self::Bcl(_) | Self::Foreign(_) => {}
            Self::Vegas(law) => law.on_round(course, round),
            Self::Fast(law) => law.on_round(course, round),
        }
    }

    /// By how many segments it opens each round trip where ACKs alone decide.
    pub(crate) fn alpha(&self) -> f64 {
        match self {
            Self::Aimd(law) => law.alpha,
            Self::Bcl(law) => law.steps().alpha,
            _ => Aimd::USUAL.alpha,
        }
    }

    /// The threshold after a time-out in a window of `window` segments, not rounded, where `first`
    /// is the first segment that is missing.
    pub(crate) fn after_timeout(&mut self, window: f64, first: u64) -> f64 {
        match self {
            Self::Vegas(_) | Self::Fast(_) => Aimd::USUAL.reduced(window),
            _ => self.reduced(window, first),
        }
    }

    /// Size that remains of a window of `window` segments after a loss that duplicate ACKs
    /// reported, not rounded, where `first` is the first segment that is missing.
    pub(crate) fn reduced(&mut self, window: f64, first: u64) -> f64 {
        match self {
            Self::Aimd(law) => law.reduced(window),
            // The usual reduction.
            Self::Foreign(_) => Aimd::USUAL.reduced(window),
            Self::Vegas(law) => law.reduced(window),
            Self::Fast(law) => law.reduced(window),
            Self::Saimd(law) => law.reduced(window),
            Self::Bcl(law) => law.reduced(window, first),
        }
    }

    /// Size that remains of a window of `window` segments after the loss of one burst that the law
    /// takes for no congestion.
    pub(crate) fn excused(&mut self, window: f64) -> f64 {
        match self {
            Self::Saimd(law) => law.reduced(window),
            Self::Bcl(law) => law.excused(window),
            _ => Aimd::USUAL.reduced(window),
        }
    }

    /// Whether ACKs open the window one by one; round trips do so otherwise.
    pub(crate) fn goes_by_acks(&self) -> bool {
        !matches!(self, Self::Vegas(_) | Self::Fast(_))
    }

    /// An ACK measured a round trip.
    pub(crate) fn measured(&mut self, rtt: Span) {
        if let Self::Saimd(law) = self {
            law.measured(rtt);
        }
    }

    /// The law as the detector of its own losses, with which it shares its state.
    pub(crate) fn judge(&mut self) -> Option<&mut dyn Discriminator> {
        match self {
            Self::Saimd(law) => Some(&mut **law),
            Self::Bcl(law) => Some(&mut **law),
            Self::Foreign(law) => law.judge(),
            _ => None,
        }
    }
}
