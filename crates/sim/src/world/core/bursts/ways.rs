//! Ways that one pair of nodes has for itself, in one direction: bursts meet no others on them, so
//! that what becomes of a burst is known as it sets out, and no header goes ahead of it.

use std::collections::VecDeque;

use crate::world::core::effects::Effect;
use crate::world::core::notify::{NoticeDesk, Passage};
use burstlab_kernel::{Lane, Rank};
use burstlab_optical::{ClosedBurst, Departure, Forwarding, OpticalPath};
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::Mesh;
use super::burst::{BurstKind, Payload};
use super::losing::own;
use super::rules::Rules;
use crate::measure::loss::LossCause;
use crate::scenario::Scenario;
use crate::topology::{Graph, Routes};
use crate::world::context::Context;
use crate::world::events::{CoreEvent, Event};
use crate::world::packet::{Packet, Parcel};
use crate::world::train::Train;

/// A packet that reaches the egress by itself, and whether it is the last of its burst.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Stored {
    /// That of the burst; `NO_SLOT`: the packet is the burst.
    slot: u32,
    packet: Packet,
    last: bool,
    /// When the burst was closed, which may be ahead of the clock.
    closed: Time,
}

/// The way of data; the other is that of ACKs.
const DATA: usize = 0;

/// Stands for no slot.
const NO_SLOT: u32 = u32::MAX;

/// When a burst leaves, and when it lands.
pub(super) struct Crossed {
    pub(super) departs: Time,
    pub(super) lands: Time,
}

/// A way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Way {
    pub(super) fibres: Vec<u32>,
    pub(super) path: OpticalPath,
    forwarding: Forwarding,
    /// From the closing of a burst until it may leave.
    pub(super) offset: Span,
    /// Where nodes store and forward: from one packet of a burst to the next, as they leave.
    spacing: Span,
    /// Packets that nodes store and forward, or that are bursts of their own.
    lane: Lane<Stored>,
    /// Bursts in slots that will land, in order but for those that are delayed.
    flying: VecDeque<u32>,
}

impl Way {
    /// Packets on the way that are not in a slot; of those that are bursts, when these were closed.
    pub(super) fn packets(&self) -> impl Iterator<Item = (&Packet, Option<Time>)> {
        let closed = |stored: &Stored| (stored.slot == NO_SLOT).then_some(stored.closed);
        self.lane.iter().map(move |stored| (&stored.packet, closed(stored)))
    }

    /// Whether nothing on it has an event of its own.
    #[inline]
    pub(super) fn is_clear(&self) -> bool {
        self.lane.is_empty() && self.flying.is_empty()
    }

    /// When a burst of `size` that is closed at `now` would land at the latest.
    #[inline]
    fn reaches(&mut self, now: Time, size: Bytes) -> Time {
        self.path.would_cross(now + self.offset, size)
    }
}

/// The ways that pairs of nodes have for themselves: those of a path, of its data and of its ACKs.
pub(super) fn of(scenario: &Scenario, rules: &Rules, graph: &Graph, routes: &Routes) -> Vec<Way> {
    if rules.control {
        return Vec::new();
    }
    let forwarding = scenario.core.forwarding.into();
    let (edge, last) = (&scenario.edge, graph.nodes.len() as u32 - 1);
    let way = |from, to, offset, spacing| {
        let fibres = routes.of(from, to)[0].clone();
        let delays: Vec<Span> = fibres.iter().map(|&fibre| graph.link(fibre).delay).collect();
        let path = OpticalPath::new(forwarding, scenario.network.link_rate, &delays);
        let (lane, flying) = (Lane::default(), VecDeque::new());
        Way { fibres, path, forwarding, offset, spacing, lane, flying }
    };
    vec![way(0, last, edge.offset, edge.spacing), way(last, 0, edge.ack.offset, Span::ZERO)]
}

impl Mesh {
    /// The way that bursts from one node to another have for themselves.
    #[inline]
    pub(super) fn way(&self, from: u32, to: u32) -> Option<usize> {
        if self.ways.is_empty() { None } else { Some(usize::from(from > to)) }
    }

    /// Whether what crosses a way may be with its hosts ahead of the clock: so is all that crossed
    /// before, and no host goes by the clock.
    #[inline]
    pub(super) fn lands_ahead(&self, way: usize, context: &Context) -> bool {
        self.may_land_ahead(way, context) && self.ways[way].is_clear()
    }

