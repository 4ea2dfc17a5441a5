//! The segments that were sent and are not acknowledged, in order of their numbers and, for RACK,
//! in order of when they were last sent.

use std::ops::Range;

use super::Queue;
use super::segment::{
    AGAIN, EVER, LAST, LISTED, LOST, MERGED, NONE, PUSH, PUSHES, Plain, SACKED, SEVERAL,
    SegmentRun, Unacked,
};
use crate::linux::rate::Stamp;
use crate::segment::SentRun;

impl Queue {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// The segments that are outstanding.
    #[inline]
    pub(crate) fn all(&self) -> Range<u64> {
        self.first..self.next
    }

    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        (self.next - self.first) as u32
    }

    pub(crate) fn get(&self, seq: u64) -> Unacked {
        let place = (seq - self.first) as usize;
        self.segments.get(place).copied().unwrap_or_else(|| self.within(place))
    }

    /// Segment `place` behind the first, which is part of a run.
    fn within(&self, place: usize) -> Unacked {
        let mut behind = (place - self.segments.len()) as u32;
        for run in &self.runs {
            match behind.checked_sub(run.count) {
                Some(more) => behind = more,
                None => return run.segment(behind),
            }
        }
        panic!("no outstanding segment at offset {place} from the first");
    }

    pub(super) fn get_mut(&mut self, seq: u64) -> &mut Unacked {
        let place = (seq - self.first) as usize;
        if place >= self.segments.len() {
            self.spread();
        }
        &mut self.segments[place]
    }

    pub(crate) fn head(&self) -> Option<Unacked> {
        (!self.is_empty()).then(|| self.get(self.first))
    }

    /// When the first segment was last sent, in microseconds.
    #[inline]
    pub(crate) fn head_at(&self) -> Option<u64> {
        match self.segments.front() {
            Some(head) => Some(head.at()),
            None => self.runs.front().map(SegmentRun::at),
        }
    }

    /// The next segment goes out; where it ends a push, `push`.
    pub(crate) fn send(&mut self, ns: u64, stamp: Stamp, push: bool) {
        self.spread();
        let (seq, marks) = (self.next, if push { PUSH } else { 0 });
        self.segments.push_back(Unacked { marks, ns, stamp, older: NONE, newer: NONE });
        self.next += 1;
        self.list(seq);
    }

    /// The next segments go out at one time, each a group of its own.
    #[inline(always)]
    pub(crate) fn send_run(&mut self, run: &SentRun, ns: u64, stamp: &Stamp) {
        let &SentRun { count, pushes, .. } = run;
        debug_assert_eq!(run.first, self.next, "segments go out in order");
        self.runs.push_back(SegmentRun { ns, stamp: *stamp, count, pushes });
        self.next += u64::from(count);
        self.groups += u64::from(count);
        self.sent_ever += u64::from(count);
    }

    /// Expands runs to single segments.
    pub(super) fn spread(&mut self) {
        let mut seq = self.first + self.segments.len() as u64;
        while let Some(run) = self.runs.pop_front() {
            for nth in 0..run.count {
                self.segments.push_back(run.segment(nth));
                self.list(seq);
                seq += 1;
            }
        }
    }

    /// Takes the segments away that are below `end`, if each was sent once, in order, and nothing
    /// was heard of it. There are some, and none of them is beyond the last.
    #[inline(always)]
    pub(super) fn take_sent_once(&mut self, end: u64) -> Option<Plain> {
        let count = (end - self.first) as u32;
        let (mut left, mut first_at) = (count, None);
        if !self.segments.is_empty() {
            let singles = self.take_single_once(count)?;
            if singles.count == count {
                return Some(singles);
            }
            (left, first_at) = (count - singles.count, Some(singles.first_at));
        }
        self.first = end;
        self.groups -= u64::from(left);
        loop {
            let run = self.runs.front_mut()?;
            let last_at = run.at();
            let first_at = *first_at.get_or_insert(last_at);
            if left < run.count {
                run.count -= left;
                run.stamp = run.stamp.behind(left);
                return Some(Plain { count, first_at, last_at });
            }
            left -= run.count;
            self.runs.pop_front();
            if left == 0 {
                return Some(Plain { count, first_at, last_at });
            }
        }
    }

    /// The same of those that are in no run, up to `most` of them; there are some.
    fn take_single_once(&mut self, most: u32) -> Option<Plain> {
        let (mut count, mut newer) = (0, self.oldest);
        for (seq, sent) in (self.first..).zip(&self.segments).take(most as usize) {
            let marks = sent.marks & (SACKED | LOST | AGAIN | EVER | LISTED | MERGED);
            if seq != newer || marks != LISTED {
                return None;
            }
            (newer, count) = (sent.newer, count + 1);
        }
        let first_at = self.segments.front()?.at();
        let mut last_at = first_at;
        for sent in self.segments.drain(..count as usize) {
            self.groups -= u64::from(sent.is(LAST));
            last_at = sent.at();
        }
        self.first += u64::from(count);
        self.oldest = newer;
        match newer {
            NONE => self.newest = NONE,
            _ => self.get_mut(newer).older = NONE,
        }
        Some(Plain { count, first_at, last_at })
    }

    /// Segment `seq` goes again; returns whether it ends a push.
    pub(crate) fn send_again(&mut self, seq: u64, ns: u64, stamp: Stamp) -> bool {
        self.again_ever += 1;
        self.spread();
        self.unlist(seq);
        let sent = self.get_mut(seq);
        (sent.ns, sent.stamp) = (ns, stamp);
        sent.marks |= EVER;
        let push = sent.is(PUSH);
        self.list(seq);
        push
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
    pub(super) fn merge(&mut self, seq: u64) {
        if seq > self.first && self.get(seq - 1).rests() {
            self.join(seq);
        }
        if seq + 1 < self.next && self.get(seq + 1).rests() {
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
    pub(crate) fn pop(&mut self, sent: &Unacked) {
        self.sacked -= u32::from(sent.is(SACKED));
        self.lost -= u32::from(sent.is(LOST));
        self.again -= u32::from(sent.is(AGAIN));
        self.spread();
        self.unlist(self.first);
        self.segments.pop_front();
        self.groups -= u64::from(sent.is(LAST));
        self.merged -= u64::from(sent.is(MERGED));
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
        let older = std::mem::replace(&mut sent.older, NONE);
        let newer = std::mem::replace(&mut sent.newer, NONE);
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
    pub(crate) fn oldest(&mut self) -> Option<u64> {
        self.spread();
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The one that was sent after `seq`.
    pub(crate) fn newer(&self, seq: u64) -> Option<u64> {
        let newer = self.get(seq).newer;
        (newer != NONE).then_some(newer)
    }
}
