//! A host that sends and receives over one connection: a sender and a receiver of the transport
//! here, whose packets are numbered together.

use burstlab_sim::scenario::{
    Cargo, Carries, Connection, Host, HostEvent, HostState, Packet, Stacks,
};
use burstlab_units::Time;

use super::{PAYLOAD, Receiver, Sender, Simple};

/// Smaller packets are ACKs.
const ACK: u64 = 100;

#[derive(Debug)]
pub(super) struct Exchange {
    sender: Sender,
    receiver: Receiver,
    /// Of each data packet, its number among all packets; how many there were, and the last one.
    numbers: Vec<u64>,
    sent: u64,
    carries: Carries,
    /// Bytes that have to come, and as many packets as it sends then.
    awaits: Option<(u64, u64)>,
}

impl Exchange {
    pub(super) fn pair(connection: &Connection) -> [Box<dyn Host>; 2] {
        let packets = |bytes: Option<u64>| bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(PAYLOAD));
        let back = connection.back.as_ref().expect("the connection has data both ways");
        let reply = connection.bytes.filter(|_| back.reply).map(|all| (all, packets(back.bytes)));
        let at_once = if reply.is_some() { 0 } else { packets(back.bytes) };
        let end = |left: u64, awaits: Option<(u64, u64)>| -> Box<dyn Host> {
            let sender = Sender { left, ..Sender::default() };
            let (receiver, numbers) = (Receiver::default(), Vec::new());
            Box::new(Self { sender, receiver, numbers, sent: 0, carries: Carries::Data, awaits })
        };
        [end(packets(connection.bytes), None), end(at_once, reply)]
    }
}

impl Host for Exchange {
    fn start(&mut self, _now: Time) {}

    fn handle(&mut self, now: Time, packet: Packet) {
        if packet.size.get() < ACK {
            return self.sender.handle(now, packet);
        }
        self.receiver.handle(now, packet);
        if let Some((_, packets)) = self.awaits.filter(|&(all, _)| self.receiver.received >= all) {
            (self.sender.left, self.awaits) = (packets, None);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.sender.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.carries = Carries::Ack;
        let packet = self.receiver.poll_transmit(now).or_else(|| {
            let packet = self.sender.poll_transmit(now)?;
            self.carries = Carries::Data;
            self.numbers.push(self.sent);
            Some(packet)
        })?;
        self.sent += 1;
        Some(packet)
    }

    fn carried(&self) -> Cargo {
        Cargo { carries: self.carries, packets: 1 }
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        self.sender.poll_timeout()
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        let number = |packet: u64| self.numbers[packet as usize];
        Some(match self.sender.poll_event()? {
            HostEvent::Acked(packet) => HostEvent::Acked(number(packet)),
            HostEvent::Lost(packet) => HostEvent::Lost(number(packet)),
            other => other,
        })
    }

    fn state(&self) -> HostState {
        let received = self.receiver.received;
        let state = self.sender.state();
        HostState { received, finished: state.finished && self.awaits.is_none(), ..state }
    }
}

#[test]
fn a_stack_of_tcp_alone_has_one_stream_and_no_ecn() {
    assert_eq!((Simple.streams("simple"), Simple.has_ecn("simple")), (1, false));
}
