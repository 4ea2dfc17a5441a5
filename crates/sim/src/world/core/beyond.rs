//! The part behind the edge nodes: the order in which a burst is given its fate, offered to the
//! fabric, and written off. Edge nodes hand over closed bursts here, and see no more of them.

use burstlab_kernel::Rank;
use burstlab_units::{Span, Time};

use super::account::record_label;
use super::burst::{BurstId, Closed, Fate, ScheduledLoss};
use super::effects::{Effect, Landing};
use super::fabric::Fabric;
use super::fabric::contended::Contended;
use super::fabric::exclusive::lost_here;
use super::fate::Phase;
use super::flows::Flows;
use super::payload::{BurstKind, Payload};
use super::plan::Plan;
use super::runs::Runs;
use super::scope::{Common, Scope};
use crate::measure::loss::{Loss, LossCause};
use crate::measure::{PacketCause, Step};
use crate::scenario::Operation;
use crate::world::ahead::policy::Lookahead;
use crate::world::context::Context;
use crate::world::events::BurstEvent;
use crate::world::packet::{DataPacket, Packet, Parcel};
use crate::world::train::TimedTrain;

/// Behind the edge nodes, while an event happens.
pub(super) struct Beyond<'a> {
    fabric: &'a mut Fabric,
    scope: Scope<'a>,
}

impl<'a> Beyond<'a> {
    #[inline]
    pub(super) fn new(
        fabric: &'a mut Fabric,
        common: &'a mut Common,
        context: &'a mut Context,
    ) -> Self {
        Self { fabric, scope: Scope { common, context } }
    }

