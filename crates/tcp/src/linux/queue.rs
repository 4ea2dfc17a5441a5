//! The retransmission queue: what was sent and is not acknowledged, the scoreboard of what is
//! reported, lost and sent again of it, and how many segments there were of each.

mod list;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::rate::Stamp;
use crate::segment::SentRun;
use list::List;
pub(crate) use list::{AGAIN, EVER, LAST, LOST, PUSH, PUSHES, Plain, SACKED, SEVERAL, Unacked};

/// Most SACK blocks in an ACK (RFC 2018 section 3).
pub(super) const MOST_BLOCKS: usize = 4;

/// Segments are counted: 0 is the SYN, data are 1, 2, …
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue {
    list: List,
    /// All below are acknowledged.
    acked: u64,
    /// The next segment to be sent for the first time.
    next: u64,
    /// Segments reported, lost, and sent again.
    sacked: u32,
    lost: u32,
    again: u32,
    /// One past the highest segment that was reported.
    sack_high: u64,
    /// What the last ACK with blocks reported.
    blocks: [(u64, u64); MOST_BLOCKS],
    /// No segment below is lost and not sent again.
    repaired: u64,
    /// Segments so far that were delivered, those of them whose ACK echoed a mark, that were taken
    /// for lost, that went out, and that went again.
    delivered: u64,
    marked: u64,
    lost_ever: u64,
    sent_ever: u64,
    again_ever: u64,
}

impl Queue {
    /// The SYN goes.
    pub(super) fn call(&mut self) {
        self.next = 1;
    }

    /// The SYN is acknowledged.
    pub(super) fn open(&mut self) {
        (self.acked, self.next, self.delivered, self.sack_high) = (1, 1, 1, 1);
    }

    /// All below are acknowledged.
    #[inline]
    pub(crate) fn acked(&self) -> u64 {
        self.acked
    }

    /// The next segment to be sent for the first time.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The segments that are outstanding.
    #[inline]
    pub(super) fn all(&self) -> Range<u64> {
        self.list.first()..self.list.end()
    }

    #[inline]
    pub(super) fn outstanding(&self) -> u32 {
        self.list.len() as u32
    }

    /// Segments that are in the network, as far as is known.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        (self.outstanding() + self.again).saturating_sub(self.sacked + self.lost)
    }

    /// Segments reported, lost, and sent again.
    #[inline]
    pub(super) fn counts(&self) -> [u32; 3] {
        [self.sacked, self.lost, self.again]
    }

    /// Segments delivered so far, and taken for lost.
    #[inline]
    pub(super) fn totals(&self) -> (u64, u64) {
        (self.delivered, self.lost_ever)
    }

    /// Segments delivered so far whose ACK echoed a mark.
    #[inline]
    pub(super) fn marked(&self) -> u64 {
        self.marked
    }

    /// Segments that went out so far, and that went again.
    #[inline]
    pub(crate) fn sent(&self) -> (u64, u64) {
        (self.sent_ever, self.again_ever)
    }

    /// The first segment that is taken for lost and was not sent again, and one past the last.
    pub(crate) fn lost_segments(&self) -> Range<u64> {
        let mut lost = self.all().filter(|&seq| self.list.get(seq).is_lost());
        let Some(first) = lost.next() else { return 0..0 };
        first..lost.next_back().unwrap_or(first) + 1
    }

    pub(super) fn get(&self, seq: u64) -> Unacked {
        self.list.get(seq)
    }

    pub(super) fn head(&self) -> Option<Unacked> {
        self.list.head()
    }

    /// When the first segment was last sent, in microseconds.
    #[inline]
    pub(super) fn head_at(&self) -> Option<u64> {
        self.list.head_at()
    }

    /// Whether something is outstanding that was sent again.
    pub(super) fn any_again(&self) -> bool {
        self.again > 0 || self.head().is_some_and(|head| head.is(EVER))
    }

    /// Groups that are outstanding.
    pub(super) fn groups(&self) -> u64 {
        self.list.groups()
    }

    /// Segments that are part of another one in the send buffer.
    pub(super) fn merged(&self) -> u64 {
        self.list.merged()
    }
}

/// What goes out.
impl Queue {
    /// So many packets go out, whatever they are.
    #[inline]
    pub(super) fn count_sent(&mut self, packets: u32) {
        self.sent_ever += u64::from(packets);
    }

