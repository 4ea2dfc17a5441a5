//! Headers: from node to node, reserving ahead of their bursts.

use burstlab_kernel::Rank;
use burstlab_units::{Span, Time};

use super::contention::ContentionOutcome;
use super::light::{Light, NO_SLOT};
use super::{Contended, Signal};
use crate::measure::Step;
use crate::measure::loss::LossCause;
use crate::scenario::{Operation, Protocol};
use crate::world::ahead::policy::DATA;
use crate::world::context::Context;
use crate::world::core::burst::{Burst, Fate, Reservation};
use crate::world::core::fate::Met;
use crate::world::core::scope::{Common, Scope};
use crate::world::events::BurstEvent;

impl Contended {
    /// A header whose first fibre is reserved enters the processor of its ingress.
    pub(crate) fn submit(&mut self, at: (Time, u32), scope: &mut Scope) -> Fate {
        match self.served(at, scope) {
            Some(done) => self.go_on((done, at.1), scope),
            None => Fate::Goes,
        }
    }

    /// The processor of the node takes a header; returns when it is done, unless the header has to
    /// wait: then an event says when its turn comes.
    fn served(&mut self, (now, slot): (Time, u32), scope: &mut Scope) -> Option<Time> {
        let burst = scope.common.bursts.get(slot);
        let node = scope.common.plan.node_at(burst, burst.hop);
        let done = self.processors[node as usize].serve(now);
        if done == Time::NEVER {
            // Its turn comes after any run.
            return None;
        }
        let waits = done.since(now + scope.common.plan.rules.processing);
        scope.step((now, slot), Step::Header, (None, waits));
        if waits.is_zero() {
            return Some(done);
        }
        let event = BurstEvent::Served.of(slot);
        scope.context.queue.push(now + waits, Rank::Arrival, event);
        None
    }

    /// A signal reaches the end of a fibre: returns the slot of its burst, and what comes of that.
    pub(crate) fn signal(&mut self, now: Time, link: u32, scope: &mut Scope) -> (u32, Fate) {
        let event = BurstEvent::Signal.of(link);
        let signal = self.signals[link as usize].pop(&mut scope.context.queue, event);
        let slot = signal.slot;
        if slot == NO_SLOT {
            return self.light_arrives(now, link, scope);
        }
        let fate = match signal.trailer {
            Some((hop, left)) => {
                self.trail(now, &signal, (hop as usize, left), scope);
                Fate::Goes
            }
            // The slot is kept until the header of a lost burst has come.
            None if scope.common.bursts.drop_stale_header(slot, Some(signal.id)) => Fate::Goes,
            None if scope.common.bursts.is(slot, signal.id) => {
                self.header_arrives((now, slot), scope)
            }
            None => Fate::Goes,
        };
        (slot, fate)
    }

    /// A header reaches a node; it may have to wait for the processor.
    pub(super) fn header_arrives(&mut self, at: (Time, u32), scope: &mut Scope) -> Fate {
        match self.served(at, scope) {
            Some(_) => self.schedule(at, scope),
            None => Fate::Goes,
        }
    }

    /// A node processes a header from `now` on: it finds the burst an output.
    pub(crate) fn schedule(&mut self, (now, slot): (Time, u32), scope: &mut Scope) -> Fate {
        let rules = &scope.common.plan.rules;
        let (done, switching) = (now + rules.processing, rules.switching);
        let burst = scope.common.bursts.get(slot);
        if burst.reservations.len() > burst.hop {
            return self.follow((now, slot), scope);
        }
        let met = scope.common.fates.meets(burst, &scope.common.plan.fibres);
        if let Some(Met::Loss(cause)) = met {
            return Fate::Lost(now, cause);
        }
        let two_way = rules.protocol == Protocol::TwoWay;
        let late = done + switching > burst.arrives
            || two_way && scope.common.plan.back(burst, burst.hop, done) > burst.departs;
        if late && two_way {
            return self.refuse_late((done, slot), scope);
        }
        if late {
            let by = (done + switching).since(burst.arrives);
            return lost_late((now, slot), by, scope);
        }
        match self.resolve((now, slot), met, scope) {
            ContentionOutcome::Placed(reservation) => {
                self.reserve((now, slot), reservation, scope);
                self.go_on((done, slot), scope)
            }
            ContentionOutcome::Blocked(_) if two_way => self.refuse((done, slot), scope),
            ContentionOutcome::Blocked(cause) => {
                let cause = scope.cause_of(slot, cause);
                if cause == LossCause::Contention {
                    let blocker =
                        self.blocker(now, scope.common.bursts.get(slot), &scope.common.plan);
                    scope.common.bursts.get_mut(slot).blocker = blocker.unwrap_or(0);
                }
                Fate::Lost(now, cause)
            }
            ContentionOutcome::Again => {
                self.send_again((now, slot), scope);
                Fate::Goes
            }
        }
    }

