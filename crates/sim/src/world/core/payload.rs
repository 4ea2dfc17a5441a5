//! The contents of bursts.

use std::ops::{Add, AddAssign};

use burstlab_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::world::packet::{AckPacket, DataPacket, Packet};
use crate::world::train::Train;

/// So much of batches. A batch counts with its last packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::world) struct Load {
    pub(in crate::world) batches: u64,
    pub(in crate::world) packets: u64,
    pub(in crate::world) bytes: u64,
}

impl Load {
    /// A packet that is kept by itself.
    pub(super) fn of(packet: &DataPacket) -> Self {
        Self { batches: packet.seq, packets: 1, bytes: u64::from(packet.size) }
    }
}

impl Add for Load {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            batches: self.batches + other.batches,
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl AddAssign for Load {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// The contents of a burst. Data packets lie in it in the order they came, ACKs behind them,
/// padding last; the order of packets of different flows is kept where it matters
/// (`Rules::ordered`), and there every packet is a train of its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct Payload {
    pub(in crate::world) data: Vec<Train<DataPacket>>,
    pub(in crate::world) acks: Vec<Train<AckPacket>>,
    /// Its packets of batches, where they need not be distinguished; otherwise they are among
    /// `data`.
    pub(super) load: Load,
}

impl Payload {
    pub(super) fn packets(&self) -> u64 {
        let acks = self.acks.iter().map(|train| u64::from(train.count)).sum::<u64>();
        u64::from(self.segments()) + acks + self.load.packets
    }

    /// The rows of its packets in the trace, train by train: the first row and their number.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, u32)> {
        let data = self.data.iter().map(|train| (train.first.row, train.count));
        data.chain(self.acks.iter().map(|train| (train.first.row, train.count)))
    }

    /// The kind of burst that it makes.
    pub(super) fn kind(&self) -> BurstKind {
        if self.data.iter().any(|train| !train.first.is_of_batch()) {
            BurstKind::Data
        } else if !self.acks.is_empty() {
            BurstKind::Ack
        } else {
            BurstKind::Background
        }
    }

    /// One packet.
    pub(in crate::world) fn one(packet: Packet) -> Self {
        let mut payload = Self::default();
        payload.push(packet);
        payload
    }

    /// Packets that are kept by themselves and trains of them: what dealing with all takes.
    #[inline]
    pub(super) fn trains(&self) -> usize {
        self.data.len() + self.acks.len()
    }

    /// Adds a packet that is kept by itself.
    pub(in crate::world) fn push(&mut self, packet: Packet) {
        match packet {
            Packet::Data(packet) => self.data.push(Train::one(packet)),
            Packet::Ack(packet) => self.acks.push(Train::one(packet)),
        }
    }

    /// Takes a data packet out; returns whether it was there.
    #[cold]
    pub(super) fn take_out(&mut self, packet: &DataPacket) -> bool {
        let same = |one: &DataPacket| Packet::Data(*one).is_data(packet);
        for (place, train) in self.data.iter_mut().enumerate() {
            let Some(number) = train.packets().position(|one| same(&one)) else { continue };
            let mut behind = train.split_off(number as u32);
            let rest = (behind.count > 1).then(|| behind.split_off(1));
            let left = (train.count > 0).then_some(*train).into_iter().chain(rest);
            self.data.splice(place..=place, left);
            return true;
        }
        false
    }

    /// Packets of cross-traffic, those of batches not counted.
    pub(super) fn cross(&self) -> u64 {
        let crossing =
            |train: &&Train<DataPacket>| train.first.is_cross() && !train.first.is_of_batch();
        self.data.iter().filter(crossing).map(|train| u64::from(train.count)).sum()
    }

    /// Bytes of all packets that are kept one by one or as trains.
    pub(super) fn bytes(&self) -> u64 {
        let data = self.data.iter().map(|train| train.bytes().get());
        data.chain(self.acks.iter().map(|train| train.bytes().get())).sum()
    }

    /// All that it has of batches.
    pub(super) fn of_batches(&self) -> Load {
        let single = self.data.iter().filter(|train| train.first.is_of_batch());
        single.fold(self.load, |sum, train| sum + Load::of(&train.first))
    }

    /// Data packets, without those of `load`.
    pub(super) fn segments(&self) -> u32 {
        self.data.iter().map(|train| train.count).sum()
    }

    pub(in crate::world) fn is_empty(&self) -> bool {
        self.data.is_empty() && self.acks.is_empty() && self.load.packets == 0
    }

    pub(in crate::world) fn clear(&mut self) {
        self.data.clear();
        self.acks.clear();
        self.load = Load::default();
    }

    /// The length of the packet in front, of those that are kept one by one; zero: there is none.
    pub(super) fn first(&self) -> Bytes {
        let data = self.data.first().map(Train::bytes);
        data.or_else(|| self.acks.first().map(Train::bytes)).unwrap_or(Bytes::ZERO)
    }

    /// How many data packets and ACKs lie wholly in the first `kept` bytes.
    pub(super) fn within(&self, kept: Bytes) -> (usize, usize) {
        let mut room = kept.get();
        let mut fits = |size: u64| {
            let inside = size <= room;
            room = room.saturating_sub(size);
            inside
        };
        let data = self.data.iter().take_while(|train| fits(train.bytes().get())).count();
        let all = data == self.data.len();
        let acks = self.acks.iter().take_while(|train| all && fits(train.bytes().get())).count();
        (data, acks)
    }
}

/// The kind of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::world) enum BurstKind {
    /// It carries data packets, and perhaps ACKs.
    #[default]
    Data,
    /// It carries ACKs alone.
    Ack,
    /// It carries no packet of a flow: a background burst, or one of batches alone.
    Background,
}

impl BurstKind {
    /// That of a burst of one packet.
    #[inline]
    pub(super) fn of(packet: &Packet) -> Self {
        match packet {
            Packet::Data(_) => Self::Data,
            Packet::Ack(_) => Self::Ack,
        }
    }

    /// All kinds, each in its place.
    pub(super) const ALL: [Self; 3] = [Self::Data, Self::Ack, Self::Background];
}
