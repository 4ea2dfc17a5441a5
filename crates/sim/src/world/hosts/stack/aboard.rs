//! What packets say that are on their way, by number: it stays here while they cross the network.

use std::collections::VecDeque;

use crate::scenario::Packet;

/// Packets on their way, each in the place of its number.
#[derive(Debug, Default)]
pub(super) struct Aboard {
    packets: VecDeque<Option<Packet>>,
    /// The number of the first place.
    first: u64,
}

impl Aboard {
    /// How many packets it was given to keep.
    pub(super) fn kept(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Keeps a packet; returns its number.
    pub(super) fn keep(&mut self, packet: Packet) -> u64 {
        let number = self.kept();
        self.packets.push_back(Some(packet));
        number
    }

    /// Whether the packet `number` is on its way.
    pub(super) fn has(&self, number: u64) -> bool {
        let place = number.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| self.packets.get(place)).is_some_and(Option::is_some)
    }

    /// The packet `number`, if it is on its way.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Packet> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.packets.get_mut(place)?.as_mut()
    }

    /// The packet `number` has arrived, or is lost.
    pub(super) fn take(&mut self, number: u64) -> Option<Packet> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let packet = self.packets.get_mut(place)?.take();
        while self.packets.front().is_some_and(Option::is_none) {
            self.packets.pop_front();
            self.first += 1;
        }
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_units::Bytes;

    #[test]
    fn packets_are_taken_once_in_any_order_and_leave_no_room_behind() {
        let mut aboard = Aboard::default();
        let packet = |size| Packet { size: Bytes::new(size), bytes: vec![7; 3] };
        assert_eq!([1, 2, 3].map(|size| aboard.keep(packet(size))), [0, 1, 2]);
        assert_eq!(aboard.get_mut(1), Some(&mut packet(2)));
        assert_eq!(aboard.take(1), Some(packet(2)));
        assert_eq!(aboard.get_mut(1), None);
        assert_eq!(aboard.get_mut(9), None);
        assert_eq!((aboard.take(1), aboard.take(9)), (None, None));
        assert_eq!((aboard.take(0), aboard.packets.len()), (Some(packet(1)), 1));
        assert_eq!((aboard.take(0), aboard.keep(packet(4))), (None, 3));
        assert_eq!((aboard.take(2), aboard.take(3)), (Some(packet(3)), Some(packet(4))));
        assert!(aboard.packets.is_empty() && aboard.kept() == 4);
    }
}
