//! The send buffer, and the division of the written data into groups of segments.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::LinuxOptions;

/// A buffer of this size has no bound.
pub(crate) const UNBOUNDED: u64 = u64::MAX / 4;
/// Bytes that a segment needs besides its data when the buffer grows: those added before rounding
/// up to a power of two, and those added after it.
const SEGMENT_ROOM: (u64, u64) = (512, 256);

/// Data that wait to be sent together.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Group {
    bytes: u64,
    /// Whether the receiver is to hand over its data (PSH) once the group has arrived.
    pushes: bool,
    /// Whether nothing is to be added: it ends a record.
    sealed: bool,
}

/// Data that were written and not sent, and how much may be written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Unsent {
    /// In order; nothing where there is no grouping: each segment is a group.
    groups: VecDeque<Group>,
    grouped: bool,
    payload: u64,
    /// Bytes that the kernel's bookkeeping takes for each group in the buffer (`SKB_TRUESIZE` of an
    /// empty one).
    overhead: u64,
    /// Where calls end that are not over.
    calls: VecDeque<u64>,
    /// Bytes that the application is to write in all, and has written.
    total: u64,
    pub(super) written: u64,
    /// One past the last whole segment of all.
    segments: u64,
    /// Segments for which there is [room](Self::room) where none is part of another.
    room: u64,
    /// Bytes that were written when the last push was due.
    pushed: u64,
    /// Without grouping: where pushes end that were not sent.
    pushes: VecDeque<u64>,
    /// Size of the buffer, and the largest size to which it grows.
    size: u64,
    most: u64,
}

impl Unsent {
    pub(crate) fn new(options: &LinuxOptions) -> Self {
        let (payload, (size, most)) = (options.payload, options.send_buffer);
        let overhead = options.send_overhead;
        Self {
            groups: VecDeque::new(),
            grouped: options.group_most > 1,
            payload,
            overhead,
            calls: VecDeque::new(),
            total: 0,
            written: 0,
            segments: 1,
            room: size.div_ceil(payload + overhead),
            pushed: 0,
            pushes: VecDeque::new(),
            size,
            most,
        }
    }

    /// The application is to write so many bytes in all.
    pub(crate) fn offer(&mut self, total: u64) {
        (self.total, self.segments) = (total, (total / self.payload).saturating_add(1));
    }

    /// A segment has no more than `payload` bytes.
    pub(crate) fn set_segment(&mut self, payload: u64) {
        if self.grouped {
            self.payload = payload;
        }
    }

    /// Bytes that the application is to write in all.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// One past the last whole segment of all.
    pub(crate) fn segments(&self) -> u64 {
        self.segments
    }

    pub(crate) fn is_grouped(&self) -> bool {
        self.grouped
    }

    /// From now on counts the data that are written and not sent in bytes, of `total` so far. Data
    /// beyond `sent` are yet to be written, into a buffer that has a bound.
    pub(crate) fn count_bytes(&mut self, sent: u64, total: u64) {
        self.grouped = true;
        self.offer(total);
        (self.written, self.pushed) = (sent, sent);
        self.pushes.clear();
        if !self.is_bounded() {
            let (size, most) = LinuxOptions::default().send_buffer;
            self.most = most;
            self.set_size(size);
        }
    }

    /// A call that writes ends at byte `end`.
    pub(crate) fn end_call(&mut self, end: u64) {
        if self.grouped && end < u64::MAX {
            self.calls.push_back(end);
        }
    }

    /// Bytes that are left of the call that writes now.
    pub(crate) fn left(&mut self) -> u64 {
        while self.calls.front().is_some_and(|&end| end <= self.written) {
            self.calls.pop_front();
        }
        self.calls.front().map_or(self.total, |&end| end.min(self.total)) - self.written
    }

    /// Whether all is written.
    pub(crate) fn is_done(&self) -> bool {
        self.written >= self.total
    }

    /// Without grouping: segments that may be outstanding or wait, of which `merged` are part of
    /// another. One more is taken as long as there is any room.
    #[inline]
    pub(crate) fn room(&self, merged: u64) -> u64 {
        match merged {
            0 => self.room,
            _ => (self.size + merged * self.overhead).div_ceil(self.payload + self.overhead),
        }
    }

    /// With grouping: whether there is room for another group; `acked` bytes are acknowledged and
    /// `sent` groups are outstanding.
    fn has_room(&self, acked: u64, sent: u64) -> bool {
        self.used(acked, sent) < self.size
    }

    /// Bytes of the buffer that are in use.
    pub(crate) fn used(&self, acked: u64, sent: u64) -> u64 {
        let groups = sent + self.groups.len() as u64;
        self.written - acked + groups * self.overhead
    }

    /// The size of the buffer.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The application sets the size of the buffer, which grows no more.
    pub(crate) fn resize(&mut self, bytes: u64) {
        self.most = bytes;
        self.set_size(bytes);
    }

