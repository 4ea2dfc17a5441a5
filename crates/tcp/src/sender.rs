//! The sending endpoint.

use burstlab_units::{Bytes, Span, Time};

use crate::config::Config;
use crate::flow::Flow;
use crate::recovery::Recovery;
use crate::rto::RttView;
use crate::segment::{Ack, Transmission};

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Segments handed to the link, the SYN and retransmissions included.
    pub segments_sent: u64,
    /// Of these, segments that had been sent before.
    pub retransmissions: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Losses found by duplicate ACKs, each of which reduced the window.
    pub fast_retransmits: u64,
    /// ACKs that arrived, whatever they said.
    pub acks: u64,
    /// Of these, ACKs that repeated the cumulative ACK while segments were outstanding.
    pub duplicate_acks: u64,
    /// Of these, ACKs of segments never sent or of nothing at all, which were ignored.
    pub invalid_acks: u64,
}

/// What a sender is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The window is below the slow-start threshold.
    SlowStart,
    /// The window is at or above the threshold.
    CongestionAvoidance,
    /// Losses found by duplicate ACKs are being repaired.
    Recovery,
}

/// The sending endpoint of one connection. See the crate documentation for the order of calls.
///
/// Every call that may send appends to `out`, in the order in which the segments go on the link,
/// and leaves what `out` held before. No call but `new` allocates, unless `out` must grow.
#[derive(Clone, Debug)]
pub struct Sender {
    flow: Flow,
    recovery: Recovery,
    started: bool,
    payload: u64,
    headers: Bytes,
}

impl Sender {
    /// A sender that has nothing to send and has sent nothing.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            flow: Flow::new(config),
            recovery: Recovery::new(config),
            started: false,
            payload: config.segment_size.get().saturating_sub(config.syn_size.get()).max(1),
            headers: config.syn_size,
        }
    }

    /// The application offers data up to `segments` full segments in total, counted since the
    /// beginning (`u64::MAX`: without end); sends what the window allows, once the SYN is
    /// acknowledged. Fewer than before changes nothing.
    pub fn supply(&mut self, now: Time, segments: u64, out: &mut Vec<Transmission>) {
        self.offer(now, segments, None, out);
    }

    /// As [`Sender::supply`], in bytes of data without headers: the last segment has only what
    /// remains. For a transfer that is offered at once, since a segment that has been sent keeps
    /// its size.
    pub fn supply_bytes(&mut self, now: Time, bytes: Bytes, out: &mut Vec<Transmission>) {
        let rest = bytes.get() % self.payload;
        let short = (rest > 0).then(|| self.headers + Bytes::new(rest));
        self.offer(now, bytes.get().div_ceil(self.payload), short, out);
    }

    fn offer(
        &mut self,
        now: Time,
        segments: u64,
        short: Option<Bytes>,
        out: &mut Vec<Transmission>,
    ) {
        if segments < self.flow.limit {
            return;
        }
        self.flow.offer(segments, short);
        if self.flow.acked > 0 {
            self.flow.end_idleness(now);
            self.recovery.send(&mut self.flow, now, out);
        }
    }

    /// Opens the connection: sends the SYN. A second call does nothing.
    pub fn start(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if !self.started {
            self.started = true;
            self.recovery.send(&mut self.flow, now, out);
        }
    }

    /// An ACK arrives. Any content is taken: what contradicts what was sent is ignored.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        self.flow.counters.acks += 1;
        if ack.next == 0 || ack.next > self.flow.sent {
            self.flow.counters.invalid_acks += 1;
            return;
        }
        if ack.next == self.flow.acked && self.flow.acked < self.flow.sent {
            self.flow.counters.duplicate_acks += 1;
        }
        self.recovery.on_ack(&mut self.flow, now, ack, out);
    }

    /// When [`Sender::on_timeout`] is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.flow.timer.deadline()
    }

    /// The retransmission timer runs out. Does nothing before the deadline.
    pub fn on_timeout(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if self.flow.timer.deadline().is_some_and(|deadline| now >= deadline) {
            // Every time-out counts as a loss: here is where a detector of false ones would speak.
            self.recovery.on_timeout(&mut self.flow);
            self.flow.time_out(now);
            self.recovery.send(&mut self.flow, now, out);
        }
    }

    /// What was done so far.
    #[must_use]
    pub fn counters(&self) -> &SenderCounters {
        &self.flow.counters
    }

    /// Congestion window in segments, without the inflation of fast recovery.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.flow.window.cwnd
    }

    /// Slow-start threshold in segments.
    #[must_use]
    pub fn ssthresh(&self) -> f64 {
        self.flow.window.ssthresh
    }

    /// Segments sent and not covered by the cumulative ACK, lost ones included.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.flow.sent - self.flow.acked
    }

    /// The last segment that the cumulative ACK covers; `None` before the SYN is acknowledged.
    #[must_use]
    pub fn highest_acked(&self) -> Option<u64> {
        self.flow.acked.checked_sub(1)
    }

    /// What the sender is doing.
    #[must_use]
    pub fn state(&self) -> State {
        if self.recovery.is_repairing(&self.flow) {
            State::Recovery
        } else if self.flow.window.cwnd < self.flow.window.ssthresh {
            State::SlowStart
        } else {
            State::CongestionAvoidance
        }
    }

    /// What was learnt of the round-trip time.
    #[must_use]
    pub fn rtt(&self) -> RttView {
        self.flow.timer.view()
    }

    /// The time-out that the timer would be set to now, back-off included.
    #[must_use]
    pub fn rto(&self) -> Span {
        self.flow.timer.rto()
    }

    /// Whether all data offered so far are acknowledged, the SYN too.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.flow.acked >= self.flow.limit
    }
}
