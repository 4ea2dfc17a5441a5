//! The world: every host, link, edge and fibre of a scenario, as one plain value that can be
//! cloned and resumed at any instant.

mod causes;
mod crossing;
mod demand;
mod flow;
mod injected;
mod mesh;
mod notices;
mod optics;
mod others;
mod packet;
mod script;
mod sender;
mod source;
mod tally;

use burstlab_kernel::{EventQueue, Lane, RandomSource, Rank};
use burstlab_link::Wire;
use burstlab_tcp::Ack;
use burstlab_tcp::Transmission;
use burstlab_units::{Bytes, Span, Time};

use crate::measure::{Digest, PacketCause, Recorder, SentRow, Summary, Table, Trace};
use crate::scenario::{Resolved, Side};
pub(crate) use causes::{Causes, Loss, LossCause, Truth};
use demand::Demands;
use flow::Flow;
use mesh::MeshEvent;
use notices::Notices;
use optics::Optics;
use others::Others;
use packet::{AckPacket, DataPacket};

/// Everything that can happen next. The number names the flow or the link it happens at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A flow opens its connection.
    Start(u32),
    /// The application of a flow writes.
    Write(u32),
    /// The retransmission timer of a flow may be due.
    SenderTimer(u32),
    /// The delayed-ACK timer of a flow may be due.
    ReceiverTimer(u32),
    /// A data packet reaches the ingress edge over a sender's link.
    DataAtIngress(u32),
    /// The assembly timer of the data direction may be due.
    DataAssembly,
    /// Data packets reach the egress edge through the core.
    DataAtEgress,
    /// A data packet reaches its receiver over a receiver's link.
    DataAtReceiver(u32),
    /// An ACK reaches the egress edge over a receiver's link.
    AckAtEgress(u32),
    /// The assembly timer of the ACK direction may be due.
    AckAssembly,
    /// ACKs reach the ingress edge through the core.
    AckAtIngress,
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
    /// Something in a mesh.
    Mesh(MeshEvent),
    /// The network is sampled.
    Sample,
    /// Measuring begins.
    WarmedUp,
}

/// One direction of an access link, and what is on it.
#[derive(Clone, Debug)]
struct Access<P> {
    wire: Wire,
    lane: Lane<P>,
}

impl<P> Access<P> {
    fn several(count: usize, wire: &Wire) -> Vec<Self> {
        (0..count).map(|_| Self { wire: wire.clone(), lane: Lane::default() }).collect()
    }
}

/// What every part of the world may touch: the order of events, what is recorded, what is counted.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) queue: EventQueue<Event>,
    pub(crate) recorder: Recorder,
    pub(crate) digest: Digest,
    notices: Notices,
}

/// A running scenario.
#[derive(Clone, Debug)]
pub(crate) struct World {
    context: Context,
    flows: Vec<Flow>,
    demands: Demands,
    data_up: Vec<Access<DataPacket>>,
    data_down: Vec<Access<DataPacket>>,
    ack_up: Vec<Access<AckPacket>>,
    ack_down: Vec<Access<AckPacket>>,
    optics: Optics,
    others: Others,
    /// Access links as they are before anything was sent: of senders, of receivers.
    wires: (Wire, Wire),
    /// Whether the flows of an edge node share the access links.
    shared: bool,
    end: Time,
    burst_limit: u64,
    /// Flows that still have something to send.
    active: usize,
    now: Time,
    measured_from: Time,
    /// Whether measuring has begun.
    warm: bool,
    events: u64,
    notice_size: Bytes,
    sample_every: Span,
    /// Data packets of flows that the full queue of an access link dropped, on either side.
    sender_drops: u64,
    receiver_drops: u64,
    /// Reused buffer of what a sender sends.
    sending: Vec<Transmission>,
}

