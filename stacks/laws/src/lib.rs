//! CUBIC as several stacks have it, fed with the same streams of ACKs and losses. Compares it with
//! [RFC 9438 by the letter](Letter), and measures the effect of each departure from the letter.
//!
//! A [`Stream`] is the sequence of events that a sender by the letter sees over a path. A [`Law`]
//! is given these events and asked for its window after each. Times are in microseconds, windows in
//! packets.

mod compare;
mod departure;
#[cfg(test)]
mod frames;
mod letter;
mod noq;
mod own;
#[cfg(feature = "quiche")]
mod quiche;
mod quinn;
mod round_trips;
mod stream;

pub use compare::{Comparison, ROUNDS, Told, compare, compare_all, trace};
pub use departure::Departure;
pub use letter::Letter;
pub use stream::{Event, Family, Phase, Stream};

/// Bytes of a packet.
pub(crate) const PACKET: u64 = 1200;

/// Packets of the window at first (RFC 9002 section 7.2).
pub(crate) const INITIAL_WINDOW: u64 = 10;

/// A packet is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// When it was sent.
    pub sent: u64,
    /// Its number.
    pub number: u64,
    /// Its round trip.
    pub rtt: u64,
    /// The smoothed round trip, in whole milliseconds.
    pub smoothed_ms: u64,
    /// Whether the application is what limits the sender.
    pub limited: bool,
}

/// Packets are taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When the last of them was sent, and its number.
    pub sent: u64,
    #[allow(missing_docs)]
    pub number: u64,
    /// How many they are.
    pub packets: u64,
    /// Whether nothing came for so long that it is a time-out of TCP, or persistent congestion of
    /// QUIC (RFC 9002 section 7.6).
    pub persistent: bool,
}

/// A window law, as it is given the events of a connection.
pub trait Law {
    /// A packet is sent, with so many in flight before it.
    fn on_sent(&mut self, now: u64, number: u64, in_flight: u64);
    /// A packet is acknowledged.
    fn on_ack(&mut self, now: u64, acked: &Acked);
    /// Packets are taken for lost.
    fn on_loss(&mut self, now: u64, lost: &Lost);
    /// The packets that were taken for lost last have arrived after all.
    fn on_spurious(&mut self, now: u64);
    /// The window in packets.
    fn window(&self) -> f64;
}

/// A law of a stack, and how it departs from the letter.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// Its name in tables.
    pub name: &'static str,
    /// Makes one.
    pub law: fn() -> Box<dyn Law>,
    /// Its departures from RFC 9438, as far as [`Letter`] can depart likewise.
    pub departures: &'static [Departure],
}

/// All laws of this build.
pub const STACKS: &[Stack] = &[
    Stack { name: "ours", law: own::hystart, departures: own::DEPARTURES },
    Stack { name: "ours, no HyStart", law: own::plain, departures: own::DEPARTURES },
    Stack { name: "quinn", law: quinn::cubic, departures: quinn::DEPARTURES },
    Stack { name: "noq", law: noq::cubic, departures: noq::DEPARTURES },
    #[cfg(feature = "quiche")]
    Stack { name: "quiche", law: quiche::hystart, departures: quiche::DEPARTURES },
    #[cfg(feature = "quiche")]
    Stack { name: "quiche, no HyStart++", law: quiche::plain, departures: quiche::DEPARTURES },
];
