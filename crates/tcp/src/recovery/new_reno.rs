//! New-Reno: fast recovery lasts until all that was outstanding at its start has arrived, and each
//! ACK that falls short of that retransmits the next hole (RFC 6582).

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::reno::FastRecovery;
use crate::config::{Config, NewRenoTimer};
use crate::flow::{Flow, Reduction, unlimited_if_zero};
use crate::segment::{Ack, Transmission};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NewReno {
    recovery: FastRecovery,
    impatient: bool,
    deflates: bool,
    /// Most segments that an ACK during recovery releases.
    burst: u64,
    /// Whether this recovery has seen a partial ACK.
    partial_seen: bool,
}

impl NewReno {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            recovery: FastRecovery::new(config),
            impatient: config.new_reno_timer == NewRenoTimer::Impatient,
            deflates: config.new_reno_deflation,
            burst: unlimited_if_zero(config.new_reno_burst),
            partial_seen: false,
        }
    }

    pub(super) fn on_ack(
        &mut self,
        flow: &mut Flow,
        now: Time,
        ack: &Ack,
        out: &mut Vec<Transmission>,
    ) {
        if ack.next > flow.acked {
            if ack.next >= flow.recover || !self.is_repairing(flow) {
                self.partial_seen = false;
                self.recovery.leave(flow, now, ack.next);
            } else {
                self.on_partial_ack(flow, now, ack.next, out);
            }
        } else if flow.is_duplicate(ack.next) {
            self.recovery.on_duplicate(flow, now, flow.may_reduce(), out);
        }
        if flow.duplicates == 0 {
            self.send(flow, now, out);
        } else if flow.duplicates >= flow.dupack_threshold {
            flow.send_window(now, self.burst, out);
        }
    }

    #[inline]
    pub(super) fn on_ack_fast(&mut self, flow: &mut Flow) {
        self.partial_seen = false;
        flow.window.inflation = 0;
    }

    fn on_partial_ack(
        &mut self,
        flow: &mut Flow,
        now: Time,
        next: u64,
        out: &mut Vec<Transmission>,
    ) {
        if !(self.impatient && self.partial_seen) {
            flow.timer.restart(now);
        }
        self.partial_seen = true;
        self.deflate(flow, next - flow.acked);
        flow.advance(next);
        flow.limited_transmissions = 0;
        flow.emit(now, next, out);
    }

    /// Takes what was acknowledged out of the inflated window, less the retransmission.
    fn deflate(&self, flow: &mut Flow, acknowledged: u64) {
        let window = &mut flow.window;
        if !self.deflates {
            window.inflation = 0;
        } else if window.inflation > acknowledged {
            window.inflation -= acknowledged - 1;
        } else {
            window.cwnd = (window.cwnd - (acknowledged - window.inflation) as f64).max(1.0);
            window.inflation = 1;
        }
    }

    pub(super) fn on_timeout(&mut self, flow: &mut Flow, _: Time) {
        self.recovery.on_timeout(flow);
    }

    pub(super) fn send(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        flow.send_window(now, flow.max_burst, out);
    }

    pub(super) fn is_repairing(&self, flow: &Flow) -> bool {
        flow.last_reduction == Reduction::Duplicates
    }
}