impl World {
    pub(crate) fn new(resolved: &Resolved, random: &RandomSource, trace: Trace) -> Self {
        let scenario = &resolved.scenario;
        let flows = Flow::all(resolved);
        let optics = Optics::new(resolved, random, &flows);
        // Demands, bursts of others and traffic through a mesh never end.
        let through = usize::from(resolved.mesh.is_some()) * scenario.traffic.len();
        let endless = optics.endless() + scenario.demand.len() + through;
        let links = if scenario.access.shared { optics.sites() } else { flows.len() };
        let access = &scenario.access;
        let (rate, delay, queue) = access.receiver_side();
        let near = Wire::new(access.rate, access.delay, access.queue);
        let far = Wire::new(rate, delay, queue);
        let mut world = Self {
            context: Context {
                queue: EventQueue::new(),
                recorder: Recorder::new(trace),
                digest: Digest::default(),
                notices: Notices::default(),
            },
            data_up: Access::several(links, &near),
            data_down: Access::several(links, &far),
            ack_up: Access::several(links, &far),
            ack_down: Access::several(links, &near),
            optics,
            others: Others::new(resolved, random),
            demands: Demands::new(resolved, random),
            wires: (near, far),
            shared: scenario.access.shared,
            end: Time::ZERO + scenario.run.duration,
            burst_limit: scenario.run.bursts.unwrap_or(u64::MAX),
            active: flows.len() + endless,
            flows,
            now: Time::ZERO,
            measured_from: Time::ZERO,
            warm: false,
            events: 0,
            notice_size: scenario.edge.notice_size,
            sample_every: Span::ZERO,
            sender_drops: 0,
            receiver_drops: 0,
            sending: Vec::new(),
        };
        for index in 0..world.flows.len() as u32 {
            let start = world.flows[index as usize].start;
            world.context.queue.push(start, Rank::Timer, Event::Start(index));
        }
        world.optics.begin(&mut world.context.queue);
        for (source, at) in world.demands.starts() {
            world.context.queue.push(at, Rank::Arrival, Event::Demand(source));
        }
        if let Some(every) = scenario.run.sample {
            world.sample_every = every;
            world.context.queue.push(Time::ZERO + every, Rank::Timer, Event::Sample);
        }
        for (index, at) in world.others.starts() {
            world.context.queue.push(at, Rank::Arrival, Event::Other(index));
        }
        let warm = Time::ZERO + scenario.run.warmup;
        world.context.queue.push(warm, Rank::Timer, Event::WarmedUp);
        world
    }

    /// Processes up to `count` events; answers whether the run goes on.
    pub(crate) fn advance(&mut self, count: u32) -> bool {
        for _ in 0..count {
            if self.active == 0 || self.optics.closed() >= self.burst_limit {
                return false;
            }
            match self.context.queue.pop() {
                Some((at, event)) if at <= self.end => {
                    self.now = at;
                    self.events += 1;
                    self.happen(event);
                }
                _ => {
                    self.now = self.end;
                    return false;
                }
            }
        }
        true
    }

