//! The data of the application: the send buffer, the lengths of segments that follow from it, and
//! the end of the connection.
//!
//! Where all data have left before the application closes, the FIN is a packet of its own. It is a
//! segment without data, which is reported, lost and sent again as others are (`tcp_send_fin`,
//! Linux 6.12).

use serde::{Deserialize, Serialize};

use super::options::{GROUP_BYTES, LinuxOptions};
use super::path::Path;
use super::peer::Peer;
use super::queue::Queue;
use super::unsent::Unsent;
use crate::lengths::SegmentLengths;

/// Bytes that an application hands over in a call.
pub(super) const CALL: u64 = 65_536;
/// A window up to this, `TCP_MSS_DEFAULT`, is not halved for the bound of a segment.
const HALVED_ABOVE: u64 = 536;
/// A segment with its headers has room for so many bytes at least.
const SEGMENT_LEAST: u64 = 68;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Application {
    unsent: Unsent,
    /// One past the last segment that was written.
    limit: u64,
    lengths: SegmentLengths,
    payload: u64,
    /// Data of a segment at most, which is [bounded](Self::bound_segments) by the window.
    mss: u64,
    /// Bytes of SACK blocks in each segment that goes out now.
    reserved: u64,
    /// Bytes that the application has offered in all.
    offered: u64,
    /// Whether it waits for room to write more.
    waits: bool,
    /// Whether nothing follows what is written.
    closed: bool,
    /// Whether the connection stays open behind what is written, and whether it is yet to be
    /// closed.
    stays_open: bool,
    end_is_due: bool,
    /// The segment that is a FIN alone.
    fin: Option<u64>,
    /// The last segment that was sent with less than it could hold; 0: none was.
    small: u64,
    headers: u64,
    /// Whether segments may be shorter than others.
    parts: bool,
}

impl Application {
    pub(super) fn new(options: &LinuxOptions) -> Self {
        Self {
            unsent: Unsent::new(options),
            limit: 1,
            lengths: SegmentLengths::new(options.payload),
            payload: options.payload,
            mss: options.payload,
            reserved: 0,
            offered: 0,
            waits: false,
            closed: false,
            stays_open: false,
            end_is_due: false,
            fin: None,
            small: 0,
            headers: options.segment_size - options.payload,
            parts: options.parts,
        }
    }

    #[inline]
    pub(crate) fn lengths(&self) -> &SegmentLengths {
        &self.lengths
    }

    /// One past the last segment that was written.
    #[inline]
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Data of a segment at most.
    #[inline]
    pub(super) fn mss(&self) -> u64 {
        self.mss
    }

    /// Bytes of data in a full segment now: SACK blocks for the other direction take some.
    #[inline]
    pub(super) fn full(&self) -> u64 {
        self.mss.saturating_sub(self.reserved).max(1)
    }

    /// Whether the application waits for room to write more.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// Whether nothing follows what is written.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether all is written that there is.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.unsent.is_done()
    }

    /// It has written all that it was to.
    #[inline]
    pub(super) fn rest(&mut self) {
        self.waits = false;
    }

    #[inline]
    pub(super) fn is_grouped(&self) -> bool {
        self.unsent.is_grouped()
    }

    #[inline]
    pub(super) fn is_bounded(&self) -> bool {
        self.unsent.is_bounded()
    }

    /// Whether segments go one by one, each whole.
    #[inline]
    pub(super) fn goes_freely(&self) -> bool {
        !self.unsent.is_grouped() && self.fin.is_none() && !self.end_is_due
    }

    /// Whether any segment may be shorter than others: the last of a group.
    pub(crate) fn makes_parts(&self) -> bool {
        self.unsent.is_grouped() && self.parts
    }

    /// The receiver's window becomes so many bytes, which bounds what segments from `next` on have.
    #[inline]
    pub(super) fn take_window(&mut self, peer: &mut Peer, bytes: u64, next: u64) {
        if peer.take_window(bytes) {
            self.bound_segments(bytes, next);
            peer.bound_segments(self.mss);
        }
    }

    /// Whether there are data from segment `next` on.
    #[inline]
    pub(super) fn has_more(&self, next: u64) -> bool {
        next < self.limit
    }

    /// Whether there are data that were never sent.
    #[inline]
    pub(super) fn has_data(&self, queue: &Queue) -> bool {
        self.has_more(queue.next())
    }

    /// Bytes of new data that the receiver has room for.
    pub(super) fn room(&self, queue: &Queue, peer: &Peer) -> u64 {
        let end = self.lengths.before(queue.acked()) + peer.window();
        end.saturating_sub(self.lengths.before(queue.next()))
    }

    /// Whether it has none for all of segment `seq`.
    pub(super) fn is_beyond(&self, seq: u64, queue: &Queue, peer: &Peer) -> bool {
        self.lengths.before(seq + 1) > self.lengths.before(queue.acked()) + peer.window()
    }

    /// Whether there are new data, and room for the next segment of them.
    pub(super) fn can_send(&self, queue: &Queue, peer: &Peer) -> bool {
        let next = queue.next();
        self.has_more(next) && self.head_bytes(next) <= self.room(queue, peer)
    }

    /// One past the last segment of all that is to be written, if what is from `next` on goes in
    /// whole segments.
    pub(crate) fn end(&self, next: u64) -> u64 {
        let left = self.unsent.total().saturating_sub(self.lengths.before(next));
        // The FIN is no data.
        let next = self.fin.map_or(next, |fin| next.min(fin));
        next.saturating_add(left.div_ceil(self.mss)).max(1)
    }
}

