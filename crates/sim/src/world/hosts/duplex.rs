//! The coupling of the two directions of a connection with data in both. Each direction is a flow
//! with a sender and a receiver of its own.

use burstlab_tcp::{AckOptions, FullAck};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::option_table::OptionTable;
use crate::world::packet::AckPacket;

/// A flow's record of the flow of the other direction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Duplex {
    /// Its slot.
    pub(super) slot: u32,
    /// Whether this flow goes back: its sender answers the SYN that the other one sent.
    pub(super) back: bool,
    /// Of a flow back that begins to write when all of the other one has arrived: how long after.
    pub(super) replies: Option<Span>,
    /// ACKs for the other flow on data packets of this one that are in flight.
    pub(super) piggybacked: OptionTable<CarriedAck>,
    /// The ACK that the receiver at the host of this flow's sender would send now, with what it
    /// carries on a connection with options. Not stored: the event that writes it reads it.
    #[serde(skip)]
    pub(super) due: Option<FullAck>,
    /// When the SYN of this flow was acknowledged by an ACK alone, on a connection with options:
    /// its host's receiver does not yet know that the connection is there.
    pub(super) opened: Option<Time>,
    /// Bytes of the SACK blocks on the packet that arrives.
    pub(super) blocks: u32,
}

/// An ACK on a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CarriedAck {
    pub(super) ack: AckPacket,
    pub(super) options: AckOptions,
    /// Bytes of its SACK blocks, by which the packet is longer.
    pub(super) blocks: u32,
}

impl Duplex {
    pub(super) fn new(slot: u32, back: bool, replies: Option<Span>) -> Box<Self> {
        let piggybacked = OptionTable::default();
        Box::new(Self { slot, back, replies, piggybacked, due: None, opened: None, blocks: 0 })
    }

    /// A data packet is lost, and with it the ACK that it carries.
    pub(super) fn lose(&mut self, seq: u64, nth: u16) {
        self.piggybacked.take(seq, nth);
    }
}
