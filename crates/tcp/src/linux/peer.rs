//! The state of the other end: its window, its time stamps, and the handshake with it.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::options::LinuxOptions;
use crate::segment::{SegmentFlags, SegmentOptions};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Peer {
    /// Its window in bytes and in segments, and the widest ever in both.
    bytes: u64,
    segments: u64,
    widest: u64,
    widest_segments: u64,
    payload: u64,
    /// Whether ACKs echo time stamps, and the one that the last ACK echoed.
    timestamps: bool,
    echo: Option<u64>,
    /// Its newest time stamp.
    stamp: u32,
    /// When the SYN was last sent, and how often again.
    syn: (Time, u32),
    /// Whether the receiver at the same host ends the handshake, not an ACK of its own.
    both_ways: bool,
}

impl Peer {
    pub(super) fn new(options: &LinuxOptions) -> Self {
        Self {
            bytes: 0,
            segments: 0,
            widest: 0,
            widest_segments: 0,
            payload: options.payload,
            timestamps: options.timestamps,
            echo: None,
            stamp: 0,
            syn: (Time::ZERO, 0),
            both_ways: false,
        }
    }

    /// Its window becomes so many bytes; returns whether it was never as wide.
    #[inline]
    pub(super) fn take_window(&mut self, bytes: u64) -> bool {
        if bytes != self.bytes {
            (self.bytes, self.segments) = (bytes, bytes / self.payload);
        }
        let widens = bytes > self.widest;
        if widens {
            self.widest = bytes;
        }
        widens
    }

    /// How many segments of so many bytes the widest window has.
    pub(super) fn bound_segments(&mut self, mss: u64) {
        self.widest_segments = self.widest / mss;
    }

    /// The connection is open: the widest window so far is forgotten.
    pub(super) fn forget_widest(&mut self) {
        (self.widest, self.widest_segments) = (0, 0);
    }

    /// Its window in bytes.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        self.bytes
    }

    /// The same in whole segments of the usual length.
    #[inline]
    pub(super) fn segments(&self) -> u64 {
        self.segments
    }

    /// The widest window ever, in bytes.
    #[inline]
    pub(super) fn widest(&self) -> u64 {
        self.widest
    }

    #[inline]
    pub(super) fn widest_segments(&self) -> u64 {
        self.widest_segments
    }
}

/// Time stamps.
impl Peer {
    /// An ACK echoes a time stamp.
    #[inline]
    pub(super) fn take_echo(&mut self, echo: Option<u64>) {
        self.echo = echo.filter(|_| self.timestamps);
    }

    /// The time stamp that the last ACK echoed.
    pub(super) fn echo(&self) -> Option<u64> {
        self.echo
    }

    /// Whether that is from before millisecond `ms`.
    pub(super) fn echoes_before(&self, ms: u64) -> bool {
        self.echo.is_some_and(|echo| echo < ms)
    }

    /// The round trip in microseconds that the last echo shows at `us`: at least a tick
    /// (`tcp_rtt_tsopt_us`).
    pub(super) fn echoed_round_trip(&self, us: u64) -> Option<u64> {
        self.echo.map(|echo| 1000 * (us / 1000).saturating_sub(echo).max(1))
    }

    /// It has sent this time stamp.
    #[inline]
    pub(super) fn take_stamp(&mut self, stamp: u32) {
        self.stamp = self.stamp.max(stamp);
    }

    /// The options of a segment for it that goes out in millisecond `ms`.
    #[inline]
    pub(super) fn options(&self, ms: u64, flags: SegmentFlags) -> SegmentOptions {
        SegmentOptions { stamp: ms as u32, echo: self.stamp, flags, marked: false }
    }
}

/// The handshake.
impl Peer {
    /// The SYN goes, `again` where it was sent before.
    pub(super) fn call(&mut self, now: Time, again: bool) {
        self.syn = (now, self.syn.1 + u32::from(again));
    }

    /// The SYN went so many times more than once.
    pub(super) fn set_calls_again(&mut self, times: u32) {
        self.syn.1 = times;
    }

    /// When the SYN was last sent.
    pub(super) fn called_at(&self) -> Time {
        self.syn.0
    }

    /// How often it was sent again.
    pub(super) fn calls_again(&self) -> u32 {
        self.syn.1
    }

    /// The receiver at this host ends the handshake.
    pub(super) fn go_both_ways(&mut self) {
        self.both_ways = true;
    }

    pub(super) fn goes_both_ways(&self) -> bool {
        self.both_ways
    }
}
