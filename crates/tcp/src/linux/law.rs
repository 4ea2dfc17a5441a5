//! The window laws as Linux has them: the effects of an ACK of new data and of a loss on the
//! window. A law sends nothing and repairs nothing.

mod bbr;
mod bbr3;
mod cubic;
mod dctcp;
mod foreign;
mod highspeed;
mod htcp;
mod hystart;
mod illinois;
mod vegas;
mod veno;
mod westwood;
mod windowed;

use serde::{Deserialize, Serialize};

use super::context::{AckContext, Stage};
use super::options::{Congestion, LinuxOptions};
use super::rate::{Sample, Stamp};
use super::window::LinuxWindow;
use crate::config::SlowStart;
use bbr::Bbr;
use bbr3::Bbr3;
use cubic::Cubic;
use dctcp::Dctcp;
pub(crate) use foreign::Foreign;
use highspeed::HighSpeed;
use htcp::Htcp;
use illinois::Illinois;
use vegas::LinuxVegas;
use veno::Veno;
use westwood::Westwood;

/// Scalable TCP (Kelly 2003): a window grows by a segment for each hundred ACKs at least, and a
/// loss takes an eighth of it.
const SCALABLE_EACH: u32 = 100;
const SCALABLE_CUT: u32 = 3;

/// Why the window is to be reduced, as a law is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Loss,
    Mark,
    Timeout,
}

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LawEvent {
    /// Data are sent while nothing is in flight.
    Start,
    /// It begins anew after it was idle.
    Restart,
    /// A time-out.
    Loss,
}

/// The window-law axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum LinuxLaw {
    Reno,
    Cubic(Cubic),
    Dctcp(Dctcp),
    Vegas(LinuxVegas),
    /// It paces, and takes samples of the delivery rate: see `Linux::control_by_rate`.
    Bbr(Box<Bbr>),
    Bbr3(Box<Bbr3>),
    Scalable,
    HighSpeed(HighSpeed),
    Htcp(Box<Htcp>),
    Illinois(Box<Illinois>),
    Veno(Veno),
    Westwood(Box<Westwood>),
    /// Somebody else decides, who is asked where the connection is at hand: see `by_class.rs`. Not
    /// stored: a run with a class of Python is not.
    #[serde(skip)]
    Foreign(Box<Foreign>),
}

impl LinuxLaw {
    pub(crate) fn new(options: &LinuxOptions) -> Self {
        match options.congestion {
            Congestion::Reno => Self::Reno,
            Congestion::Cubic => Self::Cubic(Cubic::new(options.slow_start == SlowStart::Hystart)),
            // Without ECN, DCTCP is Reno (RFC 8257 section 3.4 leaves it open; Linux does so).
            Congestion::Dctcp if !options.ecn => Self::Reno,
            Congestion::Dctcp => Self::Dctcp(Dctcp::new()),
            Congestion::Vegas => Self::Vegas(LinuxVegas::new()),
            Congestion::Scalable => Self::Scalable,
            Congestion::Highspeed => Self::HighSpeed(HighSpeed::default()),
            Congestion::Htcp => Self::Htcp(Box::new(Htcp::new())),
            Congestion::Illinois => Self::Illinois(Box::new(Illinois::new())),
            Congestion::Veno => Self::Veno(Veno::new()),
            Congestion::Westwood => Self::Westwood(Box::new(Westwood::new())),
            Congestion::Bbr => Self::Bbr(Box::new(Bbr::new(usize::from(options.bbr_phase % 7)))),
            Congestion::Bbr3 => {
                Self::Bbr3(Box::new(Bbr3::new(u64::from(options.bbr_phase), options.sack)))
            }
        }
    }

    /// Whether it paces, and decides on the window in a repair too.
    pub(crate) fn paces(&self) -> bool {
        matches!(self, Self::Bbr(_) | Self::Bbr3(_))
    }

    /// Whether an unused window keeps its size, because the rate is the limit.
    pub(crate) fn keeps_unused_window(&self) -> bool {
        match self {
            Self::Foreign(foreign) => foreign.law.paces(),
            _ => self.paces(),
        }
    }

    /// Segments of a group at least; `usual`: for a law that does not decide on it.
    pub(crate) fn least_group(&self, usual: u32) -> u64 {
        match self {
            Self::Bbr(bbr) => bbr.least_group(),
            Self::Bbr3(bbr) => bbr.least_group(),
            _ => u64::from(usual),
        }
    }

