//! Loss recovery of Vegas: a duplicate ACK retransmits what is overdue by a clock of its own, the
//! first as well as the third, and so do the first two ACKs of new data after a retransmission.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::config::{Config, VegasRules};
use crate::congestion::SSTHRESH_MIN;
use crate::flow::{Flow, Reduction};
use crate::segment::{Ack, Transmission};

/// Brakmo and Peterson 1995, section III.A; ns-2 `Agent/TCP/Vegas`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct VegasRecovery {
    as_ns2: bool,
    /// ACKs of new data that are still to ask whether the next segment is overdue.
    worried: u64,
    /// The window after the last reduction, zero after a time-out: in ns-2 what an inflated one
    /// goes back to.
    reduced: f64,
    /// Time of the last reduction: losses of segments sent before it report the same congestion.
    changed: Option<Time>,
}

impl VegasRecovery {
    pub(super) fn new(config: &Config) -> Self {
        let as_ns2 = config.vegas_rules == VegasRules::Ns2;
        Self { as_ns2, worried: 0, reduced: 0.0, changed: None }
    }

    pub(super) fn on_ack(
        &mut self,
        flow: &mut Flow,
        now: Time,
        ack: &Ack,
        out: &mut Vec<Transmission>,
    ) {
        if ack.next > flow.acked {
            self.on_progress(flow, now, ack.next, out);
        } else if ack.next == flow.acked && flow.acked < self.end(flow, flow.sent) {
            self.on_duplicate(flow, now, out);
        }
        if flow.duplicates == 0 || flow.duplicates >= flow.dupack_threshold {
            self.send(flow, now, out);
        }
    }

    fn on_progress(&mut self, flow: &mut Flow, now: Time, next: u64, out: &mut Vec<Transmission>) {
        self.prepare(flow);
        flow.accept(now, next);
        flow.grow(now);
        if self.worried > 0 {
            self.worried -= 1;
            self.check_next_segment(flow, now, out);
        }
    }

    pub(super) fn on_ack_fast(&self, flow: &mut Flow) {
        self.prepare(flow);
    }

    /// Sets the window for an ACK of new data, before it grows.
    fn prepare(&self, flow: &mut Flow) {
        if self.as_ns2 {
            flow.open_late();
        }
        self.deflate(flow);
    }

    /// The window without what duplicate ACKs added to it. ns-2 takes it away only after a fourth
    /// duplicate ACK, and leaves nothing of the window where the last reduction was a time-out.
    fn deflate(&self, flow: &mut Flow) {
        let many = flow.duplicates > flow.dupack_threshold;
        let window = &mut flow.window;
        window.inflation = 0;
        if self.as_ns2 && many && window.cwnd > self.reduced {
            window.cwnd = self.reduced;
            window.ssthresh = SSTHRESH_MIN;
        }
    }

    /// After a retransmission: another segment of the same burst may be missing, of which no
    /// duplicate ACK will tell. ns-2 takes one that it has not sent for missing, and sends it.
    fn check_next_segment(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        if flow.acked < self.end(flow, flow.next) && flow.is_overdue(now) {
            flow.duplicates = flow.dupack_threshold;
            flow.counters.fast_retransmits += u64::from(flow.acked < flow.next);
            flow.emit(now, flow.acked, out);
        } else {
            self.worried = 0;
        }
    }

    /// One past the last segment that may be missing; ns-2 asks not whether it was sent, which
    /// matters where nothing is outstanding because nothing of the window is left.
    fn end(&self, flow: &Flow, sent: u64) -> u64 {
        if self.as_ns2 { flow.offered.limit } else { sent }
    }

    fn on_duplicate(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        flow.duplicates = flow.duplicates.saturating_add(1);
        if flow.is_overdue(now) || flow.duplicates == flow.dupack_threshold {
            // Not for what was outstanding at a time-out: it has gone out again.
            if flow.acked > flow.recover || flow.last_reduction != Reduction::Timeout {
                self.retransmit(flow, now, out);
            }
        } else if flow.duplicates > flow.dupack_threshold {
            self.inflate(flow, 1);
        }
    }

    fn retransmit(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        let window = flow.window.segments();
        let (sent, transmissions) = flow.sent_before();
        flow.recover = flow.sent;
        flow.last_reduction = Reduction::Duplicates;
        flow.counters.fast_retransmits += u64::from(flow.acked < flow.next);
        self.worried = (flow.next + 1 - flow.acked).min(2);
        flow.lose_patience(transmissions > 1);
        if sent.is_some_and(|sent| self.changed.is_none_or(|changed| changed < sent)) {
            self.reduced = reduced(window, transmissions > 1) as f64;
            self.changed = Some(now);
            flow.window.cwnd = self.reduced;
            if !self.as_ns2 {
                flow.window.ssthresh = SSTHRESH_MIN;
            }
            self.inflate(flow, flow.duplicates);
        }
        if self.as_ns2 {
            flow.timer.back_off();
        }
        flow.restart_for_retransmission(now);
        flow.emit(now, flow.acked, out);
        if transmissions == 1 {
            flow.duplicates = flow.dupack_threshold;
        }
    }

    /// Duplicate ACKs tell of segments that left the network. In ns-2 they open the window itself.
    fn inflate(&self, flow: &mut Flow, duplicates: u32) {
        if self.as_ns2 {
            flow.window.cwnd += f64::from(duplicates);
        } else {
            flow.window.inflation += u64::from(duplicates);
        }
    }

    pub(super) fn on_timeout(&mut self, flow: &mut Flow, now: Time) {
        flow.duplicates = 0;
        flow.window.inflation = 0;
        self.reduced = 0.0;
        self.changed = Some(now);
        if !self.as_ns2 {
            self.worried = 0;
        } else if flow.acked == 0 {
            // The clock of ns-2's Vegas begins again with the SYN, what it noted before does not.
            self.changed = Some(now.saturating_add(flow.since_syn(now)));
        }
    }

    pub(super) fn send(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        flow.send_window(now, flow.max_burst, out);
    }

    /// ns-2's Vegas sends without `max_burst` what no ACK releases: after a time-out both segments
    /// of its window, and all that a delay of `send_jitter` held back.
    pub(super) fn send_late(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        let burst = if self.as_ns2 { u64::MAX } else { flow.max_burst };
        flow.send_window(now, burst, out);
    }

    pub(super) fn is_repairing(&self, flow: &Flow) -> bool {
        self.worried > 0 || flow.duplicates >= flow.dupack_threshold
    }
}

/// Three quarters of `window`, half of it where the same segment is lost again, at least two.
fn reduced(window: u64, again: bool) -> u64 {
    match window {
        0..=3 => 2,
        _ if again => window / 2,
        _ => window - window / 4,
    }
}