    /// A node drops a burst of which the ingress has a copy: that hears of it and sends it again.
    fn send_again(&mut self, (now, slot): (Time, u32), scope: &mut Scope) {
        let (plan, burst) = (&scope.common.plan, scope.common.bursts.get(slot));
        let (hop, link) = (burst.hop, burst.route[burst.hop]);
        scope.common.account.record_hops(plan, burst, true, &mut scope.context.recorder);
        scope.step((now, slot), Step::Resent, (Some(link), Span::ZERO));
        let Common { plan, bursts, .. } = &mut *scope.common;
        let (rules, burst) = (&plan.rules, bursts.get_mut(slot));
        let at = plan.back(burst, hop, now + rules.processing) + rules.wait;
        burst.attempts += 1;
        // The parts on the fibres are of no use any more; to cut them takes nothing away.
        burst.reservations.clear();
        scope.context.queue.push(at, Rank::Arrival, BurstEvent::Again.of(slot));
    }

    /// Reserves a wavelength that was found for a burst.
    fn reserve(&mut self, (now, slot): (Time, u32), reservation: Reservation, scope: &mut Scope) {
        let burst = scope.common.bursts.get(slot);
        // A burst that surgery spares may be longer than the hole that it has.
        let reservation = Reservation { passes: burst.left.min(burst.hold), ..reservation };
        let (end, owner) = (reservation.departs + burst.hold, burst.owner(slot));
        let (wavelength, start) = (reservation.wavelength, reservation.start);
        self.ports[reservation.link as usize].reserve(wavelength, start, end, owner);
        if burst.converts || !self.pools.are_none() {
            let (place, plan) = ((reservation.link, wavelength), &scope.common.plan);
            if self.convert(now, (burst, owner), place, (start, end), plan) {
                scope.note(now, slot, Operation::Convert);
            }
        }
        let fibre = scope.common.plan.graph.link(reservation.link);
        let burst = scope.common.bursts.get_mut(slot);
        burst.wavelength = fibre.wavelength_of(wavelength);
        if burst.hop == 0 {
            burst.departs = reservation.departs;
        }
        burst.reservations.push(reservation);
    }

    /// A node works from `now` on on the header of a burst for which an ingress with a queue has
    /// reserved its own fibre before.
    fn follow(&mut self, (now, slot): (Time, u32), scope: &mut Scope) -> Fate {
        let (rules, departs) = (&scope.common.plan.rules, scope.common.bursts.get(slot).departs);
        let done = now + rules.processing;
        match (now > departs, rules.protocol) {
            (false, _) => self.go_on((done, slot), scope),
            // The burst has left while its header waited.
            (true, Protocol::TwoWay) => self.refuse_late((done, slot), scope),
            (true, _) => lost_late((now, slot), now.since(departs), scope),
        }
    }

    /// The fibre of this hop is reserved: the header goes on, or the burst's landing is certain.
    fn go_on(&mut self, (done, slot): (Time, u32), scope: &mut Scope) -> Fate {
        let mut late = Span::ZERO;
        if !scope.context.surgery.is_empty() {
            if scope.is_killed(slot) {
                return self.kill(slot, scope);
            }
            late = scope.late(slot);
        }
        let Common { plan, bursts, account, .. } = &mut *scope.common;
        let burst = bursts.get_mut(slot);
        let taken = burst.reservations.last().expect("a fibre was reserved");
        let link = taken.link;
        burst.arrives = taken.arrives;
        burst.hop += 1;
        let (begun, sent) = self.control[link as usize].send(done);
        let read = Time::from_ps(done.as_ps() - plan.rules.processing.as_ps());
        let (recorder, toward) = (&mut scope.context.recorder, (Some(link), begun.since(done)));
        account.step(plan, (read, burst), Step::Carried, toward, recorder);
        let (first, last) = (burst.hop == 1, burst.hop == burst.route.len());
        if first {
            scope.left(slot);
        }
        let Common { plan, bursts, .. } = &mut *scope.common;
        let burst = bursts.get_mut(slot);
        if !last {
            if let Some(light) = Light::of(burst, plan, scope.context) {
                self.sends_light(link, (plan.fibres.signal(link, sent), light), scope.context);
                bursts.close(slot);
                return Fate::Goes;
            }
            let signal = Signal { slot, id: burst.id, trailer: None };
            let (at, event) = (plan.fibres.signal(link, sent), BurstEvent::Signal.of(link));
            self.signals[link as usize].push(&mut scope.context.queue, at, event, signal);
            return Fate::Goes;
        }
        burst.lands = burst.arrives + burst.left + late;
        if lands_unseen(burst, scope.context) {
            return Fate::Lands(burst.lands);
        }
        let event = BurstEvent::Landed.of(slot);
        scope.context.queue.push(burst.lands, Rank::Arrival, event);
        Fate::Goes
    }

