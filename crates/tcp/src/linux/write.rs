//! The application writes into the send buffer as long as there is room, and closes.

use burstlab_units::Time;

use super::Linux;
use super::group::GROUP_BYTES;
use super::law::Event;
use super::prr::current_ssthresh;
use super::send::Push;
use crate::segment::{Outlet, Transmission};

/// What an application hands over at a time.
const CALL: u64 = 65_536;

/// How a call of an application that writes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnds {
    /// The receiver may wait for more (`MSG_MORE`).
    More,
    /// The receiver is to hand over what it has.
    Pushed,
    /// It is, and nothing is to be added to the last segment (`MSG_EOR`).
    Record,
}

impl Linux {
    /// The application is to write so many bytes in all, `u64::MAX`: without end;
    /// [`Linux::write_more`] does. Where segments are not grouped and nothing follows, the last one
    /// counts as whole.
    pub fn offer(&mut self, bytes: u64) {
        self.divide(bytes);
        self.offered = self.offered.max(bytes);
        let bytes = match self.unsent.is_grouped() {
            true => bytes,
            false => bytes.div_ceil(self.options.payload).saturating_mul(self.options.payload),
        };
        if bytes > self.unsent.total() {
            self.unsent.offer(bytes);
            self.unsent.end_call(bytes);
        }
    }

    /// The application writes what there is room for, and what the window allows goes out.
    pub fn write_more(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if self.unsent.is_done() {
            self.waiting = false;
        } else {
            self.note_idleness();
            self.restart_after_idle(now);
            if self.unsent.is_grouped() {
                while self.call(now, CALL, CallEnds::Pushed, out) {}
            } else if self.write_single() {
                self.push(now, out);
            }
        }
        if self.ending.is_due && self.unsent.is_done() {
            self.shut(now, out);
        }
    }

    /// The same after an ACK on the fast path.
    pub(super) fn write_more_fast(&mut self, now: Time, out: &mut impl Outlet) {
        if self.unsent.is_done() {
            self.waiting = false;
        } else if self.has_data() && !self.queue.is_empty() {
            // It is the window, not what was written, that keeps back what is there.
            self.write_single();
        } else {
            self.note_idleness();
            self.restart_after_idle(now);
            if self.write_single() {
                self.write_all_freely(now, out);
            }
        }
    }

    /// Without grouping: the application writes what there is room for; returns whether it did.
    #[inline]
    pub(super) fn write_single(&mut self) -> bool {
        let limit = self.unsent.segments();
        let room = self.acked.max(1) + self.unsent.room(self.queue.merged());
        self.waiting = room < limit;
        let limit = limit.min(room);
        let more = limit > self.limit;
        if more {
            self.limit = limit;
            self.write_calls((limit - 1) * self.options.payload);
        }
        more
    }

    /// Without grouping: the application writes up to byte `end`, a call after the other.
    #[inline]
    fn write_calls(&mut self, end: u64) {
        if !self.unsent.is_bounded() {
            self.unsent.written = end;
            return;
        }
        let widest = self.widest_bytes;
        while self.unsent.written < end {
            let call = (self.unsent.written + CALL).min(end);
            self.unsent.write_call(call, widest, (self.next - 1) * self.options.payload);
        }
    }

    /// One past the last of the segments that go out next, below `end`, up to one that [ends a
    /// push](Self::ends_push); and whether it does.
    #[inline(always)]
    pub(super) fn up_to_push(&mut self, end: u64) -> (u64, bool) {
        let payload = self.options.payload;
        // How far the first of them is behind where a push ends.
        let behind = (self.next * payload + CALL / 2) % CALL;
        let between = behind >= payload && behind + (end - self.next) * payload <= CALL;
        if between && end < self.limit && !self.unsent.is_bounded() {
            return (end, false);
        }
        self.find_push(end)
    }

    /// The same, one by one.
    fn find_push(&mut self, end: u64) -> (u64, bool) {
        for seq in self.next..end {
            if self.ends_push(seq) {
                return (seq + 1, true);
            }
        }
        (end, false)
    }

    /// Whether segment `seq`, which goes out for the first time, ends a push. Where nothing bounds
    /// what is written each call is taken to end one, and each half of the first window.
    pub(super) fn ends_push(&mut self, seq: u64) -> bool {
        let end = seq * self.options.payload;
        if self.unsent.is_bounded() {
            return self.unsent.ends_push(end);
        }
        let half = end % CALL;
        (half >= CALL / 2 && half < CALL / 2 + self.options.payload) || seq + 1 == self.limit
    }

    /// Everything is written and nothing will follow. The FIN goes with the last data that wait, or
    /// as a segment of its own.
    pub fn close(&mut self, now: Time, out: &mut Vec<Transmission>) {
        self.closed = true;
        self.closes();
        if self.ending.is_due {
            self.shut(now, out);
        }
    }

