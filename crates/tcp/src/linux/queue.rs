//! The retransmission queue: segments that were sent and are not acknowledged, the scoreboard of
//! what is reported, lost and sent again of it, and how many segments there were of each.

mod list;
mod segment;

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::rate::Stamp;
use segment::SegmentRun;
pub(crate) use segment::{AGAIN, EVER, LAST, LOST, PUSHES, Plain, SACKED, SEVERAL, Unacked};

/// Most SACK blocks in an ACK (RFC 2018 section 3).
pub(super) const MOST_BLOCKS: usize = 4;

/// Segments are counted: 0 is the SYN, data are 1, 2, …
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Queue {
    segments: VecDeque<Unacked>,
    /// The segments that follow these, in order of numbers and of time, as runs. A run is expanded
    /// to segments when news of one of them comes, or when something else is sent.
    runs: VecDeque<SegmentRun>,
    /// The first segment that is outstanding, and the next to be sent for the first time.
    first: u64,
    next: u64,
    /// Where the order of time begins and ends.
    oldest: u64,
    newest: u64,
    groups: u64,
    merged: u64,
    /// All below are acknowledged.
    acked: u64,
    /// Segments reported, lost, and sent again.
    sacked: u32,
    lost: u32,
    again: u32,
    /// One past the highest segment that was reported.
    sack_high: u64,
    /// The blocks of the last ACK that had any.
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

/// The same however much of it is spread.
impl fmt::Debug for Queue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = self.clone();
        all.spread();
        let Self { segments, first, next, oldest, newest, groups, merged, acked, .. } = &all;
        let Self { sacked, lost, again, sack_high, blocks, repaired, .. } = &all;
        let Self { delivered, marked, lost_ever, sent_ever, again_ever, .. } = &all;
        let order = (segments, first, next, oldest, newest, groups, merged);
        let board = (acked, sacked, lost, again, sack_high, blocks, repaired);
        let totals = (delivered, marked, lost_ever, sent_ever, again_ever);
        write!(formatter, "Queue {{ {order:?}, {board:?}, {totals:?} }}")
    }
}

impl Queue {
    /// The SYN goes.
    pub(super) fn call(&mut self) {
        (self.first, self.next) = (1, 1);
    }

    /// The SYN is acknowledged.
    pub(super) fn open(&mut self) {
        self.call();
        (self.acked, self.delivered, self.sack_high) = (1, 1, 1);
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
        let mut lost = self.all().filter(|&seq| self.get(seq).is_lost());
        let Some(first) = lost.next() else { return 0..0 };
        first..lost.next_back().unwrap_or(first) + 1
    }

    /// Whether something is outstanding that was sent again.
    pub(super) fn any_again(&self) -> bool {
        self.again > 0 || self.head().is_some_and(|head| head.is(EVER))
    }
}

/// Segments that go out.
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

    /// It goes since it was lost, so that it counts as in flight.
    pub(super) fn repair(&mut self, seq: u64) {
        // One that was sent again before a reduction was taken back is in flight already.
        self.again += u32::from(!self.get(seq).is(AGAIN));
        self.get_mut(seq).marks |= AGAIN | EVER;
    }

    /// The segments among which are those that are lost and were not sent again.
    pub(super) fn unrepaired(&self) -> Range<u64> {
        self.first.max(self.repaired)..self.next
    }

    /// Whether some are.
    #[inline]
    pub(super) fn has_unrepaired(&self) -> bool {
        self.lost > self.again
    }

    /// Segment `seq`, none below which is, if it is.
    pub(super) fn take_unrepaired(&mut self, seq: u64) -> Option<Unacked> {
        self.repaired = seq;
        let sent = self.get(seq);
        (sent.is_lost() && !sent.is(AGAIN)).then_some(sent)
    }
}

/// ACKs of them.
impl Queue {
    /// Segments are delivered, by an ACK that echoes a mark where `ece`.
    pub(super) fn count_delivered(&mut self, segments: u32, ece: bool) {
        self.delivered += u64::from(segments);
        if ece {
            self.marked += u64::from(segments);
        }
    }

    /// Acknowledges all below `next`; outstanding segments below it have to be [popped](Self::pop).
    pub(super) fn acknowledge(&mut self, next: u64) {
        self.acked = next;
    }

    /// The first segment, if it is acknowledged.
    pub(super) fn first_acked(&self) -> Option<(u64, Unacked)> {
        let seq = self.first;
        (!self.is_empty() && seq < self.acked).then(|| (seq, self.get(seq)))
    }

    /// All below `next` is acknowledged: takes it away if each segment was sent once, in order, and
    /// nothing was heard of it.
    #[inline(always)]
    pub(super) fn take_plain(&mut self, next: u64) -> Option<Plain> {
        let plain = self.take_sent_once(next)?;
        self.acked = next;
        self.delivered += u64::from(plain.count);
        Some(plain)
    }

    /// One past the highest segment reported as received.
    pub(super) fn highest_sacked(&self) -> u64 {
        if self.sacked == 0 { self.acked } else { self.sack_high.max(self.acked) }
    }

    /// Whether SACK reports reach more than so many segments above the cumulative ACK
    /// (`tcp_force_fast_retransmit`).
    pub(super) fn is_reported_beyond(&self, segments: u32) -> bool {
        self.highest_sacked() > self.acked + u64::from(segments)
    }

    /// Blocks come: where none is known yet, the reports begin anew.
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
        let sent = *self.get_mut(seq);
        let mut marks = sent.marks | SACKED;
        if sent.is(LOST) {
            self.lost -= 1;
            self.again -= u32::from(sent.is(AGAIN));
            marks &= !(LOST | AGAIN);
        }
        self.get_mut(seq).marks = marks;
        // A retransmitted segment that is not marked lost may still be in flight.
        if !sent.is(AGAIN) || sent.is(LOST) {
            self.merge(seq);
        }
        self.sacked += 1;
    }

    /// Segment `seq` is in a block, or in one of segments that arrived twice.
    pub(super) fn end_report(&mut self, seq: u64, duplicate: bool) {
        let sent = self.get(seq);
        if duplicate && sent.is(AGAIN) {
            self.get_mut(seq).marks &= !AGAIN;
            self.again -= 1;
        }
        if sent.is(SACKED) {
            self.unlist(seq);
        }
        self.sack_high = self.sack_high.max(seq + 1);
    }

    /// The delivery of segment `seq` is taken account of.
    pub(super) fn count_once(&mut self, seq: u64) {
        self.get_mut(seq).stamp.delivered = None;
    }

    /// Takes segment `seq` for lost, or for lost again; returns how the connection stood when it
    /// was sent, unless that is known already.
    pub(super) fn mark_lost(&mut self, seq: u64) -> Option<Stamp> {
        let sent = self.get(seq);
        if sent.is(SACKED) {
            return None;
        }
        self.repaired = self.repaired.min(seq);
        if !sent.is(LOST) {
            self.get_mut(seq).marks |= LOST;
            self.lost += 1;
        } else if sent.is(AGAIN) {
            self.get_mut(seq).marks &= !AGAIN;
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
            self.get_mut(seq).marks &= !LOST;
        }
        self.lost = 0;
    }

    /// Nothing is reported: the receiver dropped it (RFC 2018 section 8).
    pub(super) fn unmark_reported(&mut self) {
        for seq in self.all() {
            self.get_mut(seq).marks &= !SACKED;
        }
        self.blocks = Default::default();
        self.sacked = 0;
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
