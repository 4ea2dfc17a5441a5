//! The receiving endpoint.

mod arrived;
mod classic;
mod delayed;
mod full;
pub(crate) mod linux;
mod sack_history;

use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use crate::config::{Config, Variant};
use crate::packet_run::PacketRun;
use crate::segment::{Ack, AckOptions, SegmentOptions};
use arrived::Arrived;
use classic::ClassicReceiver;
pub use delayed::Received;
use full::LinuxReceiver;
use linux::FullAck;

/// The receiving endpoint of one connection: puts segments in order and acknowledges them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Receiver {
    /// It acknowledges at once or later, and sends SACK blocks or none.
    Classic(ClassicReceiver),
    /// That of Linux, whose packets carry options.
    Linux(Box<LinuxReceiver>),
}

/// Calls the same function of whichever receiver it is.
macro_rules! each {
    ($receiver:expr, $one:ident => $call:expr) => {
        match $receiver {
            Receiver::Classic($one) => $call,
            Receiver::Linux($one) => $call,
        }
    };
}

impl Receiver {
    /// A receiver that waits for the SYN.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        match config.variant {
            Variant::Linux => Self::Linux(Box::new(LinuxReceiver::new(config))),
            _ => Self::Classic(ClassicReceiver::new(config)),
        }
    }

    /// Segment `seq` arrives. Returns the ACK that goes out at once, if one does. A segment beyond
    /// the window is dropped and acknowledged like a duplicate (RFC 9293 section 3.10.7.4).
    pub fn on_segment(&mut self, now: Time, seq: u64) -> Option<Ack> {
        match self {
            Self::Classic(receiver) => receiver.on_segment(now, seq),
            Self::Linux(_) => None,
        }
    }

    /// Segments of `run` arrive. Takes those in front that come in order, none having arrived
    /// before its turn, at `until` or before, and before a delayed ACK is due; the caller sees to
    /// it that nothing else happens to the receiver by then. All is as if each had come alone to
    /// [`on_segment`](Self::on_segment). Of a run that begins with the SYN only the SYN is taken
    /// where ACKs are delayed, since its own is not.
    #[inline(always)]
    pub fn take(&mut self, run: &PacketRun, until: Time) -> Received {
        match self {
            Self::Classic(receiver) => receiver.take(run, until),
            Self::Linux(_) => Received::default(),
        }
    }

    /// Whether segment `seq` is the one it waits for, and none arrived before its turn.
    #[inline]
    #[must_use]
    pub fn takes_fast(&self, seq: u64) -> bool {
        matches!(self, Self::Classic(receiver) if receiver.takes_fast(seq))
    }

    /// Whether every segment is acknowledged as it arrives.
    #[inline]
    #[must_use]
    pub fn acknowledges_each(&self) -> bool {
        matches!(self, Self::Classic(receiver) if receiver.acknowledges_each())
    }

    /// Whether segment `seq` comes behind a gap, and is beyond all that arrived.
    #[inline]
    #[must_use]
    pub fn takes_behind(&self, seq: u64) -> bool {
        matches!(self, Self::Classic(receiver) if receiver.takes_behind(seq))
    }

    /// Segments of `run` arrive [behind a gap](Self::takes_behind). Takes those in front that are
    /// in order and come at `until` or before, and before a delayed ACK is due; the caller sees to
    /// it that nothing else happens to the receiver by then. Returns how many, and the ACK that
    /// goes out as the first of them comes. Each of the others has the same as it comes, but that
    /// the first SACK block, if there is one, is longer by a segment each time. All is as if each
    /// had come alone to [`on_segment`](Self::on_segment).
    pub fn take_behind(&mut self, run: &PacketRun, until: Time) -> Option<(u32, Ack)> {
        match self {
            Self::Classic(receiver) => receiver.take_behind(run, until),
            Self::Linux(_) => None,
        }
    }

    /// The segment it waits for: all below have arrived.
    #[inline]
    #[must_use]
    pub fn next(&self) -> u64 {
        self.arrived().next
    }

    /// Size of an ACK without SACK blocks.
    #[inline]
    #[must_use]
    pub fn ack_size(&self) -> Bytes {
        each!(self, receiver => receiver.ack_size)
    }

    /// Whether segment `seq` has arrived.
    #[must_use]
    pub fn holds(&self, seq: u64) -> bool {
        self.arrived().holds(seq)
    }

    /// When [`Receiver::on_timeout`] is due.
    #[must_use]
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Classic(receiver) => receiver.policy.deadline(),
            Self::Linux(receiver) => receiver.answers.deadline(),
        }
    }

    /// The delayed ACK is due. Does nothing before the deadline.
    pub fn on_timeout(&mut self, now: Time) -> Option<Ack> {
        match self {
            Self::Classic(receiver) => receiver.on_timeout(now),
            Self::Linux(_) => None,
        }
    }

    /// A data segment of the other direction leaves: the ACK that it carries, after which no
    /// delayed one is due (RFC 9293 section 3.10.7.4: it is piggybacked). `None` before the SYN has
    /// arrived: there is nothing to acknowledge.
    pub fn piggyback(&mut self) -> Option<Ack> {
        match self {
            Self::Classic(receiver) => receiver.piggyback(),
            Self::Linux(_) => None,
        }
    }

    /// Data segments delivered in order to the application, the SYN and a FIN alone not counted.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        let (next, fin) = match self {
            Self::Classic(receiver) => (receiver.arrived.next, None),
            Self::Linux(receiver) => (receiver.arrived.next, receiver.answers.fin()),
        };
        let ends = fin.is_some_and(|fin| fin < next);
        next.saturating_sub(1 + u64::from(ends))
    }

    /// Segments that arrived out of order, as runs: each from one segment up to but not including
    /// another.
    #[must_use]
    pub fn early(&self) -> Vec<(u64, u64)> {
        self.arrived().early()
    }

    /// Segments that arrived though they had arrived before.
    #[must_use]
    pub fn duplicates(&self) -> u64 {
        self.arrived().duplicates
    }

    #[inline]
    fn arrived(&self) -> &Arrived {
        each!(self, receiver => &receiver.arrived)
    }

    #[inline]
    fn linux(&mut self) -> Option<&mut LinuxReceiver> {
        match self {
            Self::Classic(_) => None,
            Self::Linux(receiver) => Some(receiver),
        }
    }
}

