//! Reno: fast retransmit and fast recovery (RFC 5681 section 3.2).

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::config::{Config, FastRecoveryExit, RenoFastRetransmits};
use crate::flow::{Flow, Reduction};
use crate::segment::{Ack, Transmission};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reno {
    recovery: FastRecovery,
    choice: RenoFastRetransmits,
}

impl Reno {
    pub(super) fn new(config: &Config) -> Self {
        Self { recovery: FastRecovery::new(config), choice: config.reno_fast_retransmits }
    }

    pub(super) fn on_ack(
        &mut self,
        flow: &mut Flow,
        now: Time,
        ack: &Ack,
        out: &mut Vec<Transmission>,
    ) {
        if ack.next > flow.acked {
            if self.finds_hole(flow, ack.next) {
                Self::repair_hole(flow, now, ack.next, out);
            } else {
                self.recovery.leave(flow, now, ack.next);
            }
        } else if flow.is_duplicate(ack.next) {
            let several = self.choice != RenoFastRetransmits::OncePerWindow;
            let may_reduce =
                flow.may_reduce() || (several && flow.last_reduction != Reduction::Timeout);
            self.recovery.on_duplicate(flow, now, may_reduce, out);
        }
        if flow.duplicates == 0 || flow.duplicates >= flow.dupack_threshold {
            self.send(flow, now, out);
        }
    }

    /// Whether this ACK ends at a hole that counts as found by duplicate ACKs of its own.
    fn finds_hole(&self, flow: &Flow, next: u64) -> bool {
        self.choice == RenoFastRetransmits::EachHole
            && self.is_repairing(flow)
            && next < flow.recover
            && flow.window.cwnd >= f64::from(flow.dupack_threshold)
    }

    /// Halves the window and retransmits, as three duplicate ACKs would have it. `recover` stays:
    /// what was sent since the first hole is none of the holes.
    fn repair_hole(flow: &mut Flow, now: Time, next: u64, out: &mut Vec<Transmission>) {
        flow.advance(next);
        flow.limited_transmissions = 0;
        flow.duplicates = flow.dupack_threshold;
        flow.counters.fast_retransmits += 1;
        // The duplicate ACKs of the hole before have inflated the window for the last time.
        flow.window.inflation = 0;
        flow.reduce_window(now);
        flow.window.inflation = u64::from(flow.dupack_threshold);
        flow.restart_for_retransmission(now);
        flow.emit(now, next, out);
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

/// Fast retransmit and the inflation of the window, which Reno and New-Reno share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FastRecovery {
    inflate_always: bool,
    exit: FastRecoveryExit,
}

impl FastRecovery {
    pub(super) fn new(config: &Config) -> Self {
        Self { inflate_always: config.inflate_always, exit: config.fast_recovery_exit }
    }

    /// A duplicate ACK.
    pub(super) fn on_duplicate(
        &self,
        flow: &mut Flow,
        now: Time,
        may_reduce: bool,
        out: &mut Vec<Transmission>,
    ) {
        let threshold = flow.dupack_threshold;
        flow.duplicates = flow.duplicates.saturating_add(1);
        if flow.duplicates == threshold {
            if may_reduce {
                flow.begin_fast_retransmit();
                flow.reduce_window(now);
                flow.restart_for_retransmission(now);
                flow.emit(now, flow.acked, out);
            }
            if may_reduce || self.inflate_always {
                flow.window.inflation = u64::from(threshold);
            }
        } else if flow.duplicates > threshold {
            if self.inflate_always || flow.last_reduction == Reduction::Duplicates {
                flow.window.inflation += 1;
            }
        } else if flow.limited_transmit {
            flow.send_limited(now, out);
        }
    }

    /// An ACK of new data that does not leave the sender in fast recovery.
    pub(super) fn leave(&self, flow: &mut Flow, now: Time, next: u64) {
        let repaired = flow.last_reduction == Reduction::Duplicates;
        if repaired {
            flow.last_reduction = Reduction::Repaired;
        }
        flow.window.inflation = 0;
        flow.accept(now, next);
        match self.exit {
            FastRecoveryExit::Ssthresh if repaired => flow.window.set(flow.window.ssthresh),
            FastRecoveryExit::Flight if repaired => {
                let room = (flow.sent - next).max(1) + 1;
                flow.window.set(flow.window.ssthresh.min(room as f64));
            }
            _ => flow.grow(now),
        }
    }

    pub(super) fn on_timeout(&self, flow: &mut Flow) {
        flow.window.inflation = 0;
        flow.duplicates = 0;
    }
}
