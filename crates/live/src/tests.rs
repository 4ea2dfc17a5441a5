//! Live hosts over devices that are a list.

use super::segments::{Again, Connections, Header, Resent, mark};
use super::*;
use burstlab_scenario::{Ending, HostEvent};

/// A packet of TCP with these ports, sequence number, acknowledgment number, flags and payload.
fn packet(ports: (u16, u16), seq: u32, ack: u32, flags: u8, payload: usize) -> Vec<u8> {
    let mut bytes = vec![0; 40 + payload];
    (bytes[0], bytes[9], bytes[32], bytes[33]) = (0x45, 6, 0x50, flags);
    bytes[20..22].copy_from_slice(&ports.0.to_be_bytes());
    bytes[22..24].copy_from_slice(&ports.1.to_be_bytes());
    bytes[24..28].copy_from_slice(&seq.to_be_bytes());
    bytes[28..32].copy_from_slice(&ack.to_be_bytes());
    bytes
}

fn header(packet: &[u8]) -> Header {
    Header::of(packet).expect("it is TCP")
}

#[test]
fn segments_are_traced_to_their_packets_in_each_connection_beyond_32_bits() {
    let mut all = Connections::default();
    let first = u32::MAX - 149;
    let data = |n: u32, size| packet((9, 80), first.wrapping_add(100 * n), 1, 16, size);
    for n in 0..4 {
        assert_eq!(all.sent(Some(&header(&data(n, 100))), Again::Gap), Resent::default());
    }
    let other = packet((10, 80), 7, 1, 16, 50);
    let new = all.sent(Some(&header(&other)), Again::Gap);
    assert_eq!(new, Resent::default(), "packet 4 is of another connection");
    assert_eq!(all.in_flight(), 450);
    let ack = |port, ack: u32| header(&packet((80, port), 1, ack, 16, 0));
    assert_eq!(all.heard(&ack(9, first.wrapping_add(100))), Some(0));
    assert_eq!(all.heard(&ack(9, first.wrapping_add(100))), None, "nothing new");
    let both = all.sent(Some(&header(&data(1, 200))), Again::Gap);
    assert_eq!(both.packets, [1, 2], "packet 5 carries both again");
    assert_eq!(all.heard(&ack(9, first.wrapping_add(400))), Some(3), "packet 4 is waited for");
    assert_eq!((all.heard(&ack(10, 57)), all.in_flight()), (Some(5), 0));
    let reset = all.sent(Some(&header(&packet((10, 80), 57, 1, 4, 0))), Again::Gap);
    assert_eq!(reset, Resent::default());
    assert_eq!(Header::of(&[0x45, 0]), None);
}

#[test]
fn a_repair_goes_on_until_all_that_was_sent_before_it_is_acknowledged() {
    let mut all = Connections::default();
    let sent = |all: &mut Connections, n: u32, why| {
        all.sent(Some(&header(&packet((9, 80), 100 * n, 1, 16, 100))), why).awaited
    };
    let ack = |n: u32| header(&packet((80, 9), 1, 100 * n, 16, 0));
    assert!((0..6).all(|n| sent(&mut all, n, Again::Gap).is_none()));
    assert_eq!(sent(&mut all, 5, Again::Probe), None, "packet 6 is a probe of the tail");
    assert_eq!(sent(&mut all, 1, Again::Gap), Some(vec![0, 1, 2, 3, 4, 6]), "with packet 7");
    assert_eq!(sent(&mut all, 6, Again::Gap), None, "packet 8 is new");
    assert_eq!(sent(&mut all, 2, Again::Gap), None, "packet 9 is of the same repair");
    assert_eq!(sent(&mut all, 1, Again::Timer), Some(vec![0, 3, 4, 6, 7, 8, 9]), "with packet 10");
    assert_eq!(all.heard(&ack(6)), Some(7));
    assert_eq!(sent(&mut all, 6, Again::Gap), None, "the time-out was about packet 8 too");
    assert_eq!(all.heard(&ack(7)), Some(11));
    assert_eq!(sent(&mut all, 7, Again::Gap), None, "packet 12 is new");
    let again = all.sent(Some(&header(&packet((9, 80), 700, 1, 16, 100))), Again::Gap);
    let events: Vec<_> = again.events(Again::Gap, Some(7)).collect();
    let begins = HostEvent::Repairs { timed_out: false, cost: Some(7) };
    assert_eq!(events, [begins, HostEvent::Awaited(12), HostEvent::Resent(12)]);
}

