//! The headers of light bursts, from node to node.

use burstlab_kernel::Rank;
use burstlab_units::Time;

use super::light::{Light, NO_SLOT, may_be_light};
use super::wish::{ON_NONE, Wish, before};
use super::{Contended, Signal};
use crate::world::ahead::policy::DATA;
use crate::world::context::Context;
use crate::world::core::account::sort_as;
use crate::world::core::burst::{Closed, Fate, Reservation};
use crate::world::core::payload::BurstKind;
use crate::world::core::plan::Plan;
use crate::world::core::scope::{Common, Scope};
use crate::world::events::BurstEvent;
impl Contended {
    /// A closed burst that carries nothing sets out, if its first fibre has a wavelength for it at
    /// once. Returns whether it does; otherwise nothing has happened.
    #[inline]
    pub(crate) fn offer_light(
        &mut self,
        closed: &Closed<'_>,
        label: u64,
        scope: &mut Scope,
    ) -> bool {
        let plan = &scope.common.plan;
        let rules = &plan.rules;
        if !may_be_light(plan, scope.context) || rules.random_wavelength {
            return false;
        }
        let now = closed.at;
        let mut burst = Light {
            id: closed.id,
            label,
            ordinal: self.sent[closed.ends.0 as usize][BurstKind::Background as usize] + 1,
            ends: closed.ends,
            class: closed.class,
            hop: 0,
            hops: plan.routes.of(closed.ends.0, closed.ends.1)[0].len() as u32,
            wavelength: 0,
            bytes: closed.bytes,
            closed: now,
            departs: now,
            arrives: now,
            hold: rules.hold(closed.bytes),
        };
        burst.arrives = now + rules.offset(burst.hops as usize, burst.class);
        burst.departs = burst.arrives;
        let done = now + rules.processing;
        let Some(taken) = self.place(now, &burst, plan).filter(|_| done < Time::NEVER) else {
            return false;
        };
        self.sent[closed.ends.0 as usize][BurstKind::Background as usize] = burst.ordinal;
        let (account, fifo) = (&mut scope.common.account, rules.fifo);
        account.drawn(closed.bytes);
        account.sent_alone(BurstKind::Background, closed.bytes);
        if fifo {
            account.passed_port(BurstKind::Background);
        }
        self.processors[closed.ends.0 as usize].serve(now);
        scope.common.account.served(BurstKind::Background, closed.ends.0);
        self.reserve_light(done, burst, taken, scope);
        true
    }

    /// The wavelength that a burst has at the node of its header, if it has one at once.
    #[inline]
    fn place(&mut self, now: Time, burst: &Light, plan: &Plan) -> Option<Reservation> {
        let (rules, hop) = (&plan.rules, burst.hop as usize);
        let (link, hold) = (burst.route(plan)[hop], burst.hold);
        if rules.fifo && hop == 0 {
            return self.place_at_port(now, (link, burst), plan);
        }
        if now + rules.processing + rules.switching > burst.arrives {
            return None;
        }
        let range = self.reachable(
            link,
            (hop, burst.wavelength),
            !rules.before(link, &plan.graph).keeps_wavelength,
            plan,
        );
        let wish = Wish { link, departs: burst.arrives, hold, range, came: ON_NONE };
        self.direct(now, &wish, plan)
    }

    /// The same at an ingress where bursts wait for a wavelength: nothing, if it had to wait.
    #[inline]
    fn place_at_port(
        &mut self,
        now: Time,
        (link, burst): (u32, &Light),
        plan: &Plan,
    ) -> Option<Reservation> {
        let (departs, switching) = (burst.arrives, plan.rules.switching);
        let (start, hold) = (before(departs, switching), burst.hold + switching);
        let port = &mut self.ports[link as usize];
        port.forget(now);
        if start + hold == Time::NEVER {
            return None;
        }
        let wavelength = port.find(start, hold, (0, port.wavelengths() - 1))?;
        let arrives = plan.fibres.arrives(link, departs)?;
        Some(Reservation { link, wavelength, start, departs, arrives, passes: burst.hold })
    }

    /// The header of a light burst reaches the end of a fibre: returns the slot of the burst, where
    /// it has one now, and what comes of that.
    pub(super) fn light_arrives(&mut self, now: Time, link: u32, scope: &mut Scope) -> (u32, Fate) {
        let burst = self.light[link as usize].pop_front().expect("a light burst of this signal");
        let plan = &scope.common.plan;
        let node = plan.graph.link(link).to;
        let done = self.processors[node as usize].serve(now);
        if done == Time::NEVER {
            return (burst.takes_slot(scope), Fate::Goes);
        }
        let taken = self.place(now, &burst, plan);
        scope.common.account.served(BurstKind::Background, node);
        match taken.filter(|_| may_be_light(&scope.common.plan, scope.context)) {
            Some(taken) => self.reserve_light(done, burst, taken, scope),
            None => {
                let slot = burst.takes_slot(scope);
                (slot, self.schedule((now, slot), scope))
            }
        }
    }

    /// Reserves the wavelength that was found for a light burst, and lets its header go on.
    #[inline]
    fn reserve_light(
        &mut self,
        done: Time,
        mut burst: Light,
        taken: Reservation,
        scope: &mut Scope,
    ) -> (u32, Fate) {
        let plan = &scope.common.plan;
        let Reservation { link, wavelength, start, departs, arrives, .. } = taken;
        let port = &mut self.ports[link as usize];
        port.reserve(wavelength, start, departs + burst.hold, burst.owner());
        burst.wavelength = plan.graph.link(link).wavelength_of(wavelength);
        burst.arrives = arrives;
        burst.hop += 1;
        let (begun, sent) = self.control[link as usize].send(done);
        let Common { plan, account, .. } = &mut *scope.common;
        let sort = sort_as(plan, BurstKind::Background, burst.class);
        account.carried(sort, link, begun.since(done));
        if burst.hop < burst.hops {
            self.sends_light(link, (plan.fibres.signal(link, sent), burst), scope.context);
            return (NO_SLOT, Fate::Goes);
        }
        let lands = arrives + burst.hold;
        if lands <= scope.context.ahead.landing(DATA) {
            account.landed_unseen(&burst.ended(sort, lands));
            return (NO_SLOT, Fate::Goes);
        }
        let slot = burst.takes_slot(scope);
        scope.common.bursts.get_mut(slot).lands = lands;
        scope.context.queue.push(lands, Rank::Arrival, BurstEvent::Landed.of(slot));
        (slot, Fate::Goes)
    }

    /// Puts the header of a light burst on a fibre.
    #[inline]
    pub(super) fn sends_light(
        &mut self,
        link: u32,
        (at, burst): (Time, Light),
        context: &mut Context,
    ) {
        let signal = Signal { slot: NO_SLOT, id: burst.id, trailer: None };
        let event = BurstEvent::Signal.of(link);
        self.signals[link as usize].push(&mut context.queue, at, event, signal);
        self.light[link as usize].push_back(burst);
    }
}
