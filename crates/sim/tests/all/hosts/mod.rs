//! A transport of a few lines as a third-party stack, and some that misbehave: its sender keeps a
//! window of packets in flight, its receiver acknowledges each by its number, and what is three
//! behind the last one acknowledged is lost and sent again as a new packet: at once, or, as TCP
//! does, one for each ACK, in repairs.

mod exchange;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use burstlab_sim::scenario::{Connection, Host, HostEvent, HostState, Packet, StackCrate, Stacks};
use burstlab_units::{Bytes, Span, Time};

use self::exchange::Exchange;

const PAYLOAD: u64 = 1000;
const WINDOW: usize = 20;
const BEHIND: u64 = 3;

/// Segments that each repair costs, as a host reports it.
pub(crate) const COST: u32 = 2;

#[derive(Debug)]
pub(crate) struct Simple;

impl Stacks for Simple {
    fn names(&self) -> Vec<&str> {
        let bad = BAD.iter().map(|(name, _)| *name);
        ["simple", "repairing"].into_iter().chain(bad).chain(["silent", "exchange"]).collect()
    }

    fn congestion_controls(&self, _stack: &str) -> Vec<&str> {
        vec!["window", "drawn"]
    }

    fn repeats(&self, _stack: &str, congestion_control: &str) -> bool {
        congestion_control != "drawn"
    }

    fn crate_of(&self, stack: &str) -> Option<StackCrate> {
        let [name, version, source] = ["a-crate", "1.2.3", "path"].map(String::from);
        (stack != "silent").then_some(StackCrate { name, version, source })
    }

    fn hosts(&self, connection: &Connection) -> [Box<dyn Host>; 2] {
        let packets = connection.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(PAYLOAD));
        let left = (packets, connection.bytes.unwrap_or(u64::MAX));
        let sender: Box<dyn Host> = match connection.stack.as_str() {
            "simple" => Box::new(Sender { left: left.0, ..Sender::default() }),
            "repairing" => Box::new(Sender { left: left.0, repairs: true, ..Sender::default() }),
            "silent" => Box::new(Silent(false)),
            "exchange" => return Exchange::pair(connection),
            other => {
                let each = |near| Bad { name: other.to_string(), near, ..Bad::default() };
                return [true, false].map(|near| -> Box<dyn Host> { Box::new(each(near)) });
            }
        };
        [sender, Box::new(Receiver::default())]
    }
}

pub(crate) fn simple() -> Arc<dyn Stacks> {
    Arc::new(Simple)
}

#[derive(Debug, Default)]
struct Sender {
    left: u64,
    next: u64,
    flying: BTreeSet<u64>,
    /// Packets to send again.
    again: u64,
    due: Option<Time>,
    events: VecDeque<HostEvent>,
    /// Whether it reports repairs, and the packet below which the last one repairs all.
    repairs: bool,
    until: u64,
}

impl Sender {
    /// Begins a repair, if none goes on.
    fn begins(&mut self, timed_out: bool) {
        let goes_on = self.flying.first().is_some_and(|&first| first < self.until);
        if timed_out || !goes_on {
            self.events.push_back(HostEvent::Repairs { timed_out, cost: Some(COST) });
            self.events.extend(self.flying.iter().copied().map(HostEvent::Awaited));
            self.until = self.next;
        }
    }

    fn done(&self) -> bool {
        self.left == 0 && self.again == 0 && self.flying.is_empty()
    }
}

impl Host for Sender {
    fn start(&mut self, _now: Time) {}

    fn handle(&mut self, _now: Time, packet: Packet) {
        let number = u64::from_le_bytes(packet.bytes.try_into().expect("an ACK of eight bytes"));
        self.flying.remove(&number);
        let least = self.flying.first().map_or(self.next, |&first| first);
        let acked = if self.repairs { least.checked_sub(1) } else { Some(number) };
        self.events.extend(acked.map(HostEvent::Acked));
        while let Some(&first) = self.flying.first().filter(|&&first| first + BEHIND <= number) {
            if self.repairs {
                self.begins(false);
            }
            self.flying.remove(&first);
            self.again += 1;
            if self.repairs {
                self.events.push_back(HostEvent::Resent(first));
                break;
            }
            self.events.push_back(HostEvent::Lost(first));
        }
        self.due = None;
    }

    fn handle_timeout(&mut self, _now: Time) {
        if self.repairs {
            self.begins(true);
            self.events.extend(self.flying.iter().copied().map(HostEvent::Resent));
        } else {
            self.events.push_back(HostEvent::Timeout);
        }
        self.again += self.flying.len() as u64;
        self.flying.clear();
        self.due = None;
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.due = self.due.or(Some(now + Span::from_ms(300))).filter(|_| !self.done());
        if self.flying.len() >= WINDOW || self.left + self.again == 0 {
            return None;
        }
        if self.again > 0 {
            self.again -= 1;
        } else {
            self.left -= 1;
        }
        let number = self.next;
        self.next += 1;
        self.flying.insert(number);
        self.due = Some(now + Span::from_ms(300));
        Some(Packet { size: Bytes::new(PAYLOAD + 28), bytes: number.to_le_bytes().to_vec() })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        self.due
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        self.events.pop_front()
    }

