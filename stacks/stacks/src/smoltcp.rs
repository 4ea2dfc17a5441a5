//! smoltcp: TCP over IP version 4, from an interface without a link layer.

use std::collections::VecDeque;
use std::fmt;

use burstlab_sim::scenario::{Connection, Host, HostEvent, HostState, Packet};
use burstlab_units::{Bytes, Time};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

use crate::{congestion_control, supply};

/// By their names in smoltcp, that which it uses by itself first.
pub(crate) const CONGESTION_CONTROLS: &[&str] = &["none", "reno", "cubic"];

/// Largest packet, as on Ethernet.
const MTU: usize = 1500;

/// Bytes of IP and TCP in a packet that smoltcp fills: 20 and 20.
const HEADERS: usize = 40;

/// What a socket keeps of data on their way, and at most waits for: the rate and the round trip of
/// the paths that examples have, several times over.
const BUFFER: usize = 1 << 20;

const ADDRESSES: [IpAddress; 2] = [IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2)];
const PORT: u16 = 80;
const PORT_OF_CLIENT: u16 = 49_152;

const PS_OF_US: u64 = 1_000_000;

/// The sender of a connection, and its receiver.
pub(crate) fn hosts(connection: &Connection) -> [Box<dyn Host>; 2] {
    [Box::new(Smoltcp::new(connection, true)), Box::new(Smoltcp::new(connection, false))]
}

/// One end of a TCP connection. smoltcp counts time in microseconds.
struct Smoltcp {
    near: bool,
    /// When it did something last.
    now: Instant,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    line: Line,
    /// Bytes that the application has yet to write.
    unwritten: u64,
    closed: bool,
    received: u64,
    events: VecDeque<HostEvent>,
    segments: Segments,
}

impl fmt::Debug for Smoltcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Smoltcp").field("near", &self.near).finish_non_exhaustive()
    }
}

impl Smoltcp {
    fn new(connection: &Connection, near: bool) -> Self {
        let mut line = Line::default();
        let mut config = Config::new(HardwareAddress::Ip);
        // Of each end another one.
        config.random_seed = connection.seed ^ u64::from(near);
        let mut interface = Interface::new(config, &mut line, Instant::ZERO);
        let own = ADDRESSES[usize::from(!near)];
        interface.update_ip_addrs(|list| {
            list.push(IpCidr::new(own, 24)).expect("there is room for an address");
        });
        let buffer = || SocketBuffer::new(vec![0; BUFFER]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(match congestion_control(connection, CONGESTION_CONTROLS) {
            "reno" => CongestionControl::Reno,
            "cubic" => CongestionControl::Cubic,
            _ => CongestionControl::None,
        });
        if !near {
            socket.listen(PORT).expect("a new socket listens");
        }
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        let unwritten = if near { supply(connection) } else { 0 };
        let (closed, received) = (false, 0);
        let (events, segments, now) = (VecDeque::new(), Segments::default(), Instant::ZERO);
        Self {
            near,
            now,
            interface,
            sockets,
            socket,
            line,
            unwritten,
            closed,
            received,
            events,
            segments,
        }
    }

    /// The interface takes what has come; the application does its part; what that makes is sent.
    fn goes_on(&mut self, now: Time, timed: bool) {
        let at = instant(now);
        self.now = at;
        self.interface.poll(at, &mut self.line, &mut self.sockets);
        if self.near {
            self.write();
        } else {
            self.read();
        }
        self.interface.poll(at, &mut self.line, &mut self.sockets);
        let mut resent = Vec::new();
        for packet in &self.line.fresh {
            self.segments.sent(packet, &mut resent);
        }
        self.line.ready.extend(self.line.fresh.drain(..));
        if timed && !resent.is_empty() {
            self.events.push_back(HostEvent::Timeout);
        }
        self.events.extend(resent.into_iter().map(HostEvent::Resent));
    }

    /// The sender's application writes as much as the socket takes.
    fn write(&mut self) {
        let socket = self.sockets.get_mut::<Socket>(self.socket);
        while self.unwritten > 0 && socket.can_send() {
            let most = self.unwritten.min(BUFFER as u64) as usize;
            let written = socket.send(|room| {
                let size = room.len().min(most);
                room[..size].fill(0);
                (size, size)
            });
            match written {
                Ok(size) if size > 0 && self.unwritten == u64::MAX => {}
                Ok(size) if size > 0 => self.unwritten -= size as u64,
                _ => return,
            }
        }
        if self.unwritten == 0 && !self.closed && socket.may_send() {
            socket.close();
            self.closed = true;
        }
    }

    /// The receiver's application reads all that is there.
    fn read(&mut self) {
        let socket = self.sockets.get_mut::<Socket>(self.socket);
        while socket.can_recv() {
            match socket.recv(|data| (data.len(), data.len())) {
                Ok(size) if size > 0 => self.received += size as u64,
                _ => return,
            }
        }
        if !socket.may_recv() && socket.may_send() {
            socket.close();
        }
    }
}

impl Host for Smoltcp {
    fn start(&mut self, now: Time) {
        if self.near {
            let socket = self.sockets.get_mut::<Socket>(self.socket);
            let opened =
                socket.connect(self.interface.context(), (ADDRESSES[1], PORT), PORT_OF_CLIENT);
            opened.expect("a new socket connects");
        }
        self.goes_on(now, false);
    }

