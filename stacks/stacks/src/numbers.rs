//! What a congestion control sees of a QUIC connection, and the packets it is told of by their
//! numbers in QUIC, as the packets that a host has sent.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burstlab_sim::scenario::HostEvent;

/// Packets so far below the last acknowledged one are forgotten: nothing is said of them any more.
const KEPT: u64 = 1 << 14;

/// What a congestion control was told since it was asked last.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The number of the last packet sent.
    pub(crate) sent: Option<u64>,
    /// The highest number acknowledged.
    pub(crate) acked: Option<u64>,
    /// Numbers taken for lost, where the stack tells them.
    pub(crate) lost: Vec<u64>,
    /// Bytes in flight, and those of the largest datagram, now.
    pub(crate) in_flight: u64,
    pub(crate) mtu: u64,
}

/// What a congestion control and its host both hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<Heard>>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which of the packets that a host has sent has which number in QUIC. Those of the handshake, each
/// of a space of numbers of its own, have none.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// Number in QUIC and place among all packets sent, both rising.
    known: VecDeque<(u64, u64)>,
    sent: u64,
}

impl Numbers {
    /// A datagram is sent, with a packet of this number, if it has a short header.
    pub(crate) fn sent(&mut self, datagram: &[u8], number: Option<u64>) {
        let short = datagram.first().is_some_and(|first| first & 0x80 == 0);
        let last = self.known.back().map(|&(number, _)| number);
        if let Some(number) = number.filter(|&number| short && last.is_none_or(|l| l < number)) {
            self.known.push_back((number, self.sent));
        }
        self.sent += 1;
    }

    /// Of all packets sent, the last one that is not above `number`.
    pub(crate) fn up_to(&mut self, number: u64) -> Option<u64> {
        while self.known.front().is_some_and(|&(first, _)| first + KEPT < number) {
            self.known.pop_front();
        }
        let above = self.known.partition_point(|&(known, _)| known <= number);
        above.checked_sub(1).map(|place| self.known[place].1)
    }

    /// The packet of this number.
    pub(crate) fn of(&self, number: u64) -> Option<u64> {
        let place = self.known.binary_search_by_key(&number, |&(known, _)| known);
        place.ok().map(|place| self.known[place].1)
    }

    /// What has happened, as a host tells it: what is acknowledged, then what is lost, of which
    /// there may be more than the stack names.
    pub(crate) fn tell(&mut self, heard: &mut Heard, lost: u64, events: &mut VecDeque<HostEvent>) {
        if let Some(acked) = heard.acked.take().and_then(|number| self.up_to(number)) {
            events.push_back(HostEvent::Acked(acked));
        }
        let named = heard.lost.drain(..).filter_map(|number| self.of(number));
        let before = events.len();
        events.extend(named.map(HostEvent::Lost));
        let unnamed = lost.saturating_sub((events.len() - before) as u64);
        if unnamed > 0 {
            events.push_back(HostEvent::SomeLost(unnamed as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_known_by_their_numbers_once_the_handshake_is_over() {
        let mut numbers = Numbers::default();
        let (long, short) = ([0xc0], [0x40]);
        for (datagram, number) in [(long, 0), (long, 0), (short, 1), (short, 2), (short, 4)] {
            numbers.sent(&datagram, Some(number));
        }
        let up_to = [0, 1, 3, 4, 9].map(|n| numbers.up_to(n));
        assert_eq!(up_to, [None, Some(2), Some(3), Some(4), Some(4)]);
        assert_eq!([1, 3, 4].map(|n| numbers.of(n)), [Some(2), None, Some(4)]);
        let mut events = VecDeque::new();
        let mut heard = Heard { acked: Some(4), lost: vec![2], ..Heard::default() };
        numbers.tell(&mut heard, 3, &mut events);
        let all = [HostEvent::Acked(4), HostEvent::Lost(3), HostEvent::SomeLost(2)];
        assert_eq!(events, all);
    }
}
