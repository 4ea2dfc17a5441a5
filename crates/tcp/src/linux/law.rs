//! The window laws as Linux has them: what an ACK of new data makes of the window, and what is
//! left of it after a loss. A law sends nothing and repairs nothing.

mod bbr;
mod cubic;
mod dctcp;
mod hystart;
mod vegas;

use serde::{Deserialize, Serialize};

use super::Stage;
use super::window::Window;
use crate::linux::{Congestion, LinuxOptions};
pub(crate) use bbr::{Bbr, Surroundings};
use cubic::Cubic;
use dctcp::Dctcp;
use vegas::Vegas;

/// What a law may know of its connection besides the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) us: u64,
    pub(crate) tick: u64,
    /// All below are acknowledged.
    pub(crate) acked: u64,
    /// The next segment to be sent.
    pub(crate) next: u64,
    /// Segments delivered so far, and those of them whose ACK had an ECN echo.
    pub(crate) delivered: u64,
    pub(crate) marked: u64,
    /// When data were last sent, in ticks.
    pub(crate) last_sent: u64,
    pub(crate) stage: Stage,
}

/// What happens to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Data are sent while nothing is in flight.
    Start,
    /// A time-out.
    Loss,
}

/// The window-law axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Law {
    Reno,
    Cubic(Cubic),
    Dctcp(Dctcp),
    Vegas(Vegas),
    /// It paces, and is told of rates: see `Linux::control_by_rate`.
    Bbr(Box<Bbr>),
}

impl Law {
    pub(crate) fn new(options: &LinuxOptions) -> Self {
        match options.congestion {
            Congestion::Reno => Self::Reno,
            Congestion::Cubic => Self::Cubic(Cubic::new(options.hystart)),
            // Without ECN, DCTCP is Reno (RFC 8257 section 3.4 leaves it open; Linux does so).
            Congestion::Dctcp if !options.ecn => Self::Reno,
            Congestion::Dctcp => Self::Dctcp(Dctcp::new()),
            Congestion::Vegas => Self::Vegas(Vegas::new()),
            Congestion::Bbr => Self::Bbr(Box::new(Bbr::new(usize::from(options.bbr_phase % 7)))),
        }
    }

    /// Whether it paces, and decides on the window in a repair too.
    pub(crate) fn paces(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// Segments of a group at least.
    pub(crate) fn least_group(&self) -> u64 {
        match self {
            Self::Bbr(bbr) => bbr.least_group(),
            _ => 2,
        }
    }

    /// The connection is open.
    pub(crate) fn open(&mut self, facts: &Facts) {
        match self {
            Self::Reno | Self::Bbr(_) => {}
            Self::Cubic(cubic) => cubic.open(facts),
            Self::Dctcp(dctcp) => dctcp.open(facts),
            Self::Vegas(vegas) => vegas.open(facts),
        }
    }

    /// What the threshold becomes at a loss or a mark.
    pub(crate) fn ssthresh(&mut self, window: &Window) -> u32 {
        match self {
            Self::Reno | Self::Vegas(_) => (window.cwnd >> 1).max(2),
            Self::Cubic(cubic) => cubic.ssthresh(window.cwnd),
            Self::Dctcp(dctcp) => dctcp.ssthresh(window.cwnd),
            Self::Bbr(bbr) => bbr.ssthresh(window),
        }
    }

    /// `acked` segments were delivered and the window may grow.
    pub(crate) fn grow(&mut self, window: &mut Window, acked: u32, facts: &Facts) {
        match self {
            Self::Reno | Self::Dctcp(_) => window.reno(acked),
            Self::Cubic(cubic) => cubic.grow(window, acked, facts),
            Self::Vegas(vegas) => vegas.grow(window, acked, facts),
            Self::Bbr(_) => {}
        }
    }

    /// An ACK came that acknowledged or reported something; `rtt` is its round trip in
    /// microseconds if it has one.
    pub(crate) fn measured(&mut self, window: &mut Window, rtt: Option<u64>, facts: &Facts) {
        let Some(rtt) = rtt else { return };
        match self {
            Self::Reno | Self::Dctcp(_) | Self::Bbr(_) => {}
            Self::Cubic(cubic) => cubic.measured(window, rtt, facts),
            Self::Vegas(vegas) => vegas.measured(rtt),
        }
    }

    /// An ACK came, and what it acknowledges is counted as delivered.
    pub(crate) fn arrives(&mut self, facts: &Facts) {
        if let Self::Dctcp(dctcp) = self {
            dctcp.arrives(facts);
        }
    }

    /// The stage becomes `stage`.
    pub(crate) fn enters(&mut self, stage: Stage, window: &mut Window, facts: &Facts) {
        match self {
            Self::Reno | Self::Bbr(_) => {}
            Self::Cubic(cubic) => cubic.enters(stage, facts),
            Self::Dctcp(dctcp) => {
                if stage == Stage::Recovery && stage != facts.stage {
                    dctcp.loses(window);
                }
            }
            Self::Vegas(vegas) => vegas.enters(stage, facts),
        }
    }

    pub(crate) fn on_event(&mut self, event: Event, window: &mut Window, facts: &Facts) {
        match (self, event) {
            (Self::Cubic(cubic), Event::Start) => cubic.starts(facts),
            (Self::Vegas(vegas), Event::Start) => vegas.open(facts),
            (Self::Dctcp(dctcp), Event::Loss) => dctcp.loses(window),
            _ => {}
        }
    }

    /// The window that comes back when a reduction was for nothing.
    pub(crate) fn undone(&mut self, window: &Window) -> u32 {
        match self {
            Self::Bbr(bbr) => bbr.undone(window),
            Self::Dctcp(dctcp) => window.cwnd.max(dctcp.before_loss()),
            _ => window.cwnd.max(window.prior_cwnd),
        }
    }
}