    /// The connection is open.
    pub(crate) fn open(&mut self, context: &AckContext) {
        match self {
            Self::Cubic(cubic) => cubic.open(context),
            Self::Dctcp(dctcp) => dctcp.open(context),
            Self::Vegas(vegas) => vegas.open(context),
            Self::Htcp(htcp) => htcp.open(context),
            Self::Illinois(illinois) => illinois.open(context),
            Self::Veno(veno) => veno.open(),
            Self::Westwood(westwood) => westwood.open(context),
            _ => {}
        }
    }

    /// The new threshold at a loss or a mark, in tick `tick`.
    pub(crate) fn ssthresh(&mut self, window: &LinuxWindow, tick: u64) -> u32 {
        match self {
            Self::Reno | Self::Vegas(_) | Self::Westwood(_) | Self::Foreign(_) => {
                (window.cwnd >> 1).max(2)
            }
            Self::Scalable => (window.cwnd - (window.cwnd >> SCALABLE_CUT)).max(2),
            Self::HighSpeed(law) => law.ssthresh(window.cwnd),
            Self::Htcp(htcp) => htcp.ssthresh(window.cwnd, tick),
            Self::Illinois(illinois) => illinois.ssthresh(window.cwnd),
            Self::Veno(veno) => veno.ssthresh(window.cwnd),
            Self::Cubic(cubic) => cubic.ssthresh(window.cwnd),
            Self::Dctcp(dctcp) => dctcp.ssthresh(window.cwnd),
            Self::Bbr(bbr) => bbr.ssthresh(window),
            Self::Bbr3(bbr) => bbr.ssthresh(window),
        }
    }

    /// `acked` segments were delivered and the window may grow.
    #[inline]
    pub(crate) fn grow(&mut self, window: &mut LinuxWindow, acked: u32, context: &AckContext) {
        match self {
            Self::Reno | Self::Dctcp(_) | Self::Westwood(_) => window.reno(acked),
            Self::Cubic(cubic) => cubic.grow(window, acked, context),
            Self::Vegas(vegas) => vegas.grow(window, acked, context),
            Self::Scalable => window.scalable(SCALABLE_EACH, acked),
            Self::HighSpeed(law) => law.grow(window, acked),
            Self::Htcp(htcp) => htcp.grow(window, acked, context),
            Self::Illinois(illinois) => illinois.grow(window, acked, context),
            Self::Veno(veno) => veno.grow(window, acked),
            Self::Bbr(_) | Self::Bbr3(_) | Self::Foreign(_) => {}
        }
    }

    /// An ACK came that acknowledged or reported something; `rtt` is its round trip in
    /// microseconds if it has one.
    #[inline]
    pub(crate) fn measured(
        &mut self,
        window: &mut LinuxWindow,
        rtt: Option<u64>,
        context: &AckContext,
    ) {
        match (self, rtt) {
            (Self::Htcp(htcp), _) => htcp.measured(window, rtt, context),
            (Self::Illinois(illinois), _) => illinois.measured(rtt, context),
            (Self::Cubic(cubic), Some(rtt)) => cubic.measured(window, rtt, context),
            (Self::Vegas(vegas), Some(rtt)) => vegas.measured(rtt),
            (Self::Veno(veno), Some(rtt)) => veno.measured(rtt),
            (Self::Westwood(westwood), Some(rtt)) => westwood.measured(rtt),
            (Self::Foreign(foreign), Some(rtt)) => foreign.measured(rtt),
            _ => {}
        }
    }

    /// An ACK came, and what it acknowledges is counted as delivered; `plain`: it has nothing but a
    /// new cumulative ACK.
    #[inline]
    pub(crate) fn arrives(&mut self, plain: bool, context: &AckContext) {
        match self {
            Self::Westwood(westwood) => westwood.arrives(plain, context),
            Self::Dctcp(dctcp) => dctcp.arrives(context),
            Self::Bbr3(bbr) => bbr.note_time(context.clock.us),
            _ => {}
        }
    }

    /// The stage becomes `stage`.
    pub(crate) fn enters(&mut self, stage: Stage, window: &mut LinuxWindow, context: &AckContext) {
        match self {
            Self::Cubic(cubic) => cubic.enters(stage, context),
            Self::Dctcp(dctcp) if stage == Stage::Recovery && stage != context.stage => {
                dctcp.loses(window);
            }
            Self::Vegas(vegas) => vegas.enters(stage, context),
            Self::Htcp(htcp) => htcp.enters(stage, context),
            Self::Illinois(illinois) => illinois.enters(stage, context),
            Self::Veno(veno) => veno.enters(stage),
            _ => {}
        }
    }

