//! Growth of the window above the slow-start threshold, and its reduction at a loss.

use serde::{Deserialize, Serialize};

use crate::foreign::ForeignLaw;
use crate::round::Round;

mod aimd;
mod fast;
mod vegas;

pub(crate) use aimd::Aimd;
pub(crate) use fast::Fast;
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
            // Round trips decide, or somebody else.
            Self::Vegas(_) | Self::Fast(_) | Self::Foreign(_) => cwnd,
        }
    }

    /// A round trip in congestion avoidance is over.
    pub(crate) fn on_round(&mut self, course: &mut Course, round: &Round) {
        match self {
            Self::Aimd(_) | Self::Foreign(_) => {}
            Self::Vegas(law) => law.on_round(course, round),
            Self::Fast(law) => law.on_round(course, round),
        }
    }

    /// By how many segments it opens each round trip where ACKs alone decide.
    pub(crate) fn alpha(&self) -> f64 {
        match self {
            Self::Aimd(law) => law.alpha,
            Self::Vegas(_) | Self::Fast(_) | Self::Foreign(_) => Aimd::USUAL.alpha,
        }
    }

    /// The threshold after a time-out in a window of `window` segments, not rounded.
    pub(crate) fn after_timeout(&self, window: f64) -> f64 {
        match self {
            Self::Aimd(law) => law.reduced(window),
            Self::Vegas(_) | Self::Fast(_) | Self::Foreign(_) => Aimd::USUAL.reduced(window),
        }
    }

    /// Size that remains of a window of `window` segments after a loss that duplicate ACKs
    /// reported, not rounded.
    pub(crate) fn reduced(&mut self, window: f64) -> f64 {
        match self {
            Self::Aimd(law) => law.reduced(window),
            // The usual reduction.
            Self::Foreign(_) => Aimd::USUAL.reduced(window),
            Self::Vegas(law) => law.reduced(window),
            Self::Fast(law) => law.reduced(window),
        }
    }
}
