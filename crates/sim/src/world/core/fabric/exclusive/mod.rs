//! Exclusive paths: each belongs to one pair of nodes, in one direction.
//!
//! A burst meets no other burst there. So its fate is known when it is closed: its departure, and
//! its landing or the node where it is lost. No header is needed. A burst may land ahead of the
//! clock if no burst before it has an event left (`Way::is_clear`), and if the run lasts until then
//! (`policy`, sentences 21 and 22). A burst that is lost, is operated on or lands too late has
//! events. Where nodes store and forward, the packets of a burst land one by one (`stored`).

mod periods;
mod stored;

use std::collections::VecDeque;

use burstlab_kernel::{Lane, Rank};
use burstlab_optical::{Departure, Forwarding, OpticalPath};
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::measure::BurstRow;
use crate::measure::loss::LossCause;
use crate::world::ahead::policy::Lookahead;
use crate::world::context::Context;
use crate::world::core::account::Passage;
use crate::world::core::burst::{Closed, Fate, ScheduledLoss};
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
    paths: Vec<Way>,
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

    /// When a burst that is closed would land at the latest.
    #[inline]
    fn reaches(&mut self, closed: &Closed<'_>) -> Time {
        match self.forwarding {
            Forwarding::CutThrough => self.path.would_cross(closed.at + self.offset, closed.bytes),
            Forwarding::StoreAndForward => self.would_store(closed),
        }
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
        Self { paths: vec![there, back] }
    }

    /// Up to when bursts on a path may land ahead of the clock: all that crossed before have
    /// landed.
    #[inline]
    fn lands_until(&self, way: usize, ahead: &Lookahead) -> Time {
        if self.paths[way].is_clear() { ahead.landing(way) } else { Time::ZERO }
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
        let burst = (plan.rules.counter(closed.ends.0), label);
        let operated = scope.context.surgery.changes(burst, lost);
        let (way, ahead) = (&mut self.paths[number], &scope.context.ahead);
        let stores = way.forwarding == Forwarding::StoreAndForward;
        let outlasts = match stores {
            false => outlasts_any(closed.payload, flows, ahead),
            true => outlasts_last(closed.payload, flows, ahead),
        };
        if lost || operated || !outlasts || way.reaches(closed) > until {
            return false;
        }
        let Crossed { departs, lands } = match stores {
            false => way.crosses(closed.at, closed.bytes),
            true => way.stores(closed, &mut effects.landing),
        };
        if account.reports_fate(BurstKind::Data) {
            let passage = Passage { departs: Some(departs), arrives: Some(lands), lost: None };
            let passing = (label, &*closed.payload, &*way.fibres);
            account.notify_ahead(plan, passing, &passage, flows, scope.context);
        }
        let recorder = &mut scope.context.recorder;
        if recorder.traces_packets() {
            closed.payload.rows().for_each(|rows| recorder.departed(rows, departs));
        }
        if recorder.traces_bursts() {
            let of = (label, closed.kind, closed.class);
            let row = way.row(of, (closed.opened, closed.at), &Crossed { departs, lands });
            let packets = closed.payload.packets() as usize;
            recorder.burst(&BurstRow { packets, bytes: closed.bytes, load: closed.load, ..row });
        }
        account.crossed(closed.payload, closed.load, flows);
        let Payload { data, acks, .. } = &mut *closed.payload;
        if stores {
            data.clear();
            acks.clear();
        } else {
            effects.landing.add_burst(lands, data, acks);
        }
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
        let way = &mut self.paths[number];
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
        let way = &self.paths[number];
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
                let way = &mut self.paths[number];
                if way.forwarding == Forwarding::CutThrough || !late.is_zero() {
                    way.flying.push_back(slot);
                    scope.context.queue.push(at, Rank::Arrival, BurstEvent::Landed.of(slot));
                }
                Fate::Goes
            }
            (None, None) => unreachable!("a burst lands or is lost"),
        }
    }

    /// A packet is a burst of its own at `at`, which may be ahead of the clock. It crosses, unless
    /// something becomes of it or somebody looks: then it is to be a burst as any other, for which
    /// this is prescribed.
    #[inline]
    pub(crate) fn offer_alone(
        &mut self,
        at: Time,
        (number, class, burst): (usize, u32, Named),
        packet: Packet,
        scope: &mut Scope,
    ) -> Option<ScheduledLoss> {
        let Common { plan, flows, account, effects, fates, .. } = &mut *scope.common;
        let (kind, size) = (BurstKind::of(&packet), packet.bytes());
        let lost = fates.prescribe((at, kind), packet.data().into_iter());
        let operated = scope.context.surgery.changes(burst, lost.is_some());
        if lost.is_some()
            || operated
            || account.reports_fate(kind)
            || scope.context.recorder.traces_bursts_late()
        {
            return Some(lost);
        }
        let crossed = self.paths[number].crosses(at, size);
        let of = (burst.1, kind, class);
        self.paths[number].record_alone((packet.row(), size), of, at, &crossed, scope.context);
        let lands = crossed.lands;
        if kind == BurstKind::Data {
            flows.carried(packet.flow(), 1);
        }
        let ahead = &scope.context.ahead;
        if lands <= self.lands_until(number, ahead) && outlasts_packet(&packet, flows, ahead) {
            account.crossed_alone(kind, 1, size.get());
            effects.landing.add(lands, packet, plan.scenario.access.shared);
        } else {
            account.sent_alone(kind, size);
            let event = BurstEvent::Stored.of(number as u32);
            let stored = Stored { slot: NO_SLOT, packet, last: true, closed: at };
            self.paths[number].lane.push(&mut scope.context.queue, lands, event, stored);
        }
        None
    }

    /// A burst in a slot has landed. Those that fly behind it land ahead of the clock, up to the
    /// first that may not. Where all may, what sets out from now on crosses ahead of the clock
    /// again.
    pub(crate) fn landed(&mut self, slot: u32, scope: &mut Scope) {
        let burst = scope.common.bursts.get(slot);
        let way = scope.common.plan.way((burst.from, burst.to));
        let flying = &mut self.paths[way].flying;
        if let Some(place) = flying.iter().position(|&other| other == slot) {
            flying.remove(place);
        }
        let until = scope.context.ahead.landing(way);
        let operated = !scope.context.surgery.is_empty();
        if operated || scope.common.plan.rules.batched || until == Time::ZERO {
            return;
        }
        while let Some(&slot) = self.paths[way].flying.front() {
            let burst = scope.common.bursts.get(slot);
            let (lands, flows) = (burst.lands, &scope.common.flows);
            if !outlasts_any(&burst.payload, flows, &scope.context.ahead) || lands > until {
                break;
            }
            self.paths[way].flying.pop_front();
            scope.ended((lands, slot), None);
            let Payload { data, acks, .. } = &mut scope.common.bursts.get_mut(slot).payload;
            scope.common.effects.landing.add_burst(lands, data, acks);
            scope.common.bursts.close(slot);
        }
    }

    /// Adds the packets that cross by themselves.
    pub(super) fn under_way(&self, found: &mut UnderWay) {
        let packets = self.paths.iter().flat_map(Way::packets);
        packets.for_each(|(packet, closed)| found.alone(packet, closed));
        self.paths.iter().for_each(|way| found.early_of.extend(way.flows_closed_after(found.at)));
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

/// Whether it goes on until the last of these has landed, where each lands by itself.
#[inline]
fn outlasts_last(payload: &Payload, flows: &Flows, ahead: &Lookahead) -> bool {
    match (payload.data.last(), payload.acks.last()) {
        (_, Some(train)) => outlasts(train, flows, ahead),
        (Some(train), None) => outlasts(train, flows, ahead),
        (None, None) => false,
    }
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

    /// The row of a burst with this label, of this kind and class, that is opened, closed, and
    /// crosses the path; its load is left out.
    fn row(
        &self,
        (number, kind, class): (u64, BurstKind, u32),
        (opened, closed): (Time, Time),
        crossed: &Crossed,
    ) -> BurstRow {
        BurstRow {
            number,
            kind: kind as u8,
            class,
            ends: (0, 0),
            hops: self.fibres.len() as u32,
            attempts: 0,
            rival: None,
            packets: 0,
            bytes: Bytes::ZERO,
            load: 0,
            opened,
            closed,
            departs: Some(crossed.departs),
            arrives: Some(crossed.lands),
            lost: None,
        }
    }

    /// Traces a packet of this row and size that is a burst of its own, with this label, kind and
    /// class, closed at `at`.
    fn record_alone(
        &self,
        (row, size): (u32, Bytes),
        of: (u64, BurstKind, u32),
        at: Time,
        crossed: &Crossed,
        context: &mut Context,
    ) {
        let recorder = &mut context.recorder;
        if recorder.traces_packets() {
            recorder.joined(row, at);
            recorder.in_burst((row, 1), of.0);
            recorder.departed((row, 1), crossed.departs);
        }
        if recorder.traces_bursts() {
            let (row, load) = (self.row(of, (at, at), crossed), size.get());
            recorder.burst(&BurstRow { packets: 1, bytes: size, load, ..row });
        }
    }

    /// When a burst of `size` that is ready at `ready` has crossed.
    #[inline]
    fn crosses(&mut self, ready: Time, size: Bytes) -> Crossed {
        let departure = self.path.start(ready + self.offset, size);
        let lands = self.path.cross(departure, self.fibres.len());
        Crossed { departs: departure.departs, lands }
    }
}
