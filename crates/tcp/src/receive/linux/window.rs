//! The window that a receiver advertises: it grows as segments come, up to what the buffer has room
//! for, and the buffer as fast as the application reads (facts of `tcp_input.c` and `tcp_output.c`,
//! Linux 6.12). The application reads at once.

use serde::{Deserialize, Serialize};

use crate::config::Config;

/// Sizes of the buffers that a packet takes, from a device that hands over one packet at a time. A
/// buffer of one of these sizes has the packet, room in front of it and the description of its
/// parts (`tun.c`, `skbuff.c`); the description of that buffer comes on top. One of 1500 bytes
/// takes 2304. Larger packets have whole pages.
const HEADS: [u64; 4] = [576, 1_024, 2_048, 4_096];
const FRONT: u64 = 64;
const PARTS: u64 = 320;
const DESCRIPTION: u64 = 256;
/// The least buffer has less room than it takes.
const LEAST: u64 = 512;
const PAGE: u64 = 4_096;
/// The buffer has room for so much data in 256 parts of it, before the first segment.
const SHARE_FIRST: u64 = 128;
const SHARE_WHOLE: u64 = 256;
/// The largest window that 16 bits can express.
const FIELD: u64 = 65_535;
/// Binary digits by which windows are scaled at most (RFC 7323 section 2.3).
const SCALE_MOST: u32 = 14;
/// The first measurement of what is read begins with so many segments.
const FIRST_READ: u64 = 10;
/// Where less of the buffer is free than its part by so many binary digits the window closes.
const CLOSED_BELOW: u32 = 4;
/// A window of so few segments may have to be closed, or a buffer with room for no more than these.
const FEW: u64 = 12;
const FEW_HELD: u64 = 4;
/// Two segments wait for their ACK, and the window grows by four until it goes, half of which
/// counts; and one is spare.
const STEP: u64 = 5;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Advertised {
    payload: u64,
    headers: u64,
    /// Room that the largest segment so far takes in the buffer; at first, that of a full one.
    room: u64,
    buffer: u64,
    buffer_most: u64,
    share: u64,
    scale: u32,
    /// The window is never wider, as the application may ask, or the buffer.
    clamp: u64,
    /// Nor is it ever wider than this: what the scenario says of the receiver's window.
    most: u64,
    /// How wide the window may be by now (`rcv_ssthresh`).
    threshold: u64,
    /// Whether a few segments close the window, or most of the buffer.
    tight: bool,
    /// The window that the last ACK offered.
    offered: u64,
    /// The round trip as it looks from here, times 8, in microseconds, and the echo it is from.
    rtt_8: u64,
    echoed: u32,
    /// The end of the window that was offered when measuring it began, 0 before that, when it was,
    /// and a segment before which it is not reached.
    full_at: u64,
    measured_since: u64,
    full_from: u64,
    /// Bytes read in the last round trip, bytes read in this one, and the begin of this one.
    read_before: u64,
    read: u64,
    since: u64,
}

/// Room that a packet of so many bytes takes in the buffer.
fn room(packet: u64) -> u64 {
    let needed = FRONT + packet + PARTS;
    let fits = |&head: &u64| needed <= if head == HEADS[0] { LEAST } else { head };
    let head = HEADS.into_iter().find(fits);
    head.unwrap_or_else(|| needed.next_multiple_of(PAGE)) + DESCRIPTION
}

