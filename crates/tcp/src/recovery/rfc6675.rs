//! SACK recovery of RFC 6675. Names in quotes are those of the RFC.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::flow::Flow;
use crate::scoreboard::Scoreboard;
use crate::segment::{Ack, SackBlocks, Transmission};

use super::ncr::Ncr;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rfc6675 {
    scoreboard: Scoreboard,
    repairing: bool,
    /// One past the highest segment retransmitted in this recovery: "HighRxt" + 1.
    retransmitted: u64,
    /// Above which cumulative ACK a rescue retransmission is allowed: "RescueRxt" + 1.
    rescued: u64,
    ncr: Option<Ncr>,
}

impl Rfc6675 {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            scoreboard: Scoreboard::new(u64::from(config.window)),
            repairing: false,
            retransmitted: 0,
            rescued: 0,
            ncr: Ncr::new(config),
        }
    }

    pub(super) fn on_ack(
        &mut self,
        flow: &mut Flow,
        now: Time,
        ack: &Ack,
        out: &mut Vec<Transmission>,
    ) {
        let progress = ack.next > flow.acked;
        let news = self.scoreboard.update(flow.acked.max(ack.next), flow.sent, &ack.sack) > 0;
        if self.repairing && ack.next >= flow.recover {
            flow.accept(now, ack.next);
            self.repairing = false;
        } else if self.repairing && progress {
            flow.advance(ack.next);
            flow.restart_timer(now);
        } else if progress {
            flow.accept(now, ack.next);
            self.grow(flow, now);
        } else if !self.repairing && news && flow.acked < flow.sent {
            self.on_duplicate(flow, now, out);
        }
        if self.repairing || flow.duplicates == 0 {
            self.send(flow, now, out);
        }
    }

    #[inline]
    pub(super) fn on_ack_fast(&mut self, flow: &Flow, next: u64) {
        self.scoreboard.update(next, flow.sent, &SackBlocks::NONE);
    }

    /// An ACK of new data, before which duplicate ACKs may have come, opens the window.
    fn grow(&mut self, flow: &mut Flow, now: Time) {
        match self.ncr.as_mut().and_then(|ncr| ncr.end(flow.flight())) {
            Some((cwnd, ssthresh)) => flow.window.go_on(cwnd, ssthresh),
            None => flow.grow(now),
        }
    }

    /// Section 5, before recovery: a duplicate ACK is one whose SACK blocks bring news.
    fn on_duplicate(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        flow.duplicates = flow.duplicates.saturating_add(1);
        let threshold = self.ncr.as_mut().map_or(flow.dupack_threshold, |ncr| ncr.threshold(flow));
        let lost = self.scoreboard.nth_highest(threshold).is_some_and(|below| flow.acked < below);
        if (flow.duplicates >= threshold || lost) && flow.may_reduce() {
            self.enter(flow, now, out);
        } else if let Some(ncr) = &mut self.ncr {
            self.retransmitted = flow.acked;
            let edge = flow.offered.limit.min(flow.acked + flow.window.receiver);
            let pipe = self.scoreboard.missing(flow.acked, flow.next);
            if flow.next == flow.sent && flow.next < edge && ncr.releases(pipe) {
                flow.emit(now, flow.next, out);
                flow.next += 1;
                flow.limited_transmissions += 1;
            }
        } else if flow.limited_transmit && flow.next == flow.sent {
            // Step (3): new segments while the window has room for more than the pipe.
            self.retransmitted = flow.acked;
            let edge = flow.offered.limit.min(flow.acked + flow.window.receiver);
            while flow.next < edge && self.pipe(flow) < flow.window.cwnd as u64 {
                flow.emit(now, flow.next, out);
                flow.next += 1;
                flow.limited_transmissions += 1;
            }
        }
    }

    /// Step (4). No segment is rescued before all else has been tried once.
    fn enter(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        self.ncr.as_mut().and_then(|ncr| ncr.end(0));
        flow.begin_fast_retransmit();
        flow.reduce_window(now);
        flow.restart_for_retransmission(now);
        self.repairing = true;
        self.rescued = 0;
        self.retransmitted = flow.acked + 1;
        flow.emit(now, flow.acked, out);
    }

    /// "IsLost": segments below this that were not reported have as many reported ones above them
    /// as duplicate ACKs make a loss.
    fn lost_below(&self, flow: &Flow) -> u64 {
        self.scoreboard.nth_highest(flow.dupack_threshold).unwrap_or(flow.acked)
    }

    /// "SetPipe": what is not reported and not lost, and what was retransmitted.
    fn pipe(&self, flow: &Flow) -> u64 {
        self.scoreboard.missing(self.lost_below(flow), flow.next)
            + self.scoreboard.missing(flow.acked, self.retransmitted)
    }

    pub(super) fn on_timeout(&mut self, flow: &mut Flow, _: Time) {
        flow.duplicates = 0;
        self.repairing = false;
        self.ncr.as_mut().and_then(|ncr| ncr.end(0));
        // RFC 2018 section 8: the receiver may have discarded what it reported.
        self.scoreboard.clear();
    }

    pub(super) fn send(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        if self.repairing {
            self.send_in_recovery(flow, now, out);
        } else if self.scoreboard.is_empty() {
            flow.send_window(now, flow.max_burst, out);
        } else {
            self.send_missing(flow, now, out);
        }
    }

    /// Step (C): while the window has room for more than the pipe, the segment of "NextSeg".
    fn send_in_recovery(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        let mut pipe = self.pipe(flow);
        if pipe < flow.window.cwnd as u64 && flow.hold.holds() {
            return;
        }
        let mut burst = flow.max_burst;
        while burst > 0 && pipe < flow.window.cwnd as u64 {
            let edge = flow.offered.limit.min(flow.acked + flow.window.receiver);
            let hole = self.scoreboard.next_hole(self.retransmitted);
            let lost_below = self.lost_below(flow);
            if let Some(lost) = hole.filter(|&seq| seq < lost_below) {
                // Rule (1). It was not in the pipe, being lost, and now it is.
                self.retransmitted = lost + 1;
                flow.emit(now, lost, out);
            } else if flow.next < edge {
                // Rule (2).
                flow.emit(now, flow.next, out);
                flow.next += 1;
            } else if let Some(missing) = hole {
                // Rule (3).
                self.retransmitted = missing + 1;
                flow.emit(now, missing, out);
            } else if flow.acked >= self.rescued {
                // Rule (4), once for each recovery unless that arrived.
                self.rescued = flow.recover;
                match self.scoreboard.highest_missing(flow.sent) {
                    Some(last) => flow.emit(now, last, out),
                    None => break,
                }
            } else {
                break;
            }
            pipe += 1;
            burst -= 1;
        }
    }

    /// Go back N after a time-out, passing over what has been reported since.
    fn send_missing(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        let end = (flow.acked + flow.window.segments()).min(flow.offered.limit);
        if flow.next < end && flow.hold.holds() {
            return;
        }
        let mut burst = flow.max_burst;
        while burst > 0 && flow.next < end {
            if !(flow.next < flow.sent && self.scoreboard.contains(flow.next)) {
                flow.emit(now, flow.next, out);
                burst -= 1;
            }
            flow.next += 1;
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