    /// The SYN went so many times more than once.
    pub(super) fn count_again(&mut self, times: u32) {
        self.again_ever += u64::from(times);
    }

    /// The next segment goes out; where it ends a push, `push`.
    pub(super) fn send(&mut self, ns: u64, stamp: Stamp, push: bool) {
        self.list.push(self.next, ns, stamp, push);
        self.next += 1;
    }

    /// The next segments go out at one time, each a group of its own.
    #[inline(always)]
    pub(super) fn send_run(&mut self, run: &SentRun, ns: u64, stamp: &Stamp) {
        self.list.push_run(run, ns, stamp);
        self.next += u64::from(run.count);
        self.sent_ever += u64::from(run.count);
    }

    /// The segments that went last were a group.
    pub(super) fn end_group(&mut self, segments: u32, pushes: bool) {
        self.list.end_group(segments, pushes);
    }

    /// Segment `seq` goes again; returns whether it ends a push.
    pub(super) fn send_again(&mut self, seq: u64, ns: u64, stamp: Stamp) -> bool {
        self.again_ever += 1;
        self.list.send_again(seq, ns, stamp);
        self.list.get(seq).is(PUSH)
    }

    /// It goes since it was lost, so that it counts as in flight.
    pub(super) fn repair(&mut self, seq: u64) {
        let sent = self.list.get_mut(seq);
        // One that was sent again before a reduction was taken back is in flight already.
        self.again += u32::from(!sent.is(AGAIN));
        sent.marks |= AGAIN | EVER;
    }

    /// The segments among which are those that are lost and were not sent again.
    pub(super) fn unrepaired(&self) -> Range<u64> {
        self.list.first().max(self.repaired)..self.list.end()
    }

    /// Whether some are.
    #[inline]
    pub(super) fn has_unrepaired(&self) -> bool {
        self.lost > self.again
    }

    /// Segment `seq`, none below which is, if it is.
    pub(super) fn take_unrepaired(&mut self, seq: u64) -> Option<Unacked> {
        self.repaired = seq;
        let sent = self.list.get(seq);
        (sent.is_lost() && !sent.is(AGAIN)).then_some(sent)
    }
}

/// What is heard of it.
impl Queue {
    /// Segments are delivered, by an ACK that echoes a mark where `ece`.
    pub(super) fn count_delivered(&mut self, segments: u32, ece: bool) {
        self.delivered += u64::from(segments);
        if ece {
            self.marked += u64::from(segments);
        }
    }

    /// All below `next` is acknowledged; what is outstanding of it is to be [popped](Self::pop).
    pub(super) fn acknowledge(&mut self, next: u64) {
        self.acked = next;
    }

    /// The first segment, if it is acknowledged.
    pub(super) fn first_acked(&self) -> Option<(u64, Unacked)> {
        let seq = self.list.first();
        (!self.is_empty() && seq < self.acked).then(|| (seq, self.list.get(seq)))
    }

    /// Takes away the first segment.
    pub(super) fn pop(&mut self, sent: &Unacked) {
        self.sacked -= u32::from(sent.is(SACKED));
        self.lost -= u32::from(sent.is(LOST));
        self.again -= u32::from(sent.is(AGAIN));
        self.list.pop();
    }

    /// All below `next` is acknowledged: takes it away if each segment was sent once, in order, and
    /// nothing was heard of it.
    #[inline(always)]
    pub(super) fn take_plain(&mut self, next: u64) -> Option<Plain> {
        let plain = self.list.take_plain(next)?;
        self.acked = next;
        self.delivered += u64::from(plain.count);
        Some(plain)
    }

    /// One past the highest segment reported as received.
    pub(super) fn highest_sacked(&self) -> u64 {
        if self.sacked == 0 { self.acked } else { self.sack_high.max(self.acked) }
    }

    /// Whether what is reported is more than so many segments above what is acknowledged
    /// (`tcp_force_fast_retransmit`).
    pub(super) fn is_reported_beyond(&self, segments: u32) -> bool {
        self.highest_sacked() > self.acked + u64::from(segments)
    }

    /// Blocks come: where none is known yet, what is reported begins anew.
    pub(super) fn begin_reports(&mut self) {
        if self.sacked == 0 {
            self.sack_high = self.acked;
        }
    }

    /// One past the run of segments from `seq` on that the last ACK reported already.
    pub(super) fn known_until(&self, seq: u64) -> Option<u64> {
        let known = self.blocks.iter().find(|block| (block.0..block.1).contains(&seq))?;
        Some(known.1)
    }

