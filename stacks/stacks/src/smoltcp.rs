//! smoltcp: TCP over IP version 4, from an interface without a link layer.

use std::collections::VecDeque;
use std::fmt;

use burstlab_live::segments::{self, Again, Connections, Header};
use burstlab_sim::scenario::{Cargo, Connection, Ending, Host, HostEvent, HostState, Packet};
use burstlab_units::{Bytes, Time};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

use crate::{Supply, congestion_control};

/// By their names in smoltcp, that which it uses by itself first.
pub(crate) const CONGESTION_CONTROLS: &[&str] = &["none", "reno", "cubic"];

/// Largest packet, as on Ethernet.
const MTU: usize = 1500;

/// Bytes of IP and TCP in a packet that smoltcp fills: 20 and 20.
const HEADERS: usize = 40;

/// Data that a socket keeps in flight, and at most waits for: the rate and the round trip of the
/// paths that examples have, several times over.
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
    /// Whether both ends have data.
    both: bool,
    /// When it did something last.
    now: Instant,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    line: Line,
    /// The data that the application has yet to write.
    supply: Supply,
    closed: bool,
    received: u64,
    events: VecDeque<HostEvent>,
    connections: Connections,
    /// The contents of the last packet.
    cargo: Cargo,
    /// Whether the connection has begun, was reset, and is dead.
    begun: bool,
    reset: bool,
    ended: bool,
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
        let supply = Supply::of(connection, near);
        let (closed, received) = (false, 0);
        let (events, now) = (VecDeque::new(), Instant::ZERO);
        let connections = Connections::default();
        Self {
            near,
            both: connection.back.is_some(),
            now,
            interface,
            sockets,
            socket,
            line,
            supply,
            closed,
            received,
            events,
            connections,
            cargo: Cargo::default(),
            begun: false,
            reset: false,
            ended: false,
        }
    }

    /// The interface takes the packets that have come; the application does its part; the resulting
    /// packets are sent.
    fn goes_on(&mut self, now: Time, timed: bool) {
        let at = instant(now);
        self.now = at;
        self.supply.comes_to(now);
        self.interface.poll(at, &mut self.line, &mut self.sockets);
        if !self.near || self.both {
            self.read();
            self.supply.hears(now, self.received);
        }
        if self.supply.sends {
            self.write();
        }
        self.interface.poll(at, &mut self.line, &mut self.sockets);
        let mut why = if timed { Again::Timer } else { Again::Gap };
        for packet in self.line.fresh.drain(..) {
            let found = self.connections.sent(Header::of(&packet).as_ref(), why);
            // Other packets that it sends at once belong to the same repair.
            let begins = found.awaited.is_some();
            let next = if begins { Again::Gap } else { why };
            self.events.extend(found.events(why, None));
            self.line.ready.push_back(packet);
            why = next;
        }
        self.ends();
    }

    /// Says that the connection is dead, where it is before its time.
    fn ends(&mut self) {
        let state = self.sockets.get::<Socket>(self.socket).state();
        self.begun |= !matches!(state, State::Closed | State::Listen);
        let over = match self.supply.sends {
            true => self.state().finished,
            // It has heard all, and closed too.
            false => self.closed,
        };
        if self.begun && state == State::Closed && !over && !self.ended {
            self.ended = true;
            let why = if self.reset { Ending::Reset } else { Ending::TimedOut };
            self.events.push_back(HostEvent::Ended(why));
        }
    }

    /// The application writes as much as the socket takes.
    fn write(&mut self) {
        let socket = self.sockets.get_mut::<Socket>(self.socket);
        if self.supply.awaits.is_some() {
            return;
        }
        while self.supply.unwritten[0] > 0 && socket.can_send() {
            let most = self.supply.unwritten[0].min(BUFFER as u64) as usize;
            let written = socket.send(|room| {
                let size = room.len().min(most);
                room[..size].fill(0);
                (size, size)
            });
            match written {
                Ok(size) if size > 0 => self.supply.wrote(0, size as u64),
                _ => return,
            }
        }
        if self.supply.is_over() && !self.closed && socket.may_send() {
            socket.close();
            self.closed = true;
        }
    }

    /// The application reads all that is there.
    fn read(&mut self) {
        let socket = self.sockets.get_mut::<Socket>(self.socket);
        while socket.can_recv() {
            match socket.recv(|data| (data.len(), data.len())) {
                Ok(size) if size > 0 => self.received += size as u64,
                _ => return,
            }
        }
        if !self.supply.sends && !socket.may_recv() && socket.may_send() {
            socket.close();
            self.closed = true;
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
        let header = Header::of(&packet.bytes);
        self.reset |= header.as_ref().is_some_and(Header::resets);
        if let Some(acked) = header.and_then(|header| self.connections.heard(&header)) {
            self.events.push_back(HostEvent::Acked(acked));
        }
        self.line.come.push_back(packet.bytes);
        self.goes_on(now, false);
    }

    fn handle_timeout(&mut self, now: Time) {
        let due = self.interface.poll_at(self.now, &self.sockets);
        self.goes_on(now, due.is_some_and(|at| at <= instant(now)));
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        let bytes = self.line.ready.pop_front()?;
        self.cargo.carries = segments::carries(Header::of(&bytes).as_ref());
        Some(Packet { size: Bytes::new(bytes.len() as u64), bytes })
    }

    fn carried(&self) -> Cargo {
        self.cargo
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        let due = self.interface.poll_at(self.now, &self.sockets).map(|at| {
            let us = u64::try_from(at.total_micros()).unwrap_or(0);
            Time::from_ps(us.saturating_mul(PS_OF_US))
        });
        due.into_iter().chain(self.supply.next().filter(|_| !self.ended)).min()
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        self.events.pop_front()
    }

    fn state(&self) -> HostState {
        let socket = self.sockets.get::<Socket>(self.socket);
        HostState {
            cwnd: None,
            ssthresh: None,
            in_flight: self.connections.in_flight(),
            packet: (MTU - HEADERS) as u64,
            rtt: None,
            timeout: None,
            received: self.received,
            finished: self.supply.sends
                && self.supply.awaits.is_none()
                && self.supply.is_over()
                && socket.send_queue() == 0,
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

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_units::Span;

    #[test]
    fn a_connection_that_is_reset_is_told_of_and_none_that_is_done() {
        for resets in [true, false] {
            let wanted = Connection {
                flow: 0,
                stack: String::new(),
                congestion_control: None,
                bytes: Some(3_000_000),
                writes: vec![(Time::ZERO, 3_000_000)],
                back: None,
                streams: 1,
                ecn: false,
                seed: 1,
            };
            let [mut near, mut far] = [true, false].map(|near| Smoltcp::new(&wanted, near));
            near.start(Time::ZERO);
            let mut events = Vec::new();
            for step in 1..400 {
                let now = Time::ZERO + Span::from_ms(step * 10);
                if resets && step == 4 {
                    far.sockets.get_mut::<Socket>(far.socket).abort();
                }
                near.handle_timeout(now);
                while let Some(packet) = near.poll_transmit(now) {
                    far.handle(now, packet);
                }
                far.handle_timeout(now);
                while let Some(packet) = far.poll_transmit(now) {
                    near.handle(now, packet);
                }
                events.extend(std::iter::from_fn(|| near.poll_event()));
            }
            let ended = events.contains(&HostEvent::Ended(Ending::Reset));
            assert_eq!((ended, near.state().finished), (resets, !resets));
        }
    }
}
