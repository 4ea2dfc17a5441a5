//! The contents of packets in transit, by number: they stay here while the packets cross the
//! network.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::scenario::{Cargo, Ecn, Packet};

/// The memory of a packet besides its contents, in bytes.
const EACH: u64 = 128;

/// Memory of all packets of a run that are in transit, in bytes. One run counts at a time, so that
/// looking and writing need not be one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Weight(Arc<AtomicU64>);

impl Weight {
    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

/// A packet in flight.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    pub(super) packet: Packet,
    pub(super) cargo: Cargo,
    /// Its codepoint of ECN, where the network carries that.
    pub(super) ecn: Ecn,
}

/// Packets in transit, each in the place of its number.
#[derive(Debug, Default)]
pub(super) struct InTransit {
    packets: VecDeque<Option<Kept>>,
    /// The number of the first place.
    first: u64,
    weight: Weight,
}

impl InTransit {
    /// One whose packets count in `weight`.
    pub(super) fn weighing(weight: Weight) -> Self {
        Self { weight, ..Self::default() }
    }

    /// Memory of all packets of the run that are in transit, in bytes.
    pub(super) fn weight(&self) -> u64 {
        self.weight.bytes()
    }

    /// How many packets it was given to keep.
    pub(super) fn kept(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Keeps a packet; returns its number.
    pub(super) fn keep(&mut self, sent: Kept) -> u64 {
        let number = self.kept();
        self.weight.set(self.weight.bytes() + sent.packet.bytes.len() as u64 + EACH);
        self.packets.push_back(Some(sent));
        number
    }

    /// Whether the packet `number` is in transit.
    pub(super) fn has(&self, number: u64) -> bool {
        let place = number.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| self.packets.get(place)).is_some_and(Option::is_some)
    }

    /// The packet `number`, if it is in transit.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Kept> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.packets.get_mut(place)?.as_mut()
    }

    /// The packet `number` has arrived, or is lost.
    pub(super) fn take(&mut self, number: u64) -> Option<Kept> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let taken = self.packets.get_mut(place)?.take();
        if let Some(sent) = &taken {
            self.weight.set(self.weight.bytes() - sent.packet.bytes.len() as u64 - EACH);
        }
        while self.packets.front().is_some_and(Option::is_none) {
            self.packets.pop_front();
            self.first += 1;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_units::Bytes;

    #[test]
    fn packets_are_taken_once_in_any_order_and_leave_no_room_behind() {
        let mut in_transit = InTransit::default();
        let sent = |size| {
            let packet = Packet { size: Bytes::new(size), bytes: vec![7; 3] };
            Kept { packet, cargo: Cargo::default(), ecn: Ecn::NotEct }
        };
        assert_eq!([1, 2, 3].map(|size| in_transit.keep(sent(size))), [0, 1, 2]);
        assert_eq!(in_transit.weight(), 3 * (EACH + 3));
        assert_eq!(in_transit.get_mut(1), Some(&mut sent(2)));
        assert_eq!(in_transit.take(1), Some(sent(2)));
        assert_eq!(in_transit.get_mut(1), None);
        assert_eq!(in_transit.get_mut(9), None);
        assert_eq!((in_transit.take(1), in_transit.take(9)), (None, None));
        assert_eq!((in_transit.take(0), in_transit.packets.len()), (Some(sent(1)), 1));
        assert_eq!((in_transit.take(0), in_transit.keep(sent(4))), (None, 3));
        let (third, last) = (in_transit.take(2), in_transit.take(3));
        assert_eq!((third, last), (Some(sent(3)), Some(sent(4))));
        assert!(in_transit.packets.is_empty() && in_transit.kept() == 4);
        assert_eq!(in_transit.weight(), 0);
    }
}
