//! How the window grows above the slow-start threshold and what a loss makes of it.

mod aimd;

pub(crate) use aimd::Aimd;

/// The window-law axis. A new law is a file of its own and a line in each place here.
#[derive(Clone, Debug)]
pub(crate) enum WindowLaw {
    /// Additive increase, multiplicative decrease.
    Aimd(Aimd),
}

impl WindowLaw {
    /// The window, in segments, after one more ACK of new data in congestion avoidance.
    pub(crate) fn grown(&mut self, cwnd: f64) -> f64 {
        match self {
            Self::Aimd(law) => law.grown(cwnd),
        }
    }

    /// What remains of a window of `window` segments after a loss, not rounded.
    pub(crate) fn reduced(&mut self, window: f64) -> f64 {
        match self {
            Self::Aimd(law) => law.reduced(window),
        }
    }
}
