//! A record of which packet carried which data, connection by connection, by the headers of TCP. It
//! has retransmissions and their repairs, acknowledged data, and data that came to applications at
//! the other end. It serves any stack that sends packets of IP.

use std::collections::{BTreeMap, VecDeque};

use burstlab_scenario::{Carries, HostEvent};

const TCP: u8 = 6;
const UDP: u8 = 17;
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
/// Bytes of a header of UDP.
const UDP_HEADER: usize = 8;

/// The headers of a packet, of IP version 4 and of TCP or UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    ports: (u16, u16),
    /// `None` of UDP.
    tcp: Option<Tcp>,
    /// Bytes of data.
    payload: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tcp {
    seq: u32,
    ack: Option<u32>,
    flags: u8,
}

impl Header {
    /// Ports, that of its sender first.
    #[must_use]
    pub fn ports(&self) -> (u16, u16) {
        self.ports
    }

    /// Whether it resets its connection.
    #[must_use]
    pub fn resets(&self) -> bool {
        self.tcp.is_some_and(|tcp| tcp.flags & RST != 0)
    }

    /// That of a packet (RFC 791, RFC 768, RFC 9293); `None` where it is cut, or of another kind.
    #[must_use]
    pub fn of(packet: &[u8]) -> Option<Self> {
        let ip = usize::from(packet.first()? & 0xf) * 4;
        let rest = packet.get(ip..)?;
        let half = |at: usize| Some(u16::from_be_bytes(rest.get(at..at + 2)?.try_into().ok()?));
        let word = |at: usize| Some(u32::from_be_bytes(rest.get(at..at + 4)?.try_into().ok()?));
        // Of a packet in parts, the first one alone has more headers.
        let later = u16::from_be_bytes(packet.get(6..8)?.try_into().ok()?) & 0x1fff != 0;
        let ports = (half(0)?, half(2)?);
        match *packet.get(9).filter(|_| !later)? {
            UDP => {
                let payload = rest.len().checked_sub(UDP_HEADER)? as u64;
                Some(Self { ports, tcp: None, payload })
            }
            TCP => {
                let (offset, flags) = (usize::from(rest.get(12)? >> 4) * 4, *rest.get(13)?);
                let ack = if flags & ACK != 0 { word(8) } else { None };
                let payload = rest.len().checked_sub(offset)? as u64;
                Some(Self { ports, tcp: Some(Tcp { seq: word(4)?, ack, flags }), payload })
            }
            _ => None,
        }
    }
}

/// The contents of a packet; it has no header where it is of no kind that is known here.
#[must_use]
pub fn carries(header: Option<&Header>) -> Carries {
    match header {
        None => Carries::Control,
        Some(header) => match header.tcp {
            Some(tcp) if tcp.flags & SYN != 0 => Carries::Handshake,
            Some(tcp) if header.payload == 0 && tcp.flags & (FIN | RST) == 0 => Carries::Ack,
            Some(_) if header.payload == 0 => Carries::Control,
            _ => Carries::Data,
        },
    }
}

/// Says in a packet of IP version 4 that it has met congestion, if its sender allows it (RFC 3168,
/// section 5); returns whether it says so now.
pub fn mark(packet: &mut [u8]) -> bool {
    const ECN: u8 = 3;
    let [0x40..=0x4f, service, ..] = *packet else { return false };
    if service & ECN == 0 || packet.len() < 20 {
        return false;
    }
    packet[1] = service | ECN;
    // The sum of the header follows by what has changed (RFC 1624, equation 3).
    let word = |bytes: &[u8], at: usize| u32::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    let old = u32::from(packet[0]) << 8 | u32::from(service);
    let mut sum = (word(packet, 10) ^ 0xffff) + (old ^ 0xffff) + word(packet, 0);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    true
}

/// Why a host sends something again, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// ACKs have reported a gap.
    Gap,
    /// A retransmission timer has just fired.
    Timer,
    /// To see whether ACKs come: that begins no repair (RFC 8985, section 7).
    Probe,
}