/// The data to write, and the end.
impl Application {
    /// So many bytes are to be written in all; where `closes`, nothing follows them.
    pub(crate) fn prepare(&mut self, bytes: u64, closes: bool, next: u64) {
        self.closed = closes;
        self.divide(bytes, next);
    }

    /// So many bytes are to be written in all. Where they end within a segment, and others may
    /// follow, data go to their byte from now on, as with groups.
    fn divide(&mut self, bytes: u64, next: u64) {
        let whole = bytes == u64::MAX || bytes.is_multiple_of(self.payload);
        if !whole && !self.closed && !self.unsent.is_grouped() && self.parts {
            self.count_bytes(next);
        }
    }

    /// From now on data from segment `next` on go to their byte. They count as not written yet.
    fn count_bytes(&mut self, next: u64) {
        let sent = self.lengths.before(next).min(self.offered);
        if sent == self.offered && sent > 0 {
            // The last segment with data has what remains.
            let last = self.lengths.first_from(sent) - 1;
            self.lengths.shorten(last, sent - self.lengths.before(last));
        }
        self.limit = next.max(1);
        self.unsent.count_bytes(sent, self.offered);
    }

    /// So many bytes are to be written in all, of which what is below segment `next` is sent.
    pub(super) fn offer(&mut self, bytes: u64, next: u64) {
        self.divide(bytes, next);
        self.offered = self.offered.max(bytes);
        let bytes = match self.unsent.is_grouped() {
            true => bytes,
            false => bytes.div_ceil(self.payload).saturating_mul(self.payload),
        };
        if bytes > self.unsent.total() {
            self.unsent.offer(bytes);
            self.unsent.end_call(bytes);
        }
    }

    /// Bytes that were written.
    pub(super) fn written(&self) -> u64 {
        self.unsent.written
    }

    /// `bytes` are to be written in all.
    pub(super) fn offer_up_to(&mut self, bytes: u64) {
        self.unsent.offer(bytes);
    }

    /// No more is to be written than was.
    pub(super) fn withdraw(&mut self) {
        self.unsent.offer(self.unsent.written);
        self.offered = self.unsent.written;
    }

    /// No FIN follows what is written.
    pub(crate) fn stay_open(&mut self) {
        self.stays_open = true;
    }

    /// The application closes once all is written.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.end_is_due = self.fin.is_none() && !self.stays_open;
    }

    /// Whether the connection is to be closed now: all is written.
    pub(super) fn ends(&self) -> bool {
        self.end_is_due && self.unsent.is_done()
    }

    /// The FIN goes with the last data that wait, or as segment `next`.
    #[cold]
    pub(super) fn shut(&mut self, next: u64) {
        self.end_is_due = false;
        if next >= self.limit {
            self.fin = Some(next);
            self.limit = next + 1;
        }
    }

    /// Whether the connection is yet to be closed.
    pub(super) fn end_is_due(&self) -> bool {
        self.end_is_due
    }

    /// Whether segment `seq` is a FIN alone.
    #[inline]
    pub(crate) fn is_fin(&self, seq: u64) -> bool {
        self.fin == Some(seq)
    }

    /// Whether the last data carry the FIN: only a connection that closes ends with one.
    pub(super) fn ends_with_fin(&self) -> bool {
        self.closed && !self.stays_open
    }
}

