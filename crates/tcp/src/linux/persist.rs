//! The sender while the receiver's window is closed, or open for less than a segment. It probes the
//! window (RFC 9293 section 3.8.6.1; `tcp_probe_timer` and `tcp_write_wakeup`, Linux 6.12).

use burstlab_units::Bytes;

use super::Linux;
use super::clock::Reading;
use super::timer::Purpose;
use crate::segment::{SegmentFlags, Transmission};

impl Linux {
    /// The window has to be probed: by what it has room for, else by a segment that the receiver
    /// has, which it answers.
    pub(super) fn probe_window(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        self.timer.clear();
        if !self.queue.is_empty() || !self.application.has_data(&self.queue) {
            return;
        }
        if self.application.room(&self.queue, &self.peer) > 0 && self.send_part(now, out) {
            self.path.round_trip_mut().forget_backoff();
            return;
        }
        // It is no segment of the data, and is not repeated.
        let flags = SegmentFlags { probe: true, ..SegmentFlags::default() };
        self.emit(0, false, flags, out);
        let headers = self.options.segment_size - self.options.payload;
        out.iter_mut().last().expect("it was sent").size = Bytes::new(headers);
        self.path.round_trip_mut().count_persist();
        self.timer.set(now, Purpose::Persist, self.path.round_trip().next_persist());
    }

    /// Sends so much of the next segment as there is room for, whatever the congestion window.
    fn send_part(&mut self, now: Reading, out: &mut Vec<Transmission>) -> bool {
        if !self.application.is_grouped() {
            self.application.go_by_bytes(self.queue.next());
            // The window has no room for a segment of it: the written data wait.
            self.write_more(now.now, out);
        }
        let Some(bytes) = self.application.unsent().head_bytes() else { return false };
        let bytes =
            bytes.min(self.application.room(&self.queue, &self.peer)).min(self.application.mss());
        if bytes == 0 || !self.queue.is_empty() {
            return !self.queue.is_empty();
        }
        let (_, pushes) = self.application.part_group(self.queue.next(), bytes);
        self.send_new(now, true, out);
        self.queue.end_group(1, pushes);
        self.application.count_segments(self.queue.next());
        self.site(now).1.rearm();
        true
    }
}
