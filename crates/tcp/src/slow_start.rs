//! How the window grows below the slow-start threshold.

use serde::{Deserialize, Serialize};

mod every_other;

pub(crate) use every_other::EveryOther;

/// The slow-start axis. A new algorithm is a file of its own and a line in each place here.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum SlowStart {
    /// One segment for each ACK of new data (RFC 5681 section 3.1; ns-2 `opencwnd`).
    Standard,
    /// Every other round trip, and only while the delay does not rise.
    EveryOther(EveryOther),
    /// As above the threshold: the law opens small windows fast enough.
    ByLaw,
}

impl SlowStart {
    /// The window, in segments, after one more ACK of new data.
    pub(crate) fn grown(self, cwnd: f64) -> f64 {
        match self {
            Self::Standard => cwnd + 1.0,
            // Round trips decide.
            Self::EveryOther(_) | Self::ByLaw => cwnd,
        }
    }

    /// The window with which a sender begins again after a time-out.
    pub(crate) fn restart_window(self) -> f64 {
        match self {
            Self::Standard | Self::ByLaw => 1.0,
            Self::EveryOther(_) => EveryOther::RESTART_WINDOW,
        }
    }
}