    /// Whether all that was written is sent, and the window is not what limits the connection.
    fn note_idleness(&mut self) {
        let flight = self.in_flight();
        if !self.has_data() && flight < self.window.cwnd && self.lost <= self.again {
            self.rate.idle(self.delivered + u64::from(flight));
        }
    }

    /// The application writes `segments` more, all of them whole, in one call. Returns how many
    /// there was room for: the others are not written.
    pub fn append(
        &mut self,
        now: Time,
        segments: u64,
        ends: CallEnds,
        out: &mut Vec<Transmission>,
    ) -> u64 {
        let before = self.unsent.written;
        self.unsent.offer(before + segments * self.options.payload);
        self.restart_after_idle(now);
        if self.unsent.is_grouped() {
            self.call(now, u64::MAX, ends, out);
        } else {
            self.write_more(now, out);
        }
        self.unsent.offer(self.unsent.written);
        self.offered = self.unsent.written;
        (self.unsent.written - before) / self.options.payload
    }

    /// The application sets the size of the send buffer, bookkeeping included.
    pub fn set_send_buffer(&mut self, bytes: u64) {
        self.unsent.resize(bytes);
    }

    /// Bytes of the send buffer that are in use where segments are grouped, and its size.
    #[must_use]
    pub fn send_buffer(&self) -> (u64, u64) {
        let acked = self.lengths.before(self.acked);
        (self.unsent.used(acked.min(self.unsent.written), self.queue.groups()), self.unsent.size())
    }

    /// One call of an application that has much to write, `most` bytes of it; returns whether it
    /// may make another.
    fn call(&mut self, now: Time, most: u64, ends: CallEnds, out: &mut Vec<Transmission>) -> bool {
        let goal = self.group_goal() * self.full();
        let mut left = most.min(self.unsent.left());
        let whole = left;
        self.unsent.reopen(goal);
        while left > 0 {
            let acked = self.lengths.before(self.acked);
            let wrote = self.unsent.write(left, goal, acked, self.queue.groups());
            if wrote == 0 {
                self.waiting = true;
                if left < whole {
                    self.unsent.mark_push();
                    self.push(now, out);
                }
                return false;
            }
            left -= wrote;
            self.count_segments();
            let (full, only) = self.unsent.last(goal);
            if full && left > 0 {
                if self.unsent.must_push(self.widest_bytes) {
                    self.push(now, out);
                } else if only {
                    self.write(now, Push::One, out);
                }
            }
        }
        // A call that announces more pushes only where so much was written that all has to go
        // (`tcp_push`).
        if ends != CallEnds::More {
            self.unsent.mark_push();
        } else {
            self.unsent.must_push(self.widest_bytes);
        }
        if ends == CallEnds::Record {
            self.unsent.seal();
        }
        self.push(now, out);
        self.waiting = false;
        !self.unsent.is_done()
    }

    /// Where segments are grouped: how many what is written and not sent makes, the last of which
    /// may be short. The FIN alone is one more.
    pub(super) fn count_segments(&mut self) {
        let left = self.unsent.written.saturating_sub(self.lengths.before(self.next));
        if left > 0 && self.unsent.is_grouped() {
            self.limit = self.next + left.div_ceil(self.mss);
        }
    }

    /// Nothing is outstanding and nothing was sent for a time-out: the window halves for each, to
    /// what a connection begins with (RFC 5681 section 4.1, RFC 2861).
    fn restart_after_idle(&mut self, now: Time) {
        if !self.queue.is_empty() {
            return;
        }
        let tick = self.clock.tick(now);
        let idle = tick.saturating_sub(self.last_sent);
        let rests = self.last_sent > 0 && !self.law.keeps_unused_window();
        if !self.options.restart_after_idle || !rests || idle <= self.rto {
            return;
        }
        let facts = self.facts(now);
        self.law.on_event(Event::Restart, &mut self.window, &facts);
        let window = &mut self.window;
        window.ssthresh = current_ssthresh(window, self.stage);
        let least = self.options.initial_window.min(window.cwnd);
        let mut left = idle;
        while left > self.rto && window.cwnd > least {
            left -= self.rto;
            window.cwnd >>= 1;
        }
        window.cwnd = window.cwnd.max(least);
        (window.stamp, window.used) = (tick, 0);
    }

    /// After an ACK, and after each group that leaves, with so many segments in flight: the buffer
    /// grows where it, not the window, is what limits the connection.
    #[inline]
    pub(super) fn make_room(&mut self, tick: u64, flight: u32) {
        if self.waiting && flight < self.window.cwnd {
            self.unsent.expand(self.window.cwnd, if self.law.paces() { 3 } else { 2 });
            self.window.stamp = tick;
        }
    }

    /// Segments in a group of what the application writes: what half the receiver's window and the
    /// device allow.
    fn group_goal(&self) -> u64 {
        let bytes = (self.widest_bytes / 2).min(GROUP_BYTES);
        (bytes / self.full()).clamp(1, u64::from(self.options.group_most))
    }
}
