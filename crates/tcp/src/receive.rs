//! The receiving endpoint.

mod delayed;
mod full;
pub(crate) mod linux;
mod piggyback;
mod sack_history;

use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use crate::bitmap::Bitmap;
use crate::config::{Config, Variant};
use crate::packet_run::PacketRun;
use crate::segment::{Ack, SackBlocks};
use delayed::AckPolicy;
use linux::Answers;
use sack_history::SackHistory;

/// The receiving endpoint of one connection: puts segments in order and acknowledges them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receiver {
    arrived: Bitmap,
    /// The segment it waits for: all below have arrived.
    next: u64,
    /// One past the highest segment that arrived.
    high: u64,
    window: u64,
    /// What SACK blocks are made from; `None`: the receiver sends none.
    history: Option<SackHistory>,
    policy: AckPolicy,
    duplicates: u64,
    ack_size: Bytes,
    sack_block_size: Bytes,
    /// Answers in place of `policy`, if it is there.
    answers: Option<Box<Answers>>,
}

/// What a receiver did with a run of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// How many segments it took, from the front.
    pub segments: u32,
    /// The ACKs that go out, each as the segment comes that it acknowledges: without SACK blocks,
    /// and of [`Receiver::ack_size`].
    pub acks: Option<PacketRun>,
}

