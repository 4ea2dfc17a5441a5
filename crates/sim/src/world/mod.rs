//! The world: every host, link, edge and fibre of a scenario, as one plain value that can be
//! cloned and resumed at any instant.

mod demand;
mod drain;
mod flow;
mod hosts;
mod ideal;
mod mesh;
mod notices;
mod ops;
mod optics;
mod others;
mod packet;
mod place;
mod resent;
mod script;
mod sender;
pub(crate) mod sizes;
mod source;
mod strides;
mod tally;
mod train;
mod wlan;

use burstlab_kernel::{EventQueue, Lane, RandomSource, Rank, Stream, Ticket};
use burstlab_link::Wire;
use burstlab_tcp::Transmission;
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::measure::loss as causes;
use crate::measure::{Digest, Piece, Recorder, Summary, Trace};
use crate::scenario::{Resolved, ScenarioError, Side, TieBreak};
use demand::Demands;
use drain::Measured;
use flow::Flow;
use mesh::{MeshEvent, UnderWay};
use notices::Notices;
use optics::Optics;
use others::Others;
use packet::{AckPacket, DataPacket};
use place::Place;
use wlan::Wireless;

/// Everything that can happen next. The number names the flow or the link it happens at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// A flow opens its connection.
    Start(u32),
    /// The application of a flow writes.
    Write(u32),
    /// The retransmission timer of a flow may be due.
    SenderTimer(u32),
    /// A sender has held back what it sends for long enough.
    Release(u32),
    /// The delayed-ACK timer of a flow may be due.
    ReceiverTimer(u32),
    /// A data packet reaches the ingress edge over a sender's link.
    DataAtIngress(u32),
    /// A data packet reaches its receiver over a receiver's link.
    DataAtReceiver(u32),
    /// An ACK reaches the egress edge over a receiver's link.
    AckAtEgress(u32),
    /// An ACK reaches its sender over a sender's link.
    AckAtSender(u32),
    /// A message of an edge or core node reaches its sender, or the sender's access link.
    Notice(u32),
    /// A source of other traffic sends a packet.
    Other(u32),
    /// A packet of other traffic reaches the far end of the senders' link, or of the receivers'.
    OtherArrived(Side),
    /// A connection of a demand arrives.
    Demand(u32),
    /// Something may have become of packets of a wireless cell.
    Cell(u32),
    /// Something in a mesh.
    Mesh(MeshEvent),
    /// A slot begins at a node of a slotted network that has something to do in it.
    SlotAt(u32),
    /// A unit of time of the edge smoothing ends.
    SmoothingUnit,
    /// A notification of congestion reaches its edge.
    CongestionNotice(u32),
    /// Notifications have waited long enough for a slot on a fibre.
    NoticesLeave(u32),
    /// An ACK of a flow that travels beside the slots reaches the edge of its sender.
    FreeAck(u32),
    /// The network is sampled.
    Sample,
    /// Measuring begins.
    WarmedUp,
}

impl Event {
    /// Whether it happens in the optical network.
    fn is_in_core(self) -> bool {
        matches!(
            self,
            Self::Mesh(_)
                | Self::SlotAt(_)
                | Self::SmoothingUnit
                | Self::CongestionNotice(_)
                | Self::NoticesLeave(_)
                | Self::FreeAck(_)
        )
    }
}

/// One direction of an access link, and what is on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Access<P> {
    wire: Wire,
    lane: Lane<P>,
}

impl<P> Access<P> {
    fn several(count: usize, wire: &Wire) -> Vec<Self> {
        (0..count).map(|_| Self { wire: wire.clone(), lane: Lane::default() }).collect()
    }

    /// Whether nothing on it has an event of its own, and nothing is ever dropped.
    #[inline]
    fn is_clear(&self) -> bool {
        self.lane.is_empty() && !self.wire.is_bounded()
    }
}

/// What every part of the world may touch: the order of events, what is recorded, what is counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Context {
    pub(crate) queue: EventQueue<Event>,
    /// Not stored: a run that is traced is not.
    #[serde(skip)]
    pub(crate) recorder: Recorder,
    pub(crate) digest: Digest,
    notices: Notices,
    /// The time.
    clock: Time,
    /// Up to when hosts, and bursts on ways of their own, may be ahead of the clock: the end of the
    /// warm-up, or of the run; zero where they may not.
    safe: Time,
    /// Alarms that came before their time, or too late.
    stale: u64,
    /// What events have done beyond what one does: batches that were looked at, bursts closed.
    #[serde(skip)]
    work: u32,
}

