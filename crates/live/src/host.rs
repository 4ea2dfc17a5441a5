//! One host of a flow between two live hosts, as a run drives it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use burstlab_scenario::{Host, HostEvent, HostState, Packet};
use burstlab_units::{Bytes, Span, Time};

use crate::segments::{self, Connections, Header};
use crate::{Devices, Sample, Sent, locked};

/// A threshold that is none yet, in the kernel.
const NO_THRESHOLD: u32 = 0x7fff_ffff;

const PS_OF_US: u64 = 1_000_000;

/// What the kernel of a host has sent, until the run takes it.
#[derive(Debug, Default)]
pub(crate) struct Line(VecDeque<Sent>);

impl Line {
    pub(crate) fn come(&mut self, sent: Sent) {
        self.0.push_back(sent);
    }
}

/// A host; what its kernel sends waits in `line`.
pub(crate) struct LiveHost {
    devices: Arc<dyn Devices>,
    pair: usize,
    far: bool,
    line: Arc<Mutex<Line>>,
    ready: VecDeque<Vec<u8>>,
    connections: Connections,
    events: VecDeque<HostEvent>,
    sample: Option<Sample>,
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
        let (ready, events, sample) = (VecDeque::new(), VecDeque::new(), None);
        Self { devices, pair, far, line, ready, connections, events, sample }
    }

    /// Keeps how a connection stands; returns whether it has timed out since it was looked at last.
    fn looks(&mut self, sample: Option<Sample>) -> bool {
        let Some(sample) = sample else { return false };
        let before = self.sample.replace(sample).map_or(0, |before| before.timeouts);
        sample.timeouts > before
    }
}

impl Host for LiveHost {
    fn start(&mut self, _now: Time) {}

    fn handle(&mut self, now: Time, packet: Packet) {
        let sample = self.devices.deliver(now, self.pair, self.far, &packet.bytes);
        self.looks(sample);
        let Some(header) = Header::of(&packet.bytes) else { return };
        if let Some(acked) = self.connections.heard(&header) {
            self.events.push_back(HostEvent::Acked(acked));
        }
    }

    /// The kernel has sent something.
    fn handle_timeout(&mut self, _now: Time) {
        let line = Arc::clone(&self.line);
        for sent in locked(&line).0.drain(..) {
            let timed_out = self.looks(sent.sample);
            let resent = self.connections.sent(Header::of(&sent.bytes).as_ref());
            if timed_out && !resent.is_empty() {
                self.events.push_back(HostEvent::Timeout);
            }
            self.events.extend(resent.into_iter().map(HostEvent::Resent));
            self.ready.push_back(sent.bytes);
        }
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        let bytes = self.ready.pop_front()?;
        Some(Packet { size: Bytes::new(bytes.len() as u64), bytes })
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
            timeout: Some(span(sample.rto_us)),
            received,
            finished: false,
        }
    }
}
