//! The inputs of a congestion control of a QUIC connection, and its packets by their numbers in
//! QUIC, as the datagrams that a host has sent.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burstlab_sim::scenario::HostEvent;

/// Packets so far below the last acknowledged one are forgotten: nothing is said of them any more.
const KEPT: u64 = 1 << 14;

/// The calls that a congestion control received since it was asked last.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The number of the last packet sent.
    pub(crate) sent: Option<u64>,
    /// Numbers and bytes of the packets in the last datagram that ask for an ACK, where the stack
    /// names them.
    pub(crate) packets: Vec<(u64, u16)>,
    /// The highest number acknowledged.
    pub(crate) acked: Option<u64>,
    /// Numbers and bytes of packets taken for lost, where the stack names them; one without an ACK
    /// to come has no bytes.
    pub(crate) lost: Vec<(u64, u16)>,
    /// Bytes in flight, and those of the largest datagram, now.
    pub(crate) in_flight: u64,
    pub(crate) mtu: u64,
}

/// The record that a congestion control and its host share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<Heard>>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The QUIC packets in a datagram, as far as their headers say it to everybody (RFC 9000, sections
/// 12.2 and 17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Packets of the handshake.
    pub(crate) long: u32,
    /// Whether one of them is of the space of numbers of the same name.
    pub(crate) handshake: bool,
    /// Whether there is one with a short header, which comes last.
    pub(crate) short: bool,
}

impl Parts {
    pub(crate) fn of(datagram: &[u8]) -> Self {
        const HANDSHAKE: u8 = 2;
        let (mut parts, mut rest) = (Self::default(), Some(datagram));
        while let Some((&first, _)) = rest.and_then(<[u8]>::split_first) {
            if first & 0x80 == 0 {
                // Zeros that fill a datagram behind its packets are no packet. Its second bit does
                // not tell, as stacks set that by chance (RFC 9287).
                parts.short = rest.is_some_and(|rest| rest.iter().any(|&byte| byte != 0));
                break;
            }
            parts.long += 1;
            parts.handshake |= first >> 4 & 3 == HANDSHAKE;
            rest = rest.and_then(|packet| packet.get(length(packet)?..));
        }
        parts
    }

    pub(crate) fn count(self) -> u32 {
        self.long + u32::from(self.short)
    }
}

/// Bytes of a packet with a long header, all of it (RFC 9000, section 17.2).
fn length(packet: &[u8]) -> Option<usize> {
    let initial = packet[0] >> 4 & 3 == 0;
    let mut at = 5;
    for _ in 0..2 {
        at += 1 + usize::from(*packet.get(at)?);
    }
    if initial {
        let (token, size) = integer(packet.get(at..)?)?;
        at += size + token;
    }
    let (rest, size) = integer(packet.get(at..)?)?;
    Some(at + size + rest)
}

/// An integer of variable length, and how many bytes it takes (RFC 9000, section 16).
fn integer(bytes: &[u8]) -> Option<(usize, usize)> {
    let size = 1 << (bytes.first()? >> 6);
    let first = usize::from(bytes[0] & 0x3f);
    let rest = bytes.get(1..size)?.iter();
    Some((rest.fold(first, |sum, &byte| sum << 8 | usize::from(byte)), size))
}

/// A packet that may be acknowledged or taken for lost.
#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    bytes: u16,
    /// Its datagram, among all that were sent.
    place: u64,
}

/// Which of the packets of QUIC is in which of the datagrams that a host has sent.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// Packets of data, rising.
    known: VecDeque<Packet>,
    /// Packets of the handshake, of the space of numbers that is open, and whether that is the
    /// second one.
    opening: Vec<Packet>,
    past_initial: bool,
    /// Whether they are those of a server, whose first space ends as it hears of the second.
    serves: bool,
    /// Datagrams with packets of the handshake alone, and whether all are of its first space, which
    /// ends as the second begins.
    handshakes: Vec<(u64, bool)>,
    /// Datagrams with several packets, each of which may be taken for lost, and whether one was.
    several: Vec<(u64, bool)>,
    sent: u64,
}

