//! The application writes into the send buffer as long as there is room, and closes.

use burstlab_units::Time;

use super::Linux;
use super::send::{GROUP_BYTES, Push};
use crate::segment::Transmission;

/// What an application hands over at a time.
const CALL: u64 = 65_536;

impl Linux {
    /// The application is to write `segments` in all; [`Linux::write_more`] does.
    pub fn offer(&mut self, segments: u64) {
        let bytes = segments.saturating_mul(self.options.payload);
        self.unsent.total = self.unsent.total.max(bytes);
    }

    /// The application writes what there is room for, and what the window allows goes out.
    pub fn write_more(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if self.unsent.is_done() {
            self.waiting = false;
            return;
        }
        self.note_idleness();
        if self.unsent.is_grouped() {
            while self.call(now, out) {}
        } else {
            let limit = self.unsent.total / self.options.payload + 1;
            let room = self.acked.max(1) + self.unsent.room();
            self.waiting = room < limit;
            let limit = limit.min(room);
            if limit > self.limit {
                self.limit = limit;
                self.unsent.written = (limit - 1) * self.options.payload;
                self.push(now, out);
            }
        }
    }

    /// Everything is written and nothing will follow. The FIN goes with the last data that wait, or
    /// as a segment of its own.
    pub fn close(&mut self, now: Time, out: &mut Vec<Transmission>) {
        self.closed = true;
        if !self.has_data() {
            self.limit += 1;
        }
        self.push(now, out);
    }

    /// Whether all that was written is sent, and the window is not what limits the connection.
    fn note_idleness(&mut self) {
        let flight = self.in_flight();
        if !self.has_data() && flight < self.window.cwnd && self.lost <= self.again {
            self.rate.idle(self.delivered + u64::from(flight));
        }
    }

    /// One call of an application that has much to write; answers whether it may make another.
    fn call(&mut self, now: Time, out: &mut Vec<Transmission>) -> bool {
        let goal = self.group_goal() * self.options.payload;
        let mut left = CALL.min(self.unsent.total - self.unsent.written);
        let whole = left;
        while left > 0 {
            let acked = (self.acked - 1) * self.options.payload;
            let wrote = self.unsent.write(left, goal, acked, self.queue.groups());
            if wrote == 0 {
                self.waiting = true;
                if left < whole {
                    self.push(now, out);
                }
                return false;
            }
            left -= wrote;
            self.limit = self.unsent.written / self.options.payload + 1;
            let (full, only) = self.unsent.last(goal);
            if full && left > 0 {
                if self.unsent.must_push(self.widest_window * self.options.payload) {
                    self.push(now, out);
                } else if only {
                    self.write(now, Push::One, out);
                }
            }
        }
        self.unsent.must_push(self.widest_window * self.options.payload);
        self.push(now, out);
        self.waiting = false;
        !self.unsent.is_done()
    }

    /// After an ACK: the buffer grows where it, not the window, is what limits the connection.
    pub(super) fn make_room(&mut self, now: Time) {
        if self.waiting && self.in_flight() < self.window.cwnd {
            self.unsent.expand(self.window.cwnd, if self.law.paces() { 3 } else { 2 });
            self.window.stamp = self.clock.tick(now);
        }
    }

    /// Segments in a group of what the application writes: what half the receiver's window and the
    /// device allow.
    fn group_goal(&self) -> u64 {
        let bytes = (self.widest_window * self.options.payload / 2).min(GROUP_BYTES);
        (bytes / self.options.payload).clamp(1, u64::from(self.options.group_most))
    }
}