/// One that goes back sends full packets, wherever those before had ended.
#[test]
fn a_packet_is_sent_again_once_all_of_it_is() {
    let mut all = Connections::default();
    let mut sent =
        |seq, size, why| all.sent(Some(&header(&packet((9, 80), seq, 1, 16, size))), why).packets;
    assert!(
        [(0, 60), (60, 100), (160, 100)]
            .map(|(at, size)| sent(at, size, Again::Gap))
            .concat()
            .is_empty()
    );
    assert_eq!(sent(0, 100, Again::Timer), [0], "packet 3 carries a part of packet 1");
    assert_eq!(
        sent(100, 100, Again::Gap),
        [1],
        "packet 4 carries the rest, and nothing of packet 3"
    );
    assert_eq!(sent(200, 100, Again::Gap), [2], "packet 5");
    assert_eq!(
        sent(220, 20, Again::Gap),
        [] as [u64; 0],
        "packet 6 is from the middle of packet 5"
    );
    assert_eq!(sent(0, 300, Again::Timer), [3, 4, 5, 6], "each once");
    assert_eq!(all.in_flight(), 300);
    let ack = |ack| header(&packet((80, 9), 1, ack, 16, 0));
    assert_eq!((all.heard(&ack(230)), all.in_flight()), (Some(6), 80));
    assert_eq!((all.heard(&ack(300)), all.in_flight()), (Some(7), 0));
}

#[test]
fn what_came_in_order_is_what_a_host_acknowledges() {
    let mut all = Connections::default();
    let acks = |ack| header(&packet((80, 9), 5, ack, 16, 0));
    let mut sends = |header: &Header| drop(all.sent(Some(header), Again::Gap));
    sends(&header(&packet((80, 9), 4, 1001, 18, 0)));
    sends(&acks(3001));
    sends(&acks(2001));
    assert_eq!(all.received(), 2000);
    all.heard(&header(&packet((9, 80), 3001, 5, 17, 0)));
    all.sent(Some(&acks(3002)), Again::Gap);
    assert_eq!(all.received(), 2000, "an end is no data");
    // The same ports again: what came over the first connection stays counted.
    all.sent(Some(&header(&packet((80, 9), 90_000, 501, 18, 0))), Again::Gap);
    assert_eq!(all.received(), 2000);
    let mut udp = vec![0; 28 + 70];
    (udp[0], udp[9]) = (0x45, 17);
    all.heard(&header(&udp));
    assert_eq!(all.received(), 2070);
}

#[test]
fn a_mark_keeps_the_sum_of_a_header_and_asks_the_sender() {
    let sum = |packet: &[u8]| {
        let words = packet[..20].chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1]));
        let sum = words.sum::<u32>();
        (sum & 0xffff) + (sum >> 16)
    };
    let mut bytes = packet((9, 80), 1, 1, 16, 3);
    assert!(!mark(&mut bytes), "the sender knows no marks");
    bytes[1] = 2;
    let rest = 0xffff - sum(&bytes) as u16;
    bytes[10..12].copy_from_slice(&rest.to_be_bytes());
    assert_eq!(sum(&bytes), 0xffff);
    assert!(mark(&mut bytes) && bytes[1] == 3);
    assert_eq!(sum(&bytes), 0xffff);
    assert!(mark(&mut bytes), "it stays marked");
    assert!(!mark(&mut [0x45, 2]) && !mark(&mut []));
}

#[derive(Debug)]
struct Listed(Mutex<VecDeque<Found>>);

impl Devices for Listed {
    fn wait(&self, _now: Time, until: Time) -> Found {
        let found = locked(&self.0).pop_front();
        found.unwrap_or(Found { at: until, ..Found::default() })
    }

    fn deliver(&self, _now: Time, _pair: usize, _far: bool, _packet: &[u8]) -> Option<Sample> {
        None
    }
}