impl Numbers {
    /// Those of a client, or of a server.
    pub(crate) fn of(client: bool) -> Self {
        Self { serves: !client, ..Self::default() }
    }

    /// A datagram is sent with these packets; a probe of the path has a number that nobody reports.
    pub(crate) fn sent(
        &mut self,
        parts: Parts,
        probe: bool,
        heard: &mut Heard,
        events: &mut VecDeque<HostEvent>,
    ) {
        let place = self.sent;
        self.sent += 1;
        let last = self.known.back().map(|packet| packet.number);
        let above = |number: &u64| last.is_none_or(|last| last < *number);
        let number = heard.sent.take().filter(|_| parts.short);
        let next = || probe.then(|| last.map_or(0, |last| last + 1));
        let short = number.or_else(next).filter(above);
        let mut named = heard.packets.drain(..);
        if parts.long == 0 {
            let bytes = named.next_back().map_or(0, |(_, bytes)| bytes);
            self.known.extend(short.map(|number| Packet { number, bytes, place }));
            return;
        }
        let mut named: Vec<(u64, u16)> = named.collect();
        if parts.count() > 1 {
            self.several.push((place, false));
        }
        if let Some(number) = short {
            let bytes = match named.last() {
                Some(&(other, bytes)) if other == number => {
                    named.pop();
                    bytes
                }
                _ => 0,
            };
            self.known.push_back(Packet { number, bytes, place });
        } else if !parts.short {
            self.handshakes.push((place, !parts.handshake));
        }
        if parts.handshake && !self.serves {
            // The first space of numbers is over (RFC 9001, section 4.9.1): nothing of it is taken
            // for lost any more, and the other spaces have the same numbers.
            self.forget(true, events);
            if !std::mem::replace(&mut self.past_initial, true) {
                self.opening.clear();
                named.drain(..named.len().saturating_sub(1));
            }
        }
        let packets = named.into_iter().map(|(number, bytes)| Packet { number, bytes, place });
        self.opening.extend(packets);
    }

    /// How many datagrams were sent.
    pub(crate) fn count(&self) -> u64 {
        self.sent
    }

    /// The handshake, or its first space of numbers alone, is over: nobody waits for its packets.
    pub(crate) fn forget(&mut self, first: bool, events: &mut VecDeque<HostEvent>) {
        let over = |&(_, initial): &(u64, bool)| initial || !first;
        let places = self.handshakes.extract_if(.., |one| over(one)).map(|(place, _)| place);
        events.extend(places.map(HostEvent::Forgotten));
        if !first {
            self.opening.clear();
        }
    }

    /// Of all datagrams sent, the last one whose packet of data is not above `number`.
    pub(crate) fn up_to(&mut self, number: u64) -> Option<u64> {
        while self.known.front().is_some_and(|first| first.number + KEPT < number) {
            self.known.pop_front();
        }
        let above = self.known.partition_point(|known| known.number <= number);
        above.checked_sub(1).map(|place| self.known[place].place)
    }

    /// The datagram of the packet with this number and size, of whichever space; `None` where it
    /// was reported before, for another packet in it.
    fn datagram_of(&mut self, (number, bytes): (u64, u16)) -> Option<u64> {
        let opening =
            self.opening.iter().position(|one| (one.number, one.bytes) == (number, bytes));
        let place = match opening {
            Some(place) => self.opening.swap_remove(place).place,
            None => {
                let place = self.known.binary_search_by_key(&number, |known| known.number).ok()?;
                Some(self.known[place]).filter(|known| known.bytes == bytes)?.place
            }
        };
        let several = self.several.iter_mut().find(|(other, _)| *other == place);
        let before = several.is_some_and(|(_, reported)| std::mem::replace(reported, true));
        (!before).then_some(place)
    }