    pub(crate) fn on_event(
        &mut self,
        event: LawEvent,
        window: &mut LinuxWindow,
        context: &AckContext,
    ) {
        match (self, event) {
            (Self::Cubic(cubic), LawEvent::Start) => cubic.starts(context),
            (Self::Vegas(vegas), LawEvent::Start | LawEvent::Restart) => vegas.open(context),
            (Self::Veno(veno), LawEvent::Start | LawEvent::Restart) => veno.open(),
            (Self::Dctcp(dctcp), LawEvent::Loss) => dctcp.loses(window),
            (Self::Westwood(westwood), LawEvent::Loss) => westwood.times_out(window),
            _ => {}
        }
    }

    /// The window has shrunk after a loss or a mark.
    pub(crate) fn reduced(&self, window: &mut LinuxWindow) {
        if let Self::Westwood(westwood) = self {
            westwood.reduced(window);
        }
    }

    /// The window that comes back when a reduction was for nothing.
    pub(crate) fn undone(&mut self, window: &LinuxWindow) -> u32 {
        match self {
            Self::Bbr(bbr) => bbr.undone(window),
            Self::Bbr3(bbr) => bbr.undone(window),
            Self::Dctcp(dctcp) => window.cwnd.max(dctcp.before_loss()),
            Self::Htcp(htcp) => {
                htcp.undo();
                window.cwnd.max(window.prior_cwnd)
            }
            _ => window.cwnd.max(window.prior_cwnd),
        }
    }
}

impl LinuxLaw {
    /// Whether it is written elsewhere, and judges its own losses.
    pub(crate) fn judges(&self) -> bool {
        matches!(self, Self::Foreign(law) if law.judges)
    }
}

/// Laws that pace, and that take samples of the delivery rate.
impl LinuxLaw {
    /// The connection is open.
    pub(crate) fn open_paced(&mut self, window: &mut LinuxWindow, context: &AckContext) {
        match self {
            Self::Bbr(bbr) => bbr.open(window, context),
            Self::Bbr3(bbr) => bbr.open(window, context),
            _ => {}
        }
    }

    /// The pacing rate in bytes a second, where the law decides on it.
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        match self {
            Self::Bbr(bbr) => Some(bbr.pacing_rate),
            Self::Bbr3(bbr) => Some(bbr.pacing_rate),
            Self::Foreign(foreign) => foreign.pacing_rate,
            _ => None,
        }
    }

    /// An ACK; returns whether rates from now on say little, since the window is kept small.
    pub(crate) fn control(
        &mut self,
        window: &mut LinuxWindow,
        sample: &Sample,
        context: &AckContext,
    ) -> bool {
        match self {
            Self::Bbr(bbr) => bbr.control(window, sample, context),
            Self::Bbr3(bbr) => bbr.control(window, sample, context),
            _ => false,
        }
    }

    /// Segment `seq`, sent when `stamp` says, is taken for lost.
    pub(crate) fn loses(
        &mut self,
        window: &LinuxWindow,
        seq: u64,
        stamp: &Stamp,
        counts: (u64, u64),
    ) {
        if let Self::Bbr3(bbr) = self {
            bbr.loses(window, seq, stamp, counts);
        }
    }

    /// The time has come to `us`.
    pub(crate) fn note_time(&mut self, us: u64) {
        if let Self::Bbr3(bbr) = self {
            bbr.note_time(us);
        }
    }

    /// A time-out.
    pub(crate) fn times_out(&mut self, context: &AckContext) {
        match self {
            Self::Bbr(bbr) => bbr.times_out(context),
            Self::Bbr3(bbr) => bbr.times_out(context.clock.us),
            _ => {}
        }
    }

    /// A repair was for nothing.
    pub(crate) fn undo(&mut self, context: &AckContext) {
        match self {
            Self::Bbr(bbr) => bbr.undo(context),
            Self::Bbr3(bbr) => bbr.undo(context.clock.us),
            _ => {}
        }
    }

    /// Data go out while nothing is in flight and the application had nothing to send.
    pub(crate) fn restarts(&mut self, window: &mut LinuxWindow, context: &AckContext) {
        match self {
            Self::Bbr(bbr) => bbr.restarts(window, context),
            Self::Bbr3(bbr) => bbr.restarts(window, context.clock.us, context),
            _ => {}
        }
    }
}
