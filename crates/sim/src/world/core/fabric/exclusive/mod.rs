//! Exclusive paths: each belongs to one pair of nodes, in one direction.
//!
//! A burst meets no other burst there. So its fate is known when it is closed: its departure, and
//! its landing or the node where it is lost. No header is needed. A burst may land ahead of the
//! clock if no burst before it has an event left (`Way::is_clear`), and if the run lasts until then
//! (`policy`, sentences 21 and 22). A burst that is lost, is operated on or lands too late has
//! events. So does a burst of several packets where nodes store and forward.

mod periods;

use std::collections::VecDeque;

use burstlab_kernel::{Lane, Rank};
use burstlab_optical::{Departure, Forwarding, OpticalPath};
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::measure::loss::LossCause;
use crate::world::ahead::policy::Lookahead;
use crate::world::core::account::Passage;
use crate::world::core::burst::{Closed, Fate, ScheduledLoss};
use crate::world::core::effects::Effect;
use crate::world::core::flows::Flows;
use crate::world::core::payload::{BurstKind, Payload};
use crate::world::core::plan::Plan;
use crate::world::core::scope::{Common, Scope};
use crate::world::core::under_way::UnderWay;
use crate::world::events::BurstEvent;
use crate::world::packet::{Packet, Parcel};
use crate::world::surgery::Named;
use crate::world::train::Train;

/// The exclusive paths of a path network: that of its data, and that of its ACKs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Exclusive {
    ways: Vec<Way>,
}

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

/// Stands for no slot.
const NO_SLOT: u32 = u32::MAX;

/// When a burst leaves, and when it lands.
struct Crossed {
    departs: Time,
    lands: Time,
}

/// An exclusive path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Way {
    fibres: Vec<u32>,
    path: OpticalPath,
    forwarding: Forwarding,
    /// From the closing of a burst until it may leave.
    offset: Span,
    /// Where nodes store and forward: from one packet of a burst to the next, as they leave.
    spacing: Span,
    /// Packets that nodes store and forward, or that are bursts of their own.
    lane: Lane<Stored>,
    /// Bursts in slots that will land, in order but for those that are delayed.
    flying: VecDeque<u32>,
}

impl Way {
    /// Packets on the path that are not in a slot; of those that are bursts, when these were
    /// closed.
    fn packets(&self) -> impl Iterator<Item = (&Packet, Option<Time>)> {
        let closed = |stored: &Stored| (stored.slot == NO_SLOT).then_some(stored.closed);
        self.lane.iter().map(move |stored| (&stored.packet, closed(stored)))
    }

    /// Whether nothing on it has an event of its own.
    #[inline]
    fn is_clear(&self) -> bool {
        self.lane.is_empty() && self.flying.is_empty()
    }

    /// When a burst of `size` that is closed at `now` would land at the latest.
    #[inline]
    fn reaches(&mut self, now: Time, size: Bytes) -> Time {
        self.path.would_cross(now + self.offset, size)
    }
}

impl Exclusive {
    pub(super) fn new(plan: &Plan) -> Self {
        let (scenario, last) = (&plan.scenario, plan.graph.nodes.len() as u32 - 1);
        let (edge, forwarding) = (&scenario.edge, scenario.core.forwarding.into());
        let way = |from, to, offset, spacing| {
            let fibres = plan.routes.of(from, to)[0].clone();
            let chain = plan.fibres.along(&fibres);
            let path = OpticalPath::new(forwarding, scenario.network.link_rate, &chain);
            let (lane, flying) = (Lane::default(), VecDeque::new());
            Way { fibres, path, forwarding, offset, spacing, lane, flying }
        };
        let there = way(0, last, edge.offset, edge.spacing);
        let back = way(last, 0, edge.ack.offset, Span::ZERO);
        Self { ways: vec![there, back] }
    }

    /// Up to when bursts on a path may land ahead of the clock: all that crossed before have
    /// landed.
    #[inline]
    fn lands_until(&self, way: usize, ahead: &Lookahead) -> Time {
        if self.ways[way].is_clear() { ahead.landing(way) } else { Time::ZERO }
    }

