//! The segments that were sent and are not acknowledged, in order of their numbers and, for RACK,
//! in order of when they were last sent.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::rate::Stamp;

/// Reported as received.
pub(crate) const SACKED: u16 = 1;
/// Taken for lost.
pub(crate) const LOST: u16 = 2;
/// Sent again, and not known to be lost again.
pub(crate) const AGAIN: u16 = 4;
/// Sent more than once.
pub(crate) const EVER: u16 = 8;
/// In the order of time.
const LISTED: u16 = 16;
/// The last of the segments that went as a group.
pub(crate) const LAST: u16 = 32;
/// The last of what a call wrote: the receiver is to hand over what it has.
pub(crate) const PUSHES: u16 = 64;
/// The last of a group of several, which pushes when it goes first.
pub(crate) const SEVERAL: u16 = 128;

/// It ends a push.
pub(crate) const PUSH: u16 = 256;

/// Reported right after the one before it, of which it then is a part in the send buffer.
const MERGED: u16 = 512;

/// No segment: the SYN is never listed.
const NONE: u64 = 0;

/// A segment.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Unacked {
    pub(crate) marks: u16,
    /// When it was last sent, in nanoseconds.
    pub(crate) ns: u64,
    /// How the connection stood at that time.
    pub(crate) stamp: Stamp,
    older: u64,
    newer: u64,
}

impl Unacked {
    /// When it was last sent, in microseconds.
    pub(crate) fn at(&self) -> u64 {
        self.ns / 1000
    }

    pub(crate) fn is(&self, marks: u16) -> bool {
        self.marks & marks != 0
    }

    /// Whether it is reported, and neither lost nor sent again.
    fn rests(&self) -> bool {
        self.marks & (SACKED | LOST | AGAIN) == SACKED
    }
}