    /// The events, as a host reports them: acknowledged packets, then lost ones, of which there may
    /// be more than the stack names.
    pub(crate) fn tell(
        &mut self,
        heard: &mut Heard,
        unnamed: u64,
        events: &mut VecDeque<HostEvent>,
    ) {
        if let Some(acked) = heard.acked.take().and_then(|number| self.up_to(number)) {
            events.push_back(HostEvent::Acked(acked));
        }
        for packet in heard.lost.drain(..) {
            // A packet without bytes holds ACKs alone.
            let place = if packet.1 == 0 { None } else { self.datagram_of(packet) };
            events.extend(place.map(HostEvent::Lost));
        }
        if unnamed > 0 {
            events.push_back(HostEvent::SomeLost(unnamed as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a long header of this type and so many bytes after its length.
    fn long(kind: u8, bytes: usize) -> Vec<u8> {
        let mut packet = vec![0xc0 | kind << 4, 0, 0, 0, 1, 2, 7, 7, 0];
        // An Initial has a token, here of one byte.
        packet.extend((kind == 0).then_some([1, 9]).into_iter().flatten());
        packet.extend([0x40 | (bytes >> 8) as u8, bytes as u8]);
        packet.extend(vec![0; bytes]);
        packet
    }

    #[test]
    fn the_packets_in_a_datagram_are_counted() {
        let short = vec![0x41; 30];
        let of = |all: &[Vec<u8>]| {
            let parts = Parts::of(&all.concat());
            (parts.long, parts.handshake, parts.short)
        };
        assert_eq!(of(&[long(0, 300)]), (1, false, false));
        assert_eq!(of(&[long(0, 40), long(2, 70)]), (2, true, false));
        assert_eq!(of(&[long(2, 70), short.clone()]), (1, true, true));
        assert_eq!(of(&[short]), (0, false, true));
        assert_eq!(of(&[vec![0x01; 30]]), (0, false, true), "a bit that some set by chance");
        assert_eq!(of(&[long(0, 40), long(2, 70), vec![0; 900]]), (2, true, false), "it is filled");
        assert_eq!(of(&[long(2, 70)[..20].to_vec()]), (1, true, false), "it is cut");
    }

    #[test]
    fn packets_are_known_by_their_numbers_in_every_space() {
        let (mut numbers, mut events) = (Numbers::default(), VecDeque::new());
        let first = Parts { long: 1, ..Parts::default() };
        let second = Parts { long: 1, handshake: true, short: true };
        let data = Parts { short: true, ..Parts::default() };
        let mut heard = Heard::default();
        let mut sends = |parts: Parts, probe: bool, packets: &[(u64, u16)]| {
            heard.sent = packets.last().filter(|_| !probe).map(|&(number, _)| number);
            heard.packets = packets.to_vec();
            numbers.sent(parts, probe, &mut heard, &mut events);
        };
        sends(first, false, &[(0, 1200)]);
        sends(first, false, &[(1, 1200)]);
        sends(second, false, &[(0, 60), (0, 900)]);
        sends(data, true, &[]);
        sends(data, false, &[(3, 1200)]);
        assert_eq!(events.drain(..).collect::<Vec<_>>(), [0, 1].map(HostEvent::Forgotten));
        let up_to = [0, 1, 2, 3, 9].map(|number| numbers.up_to(number));
        assert_eq!(up_to, [Some(2), Some(3), Some(3), Some(4), Some(4)], "the probe is 1 or 2");
        let lost = vec![(0, 1200), (0, 60), (0, 900), (3, 0), (3, 1200)];
        let mut heard = Heard { acked: Some(3), lost, ..Heard::default() };
        numbers.tell(&mut heard, 2, &mut events);
        let all =
            [HostEvent::Acked(4), HostEvent::Lost(2), HostEvent::Lost(4), HostEvent::SomeLost(2)];
        assert_eq!(events, all, "a datagram is lost once, whatever is in it");
    }
}
