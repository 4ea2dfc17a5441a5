//! A transport of one's own over a network of bursts: it sends a packet, and the next one when an
//! ACK has come, and sends again what was not acknowledged within a time.

use burstlab_net::{Bytes, Connection, Host, HostEvent, HostState, Lab, Packet, Span, Time};

const PAYLOAD: u64 = 1000;
const PATIENCE: Span = Span::from_ms(100);

/// Sends packets `sent` of `all`, one at a time.
#[derive(Debug)]
struct Client {
    acked: u64,
    all: u64,
    due: Option<Time>,
    again: bool,
    events: Vec<HostEvent>,
    count: u64,
}

impl Client {
    fn boxed(connection: &Connection) -> Box<dyn Host> {
        let all = connection.bytes.expect("the lab carries some").div_ceil(PAYLOAD);
        let (due, events) = (None, Vec::new());
        Box::new(Self { acked: 0, all, due, again: true, events, count: 0 })
    }
}

impl Host for Client {
    fn start(&mut self, _now: Time) {}

    fn handle(&mut self, _now: Time, packet: Packet) {
        if packet.bytes == self.acked.to_le_bytes() {
            self.events.push(HostEvent::Acked(self.count - 1));
            (self.acked, self.again, self.due) = (self.acked + 1, true, None);
        }
    }

    fn handle_timeout(&mut self, _now: Time) {
        self.events.push(HostEvent::Timeout);
        self.events.push(HostEvent::Resent(self.count - 1));
        (self.again, self.due) = (true, None);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if !self.again || self.acked == self.all {
            return None;
        }
        (self.again, self.due) = (false, Some(now + PATIENCE));
        self.count += 1;
        let bytes = self.acked.to_le_bytes().to_vec();
        Some(Packet { size: Bytes::new(PAYLOAD + 28), bytes })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        self.due
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        if self.events.is_empty() { None } else { Some(self.events.remove(0)) }
    }

    fn state(&self) -> HostState {
        HostState { packet: PAYLOAD, finished: self.acked == self.all, ..HostState::default() }
    }
}

/// Answers each packet with its number.
#[derive(Debug, Default)]
struct Server {
    next: u64,
    answer: Option<Vec<u8>>,
}

impl Server {
    fn boxed() -> Box<dyn Host> {
        Box::<Self>::default()
    }
}

impl Host for Server {
    fn start(&mut self, _now: Time) {}

    fn handle(&mut self, _now: Time, packet: Packet) {
        self.next += u64::from(packet.bytes == self.next.to_le_bytes());
        self.answer = Some(packet.bytes);
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        self.answer.take().map(|bytes| Packet { size: Bytes::new(36), bytes })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        None
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        None
    }

    fn state(&self) -> HostState {
        HostState { received: self.next * PAYLOAD, packet: 1, ..HostState::default() }
    }
}

#[test]
fn what_is_lost_is_sent_again_after_a_time_out() {
    let lab = Lab::path().losing(0.1).carrying(100_000);
    let run = lab.run_hosts(|connection| [Client::boxed(connection), Server::boxed()]);
    let run = run.expect("it is sound");
    let flow = &run.summary().flows[0];
    assert!(run.acknowledged_after_s().is_some() && run.conserves(), "{flow:?}");
    // Nothing is late on this path, so that there is a time-out for each loss.
    let reactions = run.reactions();
    assert!(reactions.iter().all(|one| one.kind == "timeout"), "{reactions:?}");
    assert_eq!(flow.timeouts, flow.packets_lost);
    assert_eq!((run.lost_bursts(), flow.bytes_delivered), (run.explained_bursts(), 100_000));
    assert!(flow.packets_lost > 3, "there is something to send again: {flow:?}");
}
