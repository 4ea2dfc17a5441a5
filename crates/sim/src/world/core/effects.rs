//! Effects of the optical network on the hosts and links around it. They are gathered during an
//! event, and processed at its end.

use burstlab_units::{Span, Time};

use super::payload::Payload;
use super::runs::Runs;
use crate::measure::PacketCause;
use crate::measure::loss::Loss;
use crate::world::packet::{AckPacket, DataPacket, Packet};
use crate::world::train::{TimedTrain, Train};

/// Something that the optical network brings about.
#[derive(Clone, Debug)]
pub(in crate::world) enum Effect {
    /// Packets are lost together.
    Lost(Payload, Loss, PacketCause),
    /// A queue marks a packet, if it may. One that drops others says where they are.
    Marked(DataPacket, Option<Place>),
    /// A packet leaves the network by itself, and is there at a time.
    Left(Time, Packet),
    /// An edge node writes a set of ACKs for this number to the sender of the flow in a slot.
    Acknowledge(u32, u64),
}

/// Where a packet is that a queue drops unless it can be marked.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Place {
    /// The slot of its burst, or the number of its cell.
    pub(super) slot: u32,
    /// The node of the queue, counted from 1.
    pub(in crate::world) node: usize,
}

/// The network's answer to an ACK that is on the link to it.
pub(in crate::world) enum Expected {
    /// The network needs a call when the ACK comes.
    Comes,
    /// It has taken it.
    Taken,
    /// It lets it pass: when the ACK will be at the edge of its sender.
    Home(Time),
}

/// All that an event brings about; reused, so that it costs no memory.
#[derive(Clone, Debug, Default)]
pub(in crate::world) struct Effects {
    /// In order.
    pub(in crate::world) list: Vec<Effect>,
    /// The payload of the burst that has landed, if one has.
    pub(in crate::world) landed: Payload,
    /// The packets that cross paths ahead of the clock, or land so; processed after all other
    /// effects.
    pub(in crate::world) landing: Landing,
}

impl Effects {
    #[inline]
    pub(in crate::world) fn is_empty(&self) -> bool {
        self.landing.is_empty()
            && self.landed.data.is_empty()
            && self.landed.acks.is_empty()
            && self.list.is_empty()
    }

    /// A packet is lost by itself.
    pub(super) fn lose_one(&mut self, packet: Packet, loss: Loss, cause: PacketCause) {
        self.list.push(Effect::Lost(Payload::one(packet), loss, cause));
    }
}

/// The packets that have crossed paths ahead of the clock, and are yet to be handed to the hosts.
#[derive(Clone, Debug, Default)]
pub(in crate::world) struct Landing {
    pub(in crate::world) data: Runs<DataPacket>,
    pub(in crate::world) acks: Runs<AckPacket>,
}

impl Landing {
    /// Makes room for so many trains.
    pub(super) fn reserve(&mut self, trains: usize) {
        self.data.all.reserve(trains);
        self.acks.all.reserve(trains);
    }

    #[inline]
    pub(in crate::world) fn is_empty(&self) -> bool {
        self.data.all.is_empty() && self.acks.all.is_empty()
    }

    /// Adds a packet, which stays behind all others where they come to one link (`in_turn`).
    #[inline]
    pub(super) fn add(&mut self, at: Time, packet: Packet, in_turn: bool) {
        match packet {
            Packet::Data(packet) if in_turn => self.data.push(TimedTrain::one(at, packet)),
            Packet::Ack(packet) if in_turn => self.acks.push(TimedTrain::one(at, packet)),
            Packet::Data(packet) => self.data.add(at, packet),
            Packet::Ack(packet) => self.acks.add(at, packet),
        }
    }

    /// Adds what a burst carried that is there at `at`.
    #[inline]
    pub(super) fn add_burst(
        &mut self,
        at: Time,
        data: &mut Vec<Train<DataPacket>>,
        acks: &mut Vec<Train<AckPacket>>,
    ) {
        let gap = Span::ZERO;
        data.drain(..).for_each(|train| self.data.push(TimedTrain { train, at, gap }));
        acks.drain(..).for_each(|train| self.acks.push(TimedTrain { train, at, gap }));
    }

    pub(in crate::world) fn clear(&mut self) {
        self.data.clear();
        self.acks.clear();
    }
}