/// The retransmissions in a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resent {
    /// Where a repair of its connection begins with it: packets that carried the awaited data.
    pub awaited: Option<Vec<u64>>,
    /// The packets all of whose data is sent again with it. A packet whose data is sent again in
    /// parts is among them when the last part is.
    pub packets: Vec<u64>,
}

impl Resent {
    /// The events that a host reports of it; `cost` is that of [`HostEvent::Repairs`].
    pub fn events(self, why: Again, cost: Option<u32>) -> impl Iterator<Item = HostEvent> {
        let timed_out = why == Again::Timer;
        let begins = self.awaited.iter().map(|_| HostEvent::Repairs { timed_out, cost });
        let begins: Vec<HostEvent> = begins.collect();
        let awaited = self.awaited.into_iter().flatten().map(HostEvent::Awaited);
        begins.into_iter().chain(awaited).chain(self.packets.into_iter().map(HostEvent::Resent))
    }
}

/// All connections of a host with another; its own port stands first.
#[derive(Debug, Default)]
pub struct Connections {
    known: BTreeMap<(u16, u16), Connection>,
    /// Packets sent.
    count: u64,
    /// Data that came, of connections that are over and of UDP.
    received: u64,
}

/// One connection: segments that are not acknowledged, by the packet that carried each last.
#[derive(Debug, Default)]
struct Connection {
    /// First sequence number, one past the last, and the packet; rising.
    segments: VecDeque<(u64, u64, u64)>,
    /// One past the highest sequence number sent, counted on beyond 32 bits.
    next: Option<u64>,
    /// The value of `next` at the begin of the repair that goes on until all below it is
    /// acknowledged.
    recovery: Option<u64>,
    /// The first and the last sequence number that this host has acknowledged.
    taken: Option<(u64, u64)>,
    /// Sequence number of the end of the other host, which is no data.
    end: Option<u32>,
}

/// The number nearest to `near` whose last 32 bits are `low`.
fn unwrapped(near: u64, low: u32) -> u64 {
    near.wrapping_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}

impl Connections {
    /// Sequence numbers sent and not acknowledged, of all connections.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let least = |one: &Connection| one.segments.front().map(|segment| segment.0);
        let of = |one: &Connection| Some(one.next? - least(one)?);
        self.known.values().filter_map(of).sum()
    }

    /// Whether something that was sent over a connection is not acknowledged.
    #[must_use]
    pub fn waits(&self, ports: (u16, u16)) -> bool {
        self.known.get(&ports).is_some_and(|one| !one.segments.is_empty())
    }

    /// A connection repairs nothing any more, whatever is not acknowledged.
    pub fn repaired(&mut self, ports: (u16, u16)) {
        if let Some(known) = self.known.get_mut(&ports) {
            known.recovery = None;
        }
    }

    /// Bytes of data that came to applications of this host, in order; to UDP, in any.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.known.values().map(Connection::received).sum::<u64>() + self.received
    }

    /// The next packet is sent: what does it send again?
    pub fn sent(&mut self, header: Option<&Header>, why: Again) -> Resent {
        let number = self.count;
        self.count += 1;
        let Some((header, tcp)) = header.and_then(|one| Some((one, one.tcp?))) else {
            return Resent::default();
        };
        let is_new = |known: &Connection| {
            let next = known.next.unwrap_or(0);
            tcp.flags & SYN != 0 && next != 0 && unwrapped(next, tcp.seq) + 1 != next
        };
        if tcp.flags & RST != 0 || self.known.get(&header.ports).is_some_and(is_new) {
            self.forget(header.ports);
        }
        if tcp.flags & RST != 0 {
            return Resent::default();
        }
        let connection = self.known.entry(header.ports).or_default();
        connection.acknowledges(&tcp);
        let marks = u64::from(tcp.flags & SYN != 0) + u64::from(tcp.flags & FIN != 0);
        connection.sent(number, tcp.seq, header.payload + marks, why)
    }

    /// A packet has come; if it acknowledges something new, the last packet up to which nothing is
    /// waited for by any connection.
    pub fn heard(&mut self, header: &Header) -> Option<u64> {
        let Some(tcp) = header.tcp else {
            self.received += header.payload;
            return None;
        };
        let ports = (header.ports.1, header.ports.0);
        if tcp.flags & RST != 0 {
            self.forget(ports);
            return None;
        }
        let connection = self.known.get_mut(&ports)?;
        if tcp.flags & FIN != 0 {
            connection.end = Some(tcp.seq.wrapping_add(header.payload as u32));
        }
        if !connection.heard(tcp.ack?) {
            return None;
        }
        let waiting = self.known.values().filter_map(|one| one.segments.iter().map(|s| s.2).min());
        waiting.min().unwrap_or(self.count).checked_sub(1)
    }

    fn forget(&mut self, ports: (u16, u16)) {
        let over = self.known.remove(&ports);
        self.received += over.map_or(0, |over| over.received());
    }
}

