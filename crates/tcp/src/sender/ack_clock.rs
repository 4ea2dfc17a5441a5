//! The fast path of the classic sender: a run of ACKs, each of which releases new segments.
//!
//! `Classic::begin_run` checks that nothing is being repaired, and that each ACK is new, has no
//! SACK blocks and covers segments sent before the run. Such an ACK changes only the window, the
//! timer and the next segment. These are copied to an `AckClock`, so that the loop over the ACKs
//! works on local values, and written back at the end. ACKs that do more are `rare`: that of the
//! timed segment, that of all segments sent, or any ACK where the law needs more than ACKs. The
//! sender itself takes those. The first ACK that does not come before the timer ends the run. Tests
//! compare a run with ACKs that come alone.

use std::ops::Range;

use burstlab_units::{Span, Time};

use super::classic::Classic;
use crate::packet_run::PacketRun;
use crate::window::Window;

/// A sender that hears a run of ACKs on the fast path, from [`Classic::begin_run`] to
/// [`Classic::end_run`].
#[derive(Debug, Default)]
pub struct AckClock {
    /// The first ACK that needs more than the fast path: the ACK of the timed segment, or the ACK
    /// of all data sent. If the next ACK ends a back-off, or the window is not `plain`, every ACK
    /// does.
    rare: u64,
    /// Whether the window goes by ACKs alone; else the sender keeps all that they change.
    plain: bool,
    /// One past the highest segment sent.
    sent: u64,
    /// Before the run.
    sent_before: u64,
    limit: u64,
    max_burst: u64,
    cwnd: f64,
    ssthresh: f64,
    /// Segments by which a round trip of ACKs opens the window above `ssthresh`.
    alpha: f64,
    /// The receiver's window, to compare with `cwnd`, and with what `inflation` adds to that.
    edge: f64,
    receiver: u64,
    inflation: u64,
    /// Whether `cwnd` stays within the receiver's window.
    limited: bool,
    /// Whether the next segment that goes is to be timed.
    times: bool,
    due: Time,
    rto: Span,
}

impl AckClock {
    /// Congestion window in segments, as [`Sender::cwnd`](crate::Sender::cwnd).
    #[inline]
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Slow-start threshold in segments, as [`Sender::ssthresh`](crate::Sender::ssthresh).
    #[inline]
    #[must_use]
    pub fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Whether the sender itself takes the ACK that asks for `next`. Then all of its state is as
    /// after that ACK; else only what the clock keeps has changed.
    #[inline]
    #[must_use]
    pub fn is_rare(&self, next: u64) -> bool {
        next >= self.rare
    }

    /// Segments sent and not covered by the ACK that asks for `next`, as
    /// [`Sender::in_flight`](crate::Sender::in_flight).
    #[inline]
    #[must_use]
    pub fn in_flight(&self, next: u64) -> u64 {
        self.sent - next
    }

    /// The sender that began the run hears its next ACK. Returns the segments that this lets go, in
    /// order, all for the first time, each of its [size](Classic::segment_size). `None`: the timer
    /// runs out before.
    #[inline(always)]
    pub fn take(&mut self, sender: &mut Classic, now: Time, next: u64) -> Option<Range<u64>> {
        if self.due <= now {
            return None;
        }
        if next >= self.rare {
            return Some(self.take_rare(sender, now, next));
        }
        self.due = now.saturating_add(self.rto);
        let by = if self.cwnd < self.ssthresh { 1.0 } else { self.alpha / self.cwnd.max(1.0) };
        self.cwnd += by;
        if self.limited {
            self.cwnd = self.cwnd.min(self.edge);
        }
        let mut room = self.receiver;
        if self.cwnd < self.edge {
            // So it is below 2^32, and converted faster.
            room = u64::from(self.cwnd as u32).saturating_add(self.inflation).min(room);
        }
        let first = self.sent;
        let end = (next + room).min(self.limit).min(first.saturating_add(self.max_burst));
        if end <= first {
            return Some(first..first);
        }
        self.sent = end;
        if self.times {
            sender.flow.timer.on_first_transmission(now, first);
            (self.times, self.rare) = (false, first + 1);
        }
        Some(first..end)
    }

    /// The same by the sender itself.
    #[inline(never)]
    fn take_rare(&mut self, sender: &mut Classic, now: Time, next: u64) -> Range<u64> {
        if self.plain {
            self.hand_back(sender);
            let segments = sender.goes_on(now, next);
            *self = sender.clock();
            return segments;
        }
        let segments = sender.goes_on(now, next);
        let Window { cwnd, ssthresh, .. } = sender.flow.window;
        (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
        self.due = sender.flow.timer.deadline().unwrap_or(Time::MAX);
        segments
    }

    /// Writes the state after the ACKs so far back to the sender, except the acknowledged segments.
    #[inline]
    fn hand_back(&self, sender: &mut Classic) {
        let flow = &mut sender.flow;
        flow.counters.segments_sent += self.sent - self.sent_before;
        (flow.next, flow.sent) = (self.sent, self.sent);
        flow.window.cwnd = self.cwnd;
        if self.due < Time::MAX {
            flow.timer.set_deadline(self.due);
        }
    }
}

impl Classic {
    /// ACKs of `run`, without SACK blocks, arrive. Taken are those in front that are there at
    /// `until` or before, and before the retransmission timer runs out, where nothing is being
    /// repaired, no ACK was a duplicate, no detector of Python listens, nothing is held back, and
    /// each ACK covers segments that had been sent before the run and were not acknowledged, while
    /// more is to follow; the caller sees to it that nothing else happens to the sender by then.
    ///
    /// Returns a clock that [takes](AckClock::take) them one by one, and how many at most. Once the
    /// run is [over](Self::end_run) all is as if each had come alone to
    /// [`on_ack`](crate::Sender::on_ack).
    #[inline(always)]
    pub fn begin_run(&mut self, run: &PacketRun, until: Time) -> (AckClock, u32) {
        let (mut clock, count) = (self.clock(), self.takes_at_most(run, until));
        if count > 0 && clock.rare > 0 && clock.due > run.at {
            self.recovery.on_ack_fast(&mut self.flow, run.first);
            clock.inflation = self.flow.window.inflation;
        }
        (clock, count)
    }

    /// The clock has taken so many ACKs of `run`.
    #[inline(always)]
    pub fn end_run(&mut self, clock: &AckClock, run: &PacketRun, acks: u32) {
        if acks == 0 {
            return;
        }
        if clock.plain {
            let last = run.number(acks - 1);
            clock.hand_back(self);
            self.flow.acked = last;
            self.recovery.on_ack_fast(&mut self.flow, last);
        }
        self.took(acks);
    }

    #[inline]
    fn clock(&self) -> AckClock {
        let (flow, window) = (&self.flow, &self.flow.window);
        let (timed, rto) = (flow.timer.timed(), flow.timer.rto());
        let plain = flow.delays.is_none() && window.goes_by_acks();
        let rare = match timed {
            _ if !plain || flow.acked == 0 || flow.timer.awaits_progress() => 0,
            Some(seq) => seq + 1,
            None => flow.sent,
        };
        AckClock {
            rare,
            plain,
            sent: flow.sent,
            sent_before: flow.sent,
            limit: flow.offered.limit,
            max_burst: flow.max_burst,
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            alpha: window.alpha(),
            edge: window.edge,
            receiver: window.receiver,
            inflation: window.inflation,
            limited: window.limited,
            times: timed.is_none(),
            due: flow.timer.deadline().unwrap_or(Time::MAX),
            rto,
        }
    }
}
