//! When an ACK goes out: at once, or later (RFC 5681 section 4.2; ns-2 `DelAckSink`).

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::packet_run::PacketRun;

/// The outcome of a run of segments at a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// How many segments it took, from the front.
    pub segments: u32,
    /// The ACKs that go out, each as the segment comes that it acknowledges: without SACK blocks,
    /// and of [`Receiver::ack_size`](crate::Receiver::ack_size).
    pub acks: Option<PacketRun>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AckPolicy {
    /// Segments in order that make an ACK; 1: no delay.
    every: u32,
    timeout: Span,
    /// Segments in order that wait for their ACK.
    waiting: u32,
    deadline: Option<Time>,
}

impl AckPolicy {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            every: if config.delayed_ack { config.delayed_ack_every } else { 1 },
            timeout: config.delayed_ack_timeout,
            waiting: 0,
            deadline: None,
        }
    }

    /// Whether no ACK is ever delayed.
    #[inline]
    pub(super) fn acknowledges_each(&self) -> bool {
        self.every == 1
    }

    /// A segment arrived; returns whether an ACK goes out now. Delayed are those of segments in
    /// order that fill no hole; the SYN and all others are acknowledged at once.
    #[inline]
    pub(super) fn on_segment(&mut self, now: Time, delayable: bool) -> bool {
        if self.acknowledges_each() {
            return true;
        }
        if delayable && self.waiting + 1 < self.every {
            if self.waiting == 0 {
                self.deadline = Some(now.saturating_add(self.timeout));
            }
            self.waiting += 1;
            return false;
        }
        self.waiting = 0;
        self.deadline = None;
        true
    }

    /// The first `count` segments of `run` arrive, in order and behind the SYN: takes those that
    /// come before a delayed ACK is due.
    pub(super) fn on_run(&mut self, run: &PacketRun, count: u32) -> Received {
        let (first, mut segments, mut acks) = (self.every - self.waiting, 0, 0);
        if let Some(due) = self.deadline {
            let in_time = run.by(due.before()).min(count);
            if in_time < first {
                self.waiting += in_time;
                return Received { segments: in_time, acks: None };
            }
            (segments, acks) = (first, 1);
        }
        let (left, in_time) = (count - segments, self.in_time(run.gap));
        if in_time == self.every {
            acks += left / self.every;
            self.waiting = left % self.every;
            segments = count;
        } else {
            self.waiting = left.min(in_time);
            segments += self.waiting;
        }
        let begun = run.time(segments - self.waiting);
        self.deadline = (self.waiting > 0).then(|| begun.saturating_add(self.timeout));
        let acks = (acks > 0).then(|| PacketRun {
            first: run.first + u64::from(first),
            count: acks,
            step: self.every,
            at: run.time(first - 1),
            gap: run.gap.saturating_mul(u64::from(self.every)),
        });
        Received { segments, acks }
    }

    /// How many of the segments that make an ACK come before it is due, a `gap` apart.
    fn in_time(&self, gap: Span) -> u32 {
        let all = gap.saturating_mul(u64::from(self.every - 1)) < self.timeout;
        if all { self.every } else { ((self.timeout.as_ps() - 1) / gap.as_ps()) as u32 + 1 }
    }

    /// The waiting ACK has gone with another packet.
    pub(super) fn cancel(&mut self) {
        self.waiting = 0;
        self.deadline = None;
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Returns whether the delayed ACK goes out now.
    pub(super) fn on_timeout(&mut self, now: Time) -> bool {
        let due = self.deadline.is_some_and(|deadline| now >= deadline);
        if due {
            self.waiting = 0;
            self.deadline = None;
        }
        due
    }
}
