//! One flow over six nodes, packet by packet: the obviously correct network of the ns-2 traces.
//!
//! sender - e1 - c1 - c2 - e2 - receiver, five links in each direction with unbounded queues, store
//! and forward. Losses and burst assembly happen at e1, losses of ACKs at e2.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use burstlab_tcp::{Ack, Config, Receiver, Sender, Transmission, Variant};
use burstlab_units::{Span, Time};

/// The network of a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    pub(crate) rates_bps: [u64; 5],
    pub(crate) delays: [Span; 5],
    pub(crate) drops: BTreeSet<(u64, u64)>,
    pub(crate) drop_acks: BTreeSet<u64>,
    pub(crate) assembly: Span,
    pub(crate) drop_bursts: BTreeSet<u64>,
    pub(crate) start: Time,
    /// How much data there is; `None`: without end.
    pub(crate) segments: Option<u64>,
    /// The delays that the sender asks for, in turn.
    pub(crate) jitter: VecDeque<Span>,
}

/// One line of a trace, numbers in the order of the columns a to d.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) kind: char,
    pub(crate) time: Time,
    pub(crate) values: [f64; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Packet {
    Segment {
        seq: u64,
        copy: u64,
        size: u64,
    },
    /// Index into the list of ACKs that were sent.
    Ack {
        index: usize,
    },
}

/// `place` counts the links a packet has crossed.
type Event = Reverse<(Time, u64, usize, Packet)>;

pub(crate) struct World {
    path: Path,
    pub(crate) sender: Sender,
    receiver: Receiver,
    tick: Span,
    events: BinaryHeap<Event>,
    inserted: u64,
    /// When the links are free, forward then backward.
    free: [[Time; 5]; 2],
    copies: BTreeMap<u64, u64>,
    acks: Vec<Ack>,
    acks_seen: u64,
    burst_end: Option<Time>,
    burst: u64,
    burst_packets: u64,
    estimator: [f64; 4],
    /// Cumulative ACK that has arrived at this instant and is not in the log yet.
    logged_later: Option<(Time, f64)>,
    pub(crate) rows: Vec<Row>,
    /// Instants at which a timer and a packet, or two timers, coincide: there the order of events
    /// is the simulator's own, and in ns-2 that of rounding errors.
    pub(crate) ties: Vec<Time>,
}

impl World {
    pub(crate) fn new(path: Path, config: &Config) -> Self {
        Self {
            path,
            sender: Sender::new(config),
            // Nothing here has options, with which alone a receiver of Linux goes by.
            receiver: Receiver::new(&Config {
                variant: match config.variant {
                    Variant::Linux => Variant::Reno,
                    variant => variant,
                },
                ..config.clone()
            }),
            tick: config.rto_tick,
            events: BinaryHeap::new(),
            inserted: 0,
            free: [[Time::ZERO; 5]; 2],
            copies: BTreeMap::new(),
            acks: Vec::new(),
            acks_seen: 0,
            burst_end: None,
            burst: 0,
            burst_packets: 0,
            estimator: [-1.0; 4],
            logged_later: None,
            rows: Vec::new(),
            ties: Vec::new(),
        }
    }

    /// Runs until nothing is left to do up to `end`, `end` included.
    pub(crate) fn run(&mut self, end: Time) {
        let mut out = Vec::new();
        if self.acks_seen == 0 && self.copies.is_empty() {
            let segments = self.path.segments.unwrap_or(u64::MAX);
            self.sender.supply(self.path.start, segments, &mut out);
            self.sender.start(self.path.start, &mut out);
            self.send(self.path.start, &out);
        }
        loop {
            out.clear();
            let event = self.events.peek().map(|event| event.0.0);
            let release = self.sender.poll_release();
            let timers = [self.sender.poll_timeout(), self.receiver.poll_timeout(), release];
            let next = timers.into_iter().chain([event]).flatten().min();
            self.log_ack(next);
            let Some(now) = next.filter(|&now| now <= end) else { return };
            let due = timers.iter().chain([&event]).filter(|&&at| at == Some(now)).count();
            if due > 1 {
                self.ties.push(now);
            }
            // At one instant what was scheduled first goes first; a timer runs longer than a packet
            // takes on a link.
            if timers[0] == Some(now) {
                self.sender.on_timeout(now, &mut out);
                self.row('T', now, [0.0; 4]);
                self.send(now, &out);
            } else if release == Some(now) {
                self.sender.on_release(now, &mut out);
                self.send(now, &out);
            } else if timers[1] == Some(now) {
                let ack = self.receiver.on_timeout(now).expect("due");
                self.acknowledge(now, ack);
            } else {
                let Reverse((_, _, place, packet)) = self.events.pop().expect("peeked");
                self.arrive(now, place, packet);
            }
        }
    }

    fn row(&mut self, kind: char, time: Time, values: [f64; 4]) {
        self.rows.push(Row { kind, time, values });
    }

    fn at(&mut self, time: Time, place: usize, packet: Packet) {
        self.inserted += 1;
        self.events.push(Reverse((time, self.inserted, place, packet)));
    }

    /// Puts a packet on its next link.
    fn forward(&mut self, now: Time, place: usize, packet: Packet) {
        let (direction, link, size) = match packet {
            Packet::Segment { size, .. } => (0, place, size),
            Packet::Ack { index } => (1, 4 - place, self.acks[index].size.get()),
        };
        let bits = u128::from(size) * 8;
        let serialisation = bits * 1_000_000_000_000 / u128::from(self.path.rates_bps[link]);
        let start = now.max(self.free[direction][link]);
        let free = start + Span::from_ps(serialisation as u64);
        self.free[direction][link] = free;
        self.at(free + self.path.delays[link], place + 1, packet);
    }

    fn send(&mut self, now: Time, out: &[Transmission]) {
        if let Some(below) = self.sender.asks_for_delay() {
            let delay = self.path.jitter.pop_front().expect("as many delays as are asked for");
            assert!(delay < below, "{delay}");
            self.sender.hold_until(now + delay);
        }
        for sent in out {
            if sent.seq == 0 && !sent.retransmission && self.copies.contains_key(&0) {
                // The ACK that ends the handshake of a sender of Linux.
                continue;
            }
            let copies = self.copies.entry(sent.seq).or_default();
            *copies += 1;
            let copy = *copies;
            assert_eq!(sent.retransmission, copy > 1, "segment {}", sent.seq);
            self.row('S', now, [sent.seq as f64, copy as f64, sent.cwnd, sent.ssthresh]);
            self.forward(now, 0, Packet::Segment { seq: sent.seq, copy, size: sent.size.get() });
        }
    }

    fn acknowledge(&mut self, now: Time, ack: Ack) {
        self.acks.push(ack);
        self.forward(now, 0, Packet::Ack { index: self.acks.len() - 1 });
    }

    fn arrive(&mut self, now: Time, place: usize, packet: Packet) {
        match packet {
            // Past the assembly at e1: packets of a burst come here at its end.
            _ if place == ASSEMBLED => self.forward(now, 1, packet),
            Packet::Segment { seq, copy, .. } if place == 1 => {
                self.arrive_at_edge(now, seq, copy, packet);
            }
            Packet::Segment { seq, .. } if place == 5 => {
                if let Some(ack) = self.receiver.on_segment(now, seq) {
                    self.acknowledge(now, ack);
                }
            }
            Packet::Ack { index } if place == 1 => {
                self.acks_seen += 1;
                if self.path.drop_acks.contains(&self.acks_seen) {
                    let last = self.acks[index].next as f64 - 1.0;
                    self.row('d', now, [last, self.acks_seen as f64, 0.0, 0.0]);
                } else {
                    self.forward(now, place, packet);
                }
            }
            Packet::Ack { index } if place == 5 => self.arrive_at_sender(now, index),
            _ => self.forward(now, place, packet),
        }
    }

    fn arrive_at_edge(&mut self, now: Time, seq: u64, copy: u64, packet: Packet) {
        let mut lost = self.path.drops.contains(&(seq, copy));
        if !self.path.assembly.is_zero() {
            if self.burst_end.is_none_or(|end| now >= end) {
                self.burst += 1;
                self.burst_packets = 0;
                self.burst_end = Some(now + self.path.assembly);
            }
            lost |= self.path.drop_bursts.contains(&self.burst);
            self.burst_packets += 1;
            self.row('B', now, [seq as f64, copy as f64, self.burst as f64, 0.0]);
        }
        if lost {
            self.row('D', now, [seq as f64, copy as f64, 0.0, 0.0]);
        } else if let Some(end) = self.burst_end {
            self.at(end + Span::from_ns(self.burst_packets - 1), ASSEMBLED, packet);
        } else {
            self.forward(now, 1, packet);
        }
    }

    fn arrive_at_sender(&mut self, now: Time, index: usize) {
        let ack = self.acks[index];
        let reductions = self.sender.counters().fast_retransmits;
        let mut out = Vec::new();
        self.sender.on_ack(now, &ack, &mut out);
        if self.sender.counters().fast_retransmits > reductions {
            self.row('F', now, [0.0; 4]);
        }
        self.send(now, &out);
        self.logged_later = Some((now, ack.next as f64 - 1.0));
    }

    /// The log of ns-2 reads the sender when all events of the ACK's instant are done: a time-out
    /// at the same instant shows.
    fn log_ack(&mut self, next: Option<Time>) {
        let Some((now, last)) = self.logged_later else { return };
        if next == Some(now) {
            return;
        }
        self.logged_later = None;
        self.row('A', now, [last, self.sender.cwnd(), self.sender.ssthresh(), 0.0]);
        let estimator = self.estimator();
        if estimator != self.estimator {
            self.estimator = estimator;
            self.row('R', now, estimator);
        }
    }

    /// In the units of the trace: ticks, eighths of a tick, quarters of a tick.
    fn estimator(&self) -> [f64; 4] {
        let view = self.sender.rtt();
        let ticks = |span: Span, parts: u64| (span.as_ps() * parts / self.tick.as_ps()) as f64;
        [
            ticks(view.sample, 1),
            ticks(view.smoothed, 8),
            ticks(view.variance, 4),
            f64::from(view.backoff),
        ]
    }

    /// Segments that the application at the receiver got.
    pub(crate) fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }
}

/// The "place" of a packet that its burst has taken along.
const ASSEMBLED: usize = 100;