    /// The header of the burst in a slot is worked on, unless the burst is gone.
    #[inline]
    pub(super) fn header(
        &mut self,
        at: (Time, u32),
        work: impl FnOnce(&mut Contended, (Time, u32), &mut Scope<'a>) -> Fate,
    ) {
        let Self { fabric, scope } = self;
        if !scope.common.bursts.drop_stale_header(at.1, None) {
            let fate = work(fabric.contended(), at, scope);
            self.settle(at.1, fate);
        }
    }

    /// A header or trailer reaches the end of a fibre.
    #[inline]
    pub(super) fn signal(&mut self, now: Time, link: u32) {
        let (slot, fate) = self.fabric.contended().signal(now, link, &mut self.scope);
        self.settle(slot, fate);
    }

    /// A packet that nodes store and forward reaches the egress of a route.
    pub(super) fn unload(&mut self, now: Time, route: u32) {
        self.fabric.exclusive().unload(now, route, &mut self.scope);
    }

    /// A burst comes to the node of its route where it is lost.
    pub(super) fn lost_here(&mut self, now: Time, slot: u32) {
        let fate = lost_here((now, slot), &self.scope);
        self.settle(slot, fate);
    }

    /// Does what becomes of the burst in a slot.
    #[inline]
    fn settle(&mut self, slot: u32, fate: Fate) {
        match fate {
            Fate::Goes => {}
            Fate::Lost(at, cause) => self.lose(at, slot, cause),
            Fate::Lands(at) => {
                self.scope.ended((at, slot), None);
                self.scope.common.bursts.close(slot);
            }
        }
    }

    /// A burst is lost at the node its header has come to, unless it is spared.
    fn lose(&mut self, now: Time, slot: u32, cause: LossCause) {
        let cause = self.scope.cause_of(slot, cause);
        let Common { plan, bursts, .. } = &*self.scope.common;
        let hop = bursts.get(slot).hop;
        if !plan.rules.control || !self.goes_beside(now, (slot, hop), cause) {
            self.lose_surely(now, slot, cause);
        }
    }

    /// A burst is lost before its next fibre, whatever surgery wants.
    fn lose_surely(&mut self, now: Time, slot: u32, cause: LossCause) {
        self.scope.ended((now, slot), Some(cause));
        self.fabric.forget_copy(slot, &mut self.scope);
        let Common { plan, bursts, effects, .. } = &mut *self.scope.common;
        let burst = bursts.get_mut(slot);
        let node = plan.number_of(plan.node_at(burst, burst.hop));
        let loss = Loss { cause, burst: burst.label, node, port: 0, at: now };
        let payload = std::mem::take(&mut burst.payload);
        bursts.close(slot);
        effects.list.push(Effect::Lost(payload, loss, PacketCause::Burst));
    }

    /// Spares a burst that would be lost before its fibre `hop`, if surgery asks for it: the burst
    /// goes on to its egress and takes no wavelength. Returns whether it goes on. Its header may be
    /// further, and is then of no use any more.
    fn goes_beside(&mut self, now: Time, (slot, hop): (u32, usize), cause: LossCause) -> bool {
        let Self { fabric, scope } = self;
        if !scope.spares(now, (slot, hop), cause) {
            return false;
        }
        let late = scope.late(slot);
        // As it would be where the burst is lost.
        fabric.forget_copy(slot, scope);
        let link = scope.common.bursts.get(slot).route.get(hop).copied();
        scope.step((now, slot), Step::Spared, (link, Span::ZERO));
        let Common { plan, bursts, .. } = &mut *scope.common;
        let burst = bursts.get_mut(slot);
        let leaves = match burst.reservations.get(hop) {
            Some(held) => held.departs,
            // An ingress that gives up lets it go at once.
            None if cause == LossCause::Blocked => burst.arrives.max(now),
            None => burst.arrives,
        };
        // It takes no wavelength, and no failure stops it.
        burst.arrives = plan.fibres.signal_over(&burst.route[hop..], leaves);
        burst.lands = (burst.arrives + burst.left).max(now) + late;
        burst.spared = true;
        let departs = std::mem::replace(&mut burst.hop, burst.route.len()) == 0;
        let lands = burst.lands;
        if departs {
            burst.departs = leaves;
            scope.left(slot);
        }
        scope.context.queue.push(lands, Rank::Arrival, BurstEvent::Landed.of(slot));
        true
    }

    /// The last bit of a burst reaches its egress, unless the event is stale.
    pub(super) fn land(&mut self, now: Time, slot: u32) {
        let Self { fabric, scope } = self;
        let burst = scope.common.bursts.get(slot);
        if burst.id == BurstId::NONE || burst.lands != now {
            return;
        }
        let nothing = burst.is_cut_to_nothing();
        if !nothing && scope.is_killed_at_end(now, slot) {
            scope.common.bursts.get_mut(slot).hop -= 1;
            scope.note(now, slot, Operation::Kill);
            return self.lose(now, slot, LossCause::Operated);
        }
        scope.ended((now, slot), nothing.then_some(LossCause::Cut));
        fabric.forget_copy(slot, scope);
        if !nothing {
            let landed = &mut scope.common.effects.landed;
            std::mem::swap(landed, &mut scope.common.bursts.get_mut(slot).payload);
            // Nobody follows packets that are but counted.
            landed.load = Default::default();
            if let Fabric::Exclusive(fabric) = &mut **fabric {
                fabric.landed(slot, scope);
            }
        }
        scope.common.bursts.close(slot);
    }

    /// Something happens in an outage.
    pub(super) fn outage(&mut self, now: Time, event: u32) {
        let Common { plan, bursts, fates, .. } = &mut *self.scope.common;
        match fates.happens(event, &mut plan.fibres) {
            (_, Phase::Up) => {}
            (_, Phase::KnownDown | Phase::KnownUp) => plan.reroute(&fates.outages().avoided()),
            (number, Phase::Down) => {
                for (slot, hop) in fates.outages().hit_by_failure(number, now, bursts) {
                    self.fail_link(now, (slot, hop));
                }
            }
        }
    }

    /// A burst is on a fibre that goes down, or will be before that is up.
    fn fail_link(&mut self, now: Time, (slot, hop): (u32, usize)) {
        let burst = self.scope.common.bursts.get_mut(slot);
        // Its header is somewhere ahead, unless the landing is all that is left to come.
        burst.stale_header = match burst.hop < burst.route.len() {
            true => burst.id,
            false => BurstId::NONE,
        };
        let cause = self.scope.cause_of(slot, LossCause::Failure);
        if !self.goes_beside(now, (slot, hop), cause) {
            let burst = self.scope.common.bursts.get_mut(slot);
            (burst.hop, burst.hit_by_failure) = (hop, true);
            self.lose_surely(now, slot, cause);
        }
    }
}

/// The questions and the bursts of edge nodes.
impl Beyond<'_> {
    #[inline]
    pub(super) fn context(&mut self) -> &mut Context {
        self.scope.context
    }

    /// The facts about the flows, and the scenario's rules of the network.
    #[inline]
    pub(super) fn parts(&mut self) -> (&mut Flows, (&Plan, &Lookahead)) {
        let Common { flows, plan, .. } = &mut *self.scope.common;
        (flows, (plan, &self.scope.context.ahead))
    }

