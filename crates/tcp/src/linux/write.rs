//! The application writes into the send buffer as long as there is room, and closes.

use burstlab_units::Time;

use super::Linux;
use super::application::CALL;
use super::clock::Reading;
use super::options::GROUP_BYTES;
use super::send::Push;
use crate::segment::{Outlet, Transmission};

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
        self.application.offer(bytes, self.queue.next());
    }

    /// The application writes what there is room for, and what the window allows goes out.
    pub fn write_more(&mut self, now: Time, out: &mut Vec<Transmission>) {
        let now = self.clock.read(now);
        if self.application.is_done() {
            self.application.rest();
        } else {
            self.note_idleness();
            self.restart_after_idle(now);
            if self.application.is_grouped() {
                while self.call(now, CALL, CallEnds::Pushed, out) {}
            } else if self.write_single() {
                self.push(now, out);
            }
        }
        if self.application.ends() {
            self.shut(now, out);
        }
    }

    /// Closes the connection: the FIN goes with the last data that wait, or by itself.
    fn shut(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        self.application.shut(self.queue.next());
        self.push(now, out);
    }

    /// The same after an ACK on the fast path.
    pub(super) fn write_more_fast(&mut self, now: Reading, out: &mut impl Outlet) {
        if self.application.is_done() {
            self.application.rest();
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
        let (merged, widest) = (self.queue.merged(), self.peer.widest());
        self.application.write_single(self.queue.acked(), merged, widest, self.queue.next())
    }

    /// Everything is written and nothing will follow. The FIN goes with the last data that wait, or
    /// as a segment of its own.
    pub fn close(&mut self, now: Time, out: &mut Vec<Transmission>) {
        self.application.close();
        if self.application.end_is_due() {
            self.shut(self.clock.read(now), out);
        }
    }

    /// Whether all that was written is sent, and the window is not what limits the connection.
    fn note_idleness(&mut self) {
        let flight = self.queue.in_flight();
        if !self.has_data() && flight < self.path.cwnd() && !self.queue.has_unrepaired() {
            self.path.idle(self.queue.totals().0 + u64::from(flight));
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
        let before = self.application.written();
        self.application.offer_up_to(before + segments * self.options.payload);
        let reading = self.clock.read(now);
        self.restart_after_idle(reading);
        if self.application.is_grouped() {
            self.call(reading, u64::MAX, ends, out);
        } else {
            self.write_more(now, out);
        }
        self.application.withdraw();
        (self.application.written() - before) / self.options.payload
    }

    /// The application sets the size of the send buffer, bookkeeping included.
    pub fn set_send_buffer(&mut self, bytes: u64) {
        self.application.unsent().resize(bytes);
    }

    /// Bytes of the send buffer that are in use where segments are grouped, and its size.
    #[must_use]
    pub fn send_buffer(&self) -> (u64, u64) {
        self.application.send_buffer(self.queue.acked(), self.queue.groups())
    }

    /// One call of an application that has much to write, `most` bytes of it; returns whether it
    /// may make another.
    fn call(
        &mut self,
        now: Reading,
        most: u64,
        ends: CallEnds,
        out: &mut Vec<Transmission>,
    ) -> bool {
        let goal = self.group_goal() * self.application.full();
        let whole = self.application.begin_call(most, goal);
        let (mut left, widest) = (whole, self.peer.widest());
        while left > 0 {
            let (place, groups) = ((self.queue.acked(), self.queue.next()), self.queue.groups());
            let wrote = self.application.write((left, goal), place, groups);
            if wrote == 0 {
                if left < whole {
                    self.application.unsent().mark_push();
                    self.push(now, out);
                }
                return false;
            }
            left -= wrote;
            let unsent = self.application.unsent();
            let (full, only) = unsent.last(goal);
            if full && left > 0 {
                if unsent.must_push(widest) {
                    self.push(now, out);
                } else if only {
                    self.write(now, Push::One, out);
                }
            }
        }
        let unsent = self.application.unsent();
        // A call that announces more pushes only where so much was written that all has to go
        // (`tcp_push`).
        if ends != CallEnds::More {
            unsent.mark_push();
        } else {
            unsent.must_push(widest);
        }
        if ends == CallEnds::Record {
            unsent.seal();
        }
        self.push(now, out);
        self.application.rest();
        !self.application.is_done()
    }

    /// Nothing is outstanding and nothing was sent for a time-out: the window halves for each, to
    /// what a connection begins with (RFC 5681 section 4.1, RFC 2861).
    fn restart_after_idle(&mut self, now: Reading) {
        if self.queue.is_empty() && self.path.has_rested(now.tick) {
            self.path.restart(&self.context(now));
        }
    }

    /// After an ACK, and after each group that leaves, with so many segments in flight: the buffer
    /// grows where it, not the window, is what limits the connection.
    #[inline]
    pub(super) fn make_room(&mut self, tick: u64, flight: u32) {
        if self.application.waits() && flight < self.path.cwnd() {
            self.application.expand(self.path.cwnd(), if self.path.law().paces() { 3 } else { 2 });
            self.path.keep(tick);
        }
    }

    /// Segments in a group of what the application writes: what half the receiver's window and the
    /// device allow.
    fn group_goal(&self) -> u64 {
        let bytes = (self.peer.widest() / 2).min(GROUP_BYTES);
        (bytes / self.application.full()).clamp(1, u64::from(self.options.group_most))
    }
}