/// Connections whose packets carry options.
impl Receiver {
    /// Whether packets of the connection carry options, so that they go to
    /// [`on_packet`](Self::on_packet).
    #[inline]
    #[must_use]
    pub fn has_options(&self) -> bool {
        matches!(self, Self::Linux(_))
    }

    /// Whether segment `seq` has data, is the one it waits for, and none arrived before its turn,
    /// on a connection with options.
    #[inline]
    #[must_use]
    pub fn takes_full_fast(&self, seq: u64) -> bool {
        matches!(self, Self::Linux(receiver) if receiver.takes_fast(seq))
    }

    /// A data packet of a connection with options arrives: segment `seq` with `bytes` of data. The
    /// SYN has none, and neither has segment 0 when it is the ACK of the SYN's ACK. Appends the
    /// ACKs that go out at once, in order, with what they carry besides.
    pub fn on_packet(
        &mut self,
        now: Time,
        (seq, bytes): (u64, Bytes),
        options: &SegmentOptions,
        out: &mut Vec<FullAck>,
    ) {
        if let Self::Linux(receiver) = self {
            receiver.on_packet(now, (seq, bytes), options, out);
        }
    }

    /// As [`on_packet`](Self::on_packet) for segments with `bytes` of data each that carry the
    /// same. Takes those in front that are [on the fast path](Self::takes_full_fast), and simply
    /// so, come by `until`, and surely before a timer runs out; returns how many.
    /// `answer` gets each ACK: when it goes, what it asks for, and what it carries; it is of
    /// [`ack_size`](Self::ack_size).
    #[inline]
    pub fn on_packets_fast(
        &mut self,
        run: &PacketRun,
        (until, bytes): (Time, Bytes),
        options: &SegmentOptions,
        answer: impl FnMut(Time, u64, &AckOptions),
    ) -> u32 {
        self.linux().map_or(0, |linux| linux.on_packets_fast(run, (until, bytes), options, answer))
    }

    /// As [`on_packet`](Self::on_packet), of the SYN that answers the one of this host: it is
    /// acknowledged at once, and needs no answer.
    pub fn on_answer(&mut self, now: Time, options: &SegmentOptions, out: &mut Vec<FullAck>) {
        if let Self::Linux(receiver) = self {
            receiver.on_answer(now, options, out);
        }
    }

    /// The answer to the SYN goes with data, whose sender repeats it.
    pub fn leave_syn(&mut self) {
        if let Self::Linux(receiver) = self {
            receiver.answers.leave_syn();
        }
    }

    /// The ACK of the SYN's ACK arrives, which carries no data.
    pub fn on_handshake(&mut self, now: Time) {
        if let Self::Linux(receiver) = self {
            receiver.answers.open(now);
        }
    }

    /// A timer of a connection with options is due. Does nothing before its time.
    pub fn on_full_timeout(&mut self, now: Time, out: &mut Vec<FullAck>) {
        if let Self::Linux(receiver) = self {
            receiver.answers.on_timeout(now, receiver.arrived.next, out);
        }
    }

    /// The next packet has so many bytes of SACK blocks besides its data.
    pub fn note_blocks(&mut self, blocks: u64) {
        if let Self::Linux(receiver) = self {
            receiver.answers.note_blocks(blocks);
        }
    }

    /// Bytes that SACK blocks take in an ACK that goes now, or that goes once segment `coming` has
    /// arrived.
    #[must_use]
    pub fn block_bytes(&self, coming: Option<u64>) -> u64 {
        match self {
            Self::Classic(_) => 0,
            Self::Linux(receiver) => receiver.block_bytes(coming),
        }
    }

    /// The same on a connection with [options](Self::has_options).
    pub fn piggyback_full(&mut self, now: Time) -> Option<FullAck> {
        self.linux()?.piggyback(now)
    }

    /// An ACK that [was to go](Self::on_packet) at `now` goes with a data segment instead.
    pub fn ack_was_piggybacked(&mut self, now: Time) {
        if let Self::Linux(receiver) = self {
            receiver.answers.ack_was_piggybacked(now);
        }
    }

    /// Reports the round trips that the sender at the same host measured: the smoothed one in
    /// microseconds, and its time-out in ticks of a millisecond. A connection with options goes by
    /// it.
    pub fn know_round_trip(&mut self, (rtt, rto): (u64, u64)) {
        if let Self::Linux(receiver) = self {
            receiver.answers.know(rtt, rto);
        }
    }
}
