//! Senders of Linux over one bottleneck: a queue that drops what is too much, or marks it, a fixed
//! delay, and a receiver that acknowledges each segment with what it has.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use burstlab_tcp::{Arrival, Linux, LinuxOptions, Transmission};
use burstlab_units::{Span, Time};

/// Bytes of a window that never limits.
const WINDOW: u64 = 1 << 40;

/// Properties of the path that the senders share.
#[derive(Clone, Debug)]
pub(crate) struct Bottleneck {
    /// Time of a segment at the bottleneck, and of a round trip without queue.
    pub(crate) service: Span,
    pub(crate) delay: Span,
    /// Segments that find room, the one in service included.
    pub(crate) queue: u64,
    /// Segments that find more than this are marked.
    pub(crate) mark: u64,
    /// Whether one in fifty that find more than three quarters of it is dropped by chance, so that
    /// it is not always the same flow that finds it full (Floyd and Jacobson 1992).
    pub(crate) early: bool,
}

impl Bottleneck {
    /// Without end, so that only the delay counts.
    pub(crate) fn wide(delay: Span) -> Self {
        Self { service: Span::ZERO, delay, queue: u64::MAX, mark: u64::MAX, early: false }
    }
}

/// A connection.
pub(crate) struct Flow {
    pub(crate) sender: Linux,
    next: u64,
    early: BTreeSet<u64>,
    latest: Option<u64>,
    /// Segments that left, those of them that were sent again, and those in order at the receiver.
    pub(crate) sent: u64,
    pub(crate) again: u64,
    pub(crate) delivered: u64,
    out: Vec<Transmission>,
}

struct Ack {
    flow: usize,
    next: u64,
    blocks: Vec<(u64, u64)>,
    marked: bool,
    sent: Time,
}

pub(crate) struct Network {
    path: Bottleneck,
    pub(crate) flows: Vec<Flow>,
    chance: u64,
    acks: Vec<Option<Ack>>,
    events: BinaryHeap<Reverse<(Time, usize)>>,
    free: Time,
    pub(crate) now: Time,
    /// Whether a segment of a flow is lost: its number and whether it is sent again.
    pub(crate) loses: Box<dyn FnMut(usize, u64, bool) -> bool>,
    /// The queue that each segment found, from when it is asked for.
    pub(crate) found: Option<Vec<u64>>,
}

impl Network {
    /// Connections that begin one behind the other, `apart`, each with data without end.
    pub(crate) fn new(path: Bottleneck, options: &[LinuxOptions], apart: Span) -> Self {
        let flows = options.iter().map(|options| Flow {
            sender: Linux::new(options),
            next: 1,
            early: BTreeSet::new(),
            latest: None,
            sent: 0,
            again: 0,
            delivered: 0,
            out: Vec::new(),
        });
        let mut network = Self {
            flows: flows.collect(),
            path,
            chance: 0x9E37_79B9_7F4A_7C15,
            acks: Vec::new(),
            events: BinaryHeap::new(),
            free: Time::ZERO,
            now: Time::ZERO,
            loses: Box::new(|_, _, _| false),
            found: None,
        };
        for flow in 0..options.len() {
            let begin = Time::ZERO + Span::from_ms(1) + apart.saturating_mul(flow as u64);
            let opens = begin + network.path.delay;
            // The SYN's answer is an ACK of all below 1.
            network
                .push(Ack { flow, next: 1, blocks: Vec::new(), marked: false, sent: begin }, opens);
        }
        network
    }

    fn push(&mut self, ack: Ack, at: Time) {
        self.events.push(Reverse((at, self.acks.len())));
        self.acks.push(Some(ack));
    }

    /// Goes on until `until`; after each ACK and timer calls `watch` with its flow.
    pub(crate) fn run(&mut self, until: Time, mut watch: impl FnMut(&Self, usize)) {
        loop {
            let ack = self.events.peek().map(|Reverse((at, _))| *at);
            let timer = |flow: &Flow| flow.sender.poll_timeout();
            let due = self.flows.iter().enumerate().filter_map(|(i, flow)| Some((timer(flow)?, i)));
            let due = due.min();
            let Some(at) = ack.into_iter().chain(due.map(|(at, _)| at)).min() else { return };
            if at > until {
                self.now = until;
                return;
            }
            self.now = at.max(self.now);
            let flow = match due.filter(|&(due, _)| ack.is_none_or(|ack| due <= ack)) {
                Some((_, flow)) => {
                    let it = &mut self.flows[flow];
                    it.sender.on_timeout(self.now, &mut it.out);
                    flow
                }
                None => self.hear(),
            };
            self.send(flow);
            watch(self, flow);
        }
    }

    fn hear(&mut self) -> usize {
        let Reverse((_, index)) = self.events.pop().expect("there is one");
        let ack = self.acks[index].take().expect("it comes once");
        let flow = &mut self.flows[ack.flow];
        if flow.sender.info().acked == 0 {
            flow.sender.open(ack.sent, self.now, WINDOW);
            flow.sender.offer(u64::MAX / 4_096);
        } else {
            let (next, blocks) = (ack.next, &ack.blocks[..]);
            let (ece, with_data) = (ack.marked, false);
            let arrival = Arrival { next, blocks, window: WINDOW, echo: None, ece, with_data };
            flow.sender.on_ack(self.now, &arrival, &mut flow.out);
        }
        flow.sender.write_more(self.now, &mut flow.out);
        ack.flow
    }

    /// The segments that a flow sends come to the bottleneck at once.
    fn send(&mut self, flow: usize) {
        for sent in std::mem::take(&mut self.flows[flow].out) {
            self.flows[flow].sent += 1;
            self.flows[flow].again += u64::from(sent.retransmission);
            let wait = self.free.max(self.now).since(self.now).as_ps();
            let service = self.path.service.as_ps();
            let found = if service == 0 { 0 } else { wait.div_ceil(service) };
            if let Some(list) = &mut self.found {
                list.push(found);
            }
            let early = self.path.early && 4 * found > 3 * self.path.queue && self.unlucky();
            if early
                || found >= self.path.queue
                || (self.loses)(flow, sent.seq, sent.retransmission)
            {
                continue;
            }
            self.free = self.free.max(self.now) + self.path.service;
            let (at, sent_at) = (self.free + self.path.delay, self.now);
            let ack = self.receive(flow, sent.seq, found > self.path.mark, sent_at);
            self.push(ack, at);
        }
    }

    /// One in fifty, by Marsaglia's xorshift.
    fn unlucky(&mut self) -> bool {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.chance.is_multiple_of(50)
    }

    fn receive(&mut self, index: usize, seq: u64, marked: bool, sent: Time) -> Ack {
        let flow = &mut self.flows[index];
        let twice = seq < flow.next || flow.early.contains(&seq);
        if !twice {
            flow.early.insert(seq);
            flow.latest = Some(seq);
            while flow.early.remove(&flow.next) {
                flow.next += 1;
                flow.delivered += 1;
            }
        }
        let mut blocks = Vec::new();
        if twice {
            blocks.push((seq, seq + 1));
        }
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for &early in flow.early.iter().rev() {
            let count = runs.len();
            match runs.last_mut() {
                Some(run) if run.0 == early + 1 => run.0 = early,
                _ if count == 4 => break,
                _ => runs.push((early, early + 1)),
            }
        }
        // The run with the newest segment comes first.
        runs.sort_by_key(|run| !flow.latest.is_some_and(|seq| (run.0..run.1).contains(&seq)));
        blocks.extend(runs);
        blocks.truncate(3);
        Ack { flow: index, next: flow.next, blocks, marked, sent }
    }
}
