//! How the window grows below the slow-start threshold.

/// The slow-start axis. A new algorithm is a file of its own and a line here.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SlowStart {
    /// One segment for each ACK of new data (RFC 5681 section 3.1; ns-2 `opencwnd`).
    Standard,
}

impl SlowStart {
    /// The window, in segments, after one more ACK of new data.
    pub(crate) fn grown(self, cwnd: f64) -> f64 {
        match self {
            Self::Standard => cwnd + 1.0,
        }
    }
}