    /// Whether anything on a way may be with its hosts ahead of the clock.
    #[inline]
    fn may_land_ahead(&self, way: usize, context: &Context) -> bool {
        let dropped = self.rules.drops_behind && way == DATA;
        context.safe > Time::ZERO && !self.by_the_clock && !dropped
    }

    /// Whether the run goes on for certain until a packet has landed, with those behind it in its
    /// train: a segment that is sent for the first time, or an ACK after which its flow goes on, is
    /// followed by others.
    #[inline]
    pub(super) fn outlasts<P: Parcel>(&self, train: &Train<P>) -> bool {
        self.endless || self.flows.go_on_behind(train)
    }

    /// Whether it goes on until a burst of these has landed.
    #[inline]
    pub(super) fn outlasts_any(&self, payload: &Payload) -> bool {
        payload.data.iter().any(|train| self.outlasts(train))
            || payload.acks.iter().any(|train| self.outlasts(train))
    }

    /// The burst that a queue has `closed` crosses its way ahead of the clock, unless it is lost or
    /// lands too late; returns whether it does.
    pub(super) fn crosses_ahead(
        &mut self,
        (now, number): (Time, usize),
        queue: usize,
        closed: &ClosedBurst,
        context: &mut Context,
    ) -> bool {
        let payload = &self.queues[queue].payload;
        let kind = payload.kind();
        let rule = if kind == BurstKind::Data { &mut self.data_loss } else { &mut self.ack_loss };
        let scheduled_loss = rule.next(now, payload.data.iter().map(|train| &train.first));
        let outlasts = self.outlasts_any(payload);
        let place = &self.queues[queue];
        let operated = context
            .surgery
            .changes((self.counter(place.from), place.number), scheduled_loss.is_some());
        let way = &mut self.ways[number];
        if scheduled_loss.is_some()
            || operated
            || !outlasts
            || way.forwarding == Forwarding::StoreAndForward
            || way.reaches(now, closed.bytes) > context.safe
        {
            self.asked = Some(scheduled_loss);
            return false;
        }
        let Crossed { departs, lands } = way.crosses(now, closed.bytes);
        if self.tells && kind == BurstKind::Data {
            let passage = Passage { departs: Some(departs), arrives: Some(lands), lost: None };
            self.tell_ahead(number, queue, &passage, context);
        }
        let place = &mut self.queues[queue];
        place.number = 0;
        self.counts[kind as usize].passed(1, closed.bytes.get() - closed.padding.get());
        if let [alone] = &place.payload.data[..] {
            self.flows.carried(alone.first.flow, 1);
        } else {
            for (flow, _) in self.census.take(&place.payload.data) {
                self.flows.carried(flow, 1);
            }
        }
        let Payload { data, acks, .. } = &mut place.payload;
        self.effects.landing.add_burst(lands, data, acks);
        true
    }

    /// A closed burst sets out on its way, or is lost at once.
    pub(super) fn set_out(&mut self, now: Time, slot: u32, number: usize, context: &mut Context) {
        let late = self.late(slot, context);
        let way = &mut self.ways[number];
        let hops = way.fibres.len();
        let burst = self.bursts.get_mut(slot);
        burst.route.clear();
        burst.route.extend_from_slice(&way.fibres);
        burst.planned = hops;
        burst.hold = self.rules.hold(burst.bytes);
        burst.left = burst.hold;
        let node = burst.scheduled_loss.map(|(node, _)| node.min(hops - 1));
        burst.hop = node.unwrap_or(hops);
        let passage = match (node, way.forwarding) {
            (Some(0), _) => Passage { departs: None, arrives: None, lost: Some(now) },
            (_, Forwarding::CutThrough) => {
                let departure = way.path.start(now + way.offset, burst.bytes);
                burst.departs = departure.departs;
                if context.recorder.traces_packets() {
                    burst.record_departure(&mut context.recorder);
                }
                way.passage(departure.departs, &departure, node)
            }
            (_, Forwarding::StoreAndForward) => {
                self.forward((now, slot), number, !late.is_zero(), context)
            }
        };
        // The burst may set out ahead of the clock.
        let later = passage.lost.filter(|&at| at > context.clock);
        if let Some(at) = later {
            // Before anyone who is told of it at that instant.
            let event = Event::Core(CoreEvent::Lost(slot));
            context.queue.push(at, Rank::Arrival, event);
        }
        if self.reports && self.bursts.get(slot).kind == BurstKind::Data {
            self.tell_passage(slot, &passage, context);
        }
        match (passage.arrives, passage.lost) {
            (_, Some(_)) if later.is_some() => {}
            (_, Some(at)) => self.lost_on_way(at, slot, context),
            (Some(at), None) => {
                let at = at + late;
                self.bursts.get_mut(slot).lands = at;
                let whole = self.ways[number].forwarding == Forwarding::CutThrough;
                if whole || !late.is_zero() {
                    self.ways[number].flying.push_back(slot);
                    let event = Event::Core(CoreEvent::Landed(slot));
                    context.queue.push(at, Rank::Arrival, event);
                }
            }
            (None, None) => unreachable!("a burst lands or is lost"),
        }
    }