    /// These are the blocks of this ACK.
    pub(super) fn note_blocks(&mut self, blocks: impl Iterator<Item = (u64, u64)>) {
        self.blocks = [(0, 0); MOST_BLOCKS];
        self.blocks.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
    }

    /// Segment `seq` is reported for the first time.
    pub(super) fn report(&mut self, seq: u64) {
        let sent = self.list.get(seq);
        let marks = &mut self.list.get_mut(seq).marks;
        if sent.is(LOST) {
            self.lost -= 1;
            self.again -= u32::from(sent.is(AGAIN));
            *marks &= !(LOST | AGAIN);
        }
        *marks |= SACKED;
        // One that went again and is not taken for lost may still be on its way.
        if !sent.is(AGAIN) || sent.is(LOST) {
            self.list.merge(seq);
        }
        self.sacked += 1;
    }

    /// Segment `seq` is in a block, or in one of what arrived twice.
    pub(super) fn end_report(&mut self, seq: u64, duplicate: bool) {
        let sent = self.list.get_mut(seq);
        if duplicate && sent.is(AGAIN) {
            sent.marks &= !AGAIN;
            self.again -= 1;
        }
        if sent.is(SACKED) {
            self.list.unlist(seq);
        }
        self.sack_high = self.sack_high.max(seq + 1);
    }

    /// The delivery of segment `seq` is taken account of.
    pub(super) fn count_once(&mut self, seq: u64) {
        self.list.get_mut(seq).stamp.delivered = None;
    }

    /// Takes segment `seq` for lost, or for lost again; returns how the connection stood when it
    /// was sent, unless that is known already.
    pub(super) fn mark_lost(&mut self, seq: u64) -> Option<Stamp> {
        let sent = self.list.get_mut(seq);
        if sent.is(SACKED) {
            return None;
        }
        self.repaired = self.repaired.min(seq);
        if !sent.is(LOST) {
            sent.marks |= LOST;
            self.lost += 1;
        } else if sent.is(AGAIN) {
            sent.marks &= !AGAIN;
            self.again -= 1;
        } else {
            return None;
        }
        self.lost_ever += 1;
        Some(sent.stamp)
    }

    /// Nothing is lost.
    pub(super) fn unmark_lost(&mut self) {
        for seq in self.all() {
            self.list.get_mut(seq).marks &= !LOST;
        }
        self.lost = 0;
    }

    /// Nothing is reported: the receiver dropped it (RFC 2018 section 8).
    pub(super) fn unmark_reported(&mut self) {
        for seq in self.all() {
            self.list.get_mut(seq).marks &= !SACKED;
        }
        self.blocks = Default::default();
        self.sacked = 0;
    }
}

/// The order of time, in which RACK goes.
impl Queue {
    /// The segment that was sent the longest time ago.
    pub(super) fn oldest(&mut self) -> Option<u64> {
        self.list.spread();
        self.list.oldest()
    }

    /// The one that was sent after `seq`.
    pub(super) fn newer(&self, seq: u64) -> Option<u64> {
        self.list.newer(seq)
    }

    /// Takes a segment out of it, until it is sent again.
    pub(super) fn unlist(&mut self, seq: u64) {
        self.list.unlist(seq);
    }
}

/// Without SACK duplicate ACKs stand for segments that arrived.
impl Queue {
    /// Returns whether they are more than could be of the segments above a hole.
    pub(super) fn add_duplicates(&mut self, count: u32, ece: bool) -> bool {
        if count == 0 {
            return false;
        }
        let before = self.sacked;
        self.sacked += count;
        let many = self.bound_duplicates();
        self.count_delivered(self.sacked.saturating_sub(before), ece);
        many
    }

    /// So many segments are acknowledged, for which some of them stood.
    pub(super) fn remove_duplicates(&mut self, acked: u32, ece: bool) -> bool {
        self.count_delivered(acked.saturating_sub(self.sacked).max(1), ece);
        self.sacked = self.sacked.saturating_sub(acked - 1);
        self.bound_duplicates()
    }

    fn bound_duplicates(&mut self) -> bool {
        let outstanding = self.outstanding();
        let holes = self.lost.max(1).min(outstanding);
        let many = self.sacked + holes > outstanding;
        if many {
            self.sacked = outstanding - holes;
        }
        many
    }

    pub(super) fn forget_duplicates(&mut self) {
        self.sacked = 0;
    }
}