    /// Whether a script loses this packet as it comes to its ingress. If so it is lost.
    #[inline]
    pub(super) fn loses(&mut self, now: Time, packet: DataPacket) -> bool {
        let lost = self.scope.common.fates.kills(&packet);
        if lost {
            let loss = Loss { cause: LossCause::Scripted, burst: 0, node: 0, port: 0, at: now };
            let effects = &mut self.scope.common.effects;
            effects.lose_one(Packet::Data(packet), loss, PacketCause::Scripted);
        }
        lost
    }

    /// A burst of data from a node is closed in which nothing is left that came to it: these rows
    /// of the trace.
    pub(super) fn lost_all(&mut self, from: u32, killed: &[u32]) {
        self.scope.common.fates.pass(BurstKind::Data, 1);
        self.label((from, &Payload::default(), killed));
    }

    /// A burst from a node is closed, with this in it and these packets lost before: its label.
    #[inline]
    fn label(&mut self, (from, payload, killed): (u32, &Payload, &[u32])) -> u64 {
        let Common { plan, account, .. } = &mut *self.scope.common;
        let label = account.labels.next(plan.rules.counter(from));
        let recorder = &mut self.scope.context.recorder;
        if recorder.traces_packets() {
            record_label((label, payload, killed), recorder);
        }
        label
    }

    /// Takes a closed burst, and all that it carries, and gives it its label. The schedule of
    /// losses is asked first, as that counts the burst among those of its kind. A burst that
    /// crosses an exclusive path at once never gets a slot.
    #[inline]
    pub(super) fn take(&mut self, mut closed: Closed<'_>) {
        let label = self.label((closed.ends.0, closed.payload, closed.killed));
        let Self { fabric, scope } = self;
        let (now, spaced, known) = (closed.at, closed.spaced, closed.prescribed.take());
        let scheduled_loss = known.unwrap_or_else(|| {
            let firsts = closed.payload.data.iter().map(|train| &train.first);
            scope.common.fates.prescribe((closed.at, closed.kind), firsts)
        });
        if let Fabric::Exclusive(fabric) = &mut **fabric
            && known.is_none()
            && fabric.offer_ahead((&mut closed, label), scheduled_loss.is_some(), scope)
        {
            return;
        }
        if closed.drawn
            && let Fabric::Contended(fabric) = &mut **fabric
            && fabric.offer_light(&closed, label, scope)
        {
            return;
        }
        scope.context.works(closed.payload.trains());
        let Common { plan, flows, bursts, account, .. } = &mut *scope.common;
        let slot = bursts.open(&mut closed, label);
        let burst = bursts.get_mut(slot);
        burst.scheduled_loss = scheduled_loss;
        if closed.drawn {
            account.drawn(closed.bytes);
        } else {
            account.closed(plan, burst, flows);
        }
        scope.operate(now, slot);
        scope.common.account.sent(scope.common.bursts.get(slot));
        let fate = fabric.offer((now, slot), spaced, scope);
        self.settle(slot, fate);
    }

    /// Takes a packet that is a burst of its own, from this node on this path, unless it is to be
    /// closed as any other: then this is prescribed for it.
    #[inline]
    pub(super) fn take_alone(
        &mut self,
        at: Time,
        (way, from, class): (usize, u32, u32),
        packet: Packet,
    ) -> Option<ScheduledLoss> {
        let Common { plan, account, .. } = &*self.scope.common;
        let counter = plan.rules.counter(from);
        let burst = (counter, account.labels.given()[counter] + 1);
        let prescribed =
            self.fabric.exclusive().offer_alone(at, (way, class, burst), packet, &mut self.scope);
        if prescribed.is_none() {
            self.scope.common.account.labels.pass(counter, 1);
        }
        prescribed
    }

    /// Takes such packets as far as they cross a path in step; returns how many.
    pub(super) fn take_in_step<P: Parcel>(
        &mut self,
        of: (usize, BurstKind, u32),
        from: u32,
        trains: &mut Vec<TimedTrain<P>>,
        landing: fn(&mut Landing) -> &mut Runs<P>,
    ) -> u64 {
        let Self { fabric, scope } = self;
        let Common { plan, account, .. } = &*scope.common;
        let counter = plan.rules.counter(from);
        let labelled = (counter, account.labels.given()[counter]);
        let mut landed = std::mem::take(landing(&mut scope.common.effects.landing));
        let taken = fabric.exclusive().offer_in_step(of, labelled, (trains, &mut landed), scope);
        *landing(&mut scope.common.effects.landing) = landed;
        scope.common.account.labels.pass(counter, taken);
        taken
    }
}