/// The retransmission queue.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue {
    segments: VecDeque<Unacked>,
    first: u64,
    oldest: u64,
    newest: u64,
    groups: u64,
    merged: u64,
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// Number of the first segment.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// One past the last segment.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    pub(crate) fn get(&self, seq: u64) -> &Unacked {
        &self.segments[(seq - self.first) as usize]
    }

    pub(crate) fn get_mut(&mut self, seq: u64) -> &mut Unacked {
        &mut self.segments[(seq - self.first) as usize]
    }

    pub(crate) fn head(&self) -> Option<&Unacked> {
        self.segments.front()
    }

    /// Segment `seq`, the one after the last, goes out.
    pub(crate) fn push(&mut self, seq: u64, ns: u64, stamp: Stamp) {
        if self.segments.is_empty() {
            self.first = seq;
        }
        debug_assert_eq!(seq, self.end(), "segments go out in order");
        let sent = Unacked { marks: 0, ns, stamp, older: NONE, newer: NONE };
        self.segments.push_back(sent);
        self.list(seq);
    }

    /// The same, a group of one.
    #[inline]
    pub(crate) fn push_alone(&mut self, seq: u64, ns: u64, stamp: Stamp, push: bool) {
        if self.segments.is_empty() {
            self.first = seq;
        }
        debug_assert_eq!(seq, self.end(), "segments go out in order");
        let marks = LISTED | LAST | if push { PUSH } else { 0 };
        let older = std::mem::replace(&mut self.newest, seq);
        match older {
            NONE => self.oldest = seq,
            _ => self.get_mut(older).newer = seq,
        }
        self.segments.push_back(Unacked { marks, ns, stamp, older, newer: NONE });
        self.groups += 1;
    }

    /// When the first of the segments below `end` was sent, and the last of them: if each was sent
    /// once, in order, and nothing was heard of it.
    #[inline]
    pub(crate) fn plain_below(&self, end: u64) -> Option<(u64, &Unacked)> {
        let (first, mut newer) = (self.segments.front()?, self.oldest);
        let count = (end - self.first) as usize;
        for (seq, sent) in (self.first..end).zip(&self.segments) {
            if seq != newer
                || sent.marks & (SACKED | LOST | AGAIN | EVER | LISTED | MERGED) != LISTED
            {
                return None;
            }
            newer = sent.newer;
        }
        Some((first.at(), self.segments.get(count.checked_sub(1)?)?))
    }

    /// Takes these away.
    #[inline]
    pub(crate) fn pop_plain(&mut self, count: u32) {
        let mut newer = NONE;
        for _ in 0..count {
            let Some(sent) = self.segments.pop_front() else { break };
            self.groups -= u64::from(sent.is(LAST));
            newer = sent.newer;
        }
        self.first += u64::from(count);
        self.oldest = newer;
        match newer {
            NONE => self.newest = NONE,
            _ => self.get_mut(newer).older = NONE,
        }
    }

    /// Segment `seq` goes out again.
    pub(crate) fn send_again(&mut self, seq: u64, ns: u64, stamp: Stamp) {
        self.unlist(seq);
        let sent = self.get_mut(seq);
        sent.ns = ns;
        sent.stamp = stamp;
        sent.marks |= EVER;
        self.list(seq);
    }

    /// The segments that came last were a group.
    pub(crate) fn end_group(&mut self, segments: u32, pushes: bool) {
        if let Some(last) = self.segments.back_mut() {
            last.marks |= LAST;
            last.marks |= if pushes { PUSHES } else { 0 };
            last.marks |= if segments > 1 { SEVERAL } else { 0 };
            self.groups += 1;
        }
    }

    /// Groups that are outstanding.
    pub(crate) fn groups(&self) -> u64 {
        self.groups
    }

    /// Segment `seq` is now reported: with neighbours that are, and were not sent again, it becomes
    /// one in the send buffer (`tcp_shift_skb_data`).
    pub(crate) fn merge(&mut self, seq: u64) {
        if seq > self.first && self.get(seq - 1).rests() {
            self.join(seq);
        }
        if seq + 1 < self.end() && self.get(seq + 1).rests() {
            self.join(seq + 1);
        }
    }

    fn join(&mut self, seq: u64) {
        if !self.get(seq).is(MERGED) {
            self.get_mut(seq).marks |= MERGED;
            self.merged += 1;
            self.groups -= u64::from(self.get(seq - 1).is(LAST));
            self.get_mut(seq - 1).marks &= !LAST;
        }
    }

    /// Segments that are part of another one in the send buffer.
    pub(crate) fn merged(&self) -> u64 {
        self.merged
    }

    /// Takes away the first segment.
    pub(crate) fn pop(&mut self) {
        self.unlist(self.first);
        let sent = self.segments.pop_front();
        self.groups -= u64::from(sent.is_some_and(|sent| sent.is(LAST)));
        self.merged -= u64::from(sent.is_some_and(|sent| sent.is(MERGED)));
        self.first += 1;
    }

    /// Puts a segment at the end of the order of time; the SYN stays outside.
    fn list(&mut self, seq: u64) {
        if seq == NONE {
            return;
        }
        let newest = self.newest;
        let sent = self.get_mut(seq);
        sent.marks |= LISTED;
        (sent.older, sent.newer) = (newest, NONE);
        match newest {
            NONE => self.oldest = seq,
            _ => self.get_mut(newest).newer = seq,
        }
        self.newest = seq;
    }

    /// Takes a segment out of the order of time, until it is sent again.
    pub(crate) fn unlist(&mut self, seq: u64) {
        let sent = self.get_mut(seq);
        if sent.marks & LISTED == 0 {
            return;
        }
        sent.marks &= !LISTED;
        let (older, newer) = (sent.older, sent.newer);
        match older {
            NONE => self.oldest = newer,
            _ => self.get_mut(older).newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.get_mut(newer).older = older,
        }
    }

    /// The segment that was sent the longest time ago.
    pub(crate) fn oldest(&self) -> Option<u64> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The one that was sent after `seq`.
    pub(crate) fn newer(&self, seq: u64) -> Option<u64> {
        let newer = self.get(seq).newer;
        (newer != NONE).then_some(newer)
    }
}