impl Connection {
    fn received(&self) -> u64 {
        let Some((first, last)) = self.taken else { return 0 };
        let ended = self.end.is_some_and(|end| last as u32 == end.wrapping_add(1));
        last - first - u64::from(ended && last > first)
    }

    /// Its host acknowledges what came; the first acknowledgment is that of the SYN.
    fn acknowledges(&mut self, tcp: &Tcp) {
        let Some(ack) = tcp.ack else { return };
        // Above 32 bits there is room for what lies before the first one.
        let (first, last) = self.taken.unwrap_or([u64::from(ack) + (1 << 32); 2].into());
        self.taken = Some((first, last.max(unwrapped(last, ack))));
    }

    fn sent(&mut self, number: u64, seq: u32, length: u64, why: Again) -> Resent {
        if length == 0 {
            return Resent::default();
        }
        let next = self.next.unwrap_or(u64::from(seq) + (1 << 32));
        let from = unwrapped(next, seq);
        let to = from + length;
        let touches = |segment: &(u64, u64, u64)| segment.0 < to && from < segment.1;
        let begins = match why {
            Again::Gap => self.recovery.is_none(),
            Again::Timer => true,
            Again::Probe => false,
        };
        let mut found = Resent::default();
        if begins && self.segments.iter().any(touches) {
            self.recovery = Some(next);
            found.awaited = Some(self.awaited());
        }
        // It may carry a part alone of what a packet carried before.
        self.cut(from);
        self.cut(to);
        for known in self.segments.iter_mut().filter(|known| touches(known)) {
            if !found.packets.contains(&known.2) {
                found.packets.push(known.2);
            }
            known.2 = number;
        }
        let known = &self.segments;
        found.packets.retain(|&packet| known.iter().all(|segment| segment.2 != packet));
        if to > next || self.next.is_none() {
            self.segments.push_back((from.max(next), to, number));
            self.next = Some(to);
        }
        found
    }

    /// Makes two segments of the one that goes on at a sequence number, if one does.
    fn cut(&mut self, at: u64) {
        let inside = |segment: &&mut (u64, u64, u64)| segment.0 < at && at < segment.1;
        let place = self.segments.partition_point(|segment| segment.1 <= at);
        if let Some(segment) = self.segments.get_mut(place).filter(inside) {
            let rest = (at, segment.1, segment.2);
            segment.1 = at;
            self.segments.insert(place + 1, rest);
        }
    }

    /// The packets that carried data that are not acknowledged, in their order.
    fn awaited(&self) -> Vec<u64> {
        let mut packets: Vec<u64> = self.segments.iter().map(|segment| segment.2).collect();
        packets.sort_unstable();
        packets.dedup();
        packets
    }

    /// Returns whether something new is acknowledged.
    fn heard(&mut self, ack: u32) -> bool {
        let Some(next) = self.next else { return false };
        let acked = unwrapped(next, ack).min(next);
        let before = self.segments.len();
        while self.segments.front().is_some_and(|segment| segment.1 <= acked) {
            self.segments.pop_front();
        }
        self.recovery = self.recovery.filter(|&end| acked < end);
        self.segments.len() < before
    }
}