    fn handle(&mut self, now: Time, packet: Packet) {
        if let Some(acked) = self.segments.heard(&packet.bytes) {
            self.events.push_back(HostEvent::Acked(acked));
        }
        self.line.come.push_back(packet.bytes);
        self.goes_on(now, false);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.goes_on(now, true);
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        let bytes = self.line.ready.pop_front()?;
        Some(Packet { size: Bytes::new(bytes.len() as u64), bytes })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        let at = self.interface.poll_at(self.now, &self.sockets)?;
        let us = u64::try_from(at.total_micros()).unwrap_or(0);
        Some(Time::from_ps(us.saturating_mul(PS_OF_US)))
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        self.events.pop_front()
    }

    fn state(&self) -> HostState {
        let socket = self.sockets.get::<Socket>(self.socket);
        HostState {
            cwnd: None,
            ssthresh: None,
            in_flight: self.segments.in_flight(),
            packet: (MTU - HEADERS) as u64,
            rtt: None,
            timeout: None,
            received: self.received,
            finished: self.near && self.unwritten == 0 && socket.send_queue() == 0,
        }
    }
}

/// An instant of a run, to the microsecond below.
fn instant(now: Time) -> Instant {
    Instant::from_micros((now.as_ps() / PS_OF_US) as i64)
}

/// The device of an interface: packets that have come, those that it has just sent, and those that
/// are yet to be asked for.
#[derive(Default)]
struct Line {
    come: VecDeque<Vec<u8>>,
    fresh: Vec<Vec<u8>>,
    ready: VecDeque<Vec<u8>>,
}

struct Come(Vec<u8>);
struct Go<'a>(&'a mut Vec<Vec<u8>>);

impl phy::RxToken for Come {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl phy::TxToken for Go<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, size: usize, f: F) -> R {
        let mut packet = vec![0; size];
        let answer = f(&mut packet);
        self.0.push(packet);
        answer
    }
}

impl Device for Line {
    type RxToken<'a> = Come;
    type TxToken<'a> = Go<'a>;

