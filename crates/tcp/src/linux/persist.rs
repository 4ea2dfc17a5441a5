//! What a sender does where the receiver's window is closed, or open for less than a segment: it
//! probes the window (RFC 9293 section 3.8.6.1), and its segments are no longer than half the
//! widest window (`tcp_probe_timer`, `tcp_write_wakeup` and `tcp_bound_to_half_wnd`, Linux 6.12).

use burstlab_units::{Bytes, Time};

use super::Linux;
use super::timer::Purpose;
use crate::segment::{SegmentFlags, Transmission};

/// A probe waits for so many ticks at least: `TCP_RTO_MIN`.
const LEAST: u64 = 200;
/// The wait doubles at most so often: `ilog2(TCP_RTO_MAX / TCP_RTO_MIN) + 1`.
const DOUBLINGS_MOST: u32 = 10;
/// Probes after which the count of doublings stays as it is: `tcp_retries2`.
const RETRIES: u32 = 15;
/// A window up to this, `TCP_MSS_DEFAULT`, is not halved for the bound of a segment.
const HALVED_ABOVE: u64 = 536;
/// A segment with its headers has room for so many bytes at least.
const SEGMENT_LEAST: u64 = 68;

impl Linux {
    /// The widest window has changed: a segment has no more data than half of it, as long as that
    /// leaves any.
    #[cold]
    pub(super) fn bound_segments(&mut self) {
        let (widest, payload) = (self.widest_bytes, self.options.payload);
        let half = if widest > HALVED_ABOVE { widest / 2 } else { widest };
        let headers = self.options.segment_size - payload;
        let least = SEGMENT_LEAST.saturating_sub(headers).max(1);
        self.mss = payload.min(half.max(least));
        if self.mss < payload {
            self.go_by_bytes();
        }
        self.unsent.set_segment(self.mss);
        self.widest_window = widest / self.mss;
    }

    /// From now on segments may be shorter than others: what was not sent is written again, byte
    /// by byte.
    fn go_by_bytes(&mut self) {
        if self.unsent.is_grouped() {
            return;
        }
        self.options.parts = true;
        self.count_bytes();
        self.waiting = !self.unsent.is_done();
    }

    /// After what may go has gone: where nothing is outstanding though there are data, the window
    /// is probed.
    #[inline]
    pub(super) fn check_persist(&mut self, now: Time) {
        if self.queue.is_empty() && self.has_data() && self.timer.purpose().is_none() {
            self.begin_persist(now);
        }
    }

    #[cold]
    fn begin_persist(&mut self, now: Time) {
        let wait = self.rto.max(LEAST) + self.pace.ticks(self.clock.ns(now));
        self.timer.set(now, Purpose::Persist, wait.min(self.options.rto_max));
    }

    /// An ACK comes while nothing is outstanding: it opens the window, or the next probe waits for
    /// longer.
    pub(super) fn persist_on_ack(&mut self, now: Time) {
        if !self.has_data() {
            return;
        }
        if self.can_send_next() {
            self.backoff = 0;
            self.timer.clear();
        } else {
            self.set_persist(now);
        }
    }

    fn set_persist(&mut self, now: Time) {
        let wait = self.rto.max(LEAST) << self.backoff.min(DOUBLINGS_MOST);
        self.timer.set(now, Purpose::Persist, wait.min(self.options.rto_max));
    }

    /// The window has to be probed: by what it has room for, else by a segment that the receiver
    /// has, which it answers.
    pub(super) fn probe_window(&mut self, now: Time, out: &mut Vec<Transmission>) {
        self.timer.clear();
        if !self.queue.is_empty() || !self.has_data() {
            return;
        }
        if self.room() > 0 && self.send_part(now, out) {
            self.backoff = 0;
            return;
        }
        // It is no segment of the data, and is not repeated.
        let flags = SegmentFlags { probe: true, ..SegmentFlags::default() };
        self.emit(0, false, flags, out);
        let headers = self.options.segment_size - self.options.payload;
        out.iter_mut().last().expect("it was sent").size = Bytes::new(headers);
        if self.backoff < RETRIES {
            self.backoff += 1;
        }
        self.set_persist(now);
    }

    /// Sends so much of the next segment as there is room for, whatever the congestion window.
    fn send_part(&mut self, now: Time, out: &mut Vec<Transmission>) -> bool {
        if !self.unsent.is_grouped() {
            self.go_by_bytes();
            // The window has no room for a segment of it: what is written waits.
            self.write_more(now, out);
        }
        let Some(bytes) = self.unsent.head_bytes() else { return false };
        let bytes = bytes.min(self.room()).min(self.mss);
        if bytes == 0 || !self.queue.is_empty() {
            return !self.queue.is_empty();
        }
        self.part_group(bytes);
        let pushes = self.unsent.take(bytes);
        self.send_new(now, true, out);
        self.queue.end_group(1, pushes);
        self.count_segments();
        self.rearm(now);
        true
    }
}