    /// The packets of a burst set out one by one: each is stored and forwarded by itself, and where
    /// the burst is to be `late` is kept in it.
    fn forward(
        &mut self,
        (now, slot): (Time, u32),
        number: usize,
        late: bool,
        context: &mut Context,
    ) -> Passage {
        let (way, burst) = (&mut self.ways[number], self.bursts.get_mut(slot));
        let event = Event::Core(CoreEvent::Stored(number as u32));
        let (hops, ready, count) = (way.fibres.len(), now + way.offset, burst.packets as usize);
        let scheduled_loss = burst.scheduled_loss.is_some();
        let data = burst.payload.data.iter().flat_map(|train| train.packets()).map(Packet::Data);
        let acks = burst.payload.acks.iter().flat_map(|train| train.packets()).map(Packet::Ack);
        let mut passage = Passage { departs: None, arrives: None, lost: None };
        for (index, packet) in data.chain(acks).enumerate() {
            let place = self.positions.get(index).copied().unwrap_or(0);
            let ready = ready + way.spacing.saturating_mul(place);
            let departure = way.path.start(ready, packet.bytes());
            context.recorder.departed(packet.row(), departure.departs);
            passage.departs.get_or_insert(departure.departs);
            let at = way.path.cross(departure, burst.hop);
            if scheduled_loss {
                passage.lost = Some(at);
                continue;
            }
            passage.arrives = Some(at);
            if late {
                continue;
            }
            let stored = Stored { slot, packet, last: index + 1 == count, closed: now };
            way.lane.push(&mut context.queue, at, event, stored);
        }
        assert!(scheduled_loss || burst.hop == hops, "it goes all the way");
        burst.departs = passage.departs.unwrap_or(now);
        if !scheduled_loss && !late {
            burst.payload.clear();
        }
        passage
    }

    /// Who listens is told what becomes of a burst, as it sets out.
    fn tell_passage(&self, slot: u32, passage: &Passage, context: &mut Context) {
        let burst = self.bursts.get(slot);
        let (back, whole) = (self.reach(slot, burst.hop), self.reach(slot, burst.planned));
        let on = Span::from_ps(whole.as_ps() - back.as_ps());
        let desk = NoticeDesk::of_route(&self.scenario, back, on, whole);
        desk.notify(burst.number, &self.own_data(slot), passage, &self.flows, context);
    }

    /// Who listens is told of the burst that a queue has closed, which lands.
    fn tell_ahead(&self, way: usize, queue: usize, passage: &Passage, context: &mut Context) {
        let (place, path) = (&self.queues[queue], &self.ways[way].path);
        let whole = path.reach(self.ways[way].fibres.len());
        let desk = NoticeDesk::of_route(&self.scenario, whole, Span::ZERO, whole);
        let data = own(&place.payload.data);
        desk.notify(place.number, &data, passage, &self.flows, context);
    }

    /// A packet that is a burst of its own, closed at a time, sets out and lands at another.
    pub(super) fn flies(
        &mut self,
        way: usize,
        (closed, lands): (Time, Time),
        packet: Packet,
        context: &mut Context,
    ) {
        let event = Event::Core(CoreEvent::Stored(way as u32));
        let stored = Stored { slot: NO_SLOT, packet, last: true, closed };
        self.ways[way].lane.push(&mut context.queue, lands, event, stored);
    }

    /// A burst in a slot has landed.
    pub(super) fn landed(&mut self, slot: u32, context: &mut Context) {
        let burst = self.bursts.get(slot);
        if let Some(way) = self.way(burst.from, burst.to) {
            let flying = &mut self.ways[way].flying;
            if let Some(place) = flying.iter().position(|&other| other == slot) {
                flying.remove(place);
            }
            let operated = !context.surgery.is_empty();
            if self.may_land_ahead(way, context) && !operated && self.fed.is_empty() {
                self.land_those_behind(way, context);
            }
        }
    }