impl Context {
    fn new(queue: EventQueue<Event>, recorder: Recorder) -> Self {
        let (digest, notices) = (Digest::default(), Notices::default());
        let (clock, safe) = (Time::ZERO, Time::ZERO);
        Self { queue, recorder, digest, notices, clock, safe, stale: 0, work: 0 }
    }

    /// The place in the order of an instant of what happens at `place`: ties of what happens at
    /// hosts are broken by place, not by who was queued first, so that hosts may be ahead of the
    /// clock.
    #[inline]
    fn ticket(&mut self, rank: Rank, place: Place) -> Ticket {
        if self.queue.draws_ties() { self.queue.ticket(rank) } else { place.ticket(rank) }
    }
}

/// So much work is done between two looks at the monitor: a few hundredths of a second.
const WORK_MAX: u32 = 1 << 13;

/// A running scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct World {
    context: Context,
    flows: Vec<Flow>,
    /// Draws the delays of `send_jitter`.
    jitter: Stream,
    demands: Demands,
    data_up: Vec<Access<DataPacket>>,
    data_down: Vec<Access<DataPacket>>,
    ack_up: Vec<Access<AckPacket>>,
    ack_down: Vec<Access<AckPacket>>,
    optics: Optics,
    others: Others,
    wireless: Wireless,
    /// Access links as they are before anything was sent: of senders, of receivers.
    wires: (Wire, Wire),
    /// Whether the flows of an edge node share the access links.
    shared: bool,
    /// When the run ends at the latest; with a drain at first when the measured time ends, and with
    /// it the arrivals.
    end: Time,
    /// How long the run may go on after that.
    drain: Option<Span>,
    /// What was measured, once it goes on.
    measured: Option<Box<Measured>>,
    burst_limit: u64,
    /// Flows that still have something to send; in the drain finite ones alone.
    active: usize,
    now: Time,
    measured_from: Time,
    /// Whether measuring has begun.
    warm: bool,
    /// Whether hosts may be ahead of the clock.
    hurries: bool,
    events: u64,
    core_events: u64,
    notice_size: Bytes,
    sample_every: Span,
    /// Data packets of flows that the full queue of an access link dropped, on either side.
    sender_drops: u64,
    receiver_drops: u64,
    /// Reused buffer of what a sender sends.
    #[serde(skip)]
    sending: Vec<Transmission>,
    /// The same, in stride.
    #[serde(skip)]
    released: Vec<DataPacket>,
}

impl World {
    pub(crate) fn new(resolved: &Resolved, random: &RandomSource, trace: Trace) -> Self {
        let scenario = &resolved.scenario;
        let flows = Flow::all(resolved);
        let mut optics = Optics::new(resolved, random);
        if let Optics::Mesh(mesh) = &mut optics {
            mesh.learn_of(&flows);
        }
        // Demands, bursts of others and traffic through a mesh never end.
        let through = usize::from(resolved.mesh.is_some()) * scenario.traffic.len();
        let endless = optics.endless() + scenario.demand.len() + through;
        let links = if scenario.access.shared { optics.sites() } else { flows.len() };
        let access = &scenario.access;
        let (rate, delay, queue) = access.receiver_side();
        let near = Wire::new(access.rate, access.delay, access.queue);
        let far = Wire::new(rate, delay, queue);
        let warm = Time::ZERO + scenario.run.warmup;
        // What is recorded is recorded in order of time, and a bound on bursts may end the run at
        // any of them.
        let drawn = scenario.run.tie_break == TieBreak::Random;
        let alone = !access.shared && scenario.run.bursts.is_none();
        let hurries = trace == Trace::default() && !drawn && alone;
        let queue = match drawn {
            true => EventQueue::with_drawn_ties(random.stream("ties")),
            false => EventQueue::new(),
        };
        let mut world = Self {
            context: Context::new(queue, Recorder::new(trace)),
            data_up: Access::several(links, &near),
            data_down: Access::several(links, &far),
            ack_up: Access::several(links, &far),
            ack_down: Access::several(links, &near),
            optics,
            others: Others::new(resolved, random),
            wireless: Wireless::new(resolved, random),
            jitter: random.stream("send-jitter"),
            demands: Demands::new(resolved, random),
            wires: (near, far),
            shared: scenario.access.shared,
            end: Time::ZERO + scenario.run.duration,
            drain: scenario.run.drain,
            measured: None,
            burst_limit: scenario.run.bursts.unwrap_or(u64::MAX),
            active: flows.len() + endless,
            flows,
            now: Time::ZERO,
            measured_from: Time::ZERO,
            warm: false,
            hurries,
            events: 0,
            core_events: 0,
            notice_size: scenario.edge.notice_size,
            sample_every: Span::ZERO,
            sender_drops: 0,
            receiver_drops: 0,
            sending: Vec::new(),
            released: Vec::new(),
        };
        world.hurry(Time::from_ps(warm.as_ps().saturating_sub(1)));
        world.begin(resolved, warm);
        world
    }

