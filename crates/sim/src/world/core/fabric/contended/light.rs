//! Headers of bursts that carry nothing: the fast path of background bursts.
//!
//! A source draws such a burst, so nobody waits for what is in it. Where no rule looks at bursts in
//! flight, its header is a short record that lies on its fibre, and it takes no slot. It goes on so
//! as long as each node finds it a wavelength at once. Otherwise it is put into a slot, as if it
//! had been there all the time, and the general path goes on: before contention, for a header that
//! is late, and for a landing that has to be an event.
//!
//! Both paths make the same events, draws and counts. A trace of bursts takes the general path
//! throughout, which is the twin in tests.

use burstlab_kernel::Rank;
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::contention::{Wish, before};
use super::converting::ON_NONE;
use super::{Contended, Signal};
use crate::measure::{Ended, Sort};
use crate::world::ahead::policy::DATA;
use crate::world::context::Context;
use crate::world::core::account::sort_as;
use crate::world::core::burst::{Burst, BurstId, Closed, Fate, Reservation};
use crate::world::core::payload::{BurstKind, Payload};
use crate::world::core::plan::Plan;
use crate::world::core::scope::{Common, Scope};
use crate::world::events::BurstEvent;

/// The slot of a signal whose burst has none.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// A burst that carries nothing, behind so many fibres of its route.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Light {
    id: BurstId,
    label: u64,
    ordinal: u64,
    ends: (u32, u32),
    class: u32,
    hop: u32,
    /// Fibres of its route.
    hops: u32,
    wavelength: u32,
    bytes: Bytes,
    closed: Time,
    departs: Time,
    /// When its first bit reaches the node that schedules it next.
    arrives: Time,
    hold: Span,
}

impl Light {
    /// A burst in a slot whose header goes on over a fibre, if it may leave its slot.
    #[inline]
    pub(super) fn of(burst: &Burst, plan: &Plan, context: &Context) -> Option<Self> {
        let light = burst.kind == BurstKind::Background && may_be_light(plan, context);
        let plain = || {
            let carries = burst.packets > 0 || burst.copy || burst.converts;
            !(carries || burst.deflected || burst.delayed > 0 || burst.spared)
        };
        (light && plain()).then(|| Self {
            id: burst.id,
            label: burst.label,
            ordinal: burst.ordinal,
            ends: (burst.from, burst.to),
            class: burst.class,
            hop: burst.hop as u32,
            hops: burst.planned as u32,
            wavelength: burst.wavelength,
            bytes: burst.bytes,
            closed: burst.closed,
            departs: burst.departs,
            arrives: burst.arrives,
            hold: burst.hold,
        })
    }

    /// The route of all that are light: the only one that bursts of its pair take.
    fn route<'a>(&self, plan: &'a Plan) -> &'a [u32] {
        &plan.routes.of(self.ends.0, self.ends.1)[0]
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// The mark of its reservations, which nobody cuts: its slot is of no use.
    fn owner(&self) -> u128 {
        self.id.owner(self.label, 0)
    }

    /// It is all over: what is counted as it lands at `at`.
    fn ended(&self, sort: Sort, at: Time) -> Ended {
        let load = self.bytes.get();
        Ended {
            sort,
            from: self.ends.0,
            to: self.ends.1,
            hops: self.hops as usize,
            bytes: self.bytes,
            packets: 0,
            packets_left: 0,
            load,
            load_left: load,
            took: at.since(self.closed),
        }
    }

    /// Puts it into a slot.
    fn takes_slot(&self, scope: &mut Scope) -> u32 {
        let Common { plan, bursts, .. } = &mut *scope.common;
        let mut closed = Closed {
            id: self.id,
            ends: self.ends,
            class: self.class,
            route_index: 0,
            opened: self.closed,
            at: self.closed,
            bytes: self.bytes,
            load: self.bytes.get(),
            kind: BurstKind::Background,
            drawn: true,
            payload: &mut Payload::default(),
            spaced: &[],
            killed: &[],
            prescribed: None,
        };
        let slot = bursts.open(&mut closed, self.label);
        let burst = bursts.get_mut(slot);
        burst.route.extend_from_slice(self.route(plan));
        (burst.planned, burst.hop) = (burst.route.len(), self.hop as usize);
        (burst.departs, burst.arrives, burst.ordinal) = (self.departs, self.arrives, self.ordinal);
        (burst.hold, burst.left, burst.wavelength) = (self.hold, self.hold, self.wavelength);
        slot
    }
}

/// Whether bursts that carry nothing may be light now.
#[inline]
fn may_be_light(plan: &Plan, context: &Context) -> bool {
    plan.rules.light && context.surgery.is_empty() && !context.recorder.traces_bursts()
}

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