impl Advertised {
    pub(super) fn new(config: &Config, payload: u64) -> Self {
        let size = |field: Option<burstlab_units::Bytes>, usual: u64| {
            field.map_or(usual, burstlab_units::Bytes::get)
        };
        let buffer = size(config.receive_buffer, 131_072);
        let buffer_most = size(config.receive_buffer_max, 6_291_456).max(buffer);
        let most = u64::from(config.window) * payload;
        let asked = size(config.window_clamp, u64::MAX);
        let scaled = config.window_scaling.unwrap_or(true);
        let full = buffer * SHARE_FIRST / SHARE_WHOLE;
        let widest = buffer_most.min(asked).max(1);
        let scale = widest.ilog2().saturating_sub(15).min(SCALE_MOST);
        let asked = asked.min(most);
        let offered = full.min(asked);
        let offered = if offered > payload { offered - offered % payload } else { offered };
        // Room for one segment is kept.
        let clamp = asked.min(full.saturating_sub(payload).max(2 * payload));
        let clamp = if scaled { clamp } else { clamp.min(FIELD) };
        let headers = config.segment_size.get() - payload;
        Self {
            payload,
            headers,
            room: room(payload + headers),
            buffer,
            buffer_most,
            share: SHARE_FIRST,
            scale: if scaled { scale } else { 0 },
            clamp,
            most,
            threshold: offered.min(clamp),
            tight: true,
            offered,
            rtt_8: 0,
            echoed: 0,
            full_at: 0,
            measured_since: 0,
            full_from: 0,
            read_before: 0,
            read: 0,
            since: 0,
        }
    }

    /// The window of the SYN's ACK, which is not scaled.
    pub(super) fn of_syn(&self) -> u32 {
        self.offered.min(FIELD) as u32
    }

    pub(super) fn open(&mut self, us: u64) {
        self.read_before = self.threshold.min(self.offered).min(FIRST_READ * self.payload);
        self.since = us;
    }

    /// The window that the last ACK offered.
    pub(super) fn offered(&self) -> u64 {
        self.offered
    }

    fn data(&self, buffer: u64) -> u64 {
        buffer * self.share / SHARE_WHOLE
    }

    /// The amount of data for which there is room besides so many segments.
    fn room_beside(&self, held: u64) -> u64 {
        self.data(self.buffer.saturating_sub(held * self.room))
    }

    /// A segment shows what segments take in the buffer, if it is larger than `size`, what full
    /// ones were taken to have.
    #[inline]
    pub(super) fn learn_size(&mut self, bytes: u64, size: u64) {
        if bytes <= size {
            return;
        }
        self.room = room(bytes + self.headers);
        self.share = (bytes * SHARE_WHOLE / self.room).max(1);
        self.clamp = self.data(self.buffer).min(self.most);
        self.threshold = self.threshold.min(self.clamp);
        self.read_before = self.read_before.min(self.clamp);
        self.look();
    }

    /// A segment came, and so many are in the buffer: the window may be wider by two. Answers
    /// whether it is.
    #[inline]
    pub(super) fn grow(&mut self, held: u64) -> bool {
        if self.clamp <= self.threshold {
            return false;
        }
        let most = self.clamp.min(self.room_beside(held));
        let grows = most > self.threshold;
        if grows {
            self.threshold = (self.threshold + 2 * self.payload).min(most);
            if self.tight {
                self.look();
            }
        }
        grows
    }