    /// Takes what is not stored from a world of the same scenario in which nothing has happened;
    /// `None` where this one is of another.
    pub(crate) fn adopt(&mut self, fresh: Self) -> Option<()> {
        self.demands.adopt(fresh.demands);
        for flow in self.flows.iter_mut().filter(|flow| !flow.vacant) {
            let listed = || fresh.flows.get(flow.id as usize).map(|flow| &flow.kind);
            let kind = flow.demand.map_or_else(listed, |demand| self.demands.kind(demand));
            flow.kind = kind?.clone();
        }
        match (&mut self.optics, fresh.optics) {
            (Optics::Mesh(mesh), Optics::Mesh(fresh)) => mesh.adopt(*fresh),
            (Optics::Ops(ops), Optics::Ops(fresh)) => ops.adopt(*fresh),
            _ => return None,
        }
        Some(())
    }

    /// Puts what is sure to happen into the queue.
    fn begin(&mut self, resolved: &Resolved, warm: Time) {
        let scenario = &resolved.scenario;
        for index in 0..self.flows.len() as u32 {
            let start = self.flows[index as usize].start;
            if self.drain.is_none() || start <= self.end {
                self.context.queue.push(start, Rank::Timer, Event::Start(index));
            }
        }
        self.optics.begin(&resolved.watch, &mut self.context);
        for (source, at) in self.demands.starts() {
            self.context.queue.push(at, Rank::Arrival, Event::Demand(source));
        }
        if let Some(every) = scenario.run.sample {
            self.sample_every = every;
            self.context.queue.push(Time::ZERO + every, Rank::Timer, Event::Sample);
        }
        for (index, at) in self.others.starts() {
            self.context.queue.push(at, Rank::Arrival, Event::Other(index));
        }
        self.context.queue.push(warm, Rank::Timer, Event::WarmedUp);
    }

    /// Hosts may be ahead of the clock up to `until`, if they may at all.
    fn hurry(&mut self, until: Time) {
        if self.hurries {
            self.context.safe = until;
        }
    }