/// Without grouping.
impl Application {
    /// The application writes what there is room for; returns whether it did.
    #[inline]
    pub(super) fn write_single(&mut self, queue: &Queue, peer: &Peer) -> bool {
        let limit = self.unsent.segments();
        let room = queue.acked().max(1) + self.unsent.room(queue.merged());
        self.waits = room < limit;
        let limit = limit.min(room);
        let more = limit > self.limit;
        if more {
            self.limit = limit;
            self.write_calls((limit - 1) * self.payload, peer.widest(), queue.next());
        }
        more
    }

    /// The application writes up to byte `end`, a call after the other.
    #[inline]
    fn write_calls(&mut self, end: u64, widest: u64, next: u64) {
        if !self.unsent.is_bounded() {
            self.unsent.written = end;
            return;
        }
        while self.unsent.written < end {
            let call = (self.unsent.written + CALL).min(end);
            self.unsent.write_call(call, widest, (next - 1) * self.payload);
        }
    }

    /// One past the last of the segments from `next` on that go out now, below `end`, up to one
    /// that [ends a push](Self::ends_push); and whether it does.
    #[inline(always)]
    pub(super) fn up_to_push(&mut self, next: u64, end: u64) -> (u64, bool) {
        let payload = self.payload;
        // How far the first of them is behind where a push ends.
        let behind = (next * payload + CALL / 2) % CALL;
        let between = behind >= payload && behind + (end - next) * payload <= CALL;
        if between && end < self.limit && !self.unsent.is_bounded() {
            return (end, false);
        }
        self.find_push(next, end)
    }

    /// The same, one by one.
    fn find_push(&mut self, next: u64, end: u64) -> (u64, bool) {
        for seq in next..end {
            if self.ends_push(seq) {
                return (seq + 1, true);
            }
        }
        (end, false)
    }

    /// Whether segment `seq`, which goes out for the first time, ends a push. Where nothing bounds
    /// what is written each call is taken to end one, and each half of the first window.
    pub(super) fn ends_push(&mut self, seq: u64) -> bool {
        let end = seq * self.payload;
        if self.unsent.is_bounded() {
            return self.unsent.ends_push(end);
        }
        let half = end % CALL;
        (half >= CALL / 2 && half < CALL / 2 + self.payload) || seq + 1 == self.limit
    }
}

/// With grouping.
impl Application {
    /// A call that writes begins, `most` bytes in groups of `goal`; returns how many it is to
    /// write.
    pub(super) fn begin_call(&mut self, most: u64, goal: u64) -> u64 {
        let left = most.min(self.unsent.left());
        self.unsent.reopen(goal);
        left
    }

    /// Writes at most so many bytes into one group, all below segment `acked` being acknowledged
    /// and all below `next` sent, with `groups` outstanding; returns how many, and none if there is
    /// no room.
    pub(super) fn write(
        &mut self,
        (bytes, goal): (u64, u64),
        (acked, next): (u64, u64),
        groups: u64,
    ) -> u64 {
        let wrote = self.unsent.write(bytes, goal, self.lengths.before(acked), groups);
        if wrote == 0 {
            self.waits = true;
        } else {
            self.count_segments(next);
        }
        wrote
    }

    /// How many segments what is written and not sent makes, the last of which may be short. The
    /// FIN alone is one more.
    pub(super) fn count_segments(&mut self, next: u64) {
        let left = self.unsent.written.saturating_sub(self.lengths.before(next));
        if left > 0 && self.unsent.is_grouped() {
            self.limit = next + left.div_ceil(self.mss);
        }
    }

    /// The send buffer.
    pub(super) fn unsent(&mut self) -> &mut Unsent {
        &mut self.unsent
    }

