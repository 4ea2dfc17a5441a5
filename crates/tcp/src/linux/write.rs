//! The application writes into the send buffer as long as there is room, and closes.

use burstlab_units::Time;

use super::Linux;
use super::application::CALL;
use super::clock::Reading;
use super::send::Push;
use crate::segment::{Outlet, Transmission};

/// How a call of an application that writes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnds {
    /// The receiver may wait for more (`MSG_MORE`).
    More,
    /// The receiver is to hand over its data.
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

    /// The application writes as much as there is room for, and data within the window are sent.
    pub fn write_more(&mut self, now: Time, out: &mut Vec<Transmission>) {
        let now = self.clock.read(now);
        if self.application.is_done() {
            self.application.rest();
        } else {
            self.end_idleness(now);
            if self.application.is_grouped() {
                while self.call(now, CALL, CallEnds::Pushed, out) {}
            } else if self.application.write_single(&self.queue, &self.peer) {
                self.push(now, out);
            }
        }
        if self.application.ends() {
            self.application.shut(self.queue.next());
            self.push(now, out);
        }
    }

    /// The same after an ACK on the fast path.
    pub(super) fn write_more_fast(&mut self, now: Reading, out: &mut impl Outlet) {
        if self.application.is_done() {
            self.application.rest();
        } else if self.application.has_data(&self.queue) && !self.queue.is_empty() {
            // The window, not a lack of data, keeps the rest back.
            self.application.write_single(&self.queue, &self.peer);
        } else {
            self.end_idleness(now);
            if self.application.write_single(&self.queue, &self.peer) {
                self.write_all_freely(now, out);
            }
        }
    }

    /// Everything is written and nothing will follow. The FIN goes with the last data that wait, or
    /// as a segment of its own.
    pub fn close(&mut self, now: Time, out: &mut Vec<Transmission>) {
        self.application.close();
        if self.application.end_is_due() {
            self.application.shut(self.queue.next());
            self.push(self.clock.read(now), out);
        }
    }

    /// The application is about to write, after it had nothing more to send or not.
    fn end_idleness(&mut self, now: Reading) {
        if !self.application.has_data(&self.queue) {
            self.path.note_idleness(&self.queue);
        }
        let (others, standing) = ((&self.queue, &self.peer), self.repair.standing());
        self.path.restart_after_idle(now, others, standing);
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
        let (others, standing) = ((&self.queue, &self.peer), self.repair.standing());
        self.path.restart_after_idle(reading, others, standing);
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

    /// One call of an application that has much to write, `most` bytes of it; returns whether it
    /// may make another.
    fn call(
        &mut self,
        now: Reading,
        most: u64,
        ends: CallEnds,
        out: &mut Vec<Transmission>,
    ) -> bool {
        let goal = self.application.group_goal(&self.peer, self.options.group_most);
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
}