    fn receive(&mut self, _now: Instant) -> Option<(Come, Go<'_>)> {
        let packet = self.come.pop_front()?;
        Some((Come(packet), Go(&mut self.fresh)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Go<'_>> {
        Some(Go(&mut self.fresh))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut all = DeviceCapabilities::default();
        all.medium = Medium::Ip;
        all.max_transmission_unit = MTU;
        all
    }
}

/// The segments of a sender that are not acknowledged, by the packet that carried each last.
#[derive(Debug, Default)]
struct Segments {
    /// First sequence number, one past the last, and the packet; rising.
    known: VecDeque<(u64, u64, u64)>,
    /// Packets sent.
    count: u64,
    /// One past the highest sequence number sent, and the lowest that is not acknowledged, counted
    /// on beyond 32 bits.
    next: Option<u64>,
    acked: u64,
}

/// What the headers of a packet say: sequence and acknowledgment number, and how far the segment
/// goes in sequence numbers.
struct Header {
    seq: u32,
    ack: Option<u32>,
    length: u64,
}

impl Header {
    /// That of a packet of IP version 4 and TCP (RFC 791, RFC 9293).
    fn of(packet: &[u8]) -> Option<Self> {
        const TCP: u8 = 6;
        const FIN: u8 = 1;
        const SYN: u8 = 2;
        const ACK: u8 = 16;
        let ip = usize::from(packet.first()? & 0xf) * 4;
        let tcp = packet.get(ip..).filter(|_| packet.get(9) == Some(&TCP))?;
        let word = |at: usize| Some(u32::from_be_bytes(tcp.get(at..at + 4)?.try_into().ok()?));
        let (offset, flags) = (usize::from(tcp.get(12)? >> 4) * 4, *tcp.get(13)?);
        let marks = [SYN, FIN].iter().filter(|&&mark| flags & mark != 0).count();
        let length = (tcp.len().checked_sub(offset)? + marks) as u64;
        let ack = if flags & ACK != 0 { word(8) } else { None };
        Some(Self { seq: word(4)?, ack, length })
    }
}

/// The number nearest to `near` whose last 32 bits are `low`.
fn unwrapped(near: u64, low: u32) -> u64 {
    near.wrapping_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}

impl Segments {
    fn in_flight(&self) -> u64 {
        self.next.map_or(0, |next| next.saturating_sub(self.acked))
    }

    /// A packet is sent: which packets carried before what it sends again?
    fn sent(&mut self, packet: &[u8], resent: &mut Vec<u64>) {
        let number = self.count;
        self.count += 1;
        let Some(header) = Header::of(packet).filter(|header| header.length > 0) else { return };
        // Above 32 bits there is room for what lies before the first one.
        let next = self.next.unwrap_or(u64::from(header.seq) + (1 << 32));
        let from = unwrapped(next, header.seq);
        let to = from + header.length;
        if self.next.is_none() {
            self.acked = from;
        }
        for known in self.known.iter_mut().filter(|known| known.0 < to && from < known.1) {
            resent.push(known.2);
            known.2 = number;
        }
        if to > next || self.next.is_none() {
            self.known.push_back((from.max(next), to, number));
            self.next = Some(to);
        }
    }

    /// A packet has come: if it acknowledges something, the last packet up to which nothing is
    /// waited for.
    fn heard(&mut self, packet: &[u8]) -> Option<u64> {
        let (next, ack) = (self.next?, Header::of(packet)?.ack?);
        self.acked = self.acked.max(unwrapped(next, ack).min(next));
        let before = self.known.len();
        while self.known.front().is_some_and(|known| known.1 <= self.acked) {
            self.known.pop_front();
        }
        let least = self.known.iter().map(|&(_, _, number)| number).min();
        if self.known.len() == before { None } else { least.unwrap_or(self.count).checked_sub(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with this sequence number, acknowledgment number and payload.
    fn packet(seq: u32, ack: Option<u32>, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; 40 + payload];
        (bytes[0], bytes[9], bytes[32]) = (0x45, 6, 0x50);
        bytes[24..28].copy_from_slice(&seq.to_be_bytes());
        bytes[28..32].copy_from_slice(&ack.unwrap_or(0).to_be_bytes());
        bytes[33] = if ack.is_some() { 16 } else { 0 };
        bytes
    }

    #[test]
    fn segments_are_traced_to_the_packets_that_carried_them_beyond_32_bits() {
        let (mut segments, mut resent) = (Segments::default(), Vec::new());
        let first = u32::MAX - 149;
        for n in 0..4 {
            segments.sent(&packet(first.wrapping_add(100 * n), None, 100), &mut resent);
        }
        assert_eq!((resent.len(), segments.in_flight()), (0, 400));
        assert_eq!(segments.heard(&packet(0, Some(first.wrapping_add(100)), 0)), Some(0));
        segments.sent(&packet(first.wrapping_add(100), None, 200), &mut resent);
        assert_eq!(resent, [1, 2], "packet 4 carries what 1 and 2 carried");
        assert_eq!(segments.heard(&packet(0, Some(first.wrapping_add(400)), 0)), Some(4));
        assert_eq!((segments.in_flight(), segments.heard(&packet(0, None, 0))), (0, None));
    }
}
