//! One direction of a path: assembly at one edge, the fibres, and the other edge.

mod ahead;

use std::collections::VecDeque;

use burstlab_kernel::{Lane, RandomSource, Rank};
use burstlab_optical::{Assembler, AssemblyPolicy, ClosedBurst, Forwarding, OpticalPath};
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::causes::{Loss, LossCause};
use super::fates::Fates;
use super::flow::Flow;
use super::notices::{NoticeDesk, Passage};
use super::packet::Parcel;
use super::script::Script;
use super::{Context, Event};
use crate::measure::{BurstRow, PacketCause};
use crate::scenario::{Resolved, Scenario};
pub(super) use ahead::Passed;
use ahead::{Ahead, Sealed};

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Direction {
    /// From senders to receivers.
    Data,
    /// From receivers to senders.
    Ack,
}

/// Packets of a burst that reach the far edge together, and whether the burst is then complete.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Landing {
    packets: u32,
    last: bool,
}

/// One direction of the optical network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Crossing<P> {
    direction: Direction,
    assembler: Assembler<()>,
    /// The packets of the open burst.
    waiting: Vec<P>,
    /// Whether packets are assembled as they are put on the access link, and not as they arrive.
    ahead: Option<Ahead>,
    /// Bursts that are complete, ahead of the clock.
    sealed: VecDeque<Sealed>,
    offset: Span,
    spacing: Span,
    /// How many packets reached the edge before each one that waits, in its burst; kept where
    /// `spacing` asks for it.
    positions: Vec<u64>,
    arrivals: u64,
    forwarding: Forwarding,
    path: OpticalPath,
    fates: Fates,
    script: Script,
    node: usize,
    /// Who tells the senders what becomes of their bursts, where one of them listens.
    desk: Option<NoticeDesk>,
    /// Packets in the core, in the order they will land, and then those assembled ahead.
    flying: VecDeque<P>,
    /// How many are in the core.
    in_core: usize,
    lane: Lane<Landing>,
    pub(super) bursts_sent: u64,
    pub(super) bursts_delivered: u64,
    pub(super) bursts_lost: u64,
}

impl<P: Parcel> Crossing<P> {
    pub(super) fn new(resolved: &Resolved, random: &RandomSource, direction: Direction) -> Self {
        let (scenario, assembly, loss) = (&resolved.scenario, &resolved.assembly, &resolved.loss);
        let (edge, ack) = (&scenario.edge, &scenario.edge.ack);
        let mut delays = scenario.network.delays();
        let (policy, offset, rule, name) = match direction {
            Direction::Data => (assembly.data.policy(0), edge.offset, &loss.data, "loss/data"),
            Direction::Ack => {
                delays.reverse();
                (assembly.ack, ack.offset, &loss.ack, "loss/ack")
            }
        };
        let forwarding = scenario.core.forwarding.into();
        Self {
            direction,
            assembler: Assembler::new(policy),
            waiting: Vec::new(),
            ahead: None,
            sealed: VecDeque::new(),
            offset,
            spacing: if direction == Direction::Data { edge.spacing } else { Span::ZERO },
            positions: Vec::new(),
            arrivals: 0,
            forwarding,
            path: OpticalPath::new(forwarding, scenario.network.link_rate, &delays),
            fates: Fates::new(rule.process.clone(), random.stream(name)),
            script: Script::new(&rule.script),
            node: rule.node,
            desk: None,
            flying: VecDeque::new(),
            in_core: 0,
            lane: Lane::default(),
            bursts_sent: 0,
            bursts_delivered: 0,
            bursts_lost: 0,
        }
    }

    /// Tells the senders of `flows` what becomes of their bursts, as far as they listen.
    pub(super) fn report_to(&mut self, flows: &[Flow], scenario: &Scenario) {
        let listening = flows.iter().any(|flow| flow.kind.listens.at_all());
        self.desk = listening.then(|| NoticeDesk::new(scenario, self.node));
    }

    /// Bursts closed so far.
    #[inline]
    pub(super) fn closed(&self) -> u64 {
        self.assembler.closed() - self.sealed.len() as u64
    }

