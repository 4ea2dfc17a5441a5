//! The tables of packets, and the rows as packets are sent.

use burstlab_tcp::{Ack, Transmission};
use burstlab_units::{Bytes, Time};

use super::columns::{Column, NONE, table};
use super::fates::{FATES, IN_FLIGHT};
use super::loss::LossCause;
use crate::scenario::Carries;

const KINDS: &[&str] = &["data", "ack", "udp"];
const CAUSES: &[&str] = &[
    "none",
    "burst-lost",
    "scripted",
    "access-overflow",
    "cut",
    "wireless",
    "wireless-queue",
    "slot-dropped",
    "filtered",
    "link-lost",
    "not-ect",
];

pub(super) const DATA: u8 = 0;
pub(super) const ACK: u8 = 1;
pub(super) const UDP: u8 = 2;

/// Why a packet was lost; the order is that of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketCause {
    /// With the burst that carried it.
    Burst = 1,
    /// A scripted loss of this very packet.
    Scripted = 2,
    /// The queue of an access link was full.
    Overflow = 3,
    /// With the tail of the burst that carried it.
    Cut = 4,
    /// A wireless cell gave it up, or lost it all the same.
    Wireless = 5,
    /// A queue of a wireless cell was full.
    WirelessQueue = 6,
    /// With a slot that carried it, or a part of it.
    Slot = 7,
    /// An ACK that repeats one of an edge node, which drops it.
    Filtered = 8,
    /// An access link lost it in one of its spells.
    Link = 9,
    /// It is not ECN-capable, and a queue dropped it where it would have marked another one.
    NotEct = 10,
}

impl PacketCause {
    /// Of a packet that is lost outside the optical network.
    pub(crate) fn at_access(cause: LossCause) -> Self {
        match cause {
            LossCause::Scripted => Self::Scripted,
            LossCause::SenderLink | LossCause::ReceiverLink => Self::Link,
            LossCause::Wireless => Self::Wireless,
            LossCause::WirelessQueue => Self::WirelessQueue,
            LossCause::NotEct => Self::NotEct,
            _ => Self::Overflow,
        }
    }
}

table! {
    /// One row a transmission.
    PacketTable, "packets" {
        flow: u32 => Column::U32,
        kind: u8 => |codes| Column::Category(codes, KINDS),
        seq: i64 => Column::I64,
        transmission: u32 => Column::U32,
        size_bytes: u32 => Column::U32,
        sent_ps: u64 => Column::U64,
        ingress_ps: u64 => Column::U64,
        burst: u64 => Column::U64,
        departed_ps: u64 => Column::U64,
        egress_ps: u64 => Column::U64,
        delivered_ps: u64 => Column::U64,
        acked_ps: u64 => Column::U64,
        fate: u8 => |codes| Column::Category(codes, FATES),
        cause: u8 => |codes| Column::Category(codes, CAUSES),
        cwnd: f64 => Column::F64,
        ssthresh: f64 => Column::F64,
        window_bytes: u64 => Column::U64,
        carries: u8 => |codes| Column::Category(codes, Carries::LABELS),
    }
}

table! {
    /// One row a SACK block of an ACK, the most recent first.
    SackTable, "packets_sack" {
        packet: u64 => Column::U64,
        flow: u32 => Column::U32,
        left: u64 => Column::U64,
        right: u64 => Column::U64,
    }
}

table! {
    /// One row a data packet that carries an ACK of the other direction of its connection.
    CarriedTable, "packets_acks" {
        packet: u64 => Column::U64,
        flow: u32 => Column::U32,
        seq: i64 => Column::I64,
    }
}

/// Stands in the column `burst` while that is open.
pub(super) const OPEN: u64 = NONE - 1;

impl PacketTable {
    /// Whether a row changes no more.
    pub(super) fn is_final(&self, place: usize) -> bool {
        let known = self.kind[place] != DATA || self.acked_ps[place] != NONE;
        known && self.fate[place] != IN_FLIGHT && self.burst[place] != OPEN
    }
}

impl PacketTable {
    /// Adds the row of a packet that is sent.
    pub(super) fn push(&mut self, now: Time, flow: u32, packet: &SentRow) {
        let (kind, seq, nth, size, cwnd, ssthresh) = match *packet {
            SentRow::Data(t, nth) => (DATA, t.seq as i64, nth, t.size, t.cwnd, t.ssthresh),
            SentRow::Ack(ack, _) => (ACK, ack.next as i64 - 1, 1, ack.size, f64::NAN, f64::NAN),
            SentRow::Other(number, size) => (UDP, number as i64, 1, size, f64::NAN, f64::NAN),
        };
        self.flow.push(flow);
        self.kind.push(kind);
        self.seq.push(seq);
        self.transmission.push(nth);
        self.size_bytes.push(size.get() as u32);
        self.sent_ps.push(now.as_ps());
        for column in [
            &mut self.ingress_ps,
            &mut self.burst,
            &mut self.departed_ps,
            &mut self.egress_ps,
            &mut self.delivered_ps,
            &mut self.acked_ps,
        ] {
            column.push(NONE);
        }
        self.fate.push(IN_FLIGHT);
        self.cause.push(0);
        self.cwnd.push(cwnd);
        self.ssthresh.push(ssthresh);
        self.window_bytes.push(match *packet {
            SentRow::Ack(_, window) => advertised(window),
            _ => NONE,
        });
        self.carries.push(match *packet {
            // The first segment is the SYN.
            SentRow::Data(t, _) if t.seq == 0 => Carries::Handshake,
            SentRow::Ack(..) => Carries::Ack,
            _ => Carries::Data,
        } as u8);
    }
}

impl SackTable {
    /// Adds a SACK block of the ACK in a row.
    pub(super) fn push(&mut self, packet: u64, flow: u32, (left, right): (u64, u64)) {
        self.packet.push(packet);
        self.flow.push(flow);
        self.left.push(left);
        self.right.push(right);
    }
}

/// What the column `window_bytes` has of a window.
pub(super) fn advertised(window: Option<u32>) -> u64 {
    window.map_or(NONE, u64::from)
}

/// A packet as it is sent.
pub(crate) enum SentRow<'a> {
    /// A segment and which transmission of it this is.
    Data(&'a Transmission, u32),
    /// An ACK, and the window in bytes that it advertises, where its receiver decides on one.
    Ack(&'a Ack, Option<u32>),
    /// A packet of other traffic: its number among them all, and its size.
    Other(u64, Bytes),
}