    /// A burst has landed: those that fly behind it land ahead of the clock, up to the first that
    /// may not. Where all may, what sets out from now on crosses ahead of the clock again.
    fn land_those_behind(&mut self, way: usize, context: &mut Context) {
        while let Some(&slot) = self.ways[way].flying.front() {
            let burst = self.bursts.get(slot);
            let (lands, payload) = (burst.lands, &burst.payload);
            if !self.outlasts_any(payload) || lands > context.safe {
                break;
            }
            self.ways[way].flying.pop_front();
            self.ends(lands, slot, None, context);
            let Payload { data, acks, .. } = &mut self.bursts.get_mut(slot).payload;
            self.effects.landing.add_burst(lands, data, acks);
            self.bursts.close(slot);
        }
    }

    /// A burst comes to the node where it is lost.
    pub(super) fn lost_on_way(&mut self, now: Time, slot: u32, context: &mut Context) {
        let scheduled_loss = self.bursts.get(slot).scheduled_loss;
        let cause = scheduled_loss.map_or(LossCause::Burst, |(_, cause)| cause);
        self.lose(now, slot, cause, context);
    }

    /// The next packet that was stored and forwarded is at its egress.
    pub(super) fn unload(&mut self, now: Time, way: u32, context: &mut Context) {
        let number = way as usize;
        if self.may_land_ahead(number, context) && self.unload_those_behind(number, context) {
            return;
        }
        let event = Event::Core(CoreEvent::Stored(way));
        let Stored { slot, packet, last, .. } =
            self.ways[way as usize].lane.pop(&mut context.queue, event);
        if slot == NO_SLOT {
            let kind = BurstKind::of(&packet);
            let counts = &mut self.counts[kind as usize];
            counts.delivered += 1;
            counts.bytes_delivered += packet.bytes().get();
        } else if last {
            self.ends(now, slot, None, context);
            self.bursts.close(slot);
        }
        self.effects.list.push(Effect::Left(now, packet));
    }

    /// The packet in front is there: if it was a burst of its own it lands, and ahead of the clock
    /// those like it behind it, up to the first that may not. Returns whether any does.
    fn unload_those_behind(&mut self, way: usize, context: &mut Context) -> bool {
        let mut landed = 0;
        while let Some((at, &Stored { slot: NO_SLOT, packet, .. })) = self.ways[way].lane.front()
            && at <= context.safe
            && self.outlasts_packet(&packet)
        {
            self.ways[way].lane.take();
            let counts = &mut self.counts[BurstKind::of(&packet) as usize];
            counts.delivered += 1;
            counts.bytes_delivered += packet.bytes().get();
            self.effects.landing.add(at, packet);
            landed += 1;
        }
        if landed > 0 {
            context.work += landed;
            let event = Event::Core(CoreEvent::Stored(way as u32));
            self.ways[way].lane.announce(&mut context.queue, event);
        }
        landed > 0
    }

    /// Whether the run goes on for certain until this packet has landed.
    #[inline]
    pub(super) fn outlasts_packet(&self, packet: &Packet) -> bool {
        match packet {
            Packet::Data(packet) => self.outlasts(&Train::one(*packet)),
            Packet::Ack(packet) => self.outlasts(&Train::one(*packet)),
        }
    }
}

impl Way {
    /// What becomes of a burst that is switched optically and leaves as one, lost at a node if at
    /// any: there its first bit is the last that anyone sees.
    fn passage(&mut self, departs: Time, departure: &Departure, node: Option<usize>) -> Passage {
        let (arrives, lost) = match node {
            None => (Some(self.path.cross(*departure, self.fibres.len())), None),
            Some(node) => (None, Some(departs + self.path.reach(node))),
        };
        Passage { departs: Some(departs), arrives, lost }
    }

    /// When a burst of `size` that is ready at `ready` has crossed.
    #[inline]
    pub(super) fn crosses(&mut self, ready: Time, size: Bytes) -> Crossed {
        let departure = self.path.start(ready + self.offset, size);
        let lands = self.path.cross(departure, self.fibres.len());
        Crossed { departs: departure.departs, lands }
    }
}
