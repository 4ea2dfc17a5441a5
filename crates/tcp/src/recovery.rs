//! Loss recovery of a sender.

mod ncr;
mod new_reno;
mod reno;
mod rfc6675;
mod sack_pipe;
mod tahoe;
mod vegas;

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::config::{Config, SackRecovery, Variant};
use crate::flow::Flow;
use crate::segment::{Ack, Transmission};
use new_reno::NewReno;
use reno::Reno;
use rfc6675::Rfc6675;
use sack_pipe::SackPipe;
use tahoe::Tahoe;
use vegas::VegasRecovery;

/// The loss-recovery axis. A new algorithm is a file of its own and a line in each place here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Recovery {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    SackPipe(SackPipe),
    Rfc6675(Rfc6675),
    Vegas(VegasRecovery),
}

/// Calls the same function of whichever algorithm it is.
macro_rules! each {
    ($recovery:expr, $algorithm:ident => $call:expr) => {
        match $recovery {
            Recovery::Tahoe($algorithm) => $call,
            Recovery::Reno($algorithm) => $call,
            Recovery::NewReno($algorithm) => $call,
            Recovery::SackPipe($algorithm) => $call,
            Recovery::Rfc6675($algorithm) => $call,
            Recovery::Vegas($algorithm) => $call,
        }
    };
}

impl Recovery {
    pub(crate) fn new(config: &Config) -> Self {
        match (config.variant, config.sack_recovery) {
            // That of Linux has a sender of its own.
            (Variant::Tahoe | Variant::Linux, _) => Self::Tahoe(Tahoe),
            (Variant::Reno, _) => Self::Reno(Reno::new(config)),
            (Variant::NewReno, _) => Self::NewReno(NewReno::new(config)),
            (Variant::Sack, SackRecovery::Ns2) => Self::SackPipe(SackPipe::new(config)),
            (Variant::Sack, SackRecovery::Rfc6675) => Self::Rfc6675(Rfc6675::new(config)),
            (Variant::Vegas, _) => Self::Vegas(VegasRecovery::new(config)),
        }
    }

    /// An ACK whose cumulative part is not beyond what was sent.
    pub(crate) fn on_ack(
        &mut self,
        flow: &mut Flow,
        now: Time,
        ack: &Ack,
        out: &mut Vec<Transmission>,
    ) {
        each!(self, algorithm => algorithm.on_ack(flow, now, ack, out));
    }

    /// Whether the SACK blocks of an ACK say more than is known, to one that repairs by them.
    pub(crate) fn learns_from(&self, flow: &Flow, ack: &Ack) -> bool {
        match self {
            Self::SackPipe(algorithm) => algorithm.learns_from(flow, ack),
            Self::Rfc6675(algorithm) => algorithm.learns_from(flow, ack),
            Self::Tahoe(_) | Self::Reno(_) | Self::NewReno(_) | Self::Vegas(_) => false,
        }
    }

    /// An ACK of new data while nothing is repaired, before the flow takes it.
    #[inline(always)]
    pub(crate) fn on_ack_fast(&mut self, flow: &mut Flow, next: u64) {
        match self {
            Self::Tahoe(_) => {}
            Self::Reno(_) => flow.window.inflation = 0,
            Self::NewReno(algorithm) => algorithm.on_ack_fast(flow),
            Self::SackPipe(algorithm) => algorithm.on_ack_fast(),
            Self::Rfc6675(algorithm) => algorithm.on_ack_fast(flow, next),
            Self::Vegas(algorithm) => algorithm.on_ack_fast(flow),
        }
    }

    /// The timer ran out; the flow's own response follows.
    pub(crate) fn on_timeout(&mut self, flow: &mut Flow, now: Time) {
        each!(self, algorithm => algorithm.on_timeout(flow, now));
    }

    /// Sends what may go: new data have been offered.
    pub(crate) fn send(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        each!(self, algorithm => algorithm.send(flow, now, out));
    }

    /// Sends what may go when the timer has run out, or a delay of `send_jitter`.
    pub(crate) fn send_late(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        match self {
            Self::Vegas(algorithm) => algorithm.send_late(flow, now, out),
            Self::SackPipe(algorithm) => algorithm.send_late(flow, now, out),
            _ => self.send(flow, now, out),
        }
    }

    /// Whether losses are being repaired without a time-out.
    #[inline]
    pub(crate) fn is_repairing(&self, flow: &Flow) -> bool {
        each!(self, algorithm => algorithm.is_repairing(flow))
    }
}
