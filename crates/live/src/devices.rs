//! The devices of live hosts, and the data exchanged with them.

use std::fmt;

use burstlab_units::Time;

/// The state of a kernel's connection, as its `tcp_info` reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Congestion window and threshold in segments; a threshold of 2^31 - 1 is none yet.
    pub cwnd: u32,
    /// See `cwnd`.
    pub ssthresh: u32,
    /// Bytes of data in a full segment.
    pub segment: u32,
    /// Smoothed round trip in us; 0 before the first measurement.
    pub rtt_us: u32,
    /// Retransmission time-out in us.
    pub rto_us: u32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Retransmission time-outs since something new was acknowledged.
    pub timeouts: u32,
    /// Its stage: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u32,
}

/// A packet that a kernel sends, or word that it has given a connection up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Which pair of hosts, by its place in the list of
    /// [`Live::new`](crate::Live::new), and whether the second sends.
    pub pair: usize,
    /// See `pair`.
    pub far: bool,
    /// The packet, from its header of IP.
    pub bytes: Vec<u8>,
    /// How its connection stands now; `None` where it is no TCP, or nobody looked.
    pub sample: Option<Sample>,
    /// Its own port and the other of a connection that the kernel sends nothing more of: it has
    /// sent again as often as it may. Then there is no packet.
    pub given_up: Option<(u16, u16)>,
}

/// The answer of [`Devices::wait`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// When.
    pub at: Time,
    /// Packets that were sent then, oldest first.
    pub packets: Vec<Sent>,
    /// Whether nothing will come any more.
    pub ended: bool,
}

/// The devices of live hosts, and the clock by which they run.
pub trait Devices: fmt::Debug + Send + Sync {
    /// Waits until `until`, or until something is sent before; it is `now` in the run.
    fn wait(&self, now: Time, until: Time) -> Found;

    /// Hands a packet to the kernel of a host of a pair; returns how its connection stands
    /// thereafter, where it has one that sends data.
    fn deliver(&self, now: Time, pair: usize, far: bool, packet: &[u8]) -> Option<Sample>;
}
