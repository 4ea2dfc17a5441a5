//! One host of a flow between two live hosts, as a run drives it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};

use burstlab_scenario::{Cargo, Ending, Host, HostEvent, HostState, Packet};
use burstlab_units::{Bytes, Span, Time};

use crate::devices::{Devices, Sample, Sent};
use crate::locked::locked;
use crate::segments::{self, Again, Connections, Header};

/// A threshold that is none yet, in the kernel.
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// Stage of a connection that repairs, in the kernel: the first of recovery and loss.
const REPAIRS: u32 = 3;

const PS_OF_US: u64 = 1_000_000;

/// Packets that the kernel of a host has sent, until the run takes them.
#[derive(Debug, Default)]
pub(crate) struct Line(VecDeque<Sent>);

impl Line {
    pub(crate) fn come(&mut self, sent: Sent) {
        self.0.push_back(sent);
    }
}

/// A host; the packets of its kernel wait in `line`.
pub(crate) struct LiveHost {
    devices: Arc<dyn Devices>,
    pair: usize,
    far: bool,
    line: Arc<Mutex<Line>>,
    ready: VecDeque<Vec<u8>>,
    connections: Connections,
    events: VecDeque<HostEvent>,
    /// How each connection stood last, by its ports, and the connection that was looked at last.
    stood: BTreeMap<(u16, u16), Stood>,
    sample: Option<Sample>,
    /// The contents of the last packet.
    cargo: Cargo,
}

/// A connection when it was looked at.
#[derive(Clone, Copy, Debug)]
struct Stood {
    sample: Sample,
    /// The cost of its repair, in segments, until that is reported.
    cost: Option<u32>,
}

impl Stood {
    /// How it stands now.
    fn then(self, sample: Sample) -> Self {
        let before = self.sample;
        let timed_out = sample.timeouts > before.timeouts;
        let reduced = before.state < REPAIRS || before.ssthresh != sample.ssthresh || timed_out;
        let to = match sample.ssthresh {
            _ if timed_out => 1,
            // A law without a threshold: what the window is then.
            NO_THRESHOLD => sample.cwnd,
            threshold => threshold,
        };
        let cost = match sample.state < REPAIRS {
            true => None,
            false if reduced => Some(before.cwnd.saturating_sub(to)),
            false => self.cost,
        };
        Self { sample, cost }
    }
}

impl fmt::Debug for LiveHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveHost").field("pair", &self.pair).field("far", &self.far).finish()
    }
}

impl LiveHost {
    pub(crate) fn new(
        devices: Arc<dyn Devices>,
        (pair, far): (usize, bool),
        line: Arc<Mutex<Line>>,
    ) -> Self {
        let connections = Connections::default();
        let (ready, events) = (VecDeque::new(), VecDeque::new());
        let (stood, sample) = (BTreeMap::new(), None);
        let cargo = Cargo::default();
        Self { devices, pair, far, line, ready, connections, events, stood, sample, cargo }
    }

    /// The kernel has sent again as often as it may.
    fn gives_up(&mut self, ports: (u16, u16)) {
        if self.connections.waits(ports) {
            self.events.push_back(HostEvent::Ended(Ending::TimedOut));
        }
    }

    /// Keeps how a connection stands; returns why it would send something again.
    fn looks(&mut self, ports: (u16, u16), sample: Option<Sample>) -> Again {
        let Some(sample) = sample else { return Again::Gap };
        self.sample = Some(sample);
        let before = self.stood.get(&ports).copied();
        let first = Stood { sample: Sample { state: 0, timeouts: 0, ..sample }, cost: None };
        let before = before.unwrap_or(first);
        self.stood.insert(ports, before.then(sample));
        if sample.state < REPAIRS {
            self.connections.repaired(ports);
            return Again::Probe;
        }
        if sample.timeouts > before.sample.timeouts { Again::Timer } else { Again::Gap }
    }
}

impl Host for LiveHost {
    fn start(&mut self, _now: Time) {}

    fn handle(&mut self, now: Time, packet: Packet) {
        let sample = self.devices.deliver(now, self.pair, self.far, &packet.bytes);
        let Some(header) = Header::of(&packet.bytes) else { return };
        let (other, own) = header.ports();
        self.looks((own, other), sample);
        if header.resets() && self.connections.waits((own, other)) {
            self.events.push_back(HostEvent::Ended(Ending::Reset));
        }
        if let Some(acked) = self.connections.heard(&header) {
            self.events.push_back(HostEvent::Acked(acked));
        }
    }

    /// The kernel has sent something.
    fn handle_timeout(&mut self, _now: Time) {
        let line = Arc::clone(&self.line);
        for sent in locked(&line).0.drain(..) {
            if let Some(ports) = sent.given_up {
                self.gives_up(ports);
                continue;
            }
            let header = Header::of(&sent.bytes);
            let ports = header.as_ref().map(Header::ports).unwrap_or_default();
            let why = self.looks(ports, sent.sample);
            let retransmitted = self.connections.sent(header.as_ref(), why);
            let begins = retransmitted.awaited.is_some();
            let cost = self.stood.get_mut(&ports).filter(|_| begins).and_then(|s| s.cost.take());
            self.events.extend(retransmitted.events(why, cost));
            self.ready.push_back(sent.bytes);
        }
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        let bytes = self.ready.pop_front()?;
        self.cargo.carries = segments::carries(Header::of(&bytes).as_ref());
        Some(Packet { size: Bytes::new(bytes.len() as u64), bytes })
    }

    fn carried(&self) -> Cargo {
        self.cargo
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        None
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        self.events.pop_front()
    }

    fn mark(&mut self, packet: &mut Packet) -> bool {
        segments::mark(&mut packet.bytes)
    }

    fn state(&self) -> HostState {
        let received = self.connections.received();
        let Some(sample) = self.sample else {
            return HostState { packet: 1, received, ..HostState::default() };
        };
        let bytes = |segments: u32| u64::from(segments) * u64::from(sample.segment);
        let span = |us: u32| Span::from_ps(u64::from(us) * PS_OF_US);
        HostState {
            cwnd: Some(bytes(sample.cwnd)),
            ssthresh: (sample.ssthresh != NO_THRESHOLD).then(|| bytes(sample.ssthresh)),
            in_flight: bytes(sample.in_flight),
            packet: u64::from(sample.segment.max(1)),
            rtt: (sample.rtt_us > 0).then(|| span(sample.rtt_us)),
            timeout: (sample.rto_us > 0).then(|| span(sample.rto_us)),
            received,
            finished: false,
        }
    }
}
