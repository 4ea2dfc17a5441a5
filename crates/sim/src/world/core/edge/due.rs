//! Packets that are taken in at once, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use burstlab_units::Time;

use crate::world::packet::{AckPacket, DataPacket, Owner, Packet, Parcel};
use crate::world::train::TimedTrain;

/// Packets that are taken in at once, in their order. Reused, so that it costs no memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Due {
    pub(super) data: Vec<TimedTrain<DataPacket>>,
    pub(super) acks: Vec<TimedTrain<AckPacket>>,
    /// Of each train that is not used up: when its next packet is there and of which flow it is,
    /// in one number, its place, and how many of it are taken.
    order: BinaryHeap<Reverse<(u128, u32, u32)>>,
}

/// A place in the order: by time, then by flow.
#[inline]
fn key(at: Time, owner: Owner) -> u128 {
    u128::from(at.as_ps()) << 64 | u128::from(owner.place())
}

impl Due {
    /// Makes room for so many trains.
    pub(super) fn reserve(&mut self, trains: usize) {
        self.data.reserve(trains);
        self.acks.reserve(trains);
        self.order.reserve(trains);
    }

    /// Puts the trains in order.
    pub(super) fn sort(&mut self) {
        let data = self.data.iter().map(|coming| key(coming.at, coming.train.first.owner));
        let acks = self.acks.iter().map(|coming| key(coming.at, coming.train.first.owner()));
        let firsts = (0..).zip(data.chain(acks));
        self.order.extend(firsts.map(|(place, key)| Reverse((key, place, 0))));
    }

    /// The next packet, and when it is there.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Time, Packet)> {
        let mut top = self.order.peek_mut()?;
        let Reverse((at, place, taken)) = *top;
        let (data, place) = (self.data.len(), place as usize);
        let (packet, rest) = if place < data {
            let coming = &self.data[place];
            (Packet::Data(coming.train.packet(taken)), coming.after(taken))
        } else {
            let coming = &self.acks[place - data];
            (Packet::Ack(coming.train.packet(taken)), coming.after(taken))
        };
        match rest {
            Some(next) => {
                let Reverse((at, _, taken)) = &mut *top;
                (*at, *taken) = (key(next, packet.owner()), *taken + 1);
            }
            None => drop(PeekMut::pop(top)),
        }
        Some((Time::from_ps((at >> 64) as u64), packet))
    }
}