    /// Bytes of the send buffer that are in use, all below segment `acked` being acknowledged, and
    /// its size.
    pub(super) fn send_buffer(&self, acked: u64, groups: u64) -> (u64, u64) {
        let acked = self.lengths.before(acked).min(self.unsent.written);
        (self.unsent.used(acked, groups), self.unsent.size())
    }

    /// After an ACK, and after each group that leaves, with so many segments in flight: the buffer
    /// grows where it, not the window, is what limits the connection.
    #[inline]
    pub(super) fn make_room(&mut self, path: &mut Path, tick: u64, flight: u32) {
        if self.waits && flight < path.cwnd() {
            self.unsent.expand(path.cwnd(), if path.law().paces() { 3 } else { 2 });
            path.keep(tick);
        }
    }

    /// Bytes in a group of what the application writes: what half the receiver's window and the
    /// device allow, of at most so many segments.
    pub(super) fn group_goal(&self, peer: &Peer, most: u32) -> u64 {
        let bytes = (peer.widest() / 2).min(GROUP_BYTES);
        (bytes / self.full()).clamp(1, u64::from(most)) * self.full()
    }
}

/// The segments that go next.
impl Application {
    /// Bytes of the next group, of at most `quota` segments, from segment `next` on; 0: a FIN
    /// alone.
    pub(super) fn next_bytes(&mut self, next: u64, quota: u32) -> u64 {
        let full = self.full();
        self.unsent.grow(u64::from(quota) * full);
        match self.unsent.head_bytes() {
            Some(bytes) => bytes,
            None if self.unsent.is_grouped() || self.is_fin(next) => 0,
            None => full,
        }
    }

    /// Of so much room what may be used: without parts whole segments.
    pub(super) fn usable(&self, room: u64) -> u64 {
        if self.parts { room } else { room - room % self.full() }
    }

    /// Whether the next group is the last.
    pub(super) fn is_last(&self) -> bool {
        self.unsent.is_last()
    }

    /// Whether a segment that was not full is still in flight, with all below `acked` acknowledged.
    pub(super) fn has_small(&self, acked: u64) -> bool {
        self.small >= acked
    }

    /// Bytes of the next group that go in one segment `next`.
    pub(super) fn head_bytes(&self, next: u64) -> u64 {
        let whole = if self.is_fin(next) { 0 } else { self.mss };
        self.unsent.head_bytes().unwrap_or(whole).min(self.mss)
    }

    /// A group of so many bytes is about to leave from segment `next` on; returns how many segments
    /// it is, and whether it pushes. Its last one may be shorter than others.
    pub(super) fn part_group(&mut self, next: u64, bytes: u64) -> (u32, bool) {
        let full = self.full();
        let count = bytes.div_ceil(full).max(1);
        let rest = bytes - (count - 1) * full;
        let last = next + count - 1;
        if full < self.payload {
            for seq in next..last {
                self.lengths.shorten(seq, full);
            }
        }
        self.lengths.shorten(last, rest);
        if rest < full {
            self.small = last;
        }
        (count as u32, self.unsent.take(bytes))
    }

    /// Segments carry so many bytes of SACK blocks from now on.
    pub(crate) fn reserve(&mut self, blocks: u64, next: u64) {
        if blocks > 0 && !self.unsent.is_grouped() && self.parts {
            self.count_bytes(next);
        }
        self.reserved = if self.unsent.is_grouped() { blocks } else { 0 };
    }

    /// The receiver's widest window has changed: a segment has no more data than half of it, as
    /// long as that leaves any (`tcp_bound_to_half_wnd`).
    #[cold]
    pub(super) fn bound_segments(&mut self, widest: u64, next: u64) {
        let half = if widest > HALVED_ABOVE { widest / 2 } else { widest };
        let least = SEGMENT_LEAST.saturating_sub(self.headers).max(1);
        self.mss = self.payload.min(half.max(least));
        if self.mss < self.payload {
            self.go_by_bytes(next);
        }
        self.unsent.set_segment(self.mss);
    }

    /// From now on segments may be shorter than others: what was not sent is written again, byte
    /// by byte.
    pub(super) fn go_by_bytes(&mut self, next: u64) {
        if self.unsent.is_grouped() {
            return;
        }
        self.parts = true;
        self.count_bytes(next);
        self.waits = !self.unsent.is_done();
    }
}