    /// Whether a segment makes the window no wider.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.clamp <= self.threshold
    }

    /// The window that there is room for with so many segments in the buffer.
    #[inline]
    pub(super) fn offer(&self, held: u64) -> u64 {
        self.scaled(self.room_beside(held).min(self.threshold), self.payload)
    }

    /// The same where much may be in the buffer, with what a full segment has as far as known, and
    /// whether that is more than half of the buffer: then the window closes before it is silly
    /// (RFC 9293 section 3.8.6.2.2, `__tcp_select_window`).
    pub(super) fn select(&self, held: u64, segment: u64) -> (u64, bool) {
        let allowed = self.data(self.buffer);
        let whole = self.clamp.min(allowed);
        let segment = segment.min(whole).max(1);
        let mut free = self.room_beside(held);
        let squeezed = free < whole >> 1;
        if squeezed {
            free = free >> self.scale << self.scale;
            if free < allowed >> CLOSED_BELOW || free < segment {
                return (0, true);
            }
        }
        (self.scaled(free.min(self.threshold), segment), squeezed)
    }

    /// The remainder of the last ACK's window, after so many bytes came in order since.
    fn left(&self, since: u64) -> u64 {
        self.offered.saturating_sub(since)
    }

    /// Whether the application has made so much room by reading that an ACK announces it, where the
    /// window is to be `offer`: at least twice the remainder (`__tcp_cleanup_rbuf`).
    pub(super) fn opens(&self, since: u64, offer: impl FnOnce() -> u64) -> bool {
        let left = self.left(since);
        if 2 * left > self.clamp {
            return false;
        }
        let offer = offer();
        offer > 0 && offer >= 2 * left
    }

    /// Whether many segments in order, two of which wait for their ACK at most, neither close the
    /// window nor [open](Self::opens) it.
    #[inline]
    pub(super) fn is_wide_open(&self) -> bool {
        let half = (self.threshold >> 1) + STEP * self.payload + (1 << self.scale);
        !self.tight && self.offered >= half
    }

    /// Sees whether it is tight.
    #[cold]
    fn look(&mut self) {
        let few = self.threshold.min(self.clamp) < FEW * self.payload;
        let whole = self.clamp.min(self.data(self.buffer));
        self.tight = few || self.room_beside(FEW_HELD) < whole >> 1;
    }

    /// Whether the window would be at least as wide as it was, of what there is room for: else the
    /// ACK waits until the application has read.
    #[inline]
    pub(super) fn is_as_wide(&self, offer: u64) -> bool {
        offer >= self.offered
    }

    #[inline]
    fn scaled(&self, window: u64, segment: u64) -> u64 {
        match self.scale {
            0 if window > self.offered || window + segment <= self.offered => {
                window - window % segment
            }
            0 => self.offered,
            scale => Self::up_to_scale(window, scale),
        }
    }

    /// As [`u64::next_multiple_of`] a power of two, without a division.
    #[inline]
    fn up_to_scale(window: u64, scale: u32) -> u64 {
        let below = (1 << scale) - 1;
        (window + below) & !below
    }

    /// The window of an ACK, since the last of which so many bytes came in order, where there is
    /// room for [`offer`](Self::offer). A window that was offered is not taken back.
    #[inline]
    pub(super) fn advertise(&mut self, since: u64, offer: u64) -> u32 {
        let left = self.left(since);
        let mut window = offer;
        if window < left {
            window = Self::up_to_scale(left, self.scale);
        }
        self.offered = window;
        (window.min(FIELD << self.scale) >> self.scale << self.scale) as u32
    }

    /// A segment, `full` or not, echoes what an ACK said (RFC 7323 section 4). A round trip that is
    /// shorter than what is known counts in full.
    #[inline]
    pub(super) fn measure_round_trip(&mut self, tick: u64, echo: u32, full: bool) {
        if echo == self.echoed {
            return;
        }
        self.echoed = echo;
        let rtt = 1000 * tick.saturating_sub(u64::from(echo));
        if rtt > 0 && full && !self.shortens_round_trip(rtt) {
            self.rtt_8 += rtt - (self.rtt_8 >> 3);
        }
    }

    /// So many bytes have come in order: a window full of them takes a round trip at least.
    #[inline]
    pub(super) fn measure_window(&mut self, us: u64, received: u64) {
        if received >= self.full_at {
            if self.full_at > 0 {
                self.shortens_round_trip((us - self.measured_since).max(1));
            }
            (self.full_at, self.measured_since) = (received + self.offered, us);
            self.full_from = self.full_at / self.payload;
        }
    }

    /// Whether segment `seq`, with all before it, may be all of the window that is measured.
    #[inline]
    pub(super) fn may_be_full(&self, seq: u64) -> bool {
        seq >= self.full_from
    }

    /// Whether a round trip of so many microseconds is the shortest, which then counts alone.
    #[inline]
    fn shortens_round_trip(&mut self, rtt: u64) -> bool {
        let shortest = self.rtt_8 == 0 || rtt << 3 < self.rtt_8;
        if shortest {
            self.rtt_8 = rtt << 3;
        }
        shortest
    }

    /// The round trip in microseconds; 0: unknown.
    pub(super) fn round_trip(&self) -> u64 {
        self.rtt_8 >> 3
    }

    /// The application has read segments of so many bytes, of which the first has `first`. Once a
    /// round trip the buffer is made fit for twice what was read in it, and more where that grows.
    /// That is looked at after the first of them, when the others wait, and do not count.
    #[inline]
    pub(super) fn read(&mut self, us: u64, first: u64, bytes: u64) {
        self.read += first;
        if self.ends_round(us) {
            self.read = self.read.saturating_sub(bytes - first);
            self.end_round(us);
        }
        self.read += bytes - first;
    }

    /// The application has read a segment, which [ends no round trip](Self::ends_round).
    #[inline]
    pub(super) fn read_on(&mut self) {
        self.read += self.payload;
    }

    /// Whether what is read at `us` ends a round trip.
    #[inline]
    pub(super) fn ends_round(&self, us: u64) -> bool {
        self.rtt_8 > 0 && us - self.since >= self.rtt_8 >> 3
    }

    fn end_round(&mut self, us: u64) {
        if self.read > self.read_before {
            let base = 2 * self.read + 16 * self.payload;
            let grown = self.read - self.read_before;
            let wanted = base + 2 * (base * grown / self.read_before.max(1));
            let buffer = (wanted * SHARE_WHOLE / self.share).min(self.buffer_most);
            if buffer > self.buffer {
                self.buffer = buffer;
                self.clamp = self.data(buffer).min(self.most);
                self.look();
            }
            self.read_before = self.read;
        }
        (self.read, self.since) = (0, us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    const FULL: u64 = 1_448;

    fn advertised() -> Advertised {
        let given: Overrides = serde_json::from_str(r#"{"profile": "linux"}"#).expect("fields");
        let config = Config::resolve(&given).expect("parameters");
        let mut window = Advertised::new(&config, FULL);
        window.learn_size(FULL, 536);
        window.open(0);
        window.measure_round_trip(21, 1, true);
        assert_eq!(window.round_trip(), 20_000);
        window
    }

    #[test]
    fn a_packet_takes_a_buffer_of_a_power_of_two_or_pages() {
        // The kernel's own numbers (`sk_rmem_alloc`).
        let sizes = [52, 128, 129, 576, 640, 641, 1_500, 1_664, 1_665, 3_712, 3_713, 7_808];
        let taken =
            [832, 832, 1_280, 1_280, 1_280, 2_304, 2_304, 2_304, 4_352, 4_352, 8_448, 8_448];
        assert_eq!(sizes.map(room), taken);
        let sizes = [7_809, 8_244, 9_000, 11_904, 11_905];
        let taken = [12_544, 12_544, 12_544, 12_544, 16_640];
        assert_eq!(sizes.map(room), taken);
    }

    #[test]
    fn what_waits_behind_the_first_segment_counts_in_the_next_round() {
        let mut window = advertised();
        let first = window.buffer;
        // A hole is filled: of 101 segments one has been read when the round ends.
        window.read(30_000, FULL, 101 * FULL);
        assert_eq!((window.buffer, window.read), (first, 100 * FULL));
        window.read(60_000, FULL, FULL);
        assert!(window.buffer > first);
        // One by one they all count at once.
        let mut other = advertised();
        other.read(10_000, 100 * FULL, 100 * FULL);
        other.read(30_000, FULL, FULL);
        assert_eq!(other.buffer, window.buffer);
    }

    #[test]
    fn a_window_of_data_takes_a_round_trip_at_least() {
        let mut window = advertised();
        window.measure_window(1_000, FULL);
        window.measure_window(4_000, FULL + window.offered - 1);
        assert_eq!(window.round_trip(), 20_000);
        window.measure_window(6_000, FULL + window.offered);
        assert_eq!(window.round_trip(), 5_000);
        // It never lengthens it.
        window.measure_window(60_000, FULL + 3 * window.offered);
        assert_eq!(window.round_trip(), 5_000);
    }
}