    /// Writes at most `bytes` into the last group, or into a new one; returns how many, and none if
    /// there is no room.
    pub(crate) fn write(&mut self, bytes: u64, goal: u64, acked: u64, sent: u64) -> u64 {
        let open = self.groups.back().is_some_and(|last| last.bytes < goal && !last.sealed);
        if !open {
            if !self.has_room(acked, sent) {
                return 0;
            }
            self.groups.push_back(Group::default());
        }
        let last = self.groups.back_mut().expect("there is one");
        let bytes = bytes.min(goal - last.bytes);
        last.bytes += bytes;
        self.written += bytes;
        bytes
    }

    /// Whether the last group is full, and whether it is the only one.
    pub(crate) fn last(&self, goal: u64) -> (bool, bool) {
        (self.groups.back().is_some_and(|last| last.bytes >= goal), self.groups.len() == 1)
    }

    /// A call that writes begins: where it adds to the last group, that group does not push.
    pub(crate) fn reopen(&mut self, goal: u64) {
        let adds = |last: &&mut Group| !last.sealed && last.bytes < goal;
        if let Some(last) = self.groups.back_mut().filter(adds) {
            last.pushes = false;
        }
    }

    /// A call that writes ends: the last group pushes.
    pub(crate) fn mark_push(&mut self) {
        self.pushed = self.written;
        if let Some(last) = self.groups.back_mut() {
            last.pushes = true;
        }
    }

    /// Whatever is written ends a record.
    pub(crate) fn seal(&mut self) {
        if let Some(last) = self.groups.back_mut() {
            last.sealed = true;
        }
    }

    /// Whether so much was written since the last push, for half the receiver's `widest` window,
    /// that all has to go; then it is a push.
    pub(crate) fn must_push(&mut self, widest: u64) -> bool {
        let must = self.written > self.pushed + widest / 2;
        if must {
            self.mark_push();
        }
        must
    }

    /// Without grouping: a call of the application that writes up to byte `end`, to a receiver with
    /// a window of `widest`, `sent` bytes having been sent.
    pub(crate) fn write_call(&mut self, end: u64, widest: u64, sent: u64) {
        let open = !self.written.is_multiple_of(self.payload) && self.written > sent;
        if open && self.pushes.back() == Some(&self.written) {
            self.pushes.pop_back();
        }
        loop {
            // Only whole segments are looked at.
            let forced = (self.pushed + widest / 2) / self.payload * self.payload + self.payload;
            if forced >= end {
                break;
            }
            self.push(forced);
        }
        self.written = end;
        self.push(end);
    }

    fn push(&mut self, end: u64) {
        self.pushed = end;
        self.pushes.push_back(end);
    }

    /// Without grouping: whether a segment that ends at byte `end` ends a push.
    pub(crate) fn ends_push(&mut self, end: u64) -> bool {
        let mut ends = false;
        while self.pushes.front().is_some_and(|&push| push <= end) {
            self.pushes.pop_front();
            ends = true;
        }
        ends
    }

    /// Whether the buffer has a bound.
    pub(crate) fn is_bounded(&self) -> bool {
        self.most < UNBOUNDED
    }

    /// Bytes of the first group, if there is one.
    pub(crate) fn head_bytes(&self) -> Option<u64> {
        self.groups.front().map(|group| group.bytes)
    }

    /// The first group takes from the next until it has as many bytes as are `wanted`; a push of
    /// its own then ends with it.
    pub(crate) fn grow(&mut self, wanted: u64) {
        if self.groups.len() > 1 && self.groups[0].bytes < wanted && !self.groups[0].sealed {
            let more = (wanted - self.groups[0].bytes).min(self.groups[1].bytes);
            self.groups[0].bytes += more;
            self.groups[1].bytes -= more;
            if self.groups[1].bytes == 0 {
                self.groups[0].pushes |= self.groups[1].pushes;
                self.groups[0].sealed |= self.groups[1].sealed;
                self.groups.remove(1);
            }
        }
    }

    /// So much of the first group is sent; returns whether that pushes.
    pub(crate) fn take(&mut self, bytes: u64) -> bool {
        let Some(first) = self.groups.front_mut() else { return false };
        first.bytes -= bytes;
        let (done, pushes) = (first.bytes == 0, first.pushes);
        if done {
            self.groups.pop_front();
        }
        done && pushes
    }

    /// Whether the first group is the last.
    pub(crate) fn is_last(&self) -> bool {
        self.groups.len() <= 1
    }

    /// The buffer grows to some `times` the window.
    pub(crate) fn expand(&mut self, cwnd: u32, times: u64) {
        let room = (self.payload + SEGMENT_ROOM.0).next_power_of_two() + SEGMENT_ROOM.1;
        let wanted = (times * u64::from(cwnd.max(10)) * room).min(self.most);
        if wanted > self.size {
            self.set_size(wanted);
        }
    }

    fn set_size(&mut self, size: u64) {
        (self.size, self.room) = (size, size.div_ceil(self.payload + self.overhead));
    }
}