    /// A burst is to be killed that has found its last fibre, which is free again.
    #[cold]
    fn kill(&mut self, slot: u32, scope: &mut Scope) -> Fate {
        let burst = scope.common.bursts.get_mut(slot);
        let (now, owner) = (scope.context.now, burst.owner(slot));
        if let Some(taken) = burst.reservations.pop() {
            self.release((taken.link, taken.wavelength), (taken.start, owner), taken.start);
        }
        scope.note(now, slot, Operation::Kill);
        Fate::Lost(now, LossCause::Operated)
    }

    /// A node refuses a two-way reservation for which it is too late. It does not matter
    /// any more that an earlier request found the fibre down.
    fn refuse_late(&mut self, (done, slot): (Time, u32), scope: &mut Scope) -> Fate {
        scope.common.bursts.get_mut(slot).link_down = false;
        self.refuse((done, slot), scope)
    }

    /// A node refuses a two-way reservation: the refusal goes back fibre by fibre.
    fn refuse(&mut self, (done, slot): (Time, u32), scope: &mut Scope) -> Fate {
        let burst = scope.common.bursts.get(slot);
        let link = Some(burst.route[burst.hop]);
        let read = Time::from_ps(done.as_ps() - scope.common.plan.rules.processing.as_ps());
        scope.step((read, slot), Step::Refused, (link, Span::ZERO));
        go_back((done, slot), scope)
    }

    /// A refusal reaches a node: what was reserved there is free again. The ingress that refuses a
    /// request itself has reserved nothing.
    pub(crate) fn refused(&mut self, (now, slot): (Time, u32), scope: &mut Scope) -> Fate {
        let burst = scope.common.bursts.get_mut(slot);
        let owner = burst.owner(slot);
        if let Some(held) = burst.reservations.pop() {
            self.release((held.link, held.wavelength), (held.start, owner), held.start);
        }
        go_back((now, slot), scope)
    }
}

/// All fibres of a burst are reserved. If it carries nothing that is followed, its landing changes
/// sums alone, and it may land now. Returns whether it does.
fn lands_unseen(burst: &Burst, context: &Context) -> bool {
    let payload = &burst.payload;
    let followed = !payload.data.is_empty() || !payload.acks.is_empty() || burst.copy;
    let early = burst.lands <= context.ahead.landing(DATA) && context.surgery.is_empty();
    early && !followed && !burst.left.is_zero()
}

/// A refusal goes back to the node before. The ingress asks again after a while, or gives up: not
/// before its processor is done, as what is counted then may not be counted before.
fn go_back((now, slot): (Time, u32), scope: &mut Scope) -> Fate {
    let (plan, burst) = (&scope.common.plan, scope.common.bursts.get_mut(slot));
    let later = match burst.reservations.last() {
        Some(before) => Some(plan.fibres.signal_back(&[before.link], now)),
        None => Some(now).filter(|&done| done > scope.context.now),
    };
    if let Some(at) = later {
        scope.context.queue.push(at, Rank::Arrival, BurstEvent::Refused.of(slot));
        return Fate::Goes;
    }
    burst.attempts += 1;
    if burst.attempts < plan.rules.requests {
        let event = BurstEvent::Again.of(slot);
        scope.context.queue.push(now + plan.rules.retry, Rank::Arrival, event);
        return Fate::Goes;
    }
    scope.common.account.record_refusal(plan, burst, &mut scope.context.recorder);
    // Who was refused a two-way reservation too often is lost on no fibre.
    (burst.hop, burst.hit_by_failure) = (0, true);
    Fate::Lost(now, if burst.link_down { LossCause::Failure } else { LossCause::Blocked })
}

/// A burst is lost whose header comes too late, by so much.
fn lost_late((now, slot): (Time, u32), by: Span, scope: &mut Scope) -> Fate {
    if scope.cause_of(slot, LossCause::LateHeader) == LossCause::LateHeader {
        scope.common.account.late(by);
    }
    Fate::Lost(now, LossCause::LateHeader)
}
