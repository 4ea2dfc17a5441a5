//! The parameters of a sender as Linux has it.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use crate::config::SlowStart;

/// Bytes that a group takes in the send buffer besides its data: `SKB_TRUESIZE` of an empty one in
/// the kernel that was recorded.
pub(crate) const SEND_OVERHEAD: u64 = 832;

/// `gso_max_size` of a device less what headers may take (65,536 - 192 - 1).
pub(super) const GROUP_BYTES: u64 = 65_343;

/// The window law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// RFC 8257.
    Dctcp,
    /// Brakmo and Peterson 1995.
    Vegas,
    /// Cardwell, Cheng, Gunn, Yeganeh and Jacobson 2016, version 1.
    Bbr,
    /// draft-ietf-ccwg-bbr-06, version 3.
    Bbr3,
    /// Kelly 2003.
    Scalable,
    /// RFC 3649.
    Highspeed,
    /// Shorten and Leith 2004.
    Htcp,
    /// Liu, Basar and Srikant 2008.
    Illinois,
    /// Fu and Liew 2003.
    Veno,
    /// Grieco and Mascolo 2004.
    Westwood,
}

impl Congestion {
    /// Whether it paces.
    pub(crate) fn paces(self) -> bool {
        matches!(self, Self::Bbr | Self::Bbr3)
    }
}

/// The parameters of a [`super::Linux`] sender. Their defaults are those of Linux 6.12.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinuxOptions {
    /// The window law.
    pub congestion: Congestion,
    /// Events that may end slow start before a loss: HyStart with CUBIC alone, HyStart++ with any
    /// law that has a slow start and goes by loss.
    pub slow_start: SlowStart,
    /// Number that gives the phase of BBR's gain cycle, 0 to 6.
    pub bbr_phase: u8,
    /// Whether the receiver reports segments that arrived out of order.
    pub sack: bool,
    /// Whether ACKs echo time stamps.
    pub timestamps: bool,
    /// Whether losses are found by time (RFC 8985), else by counting (RFC 6675).
    pub rack: bool,
    /// Whether segments that arrive twice widen RACK's reordering window (`tcp_recovery` without
    /// bit 2).
    pub rack_adapts: bool,
    /// Whether RACK waits no longer once enough segments are reported (without bit 4).
    pub rack_counts: bool,
    /// Whether the end of a flight is probed (RFC 8985 section 7).
    pub tlp: bool,
    /// Whether ACKs may show that a time-out was spurious (RFC 5682).
    pub frto: bool,
    /// Whether marks are echoed (RFC 3168).
    pub ecn: bool,
    /// Whether what is sent leaves at a rate whatever the law (the queue discipline `fq`); BBR
    /// always does.
    pub pacing: bool,
    /// Whether a sender that was idle for a time-out begins anew (RFC 5681 section 4.1).
    pub restart_after_idle: bool,
    /// Segments at the beginning (RFC 6928).
    pub initial_window: u32,
    /// Segments by which the network is taken to reorder, at first and at most.
    pub reordering: u32,
    #[allow(missing_docs)]
    pub reordering_max: u32,
    /// The least that a time-out adds to the round trip, in microseconds.
    pub rto_min_us: u64,
    /// Time-out before the first measurement, and the longest, in ticks of a millisecond.
    pub rto_initial: u64,
    #[allow(missing_docs)]
    pub rto_max: u64,
    /// Data of a segment in bytes, and its size on the wire.
    pub payload: u64,
    #[allow(missing_docs)]
    pub segment_size: u64,
    /// Most segments that go as a group; 1: no grouping.
    pub group_most: u32,
    /// Segments of a group at least, where there are as many (`tcp_min_tso_segs`); BBR has its own.
    pub group_least: u32,
    /// A group that could be larger waits only if less than this part of the window is free
    /// (`tcp_tso_win_divisor`).
    pub group_divisor: u32,
    /// Whether the last segment of a group may be short, where the receiver's window or what is
    /// written ends within it; without, segments are whole.
    pub parts: bool,
    /// Bytes of the send buffer, bookkeeping included: at first, and at most.
    pub send_buffer: (u64, u64),
    /// Bytes of it that each group takes besides its data.
    pub send_overhead: u64,
    /// By how much the host's clock is ahead of a tick, and its count of ticks then.
    pub clock_phase: Span,
    #[allow(missing_docs)]
    pub wheel_phase: u64,
}

impl Default for LinuxOptions {
    fn default() -> Self {
        Self {
            congestion: Congestion::Cubic,
            slow_start: SlowStart::Hystart,
            bbr_phase: 0,
            sack: true,
            timestamps: true,
            rack: true,
            rack_adapts: true,
            rack_counts: true,
            tlp: true,
            frto: true,
            ecn: false,
            pacing: false,
            restart_after_idle: true,
            initial_window: 10,
            reordering: 3,
            reordering_max: 300,
            rto_min_us: 200_000,
            rto_initial: 1_000,
            rto_max: 120_000,
            payload: 1_448,
            segment_size: 1_500,
            group_most: 1,
            group_least: 2,
            group_divisor: 3,
            parts: true,
            send_buffer: (4_194_304, 8_388_608),
            send_overhead: SEND_OVERHEAD,
            clock_phase: Span::ZERO,
            wheel_phase: 0,
        }
    }
}