    /// A packet reaches the near edge.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        now: Time,
        packet: P,
        context: &mut Context,
        flows: &mut [Flow],
    ) {
        if self.assembler.policy() == AssemblyPolicy::None {
            self.pass(now, packet, context, flows);
            return;
        }
        let idle = self.assembler.poll_timeout().is_none();
        let number = self.assembler.open(now);
        context.recorder.joined(packet.row(), now, number);
        let killed = self.script.kills(&packet);
        if !self.spacing.is_zero() {
            if !killed {
                self.positions.push(self.arrivals);
            }
            self.arrivals += 1;
        }
        let full = if killed {
            self.lose_alone(now, &packet, context, flows);
            false
        } else {
            self.waiting.push(packet);
            self.assembler.push(now, (), packet.bytes())
        };
        if full {
            self.close(now, context, flows);
        } else if idle && let Some(deadline) = self.assembler.poll_timeout() {
            context.queue.push(deadline, Rank::Timer, self.assembly_event());
        }
    }

    /// A packet that is a burst of its own.
    #[inline]
    fn pass(&mut self, now: Time, packet: P, context: &mut Context, flows: &mut [Flow]) {
        let burst = self.assembler.pass(now, packet.bytes());
        context.recorder.joined(packet.row(), now, burst.number);
        if self.script.kills(&packet) {
            self.lose_alone(now, &packet, context, flows);
        } else {
            self.dispatch(now, &burst, std::slice::from_ref(&packet), context, flows);
        }
    }

    /// A script loses this very packet as it reaches the edge.
    fn lose_alone(&self, now: Time, packet: &P, context: &mut Context, flows: &mut [Flow]) {
        let loss = Loss { cause: LossCause::Scripted, burst: 0, node: 0, port: 0, at: now };
        self.lose(packet, loss, context, flows);
    }

    /// The assembly timer fires, or a burst that is complete ahead of the clock is due; it is stale
    /// where the burst it was set for is closed already.
    pub(super) fn timer(&mut self, now: Time, context: &mut Context, flows: &mut [Flow]) {
        if self.ahead.is_some() {
            self.depart(now, context, flows);
        } else if self.assembler.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.close(now, context, flows);
        }
    }

    fn lose(&self, packet: &P, loss: Loss, context: &mut Context, flows: &mut [Flow]) {
        let flow = &mut flows[packet.flow() as usize];
        match packet.segment() {
            Some(transmission) => flow.lose(transmission, loss),
            None => flow.tally.acks_lost += 1,
        }
        let whole = loss.burst != 0;
        let cause = if whole { PacketCause::Burst } else { PacketCause::Scripted };
        context.recorder.lost(packet.row(), cause);
    }

    /// Closes the open burst and sends it off.
    fn close(&mut self, now: Time, context: &mut Context, flows: &mut [Flow]) {
        let mut packets = std::mem::take(&mut self.waiting);
        let burst = self.assembler.close(&mut Vec::new());
        if !packets.is_empty() {
            self.dispatch(now, &burst, &packets, context, flows);
        }
        packets.clear();
        self.waiting = packets;
        self.positions.clear();
        self.arrivals = 0;
    }

    /// Decides the fate of a burst and sends it where that takes it.
    #[inline]
    fn dispatch(
        &mut self,
        now: Time,
        burst: &ClosedBurst,
        packets: &[P],
        context: &mut Context,
        flows: &mut [Flow],
    ) {
        self.bursts_sent += 1;
        let hit = self.fates.dooms(burst.number);
        let doomed = self.script.dooms(packets.iter()) || hit;
        let passage = if doomed {
            self.bursts_lost += 1;
            context.digest.add(now, 5, burst.number);
            self.perish(now, burst, packets, context)
        } else {
            self.launch(now, burst, packets, context)
        };
        let cause = if self.fates.are_listed() { LossCause::Scripted } else { LossCause::Burst };
        if let Some(at) = passage.lost {
            let loss = Loss { cause, burst: burst.number, node: self.node, port: 0, at };
            packets.iter().for_each(|packet| self.lose(packet, loss, context, flows));
        }
        if let Some(desk) = &self.desk {
            desk.notify(burst.number, packets, &passage, flows, context);
        }
        if context.recorder.traces_bursts() {
            context.recorder.burst(&BurstRow {
                number: burst.number,
                kind: u8::from(self.direction == Direction::Ack),
                ends: (0, 0),
                hops: self.path.hops() as u32,
                attempts: 0,
                rival: None,
                packets: packets.len(),
                bytes: burst.bytes,
                load: burst.bytes.get(),
                opened: burst.opened,
                closed: now,
                departs: passage.departs,
                arrives: passage.arrives,
                lost: passage.lost.map(|at| (at, self.node, cause.into())),
            });
        }
    }

    /// Sends a burst to the far edge.
    fn launch(
        &mut self,
        now: Time,
        burst: &ClosedBurst,
        packets: &[P],
        context: &mut Context,
    ) -> Passage {
        let hops = self.path.hops();
        let event = self.landing_event();
        let ready = now + self.offset;
        self.flying.extend(packets);
        match self.forwarding {
            Forwarding::CutThrough => {
                let (departs, arrives) = self.fly(now, burst.bytes, packets.len(), context);
                for packet in packets {
                    context.recorder.departed(packet.row(), departs);
                }
                Passage { departs: Some(departs), arrives: Some(arrives), lost: None }
            }
            Forwarding::StoreAndForward => {
                self.in_core += packets.len();
                let (mut departs, mut arrives) = (None, None);
                for (index, packet) in packets.iter().enumerate() {
                    let before = self.positions.get(index).copied().unwrap_or(0);
                    let departure = {
                        let ready = ready + self.spacing.saturating_mul(before);
                        self.path.start(ready, packet.bytes())
                    };
                    context.recorder.departed(packet.row(), departure.departs);
                    let at = self.path.cross(departure, hops);
                    let landing = Landing { packets: 1, last: index + 1 == packets.len() };
                    self.lane.push(&mut context.queue, at, event, landing);
                    departs.get_or_insert(departure.departs);
                    arrives = Some(at);
                }
                Passage { departs, arrives, lost: None }
            }
        }
    }

    /// A burst, whose packets stand in line, crosses the core at once; answers when it leaves and
    /// when it arrives.
    #[inline]
    fn fly(
        &mut self,
        now: Time,
        bytes: Bytes,
        packets: usize,
        context: &mut Context,
    ) -> (Time, Time) {
        self.in_core += packets;
        let departure = self.path.start(now + self.offset, bytes);
        let arrives = self.path.cross(departure, self.path.hops());
        self.land_at(arrives, packets as u32, context);
        (departure.departs, arrives)
    }

    fn land_at(&mut self, arrives: Time, packets: u32, context: &mut Context) {
        let event = self.landing_event();
        let landing = Landing { packets, last: true };
        self.lane.push(&mut context.queue, arrives, event, landing);
    }

    #[inline]
    fn landing_event(&self) -> Event {
        match self.direction {
            Direction::Data => Event::DataAtEgress,
            Direction::Ack => Event::AckAtIngress,
        }
    }

    /// Sends a burst to the node where it is lost.
    fn perish(
        &mut self,
        now: Time,
        burst: &ClosedBurst,
        packets: &[P],
        context: &mut Context,
    ) -> Passage {
        if self.node == 0 {
            return Passage { departs: None, arrives: None, lost: Some(now) };
        }
        let ready = now + self.offset;
        let mut passage = Passage { departs: None, arrives: None, lost: None };
        let mut go = |size: Bytes| {
            let departure = self.path.start(ready, size);
            let last_bit = self.path.cross(departure, self.node);
            let first_bit = departure.departs + self.path.reach(self.node);
            passage.departs.get_or_insert(departure.departs);
            passage.lost = Some(match self.forwarding {
                Forwarding::CutThrough => first_bit,
                Forwarding::StoreAndForward => last_bit,
            });
            departure.departs
        };
        match self.forwarding {
            Forwarding::CutThrough => {
                let departs = go(burst.bytes);
                packets.iter().for_each(|packet| context.recorder.departed(packet.row(), departs));
            }
            Forwarding::StoreAndForward => {
                for packet in packets {
                    let departs = go(packet.bytes());
                    context.recorder.departed(packet.row(), departs);
                }
            }
        }
        passage
    }

    /// Packets reach the far edge; answers how many there are to [`unload`](Self::unload).
    #[inline]
    pub(super) fn land(&mut self, context: &mut Context) -> u32 {
        let event = self.landing_event();
        let landing = self.lane.pop(&mut context.queue, event);
        self.bursts_delivered += u64::from(landing.last);
        landing.packets
    }

    /// The next `count` packets that have landed.
    #[inline]
    pub(super) fn landed(&self, count: u32) -> impl Iterator<Item = &P> {
        self.flying.iter().take(count as usize)
    }

    /// The next `count` packets that have landed are gone.
    #[inline]
    pub(super) fn leave(&mut self, count: u32) {
        self.in_core -= count as usize;
        self.flying.drain(..count as usize);
    }

    /// The next packet that has landed.
    #[inline]
    pub(super) fn unload(&mut self) -> P {
        self.in_core -= 1;
        self.flying.pop_front().expect("a landed packet was flying")
    }

    /// Packets that wait for assembly or cross the core.
    pub(super) fn aboard(&self) -> u64 {
        (self.waiting.len() + self.flying.len()) as u64
    }

    /// Bursts that cross the core.
    pub(super) fn bursts_in_flight(&self) -> u64 {
        self.lane.iter().filter(|landing| landing.last).count() as u64
    }

    /// What was scripted and never came.
    pub(super) fn unmet(&self) -> Vec<String> {
        let table = match self.direction {
            Direction::Data => "loss.data",
            Direction::Ack => "loss.ack",
        };
        let mut unmet: Vec<_> = self.script.unmet().map(|what| format!("{table}.{what}")).collect();
        let closed = self.closed();
        for burst in self.fates.listed().iter().filter(|&&burst| burst > closed) {
            unmet.push(format!(
                "{table}.bursts: there was no burst {burst}; the run closed {closed} bursts"
            ));
        }
        unmet
    }
}