#[test]
fn packets_come_to_their_hosts_in_runs_and_in_order() {
    let at = Time::from_ps;
    let sent = |pair, far| Sent { pair, far, bytes: vec![0x45], ..Sent::default() };
    let packets = vec![sent(0, false), sent(0, false), sent(1, true), sent(0, false)];
    let found = [
        Found { at: at(5), packets, ended: false },
        Found { at: at(9), ..Found::default() },
        Found { at: at(12), ended: true, ..Found::default() },
    ];
    let pairs = [3, 4].map(|flow| LivePair { flow, hosts: [0, 1] }).to_vec();
    let live = Live::new(pairs, Arc::new(Listed(Mutex::new(found.into()))), None);
    let connection = |flow| Connection {
        flow,
        stack: LIVE.to_string(),
        congestion_control: None,
        bytes: None,
        writes: Vec::new(),
        back: None,
        streams: 1,
        ecn: false,
        seed: 1,
    };
    let [mut near, _] = live.hosts(&connection(3));
    let outside = live.outside().expect("devices");
    let mut host = |far, flow| {
        let found = outside.wait(at(4), at(9));
        assert_eq!(found, Wakeup::Host { at: at(5), flow, far });
        near.handle_timeout(at(5));
        std::iter::from_fn(|| near.poll_transmit(at(5))).count()
    };
    assert_eq!((host(false, 3), host(true, 4), host(false, 3)), (2, 0, 1));
    assert_eq!(outside.wait(at(5), at(9)), Wakeup::Due);
    assert_eq!(outside.wait(at(9), at(30)), Wakeup::End { at: at(12) });
}

/// A connection as its kernel reports it: stage, time-outs, window and threshold.
fn stands(state: u32, timeouts: u32, cwnd: u32, ssthresh: u32) -> Option<Sample> {
    Some(Sample { state, timeouts, cwnd, ssthresh, segment: 100, ..Sample::default() })
}

/// A host whose kernel has sent ten segments of a window of ten.
struct Kernel {
    host: LiveHost,
    line: Arc<Mutex<Line>>,
}

impl Kernel {
    fn new() -> Self {
        let line = Arc::default();
        let devices = Arc::new(Listed(Mutex::default()));
        let mut kernel = Self { host: LiveHost::new(devices, (0, false), Arc::clone(&line)), line };
        for n in 0..10 {
            assert_eq!(kernel.sends(n, stands(0, 0, 10, 20)), []);
        }
        kernel
    }

    /// Sends segment `n` as its connection stands; returns the repairs that begin.
    fn sends(&mut self, n: u32, sample: Option<Sample>) -> Vec<HostEvent> {
        let bytes = packet((9, 80), 100 * n, 1, 16, 100);
        locked(&self.line).come(Sent { bytes, sample, ..Sent::default() });
        self.host.handle_timeout(Time::ZERO);
        let events = std::iter::from_fn(|| self.host.poll_event());
        events.filter(|event| matches!(event, HostEvent::Repairs { .. })).collect()
    }
}

#[test]
fn a_time_out_costs_all_of_the_window_but_a_segment() {
    let repair = |timed_out, cost| vec![HostEvent::Repairs { timed_out, cost: Some(cost) }];
    let mut kernel = Kernel::new();
    assert_eq!(kernel.sends(2, stands(3, 0, 10, 7)), repair(false, 3), "down to the threshold");
    assert_eq!(kernel.sends(1, stands(4, 1, 1, 5)), repair(true, 9), "down to a segment");
    let mut kernel = Kernel::new();
    assert_eq!(kernel.sends(0, stands(4, 1, 1, 5)), repair(true, 9), "and not to the threshold");
}

#[test]
fn a_connection_that_is_repaired_begins_another_repair() {
    let repair = |cost| vec![HostEvent::Repairs { timed_out: false, cost: Some(cost) }];
    let mut kernel = Kernel::new();
    assert_eq!(kernel.sends(2, stands(3, 0, 10, 7)), repair(3));
    assert_eq!(kernel.sends(3, stands(3, 0, 9, 7)), [], "it is of the same repair");
    // The kernel took the reduction back before all that was sent is acknowledged.
    assert_eq!(kernel.sends(10, stands(1, 0, 10, 20)), []);
    assert_eq!(kernel.sends(4, stands(3, 0, 10, 6)), repair(4));
}

#[test]
fn a_connection_that_its_kernel_gives_up_has_ended_if_it_waits_for_something() {
    let mut kernel = Kernel::new();
    let mut gives_up = |ports| {
        locked(&kernel.line).come(Sent { given_up: Some(ports), ..Sent::default() });
        kernel.host.handle_timeout(Time::ZERO);
        kernel.host.poll_event()
    };
    assert_eq!(gives_up((10, 80)), None, "it has no such connection");
    assert_eq!(gives_up((9, 80)), Some(HostEvent::Ended(Ending::TimedOut)));
    let sent = std::iter::from_fn(|| kernel.host.poll_transmit(Time::ZERO)).count();
    assert_eq!(sent, 10, "word of it is no packet");
}