    /// How much of the run is done, from 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        let time = self.now.as_secs_f64() / self.end.as_secs_f64();
        let bursts = self.optics.closed() as f64 / self.burst_limit as f64;
        time.max(bursts).min(1.0)
    }

    // Without this the call costs 3 % of all instructions of a run (counted with callgrind).
    #[inline(always)]
    fn happen(&mut self, event: Event) {
        match event {
            Event::AckAtSender(link) => self.ack_at_sender(link),
            Event::DataAtReceiver(link) => self.data_at_receiver(link),
            Event::AckAtEgress(link) => self.ack_at_egress(link),
            Event::DataAtIngress(link) => self.data_at_ingress(link),
            Event::AckAtIngress => self.acks_at_ingress(),
            Event::DataAtEgress => self.data_at_egress(),
            Event::DataAssembly => {
                let path = self.optics.path();
                path.data.timer(self.now, &mut self.context, &mut self.flows);
            }
            Event::AckAssembly => {
                let path = self.optics.path();
                path.ack.timer(self.now, &mut self.context, &mut self.flows);
            }
            Event::Mesh(event) => self.mesh(event),
            Event::SenderTimer(index) => self.sender_timer(index),
            Event::ReceiverTimer(index) => self.receiver_timer(index),
            Event::Start(index) => self.start(index),
            Event::Write(index) => self.write(index),
            Event::Notice(slot) => self.notice(slot),
            Event::Other(index) => self.other_sends(index),
            Event::OtherArrived(side) => self.others.arrived(side),
            Event::Demand(source) => self.connect(source),
            Event::Sample => self.sample(),
            Event::WarmedUp => {
                self.measured_from = self.now;
                self.warm = true;
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

    #[inline]
    fn data_at_ingress(&mut self, link: u32) {
        let event = Event::DataAtIngress(link);
        let packet = self.data_up[link as usize].lane.pop(&mut self.context.queue, event);
        let (context, flows) = (&mut self.context, &mut self.flows);
        match &mut self.optics {
            Optics::Path(path) => path.data.arrive(self.now, packet, context, flows),
            Optics::Mesh(mesh) => mesh.data_arrives(self.now, packet, context, flows),
        }
    }

    /// Packets leave the fibres of a path: each goes on its receiver's link.
    #[inline]
    fn data_at_egress(&mut self) {
        for _ in 0..self.optics.path().data.land(&mut self.context) {
            let packet = self.optics.path().data.unload();
            self.data_on_link(packet);
        }
    }

    /// Puts a packet on its receiver's link.
    #[inline]
    fn data_on_link(&mut self, packet: DataPacket) {
        let link = self.far_link(packet.flow);
        let access = &mut self.data_down[link as usize];
        match access.wire.send(self.now, packet.bytes()) {
            Some(at) => {
                let event = Event::DataAtReceiver(link);
                access.lane.push(&mut self.context.queue, at, event, packet);
            }
            None => {
                let loss = Loss::at_access(LossCause::ReceiverAccess, self.now);
                self.flows[packet.flow as usize].lose(packet.seq, loss);
                self.receiver_drops += 1;
                self.context.recorder.lost(packet.row, PacketCause::Overflow);
            }
        }
    }

    #[inline]
    fn data_at_receiver(&mut self, link: u32) {
        let event = Event::DataAtReceiver(link);
        let packet = self.data_down[link as usize].lane.pop(&mut self.context.queue, event);
        let flow = &mut self.flows[packet.flow as usize];
        flow.tally.delivered += 1;
        flow.causes.found(packet.seq);
        flow.tally.delivered_bytes += u64::from(packet.size);
        self.context.recorder.delivered(packet.row, self.now);
        let ack = flow.receiver.on_segment(self.now, packet.seq);
        self.acknowledge(packet.flow, ack);
    }

    /// Puts an ACK on its access link, and sees to the timer of delayed ACKs.
    #[inline]
    fn acknowledge(&mut self, index: u32, ack: Option<Ack>) {
        let link = self.far_link(index);
        let flow = &mut self.flows[index as usize];
        flow.arm_receiver(index, &mut self.context.queue);
        let Some(ack) = ack else { return };
        flow.tally.acks_sent += 1;
        let row = SentRow::Ack(ack.next as i64 - 1, ack.size);
        let row = self.context.recorder.sent(self.now, flow.id, &row);
        let access = &mut self.ack_up[link as usize];
        match access.wire.send(self.now, ack.size) {
            Some(at) => {
                let packet = AckPacket { flow: index, row, ack };
                let event = Event::AckAtEgress(link);
                access.lane.push(&mut self.context.queue, at, event, packet);
            }
            None => {
                flow.tally.acks_lost += 1;
                self.context.recorder.lost(row, PacketCause::Overflow);
            }
        }
    }

    #[inline]
    fn ack_at_egress(&mut self, link: u32) {
        let event = Event::AckAtEgress(link);
        let packet = self.ack_up[link as usize].lane.pop(&mut self.context.queue, event);
        let (context, flows) = (&mut self.context, &mut self.flows);
        match &mut self.optics {
            Optics::Path(path) => path.ack.arrive(self.now, packet, context, flows),
            Optics::Mesh(mesh) => mesh.ack_arrives(self.now, packet, context, flows),
        }
    }

    /// ACKs leave the fibres of a path: each goes on its sender's link.
    #[inline]
    fn acks_at_ingress(&mut self) {
        for _ in 0..self.optics.path().ack.land(&mut self.context) {
            let packet = self.optics.path().ack.unload();
            self.ack_on_link(packet);
        }
    }

    /// Puts an ACK on its sender's link.
    #[inline]
    fn ack_on_link(&mut self, packet: AckPacket) {
        let link = self.near_link(packet.flow);
        let access = &mut self.ack_down[link as usize];
        match access.wire.send(self.now, packet.ack.size) {
            Some(at) => {
                let event = Event::AckAtSender(link);
                access.lane.push(&mut self.context.queue, at, event, packet);
            }
            None => {
                self.flows[packet.flow as usize].tally.acks_lost += 1;
                self.context.recorder.lost(packet.row, PacketCause::Overflow);
            }
        }
    }

    fn receiver_timer(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if !flow.receiver_alarm_due(self.now) {
            return;
        }
        let due = flow.receiver.poll_timeout().is_some_and(|at| at <= self.now);
        let ack = if due { flow.receiver.on_timeout(self.now) } else { None };
        self.acknowledge(index, ack);
    }

    /// The numbers of the run so far and its tables.
    pub(crate) fn finish(
        mut self,
        random: (u64, u64),
        interrupted: bool,
        mut warnings: Vec<String>,
    ) -> (Summary, Vec<Table>) {
        warnings.extend(self.optics.unmet());
        let measured = if self.now > self.measured_from {
            self.now.since(self.measured_from)
        } else {
            Span::ZERO
        };
        let counters = tally::counters(&self);
        for word in [counters.packets_delivered, counters.packets_lost, counters.bursts_lost] {
            self.context.digest.add(self.now, 4, word);
        }
        let demand = self.close_demands(measured);
        let listed = self.flows.iter().filter(|flow| flow.demand.is_none() && !flow.vacant);
        let mut summary = Summary {
            seed: random.0,
            replication: random.1,
            simulated_s: self.now.as_secs_f64(),
            measured_s: measured.as_secs_f64(),
            fingerprint: self.context.digest.hex(),
            interrupted,
            warnings,
            counters,
            flows: listed.map(|flow| flow.summary(measured)).collect(),
            network: None,
            demand,
        };
        let mut tables = Vec::new();
        if let Optics::Mesh(mesh) = &self.optics {
            summary.network = Some(mesh.summary(self.now, measured));
            mesh.record_rest(&mut self.context.recorder);
            tables.push(mesh.table());
            tables.extend(self.demands.into_tables(mesh.graph(), !self.sample_every.is_zero()));
        }
        tables.splice(0..0, self.context.recorder.into_tables(self.now));
        (summary, tables)
    }
}