    /// Processes up to `count` events, fewer where they take long; answers whether the run goes on.
    pub(crate) fn advance(&mut self, count: u32) -> bool {
        self.context.work = 0;
        for _ in 0..count {
            if self.context.work >= WORK_MAX {
                return true;
            }
            if self.active == 0 || self.optics.closed() >= self.burst_limit {
                return false;
            }
            let (at, event) = match self.context.queue.pop() {
                Some((at, event)) if at <= self.end => (at, event),
                later => match self.drains(later) {
                    Some(next) => next,
                    None => return false,
                },
            };
            (self.now, self.context.clock) = (at, at);
            let (in_core, stale) = (event.is_in_core(), self.context.stale);
            self.happen(event);
            let real = self.context.stale == stale;
            self.events += u64::from(real);
            self.core_events += u64::from(real && in_core);
        }
        true
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn is_stuck(&self) -> Option<ScenarioError> {
        let Optics::Mesh(mesh) = &self.optics else { return None };
        mesh.is_full().then(|| {
            let problem = format!(
                "more than 16 million bursts are under way at {}: they come faster than the \
                 network carries or loses them",
                self.now
            );
            let fix = "write a lower load, or assemble larger bursts with edge.assembly";
            ScenarioError::new("network.link_rate", mesh.rate().to_string(), problem, fix)
        })
    }

    // Without this the call costs 3 % of all instructions of a run (counted with callgrind).
    #[inline(always)]
    fn happen(&mut self, event: Event) {
        match event {
            Event::AckAtSender(link) => self.ack_at_sender(link),
            Event::DataAtReceiver(link) => self.data_at_receiver(link),
            Event::AckAtEgress(link) => self.ack_at_egress(link),
            Event::DataAtIngress(link) => self.data_at_ingress(link),
            Event::Mesh(event) => self.mesh(event),
            Event::SlotAt(node) => self.slot_at(node),
            Event::FreeAck(flow) => self.free_ack(flow),
            Event::SmoothingUnit => self.smoothing_unit(),
            Event::CongestionNotice(slot) => self.notified(slot),
            Event::NoticesLeave(link) => self.notices_leave(link),
            Event::SenderTimer(index) => self.sender_timer(index),
            Event::Release(index) => self.release(index),
            Event::ReceiverTimer(index) => self.receiver_timer(index),
            Event::Start(index) => self.start(index),
            Event::Write(index) => self.write(index),
            Event::Notice(slot) => self.notice(slot),
            Event::Other(index) => self.other_sends(index),
            Event::Cell(index) => self.cell(index),
            Event::OtherArrived(side) => {
                self.others.arrived(self.now, side, &mut self.context.recorder);
            }
            Event::Demand(source) => self.connect(source),
            Event::Sample => self.sample(),
            Event::WarmedUp => {
                self.measured_from = self.now;
                self.warm = true;
                self.hurry(self.end);
                self.demands.warmed_up(self.now);
                self.flows.iter_mut().for_each(Flow::warmed_up);
                self.optics.warmed_up(self.now);
            }
        }
    }

    /// The sender's access link of the flow in slot `flow`.
    #[inline]
    fn near_link(&self, flow: u32) -> u32 {
        if self.shared { self.flows[flow as usize].from } else { flow }
    }

    /// The receiver's access link of the flow in slot `flow`.
    #[inline]
    fn far_link(&self, flow: u32) -> u32 {
        if self.shared { self.flows[flow as usize].to } else { flow }
    }

    /// Sets the rows of a chunk of the tables.
    pub(crate) fn set_chunk(&mut self, rows: u32) {
        self.context.recorder.set_chunk(rows);
        self.demands.set_chunk(rows);
    }

    /// Rows of tables that were not handed over.
    pub(crate) fn held_rows(&self) -> u64 {
        self.context.recorder.held() + self.demands.held()
    }

    /// Hands over the chunks of the tables that are full and final.
    pub(crate) fn drain(&mut self) -> Vec<Piece> {
        let mut tables: Vec<Piece> = self.context.recorder.drain(self.now).collect();
        tables.extend(self.demands.drain(self.optics.graph()));
        tables
    }

    /// One digest of all that happened.
    fn gather_digests(&mut self) {
        let mut flows = self.demands.digest.clone();
        let live = self.flows.iter().filter(|flow| !flow.vacant);
        live.for_each(|flow| flows.absorb(&flow.digest));
        self.context.digest = self.context.digest.with(&flows);
    }

    /// The numbers of the run so far, of so many flows at most, and its tables.
    pub(crate) fn finish(
        &mut self,
        random: (u64, u64),
        interrupted: bool,
        most: usize,
        mut warnings: Vec<String>,
    ) -> (Summary, Vec<Piece>) {
        warnings.extend(self.optics.unmet());
        let measured = self.measured_span();
        let under_way = match &self.optics {
            Optics::Mesh(mesh) => mesh.under_way(self.now),
            Optics::Ops(_) => UnderWay::default(),
        };
        let counters = tally::counters(self, &under_way);
        let over = |many: u64, few: u64| many as f64 / few.max(1) as f64;
        self.gather_digests();
        for word in [counters.packets_delivered, counters.packets_lost, counters.bursts_lost] {
            self.context.digest.add(self.now, 4, word);
        }
        let demand = self.close_demands(measured);
        let flows = self.flow_summaries(measured, most);
        warnings.extend(self.censored(flows.len(), &demand));
        let mut summary = Summary {
            seed: random.0,
            replication: random.1,
            simulated_s: self.now.as_secs_f64(),
            measured_s: measured.as_secs_f64(),
            fingerprint: self.context.digest.hex(),
            interrupted,
            warnings,
            events_per_packet: over(counters.events, counters.packets_delivered),
            packets_per_burst: match &self.optics {
                Optics::Ops(_) => 0.0,
                _ => over(counters.packets_crossed, counters.bursts_delivered),
            },
            counters,
            flows,
            network: None,
            ops: None,
            wlan: self.wlan_summaries(),
            demand,
        };
        let mut tables = Vec::new();
        if let Optics::Mesh(mesh) = &self.optics {
            if mesh.has_control() {
                let network = mesh.summary(self.now, measured, &under_way);
                summary.warnings.extend(mesh.late_headers(&network));
                summary.network = Some(network);
                tables.push(Piece::Rows(mesh.table()));
            }
            mesh.record_rest(self.now, &mut self.context.recorder);
        }
        if let Optics::Ops(ops) = &self.optics {
            summary.ops = Some(ops.summary(self.now));
        }
        let sampled = !self.sample_every.is_zero();
        tables.extend(self.demands.take_tables(self.optics.graph(), sampled));
        let recorder = std::mem::take(&mut self.context.recorder);
        tables.splice(0..0, recorder.finish(self.now));
        (summary, tables)
    }
}