impl Receiver {
    /// A receiver that waits for the SYN.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let window = u64::from(config.window);
        Self {
            arrived: Bitmap::new(window),
            next: 0,
            high: 0,
            window,
            history: (config.variant == Variant::Sack)
                .then(|| SackHistory::new(usize::from(config.sack_blocks))),
            policy: AckPolicy::new(config),
            duplicates: 0,
            ack_size: config.ack_size,
            sack_block_size: config.sack_block_size,
            answers: (config.variant == Variant::Linux).then(|| Box::new(Answers::new(config))),
        }
    }

    /// Segment `seq` arrives. Returns the ACK that goes out at once, if one does. A segment beyond
    /// the window is dropped and acknowledged like a duplicate (RFC 9293 section 3.10.7.4).
    pub fn on_segment(&mut self, now: Time, seq: u64) -> Option<Ack> {
        let fills_hole = seq.saturating_add(1) < self.high;
        self.store(seq);
        let in_order = seq.saturating_add(1) == self.next;
        let delayable = in_order && !fills_hole && seq > 0;
        self.policy.on_segment(now, delayable).then(|| self.acknowledge(seq))
    }

    /// Segments of `run` arrive. Takes those in front that come in order, none having arrived
    /// before its turn, at `until` or before, and before a delayed ACK is due; the caller sees to
    /// it that nothing else happens to the receiver by then. All is as if each had come alone to
    /// [`on_segment`](Self::on_segment). Of a run that begins with the SYN only the SYN is taken
    /// where ACKs are delayed, since its own is not.
    #[inline(always)]
    pub fn take(&mut self, run: &PacketRun, until: Time) -> Received {
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

    /// Whether segment `seq` is the one it waits for, and none arrived before its turn.
    #[inline]
    #[must_use]
    pub fn takes_fast(&self, seq: u64) -> bool {
        seq == self.next && self.high <= self.next && self.answers.is_none()
    }

    /// As [`Receiver::on_segment`], for a segment that it [takes on the
    /// fast path](Self::takes_fast): whether an ACK of all below [`next`](Self::next) goes out,
    /// of [`ack_size`](Self::ack_size), without SACK blocks.
    #[inline(always)]
    pub fn on_segment_fast(&mut self, now: Time, seq: u64) -> bool {
        debug_assert!(self.takes_fast(seq), "a segment on the fast path");
        self.arrived_in_order(seq + 1);
        self.policy.on_segment(now, seq > 0)
    }

    /// Whether every segment is acknowledged as it arrives.
    #[inline]
    #[must_use]
    pub fn acknowledges_each(&self) -> bool {
        self.policy.acknowledges_each()
    }

    /// As [`Receiver::on_segment_fast`] for all segments below `next` in order, where it
    /// [acknowledges each](Self::acknowledges_each).
    #[inline]
    pub fn on_run_fast(&mut self, next: u64) {
        debug_assert!(self.acknowledges_each() && self.high <= self.next && self.next <= next);
        self.arrived_in_order(next);
    }

    /// All below `next` has arrived, and nothing above.
    #[inline]
    fn arrived_in_order(&mut self, next: u64) {
        // There is nothing to report: the ACK that ended the last disorder went out at once.
        debug_assert!(self.history.as_ref().is_none_or(SackHistory::is_empty));
        (self.next, self.high) = (next, next);
    }

    /// Whether segment `seq` comes behind a gap, and is beyond all that arrived.
    #[inline]
    #[must_use]
    pub fn takes_behind(&self, seq: u64) -> bool {
        let within = seq > self.next && seq - self.next < self.window;
        within && seq >= self.high && self.answers.is_none()
    }

    /// Segments of `run` arrive [behind a gap](Self::takes_behind). Takes those in front that are
    /// in order and come at `until` or before, and before a delayed ACK is due; the caller sees to
    /// it that nothing else happens to the receiver by then. Returns how many, and the ACK that
    /// goes out as the first of them comes. Each of the others has the same as it comes, but that
    /// the first SACK block, if there is one, is longer by a segment each time. All is as if each
    /// had come alone to [`on_segment`](Self::on_segment).
    pub fn take_behind(&mut self, run: &PacketRun, until: Time) -> Option<(u32, Ack)> {
        let due = self.poll_timeout().is_some_and(|due| due <= run.at);
        let ordered = if run.step == 1 { run.count } else { 1 };
        let count = run.by(until).min(ordered);
        if due || count == 0 || !self.takes_behind(run.first) {
            return None;
        }
        let count = u64::from(count).min(self.window - (run.first - self.next));
        let ack = self.on_segment(run.at, run.first)?;
        let end = run.first + count;
        self.arrived.insert(run.first, end);
        self.high = end;
        if let Some(history) = &mut self.history {
            history.extend(end);
        }
        Some((count as u32, ack))
    }

    /// The segment it waits for: all below have arrived.
    #[inline]
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Size of an ACK without SACK blocks.
    #[inline]
    #[must_use]
    pub fn ack_size(&self) -> Bytes {
        self.ack_size
    }

    fn store(&mut self, seq: u64) {
        if self.holds(seq) {
            self.duplicates += 1;
            return;
        }
        if seq - self.next >= self.window {
            return;
        }
        self.high = self.high.max(seq + 1);
        if seq > self.next {
            self.arrived.insert(seq, seq + 1);
        } else {
            let next = self.arrived.first_absent(seq + 1, self.high);
            self.arrived.remove(seq + 1, next);
            self.next = next;
        }
    }

    /// Whether segment `seq` has arrived.
    #[must_use]
    pub fn holds(&self, seq: u64) -> bool {
        seq < self.next || (seq < self.high && self.arrived.contains(seq))
    }

    /// When [`Receiver::on_timeout`] is due.
    #[must_use]
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        match &self.answers {
            None => self.policy.deadline(),
            Some(answers) => answers.deadline(),
        }
    }

    /// The delayed ACK is due. Does nothing before the deadline.
    pub fn on_timeout(&mut self, now: Time) -> Option<Ack> {
        self.policy.on_timeout(now).then(|| self.acknowledge(self.next.saturating_sub(1)))
    }

    /// Data segments delivered in order to the application, the SYN and a FIN alone not counted.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        let fin = self.answers.as_ref().and_then(|answers| answers.fin());
        let ends = fin.is_some_and(|fin| fin < self.next);
        self.next.saturating_sub(1 + u64::from(ends))
    }

    /// What has arrived before its turn: runs of segments, each from one up to but not including
    /// another.
    #[must_use]
    pub fn early(&self) -> Vec<(u64, u64)> {
        let mut runs = Vec::new();
        let mut seq = self.next;
        while seq < self.high {
            let end = self.arrived.first_absent(seq, self.high);
            if end > seq {
                runs.push((seq, end));
            }
            seq = end + 1;
        }
        runs
    }

    /// Segments that arrived though they had arrived before.
    #[must_use]
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// The ACK for the arrival of segment `seq`.
    fn acknowledge(&mut self, seq: u64) -> Ack {
        let mut sack = SackBlocks::NONE;
        if let Some(history) = &mut self.history {
            if self.next >= self.high {
                history.clear();
            } else if !(self.next..self.high).contains(&seq) || !self.arrived.contains(seq) {
                sack = history.report((0, self.next));
            } else {
                let left = self.arrived.run_start(self.next, seq + 1);
                let right = self.arrived.first_absent(seq, self.high);
                sack = history.report((left, right));
            }
        }
        let blocks = Bytes::new(self.sack_block_size.get() * sack.len() as u64);
        Ack { next: self.next, sack, size: self.ack_size + blocks }
    }
}