    /// A closed burst crosses its way ahead of the clock, unless it is `lost` or lands too late;
    /// returns whether it does, and is done with.
    pub(crate) fn offer_ahead(
        &mut self,
        (closed, label): (&mut Closed<'_>, u64),
        lost: bool,
        scope: &mut Scope,
    ) -> bool {
        let Common { plan, flows, account, effects, .. } = &mut *scope.common;
        let number = plan.way(closed.ends);
        let until = self.lands_until(number, &scope.context.ahead);
        if until == Time::ZERO {
            return false;
        }
        let outlasts = outlasts_any(closed.payload, flows, &scope.context.ahead);
        let burst = (plan.rules.counter(closed.ends.0), label);
        let operated = scope.context.surgery.changes(burst, lost);
        let way = &mut self.ways[number];
        if lost
            || operated
            || !outlasts
            || way.forwarding == Forwarding::StoreAndForward
            || way.reaches(closed.at, closed.bytes) > until
        {
            return false;
        }
        let Crossed { departs, lands } = way.crosses(closed.at, closed.bytes);
        if account.reports_fate(BurstKind::Data) {
            let passage = Passage { departs: Some(departs), arrives: Some(lands), lost: None };
            let passing = (label, &*closed.payload, &*way.fibres);
            account.notify_ahead(plan, passing, &passage, flows, scope.context);
        }
        account.crossed(closed.payload, closed.load, flows);
        let Payload { data, acks, .. } = &mut *closed.payload;
        effects.landing.add_burst(lands, data, acks);
        true
    }

    /// A closed burst sets out on its path, or is lost at once.
    pub(super) fn offer(
        &mut self,
        (now, slot): (Time, u32),
        spaced: &[u64],
        scope: &mut Scope,
    ) -> Fate {
        let late = scope.late(slot);
        let burst = scope.common.bursts.get_mut(slot);
        let number = scope.common.plan.way((burst.from, burst.to));
        let way = &mut self.ways[number];
        let hops = way.fibres.len();
        burst.route.clear();
        burst.route.extend_from_slice(&way.fibres);
        burst.planned = hops;
        burst.hold = scope.common.plan.rules.hold(burst.bytes);
        burst.left = burst.hold;
        let node = burst.scheduled_loss.map(|(node, _)| node.min(hops - 1));
        burst.hop = node.unwrap_or(hops);
        let passage = match (node, way.forwarding) {
            (Some(0), _) => Passage { lost: Some(now), ..Passage::default() },
            (_, Forwarding::CutThrough) => {
                let departure = way.path.start(now + way.offset, burst.bytes);
                burst.departs = departure.departs;
                if scope.context.recorder.traces_packets() {
                    burst.record_departure(&mut scope.context.recorder);
                }
                way.passage(departure.departs, &departure, node)
            }
            (_, Forwarding::StoreAndForward) => {
                let stays = !late.is_zero();
                self.forward((now, slot), (number, stays), spaced, scope)
            }
        };
        // The burst may set out ahead of the clock.
        let later = passage.lost.filter(|&at| at > scope.context.now);
        if let Some(at) = later {
            // Before any sender that is notified of it at that instant.
            let event = BurstEvent::Lost.of(slot);
            scope.context.queue.push(at, Rank::Arrival, event);
        }
        scope.tell(slot, &passage);
        let way = &self.ways[number];
        if way.forwarding == Forwarding::StoreAndForward && node.is_none() && late.is_zero() {
            // Its packets are on the path by themselves. The notices above name them.
            scope.common.bursts.get_mut(slot).payload.clear();
        }
        match (passage.arrives, passage.lost) {
            (_, Some(_)) if later.is_some() => Fate::Goes,
            (_, Some(at)) => lost_here((at, slot), scope),
            (Some(at), None) => {
                let at = at + late;
                scope.common.bursts.get_mut(slot).lands = at;
                let way = &mut self.ways[number];
                if way.forwarding == Forwarding::CutThrough || !late.is_zero() {
                    way.flying.push_back(slot);
                    scope.context.queue.push(at, Rank::Arrival, BurstEvent::Landed.of(slot));
                }
                Fate::Goes
            }
            (None, None) => unreachable!("a burst lands or is lost"),
        }
    }

    /// The packets of a burst set out one by one: each is stored and forwarded by itself, and where
    /// the burst is to be late it `stays` in it. The caller clears the payload of the others.
    fn forward(
        &mut self,
        (now, slot): (Time, u32),
        (number, stays): (usize, bool),
        spaced: &[u64],
        scope: &mut Scope,
    ) -> Passage {
        let (way, burst) = (&mut self.ways[number], scope.common.bursts.get_mut(slot));
        let event = BurstEvent::Stored.of(number as u32);
        let (hops, ready, count) = (way.fibres.len(), now + way.offset, burst.packets as usize);
        let scheduled_loss = burst.scheduled_loss.is_some();
        let data = burst.payload.data.iter().flat_map(|train| train.packets()).map(Packet::Data);
        let acks = burst.payload.acks.iter().flat_map(|train| train.packets()).map(Packet::Ack);
        let mut passage = Passage::default();
        for (index, packet) in data.chain(acks).enumerate() {
            let place = spaced.get(index).copied().unwrap_or(0);
            let ready = ready + way.spacing.saturating_mul(place);
            let departure = way.path.start(ready, packet.bytes());
            scope.context.recorder.departed(packet.row(), departure.departs);
            passage.departs.get_or_insert(departure.departs);
            let at = way.path.cross(departure, burst.hop);
            if scheduled_loss {
                passage.lost = Some(at);
                continue;
            }
            passage.arrives = Some(at);
            if stays {
                continue;
            }
            let stored = Stored { slot, packet, last: index + 1 == count, closed: now };
            way.lane.push(&mut scope.context.queue, at, event, stored);
        }
        assert!(scheduled_loss || burst.hop == hops, "it crosses all fibres");
        burst.departs = passage.departs.unwrap_or(now);
        passage
    }

    /// A packet is a burst of its own at `at`, which may be ahead of the clock. It crosses, unless
    /// something becomes of it or somebody looks: then it is to be a burst as any other, for which
    /// this is prescribed.
    #[inline]
    pub(crate) fn offer_alone(
        &mut self,
        at: Time,
        (number, burst): (usize, Named),
        packet: Packet,
        scope: &mut Scope,
    ) -> Option<ScheduledLoss> {
        let Common { flows, account, effects, fates, .. } = &mut *scope.common;
        let (kind, size) = (BurstKind::of(&packet), packet.bytes());
        let lost = fates.prescribe((at, kind), packet.data().into_iter());
        let operated = scope.context.surgery.changes(burst, lost.is_some());
        if lost.is_some()
            || operated
            || account.reports_fate(kind)
            || scope.context.recorder.traces_bursts()
        {
            return Some(lost);
        }
        let Crossed { departs, lands } = self.ways[number].crosses(at, size);
        scope.context.recorder.joined(packet.row(), at);
        scope.context.recorder.in_burst(packet.row(), burst.1);
        scope.context.recorder.departed(packet.row(), departs);
        if kind == BurstKind::Data {
            flows.carried(packet.flow(), 1);
        }
        let ahead = &scope.context.ahead;
        if lands <= self.lands_until(number, ahead) && outlasts_packet(&packet, flows, ahead) {
            account.crossed_alone(kind, 1, size.get());
            effects.landing.add(lands, packet);
        } else {
            account.sent_alone(kind, size);
            let event = BurstEvent::Stored.of(number as u32);
            let stored = Stored { slot: NO_SLOT, packet, last: true, closed: at };
            self.ways[number].lane.push(&mut scope.context.queue, lands, event, stored);
        }
        None
    }

    /// A burst in a slot has landed. Those that fly behind it land ahead of the clock, up to the
    /// first that may not. Where all may, what sets out from now on crosses ahead of the clock
    /// again.
    pub(crate) fn landed(&mut self, slot: u32, scope: &mut Scope) {
        let burst = scope.common.bursts.get(slot);
        let way = scope.common.plan.way((burst.from, burst.to));
        let flying = &mut self.ways[way].flying;
        if let Some(place) = flying.iter().position(|&other| other == slot) {
            flying.remove(place);
        }
        let until = scope.context.ahead.landing(way);
        let operated = !scope.context.surgery.is_empty();
        if operated || scope.common.plan.rules.batched || until == Time::ZERO {
            return;
        }
        while let Some(&slot) = self.ways[way].flying.front() {
            let burst = scope.common.bursts.get(slot);
            let (lands, flows) = (burst.lands, &scope.common.flows);
            if !outlasts_any(&burst.payload, flows, &scope.context.ahead) || lands > until {
                break;
            }
            self.ways[way].flying.pop_front();
            scope.ended((lands, slot), None);
            let Payload { data, acks, .. } = &mut scope.common.bursts.get_mut(slot).payload;
            scope.common.effects.landing.add_burst(lands, data, acks);
            scope.common.bursts.close(slot);
        }
    }

    /// The next packet that was stored and forwarded is at its egress.
    pub(crate) fn unload(&mut self, now: Time, number: u32, scope: &mut Scope) {
        let way = number as usize;
        let until = scope.context.ahead.landing(way);
        if until > Time::ZERO && self.unload_those_behind((way, until), scope) {
            return;
        }
        let event = BurstEvent::Stored.of(number);
        let Stored { slot, packet, last, .. } =
            self.ways[way].lane.pop(&mut scope.context.queue, event);
        if slot == NO_SLOT {
            scope.common.account.landed_alone(BurstKind::of(&packet), packet.bytes());
        } else if last {
            scope.ended((now, slot), None);
            scope.common.bursts.close(slot);
        }
        scope.common.effects.list.push(Effect::Left(now, packet));
    }

    /// The packet in front is there: if it was a burst of its own it lands, and ahead of the clock
    /// those like it behind it, up to the first that may not. Returns whether any does.
    fn unload_those_behind(&mut self, (way, until): (usize, Time), scope: &mut Scope) -> bool {
        let mut landed = 0;
        while let Some((at, &Stored { slot: NO_SLOT, packet, .. })) = self.ways[way].lane.front()
            && at <= until
            && outlasts_packet(&packet, &scope.common.flows, &scope.context.ahead)
        {
            self.ways[way].lane.take();
            scope.common.account.landed_alone(BurstKind::of(&packet), packet.bytes());
            scope.common.effects.landing.add(at, packet);
            landed += 1;
        }
        if landed > 0 {
            scope.context.work += landed;
            let event = BurstEvent::Stored.of(way as u32);
            self.ways[way].lane.announce(&mut scope.context.queue, event);
        }
        landed > 0
    }

    /// Adds the packets that cross by themselves.
    pub(super) fn under_way(&self, found: &mut UnderWay) {
        let packets = self.ways.iter().flat_map(Way::packets);
        packets.for_each(|(packet, closed)| found.alone(packet, closed));
    }
}

/// Whether the run goes on until a packet has landed, with those behind it in its train.
#[inline]
fn outlasts<P: Parcel>(train: &Train<P>, flows: &Flows, ahead: &Lookahead) -> bool {
    ahead.run_continues_past(|| flows.go_on_behind(train))
}

/// Whether it goes on until a burst of these has landed.
#[inline]
fn outlasts_any(payload: &Payload, flows: &Flows, ahead: &Lookahead) -> bool {
    payload.data.iter().any(|train| outlasts(train, flows, ahead))
        || payload.acks.iter().any(|train| outlasts(train, flows, ahead))
}

/// Whether it goes on until this packet has landed.
#[inline]
fn outlasts_packet(packet: &Packet, flows: &Flows, ahead: &Lookahead) -> bool {
    match packet {
        Packet::Data(packet) => outlasts(&Train::one(*packet), flows, ahead),
        Packet::Ack(packet) => outlasts(&Train::one(*packet), flows, ahead),
    }
}

/// A burst is at the node where it is lost.
pub(crate) fn lost_here((at, slot): (Time, u32), scope: &Scope<'_>) -> Fate {
    let scheduled_loss = scope.common.bursts.get(slot).scheduled_loss;
    Fate::Lost(at, scheduled_loss.map_or(LossCause::Random, |(_, cause)| cause))
}

impl Way {
    /// The passage of a burst that is switched optically and leaves as one, lost at a node if at
    /// any: there its first bit is the last that anyone sees.
    fn passage(&mut self, departs: Time, departure: &Departure, node: Option<usize>) -> Passage {
        let (arrives, lost) = match node {
            None => (Some(self.path.cross(*departure, self.fibres.len())), None),
            Some(node) => (None, Some(self.path.reaches(departs, node))),
        };
        Passage { departs: Some(departs), arrives, lost }
    }

    /// When a burst of `size` that is ready at `ready` has crossed.
    #[inline]
    fn crosses(&mut self, ready: Time, size: Bytes) -> Crossed {
        let departure = self.path.start(ready + self.offset, size);
        let lands = self.path.cross(departure, self.fibres.len());
        Crossed { departs: departure.departs, lands }
    }
}