    fn state(&self) -> HostState {
        let in_flight = self.flying.len() as u64 * PAYLOAD;
        let cwnd = Some(WINDOW as u64 * PAYLOAD);
        HostState { cwnd, in_flight, packet: PAYLOAD, finished: self.done(), ..Default::default() }
    }
}

#[derive(Debug, Default)]
struct Receiver {
    ready: VecDeque<Vec<u8>>,
    received: u64,
}

impl Host for Receiver {
    fn start(&mut self, _now: Time) {}

    fn handle(&mut self, _now: Time, packet: Packet) {
        self.received += PAYLOAD;
        self.ready.push_back(packet.bytes);
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        self.ready.pop_front().map(|bytes| Packet { size: Bytes::new(36), bytes })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        None
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        None
    }

    fn state(&self) -> HostState {
        HostState { received: self.received, packet: 1, ..Default::default() }
    }
}

/// A host that sends one packet and then waits for ever. Whether it has sent it.
#[derive(Debug)]
struct Silent(bool);

impl Host for Silent {
    fn start(&mut self, _now: Time) {}
    fn handle(&mut self, _now: Time, _packet: Packet) {}
    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        let sends = !std::mem::replace(&mut self.0, true);
        sends.then(|| Packet { size: Bytes::new(PAYLOAD + 28), bytes: vec![0; 8] })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        None
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        None
    }

    fn state(&self) -> HostState {
        HostState { packet: PAYLOAD, ..HostState::default() }
    }
}

/// Hosts that no run can go on with, and what an error says of each.
pub(crate) const BAD: &[(&str, &str)] = &[
    ("endless", "sends at one instant without end"),
    ("restless", "calls for itself at one instant without end"),
    ("hasty", "calls for itself more than a million times within a millisecond"),
    ("flooding", "sends more than the 1024 MiB that may be in flight at once"),
    ("garbage", "sends a packet of 0 bytes"),
    ("telling", "its sender reports events without end"),
    ("hearing", "its receiver reports events without end"),
    ("stranger", "reports its packet 70000, and has sent 1 (from 0)"),
    ("losing", "takes more packets for lost than the 1 it has sent"),
    ("falling", "bytes for its application, and had"),
    ("boasting", "its receiver has 18446744073709551615 bytes for its application, of"),
    ("lying", "its receiver has 18446744073709551615 bytes for its application, of 0 that came"),
];

/// A host that never stops sending, calling for itself or telling, or says what cannot be.
#[derive(Debug, Default)]
struct Bad {
    name: String,
    near: bool,
    /// Packets that it has sent, and that have come.
    sent: u64,
    heard: u64,
    now: Time,
}

impl Host for Bad {
    fn start(&mut self, now: Time) {
        self.now = now;
    }

    fn handle(&mut self, now: Time, _packet: Packet) {
        self.now = now;
        self.heard += 1;
    }

    fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        self.sent -= u64::from(self.name == "flooding" && self.sent > 0);
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        let (size, most) = match self.name.as_str() {
            "endless" => (100, u64::MAX),
            "garbage" => (0, u64::MAX),
            "flooding" => (60_000, 1),
            "restless" | "hasty" => return None,
            // A second one lets a receiver hear twice.
            "falling" => (PAYLOAD, 2),
            _ => (PAYLOAD, 1),
        };
        if !self.near || self.sent >= most {
            return None;
        }
        self.sent += 1;
        Some(Packet { size: Bytes::new(size), bytes: vec![0; size as usize] })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        match self.name.as_str() {
            "restless" => Some(Time::ZERO),
            "hasty" => Some(self.now + Span::from_ps(1)),
            "flooding" if self.near => Some(self.now + Span::from_us(1)),
            "stranger" | "losing" | "telling" if self.near => Some(Time::ZERO + Span::from_ms(1)),
            _ => None,
        }
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        match self.name.as_str() {
            "telling" if self.near => Some(HostEvent::Timeout),
            "hearing" if !self.near => Some(HostEvent::Timeout),
            "stranger" if self.sent > 0 => Some(HostEvent::Lost(70_000)),
            "losing" if self.sent > 0 => Some(HostEvent::SomeLost(20_000_000)),
            _ => None,
        }
    }

    fn state(&self) -> HostState {
        let mut state = HostState { packet: 1, ..HostState::default() };
        match self.name.as_str() {
            "boasting" if self.heard > 0 => state.received = u64::MAX,
            "falling" if self.heard == 1 => state.received = PAYLOAD,
            // Done before anything was sent.
            "lying" => (state.received, state.finished) = (u64::MAX, self.near),
            _ => {}
        }
        state
    }
}
