//! SACK recovery that counts the segments in the pipe, as ns-2's agent Sack1 does (Fall and Floyd
//! 1996): one less for each ACK, two for one that makes progress, one more for each segment sent.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::flow::Flow;
use crate::scoreboard::Scoreboard;
use crate::segment::{Ack, Transmission};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SackPipe {
    scoreboard: Scoreboard,
    repairing: bool,
    /// After a time-out SACK blocks are not looked at until there is progress.
    timed_out: bool,
    /// Segments believed to be in the network; negative when more ACKs came than were expected.
    pipe: i64,
    /// One past the highest segment retransmitted since a time-out, or an ACK of all that was
    /// outstanding: each goes once.
    retransmitted: u64,
}

impl SackPipe {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            scoreboard: Scoreboard::new(u64::from(config.window)),
            repairing: false,
            timed_out: false,
            pipe: 0,
            retransmitted: 0,
        }
    }

    pub(super) fn on_ack(
        &mut self,
        flow: &mut Flow,
        now: Time,
        ack: &Ack,
        out: &mut Vec<Transmission>,
    ) {
        if self.repairing {
            self.on_ack_in_recovery(flow, now, ack);
            self.send(flow, now, out);
            return;
        }
        if ack.next > flow.acked {
            flow.accept(now, ack.next);
            flow.grow(now);
            self.timed_out = false;
            self.forget();
        } else if flow.is_duplicate(ack.next) && !self.timed_out {
            self.on_duplicate(flow, now, ack, out);
        }
        if flow.duplicates == 0 {
            self.send(flow, now, out);
        }
    }

    fn forget(&mut self) {
        self.scoreboard.clear();
        self.retransmitted = 0;
    }

    #[inline]
    pub(super) fn on_ack_fast(&mut self) {
        self.timed_out = false;
        self.scoreboard.clear();
    }

    /// Outside recovery an ACK is a duplicate only if its SACK blocks bring news.
    fn on_duplicate(&mut self, flow: &mut Flow, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        if self.scoreboard.update(flow.acked, flow.sent, &ack.sack) == 0 {
            return;
        }
        flow.duplicates = flow.duplicates.saturating_add(1);
        if flow.duplicates == flow.dupack_threshold {
            if flow.may_reduce() {
                self.enter(flow, now, out);
            }
        } else if flow.duplicates < flow.dupack_threshold && flow.limited_transmit {
            flow.send_limited(now, out);
        }
    }

    fn enter(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        let outstanding = flow.sent - flow.acked;
        flow.begin_fast_retransmit();
        flow.restart_for_retransmission(now);
        flow.reduce_window(now);
        // The duplicate ACKs tell of as many segments that left. The retransmission is not counted.
        self.pipe = outstanding as i64 - i64::from(flow.dupack_threshold);
        self.repairing = true;
        self.retransmitted = self.retransmitted.max(flow.acked + 1);
        flow.emit(now, flow.acked, out);
    }

    fn on_ack_in_recovery(&mut self, flow: &mut Flow, now: Time, ack: &Ack) {
        self.pipe -= 1;
        if ack.next >= flow.recover {
            // The ACK that ends recovery does not open the window; the next loss may reduce it.
            flow.accept(now, ack.next);
            flow.recover = 1;
            self.repairing = false;
            self.forget();
        } else if ack.next > flow.acked {
            flow.advance(ack.next);
            self.scoreboard.update(flow.acked, flow.sent, &ack.sack);
            self.pipe -= 1;
            flow.timer.restart(now);
            flow.timer.end_backoff();
        } else {
            self.scoreboard.update(flow.acked, flow.sent, &ack.sack);
        }
    }

    pub(super) fn on_timeout(&mut self, flow: &mut Flow, _: Time) {
        flow.duplicates = 0;
        self.repairing = false;
        self.timed_out = true;
        self.forget();
    }

    /// Outside recovery what the window allows; in it as long as the pipe is shorter than the
    /// window, holes first.
    pub(super) fn send(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        if !self.repairing {
            flow.send_window(now, flow.max_burst, out);
            return;
        }
        let edge = flow.acked + flow.window.receiver;
        // ns-2 asks only whether the pipe has room, not whether there is anything to send.
        if self.pipe < flow.window.cwnd as i64 && flow.hold.holds() {
            return;
        }
        let mut burst = flow.max_burst;
        while burst > 0 && self.pipe < flow.window.cwnd as i64 {
            if let Some(hole) = self.scoreboard.next_hole(self.retransmitted) {
                self.retransmitted = hole + 1;
                flow.emit(now, hole, out);
            } else if flow.next < edge.min(flow.offered.limit) {
                flow.emit(now, flow.next, out);
                flow.next += 1;
            } else {
                break;
            }
            self.pipe += 1;
            burst -= 1;
        }
    }

    /// As [`send`](Self::send) when a delay of `send_jitter` is over, which may be between the
    /// first duplicate ACK and the third: ns-2 then looks for holes first, and sends one only if
    /// there was a time-out since the last recovery; otherwise it stops there.
    pub(super) fn send_late(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        if self.repairing || self.scoreboard.is_empty() || flow.hold.holds() {
            return self.send(flow, now, out);
        }
        let end = (flow.acked + flow.window.segments()).min(flow.offered.limit);
        let mut burst = flow.max_burst;
        while burst > 0 && flow.next < end {
            match self.scoreboard.next_hole(self.retransmitted.max(flow.acked)) {
                Some(hole) if flow.recover > 1 => {
                    self.retransmitted = hole + 1;
                    flow.emit(now, hole, out);
                    flow.next = flow.next.max(hole + 1);
                }
                Some(_) => break,
                None => {
                    flow.emit(now, flow.next, out);
                    flow.next += 1;
                }
            }
            burst -= 1;
        }
    }

    /// Whether the SACK blocks of an ACK say more than is known.
    pub(super) fn learns_from(&self, flow: &Flow, ack: &Ack) -> bool {
        self.scoreboard.learns_from(flow.acked, flow.sent, &ack.sack)
    }

    pub(super) fn is_repairing(&self, _: &Flow) -> bool {
        self.repairing
    }
}
