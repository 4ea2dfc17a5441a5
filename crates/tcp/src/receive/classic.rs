//! A receiver whose ACKs go at once or later, with SACK blocks or without, and carry nothing else.

use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::arrived::Arrived;
use super::delayed::{AckPolicy, Received};
use super::sack_history::SackHistory;
use crate::config::{Config, Variant};
use crate::packet_run::PacketRun;
use crate::segment::{Ack, SackBlocks};

/// Its methods are those of [`Receiver`](crate::Receiver).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClassicReceiver {
    pub(super) arrived: Arrived,
    /// The history that SACK blocks are made from; `None`: the receiver sends none.
    history: Option<SackHistory>,
    pub(super) policy: AckPolicy,
    pub(super) ack_size: Bytes,
    sack_block_size: Bytes,
}

impl ClassicReceiver {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            arrived: Arrived::new(u64::from(config.window)),
            history: (config.variant == Variant::Sack)
                .then(|| SackHistory::new(usize::from(config.sack_blocks))),
            policy: AckPolicy::new(config),
            ack_size: config.ack_size,
            sack_block_size: config.sack_block_size,
        }
    }

    pub(super) fn on_segment(&mut self, now: Time, seq: u64) -> Option<Ack> {
        let fills_hole = seq.saturating_add(1) < self.arrived.high;
        self.arrived.store(seq);
        let in_order = seq.saturating_add(1) == self.arrived.next;
        let delayable = in_order && !fills_hole && seq > 0;
        self.policy.on_segment(now, delayable).then(|| self.acknowledge(seq))
    }

    #[inline(always)]
    pub(super) fn take(&mut self, run: &PacketRun, until: Time) -> Received {
        if !self.takes_fast(run.first) {
            return Received::default();
        }
        let ordered = if run.step == 1 { run.count } else { 1 };
        let count = run.by(until).min(ordered);
        if !self.acknowledges_each() {
            return self.take_delaying(run, count);
        }
        if count == 0 {
            return Received::default();
        }
        self.on_run_fast(run.first + u64::from(count));
        let acks = PacketRun { first: run.first + 1, count, ..*run };
        Received { segments: count, acks: Some(acks) }
    }

    /// As [`take`](Self::take) for the first `count` segments, where ACKs are delayed.
    #[inline(always)]
    fn take_delaying(&mut self, run: &PacketRun, count: u32) -> Received {
        if self.poll_timeout().is_some_and(|due| due <= run.at) {
            return Received::default();
        }
        if count > 1 && run.first > 0 {
            let received = self.policy.on_run(run, count);
            self.arrived_in_order(run.first + u64::from(received.segments));
            return received;
        }
        let acks = count > 0 && self.on_segment_fast(run.at, run.first);
        let ack = PacketRun { first: run.first + 1, count: 1, ..*run };
        Received { segments: count.min(1), acks: acks.then_some(ack) }
    }

    #[inline]
    pub(super) fn takes_fast(&self, seq: u64) -> bool {
        seq == self.arrived.next && !self.arrived.has_early()
    }

    #[inline(always)]
    fn on_segment_fast(&mut self, now: Time, seq: u64) -> bool {
        debug_assert!(self.takes_fast(seq), "a segment on the fast path");
        self.arrived_in_order(seq + 1);
        self.policy.on_segment(now, seq > 0)
    }

    #[inline]
    pub(super) fn acknowledges_each(&self) -> bool {
        self.policy.acknowledges_each()
    }

    #[inline]
    fn on_run_fast(&mut self, next: u64) {
        debug_assert!(self.acknowledges_each() && !self.arrived.has_early());
        debug_assert!(self.arrived.next <= next, "all that arrived stays so");
        self.arrived_in_order(next);
    }

    #[inline]
    fn arrived_in_order(&mut self, next: u64) {
        // There is nothing to report: the ACK that ended the last disorder went out at once.
        debug_assert!(self.history.as_ref().is_none_or(SackHistory::is_empty));
        self.arrived.in_order(next);
    }

    #[inline]
    pub(super) fn takes_behind(&self, seq: u64) -> bool {
        seq > self.arrived.next && !self.arrived.is_beyond(seq) && seq >= self.arrived.high
    }

    pub(super) fn take_behind(&mut self, run: &PacketRun, until: Time) -> Option<(u32, Ack)> {
        let due = self.poll_timeout().is_some_and(|due| due <= run.at);
        let ordered = if run.step == 1 { run.count } else { 1 };
        let count = run.by(until).min(ordered);
        if due || count == 0 || !self.takes_behind(run.first) {
            return None;
        }
        let count = u64::from(count).min(self.arrived.within(run.first));
        let ack = self.on_segment(run.at, run.first)?;
        let end = run.first + count;
        self.arrived.extend(run.first, end);
        if let Some(history) = &mut self.history {
            history.extend(end);
        }
        Some((count as u32, ack))
    }

    /// See [`Receiver::piggyback`](crate::Receiver::piggyback).
    pub(super) fn piggyback(&mut self) -> Option<Ack> {
        let last = self.arrived.next.checked_sub(1)?;
        self.policy.cancel();
        Some(self.acknowledge(last))
    }

    #[inline]
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.policy.deadline()
    }

    pub(super) fn on_timeout(&mut self, now: Time) -> Option<Ack> {
        let last = self.arrived.next.saturating_sub(1);
        self.policy.on_timeout(now).then(|| self.acknowledge(last))
    }

    /// The ACK for the arrival of segment `seq`.
    fn acknowledge(&mut self, seq: u64) -> Ack {
        let (next, mut sack) = (self.arrived.next, SackBlocks::NONE);
        if let Some(history) = &mut self.history {
            if self.arrived.has_early() {
                sack = history.report(self.arrived.run(seq).unwrap_or((0, next)));
            } else {
                history.clear();
            }
        }
        let blocks = Bytes::new(self.sack_block_size.get() * sack.len() as u64);
        Ack { next, sack, size: self.ack_size + blocks }
    }
}
