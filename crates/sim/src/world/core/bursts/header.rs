//! Headers: from node to node, reserving ahead of their bursts.

use burstlab_kernel::Rank;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Mesh;
use super::burst::Reservation;
use super::contention::Outcome;
use crate::measure::Step;
use crate::measure::loss::LossCause;
use crate::scenario::Protocol;
use crate::world::context::Context;
use crate::world::events::{CoreEvent, Event};

/// What travels on a control channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Signal {
    pub(super) slot: u32,
    /// Number of the burst: by now its slot may hold another one.
    pub(super) number: u64,
    /// Of a trailer: the hop it comes to, and what is left of the burst.
    pub(super) trailer: Option<(u32, Span)>,
}

impl Mesh {
    /// A header whose first fibre is reserved enters the processor of its ingress.
    pub(super) fn submit(&mut self, now: Time, slot: u32, context: &mut Context) {
        if let Some(done) = self.served(now, slot, context) {
            self.go_on(done, slot, context);
        }
    }

    /// The processor of the node takes a header; returns when it is done, unless the header has to
    /// wait: then an event says when its turn comes.
    fn served(&mut self, now: Time, slot: u32, context: &mut Context) -> Option<Time> {
        let burst = self.bursts.get(slot);
        let (node, kind) = (self.node_at(slot, burst.hop), burst.kind as usize);
        let done = self.processors[node as usize].serve(now);
        if done == Time::NEVER {
            // Its turn comes after any run.
            return None;
        }
        let waits = done.since(now + self.rules.processing);
        self.tally.served(kind, node, waits);
        self.note((now, slot), Step::Header, None, waits, &mut context.recorder);
        if waits.is_zero() {
            return Some(done);
        }
        let event = Event::Core(CoreEvent::Served(slot));
        context.queue.push(now + waits, Rank::Arrival, event);
        None
    }

    /// A signal reaches the end of a fibre.
    pub(super) fn signal(&mut self, now: Time, link: u32, context: &mut Context) {
        let event = Event::Core(CoreEvent::Signal(link));
        let signal = self.signals[link as usize].pop(&mut context.queue, event);
        match signal.trailer {
            Some((hop, left)) => self.trail(now, &signal, hop as usize, left, context),
            // The slot is kept until the header of a lost burst has come.
            None if self.bursts.lay(signal.slot, Some(signal.number)) => {}
            None if self.bursts.is(signal.slot, signal.number) => {
                self.header_arrives(now, signal.slot, context);
            }
            None => {}
        }
    }

    /// A header reaches a node; it may have to wait for the processor.
    pub(super) fn header_arrives(&mut self, now: Time, slot: u32, context: &mut Context) {
        if self.served(now, slot, context).is_some() {
            self.schedule(now, slot, context);
        }
    }

    /// A node works on a header from `now` on: it finds the burst a way out.
    pub(super) fn schedule(&mut self, now: Time, slot: u32, context: &mut Context) {
        let done = now + self.rules.processing;
        let burst = self.bursts.get(slot);
        let (hop, departs) = (burst.hop, burst.departs);
        if burst.reservations.len() > hop {
            self.follow(now, slot, context);
            return;
        }
        if let Some(cause) = burst.loss_here() {
            self.lose(now, slot, cause, context);
            return;
        }
        let two_way = self.rules.protocol == Protocol::TwoWay;
        let late = done + self.rules.switching > burst.arrives
            || two_way && done + self.reach(slot, hop) > departs;
        if late && two_way {
            self.refuse(done, slot, context);
            return;
        }
        if late {
            self.tally.late((done + self.rules.switching).since(burst.arrives));
            self.lose(now, slot, LossCause::LateHeader, context);
            return;
        }
        match self.resolve(now, slot, context) {
            Outcome::Placed(reservation) => {
                self.reserve(now, slot, reservation, context);
                self.go_on(done, slot, context);
            }
            Outcome::Blocked(_) if two_way => self.refuse(done, slot, context),
            Outcome::Blocked(cause) => {
                if cause == LossCause::Contention {
                    self.bursts.get_mut(slot).blocker = self.blocker(now, slot);
                }
                self.lose(now, slot, cause, context);
            }
            Outcome::Again => {
                let back = self.reach(slot, hop);
                let burst = self.bursts.get(slot);
                let link = burst.route[hop];
                self.tally.resent(burst.kind as usize, link);
                self.record_hops(burst, true, &mut context.recorder);
                let none = Span::ZERO;
                self.note((now, slot), Step::Resent, Some(link), none, &mut context.recorder);
                let burst = self.bursts.get_mut(slot);
                burst.attempts += 1;
                // What is on the fibres is of no use any more; to cut it takes nothing away.
                burst.reservations.clear();
                let at = done + back + self.rules.wait;
                let event = Event::Core(CoreEvent::Again(slot));
                context.queue.push(at, Rank::Arrival, event);
            }
        }
    }

    /// Reserves a wavelength that was found for a burst.
    fn reserve(&mut self, now: Time, slot: u32, reservation: Reservation, context: &mut Context) {
        let burst = self.bursts.get(slot);
        // A burst that surgery spares may be longer than the hole that it has.
        let reservation = Reservation { passes: burst.left.min(burst.hold), ..reservation };
        let (end, owner) = (reservation.departs + burst.hold, burst.owner(slot));
        let (wavelength, start) = (reservation.wavelength, reservation.start);
        self.ports[reservation.link as usize].reserve(wavelength, start, end, owner);
        self.converted(now, slot, reservation, context);
        let fibre = self.graph.link(reservation.link);
        let burst = self.bursts.get_mut(slot);
        burst.wavelength = fibre.wavelength_of(wavelength);
        if burst.reservations.is_empty() {
            burst.departs = reservation.departs;
        }
        burst.reservations.push(reservation);
    }

    /// A node works from `now` on on the header of a burst for which an ingress with a queue has
    /// reserved its own fibre before.
    fn follow(&mut self, now: Time, slot: u32, context: &mut Context) {
        let (done, departs) = (now + self.rules.processing, self.bursts.get(slot).departs);
        match (now > departs, self.rules.protocol) {
            (false, _) => self.go_on(done, slot, context),
            // The burst has left while its header waited.
            (true, Protocol::TwoWay) => self.refuse(done, slot, context),
            (true, _) => {
                self.tally.late(now.since(departs));
                self.lose(now, slot, LossCause::LateHeader, context);
            }
        }
    }

    /// The fibre of this hop is reserved: the header goes on, or the burst's landing is certain.
    fn go_on(&mut self, done: Time, slot: u32, context: &mut Context) {
        if self.is_killed(slot, context) {
            return;
        }
        let late = self.late(slot, context);
        let burst = self.bursts.get_mut(slot);
        let reservation = *burst.reservations.last().expect("a fibre was reserved");
        let delay = self.graph.link(reservation.link).delay;
        burst.arrives = reservation.departs + delay;
        burst.hop += 1;
        let (begun, sent) = self.control[reservation.link as usize].send(done);
        let wait = begun.since(done);
        self.tally.carried(burst.kind as usize, reservation.link, wait);
        let read = Time::from_ps(done.as_ps() - self.rules.processing.as_ps());
        let link = Some(reservation.link);
        self.note((read, slot), Step::Carried, link, wait, &mut context.recorder);
        let burst = self.bursts.get_mut(slot);
        if burst.hop == 1 {
            if context.recorder.traces_packets() {
                burst.record_departure(&mut context.recorder);
            }
            if self.reports && burst.attempts == 0 {
                self.tell_left(slot, context);
            }
        }
        let burst = self.bursts.get_mut(slot);
        if burst.hop == burst.route.len() {
            burst.lands = burst.arrives + burst.left + late;
            let lands = burst.lands;
            if !self.lands_unseen(slot, context) {
                let event = Event::Core(CoreEvent::Landed(slot));
                context.queue.push(lands, Rank::Arrival, event);
            }
            return;
        }
        let signal = Signal { slot, number: burst.number, trailer: None };
        self.signals[reservation.link as usize].push(
            &mut context.queue,
            sent + delay,
            Event::Core(CoreEvent::Signal(reservation.link)),
            signal,
        );
    }

    /// All fibres of a burst are reserved. If it carries nothing that is followed, its landing
    /// changes sums alone: where nothing can happen to it any more, and the run goes on until then,
    /// it is done with now. Returns whether it is.
    fn lands_unseen(&mut self, slot: u32, context: &mut Context) -> bool {
        let burst = self.bursts.get(slot);
        let (lands, payload) = (burst.lands, &burst.payload);
        let followed = !payload.data.is_empty() || !payload.acks.is_empty() || burst.copy;
        let late = lands > context.safe || !context.surgery.is_empty();
        if !self.unseen || followed || late || burst.left.is_zero() {
            return false;
        }
        self.batches.delivered += payload.of_batches();
        self.ends(lands, slot, None, context);
        self.bursts.close(slot);
        true
    }

    /// A node refuses a two-way reservation: the refusal goes back fibre by fibre.
    fn refuse(&mut self, done: Time, slot: u32, context: &mut Context) {
        let burst = self.bursts.get(slot);
        let link = burst.route[burst.hop];
        self.tally.refused(burst.kind as usize, link);
        let read = Time::from_ps(done.as_ps() - self.rules.processing.as_ps());
        let none = Span::ZERO;
        self.note((read, slot), Step::Refused, Some(link), none, &mut context.recorder);
        let burst = self.bursts.get(slot);
        match burst.reservations.last() {
            Some(reservation) => {
                let at = done + self.graph.link(reservation.link).delay;
                let event = Event::Core(CoreEvent::Refused(slot));
                context.queue.push(at, Rank::Arrival, event);
            }
            None => self.ask_again(done, slot, context),
        }
    }

    /// A refusal reaches a node: what was reserved there is free again.
    pub(super) fn refused(&mut self, now: Time, slot: u32, context: &mut Context) {
        let burst = self.bursts.get_mut(slot);
        let reservation = burst.reservations.pop().expect("a refusal follows a reservation");
        let (port, owner) = (&mut self.ports[reservation.link as usize], burst.owner(slot));
        port.shorten(reservation.wavelength, reservation.start, owner, reservation.start);
        match burst.reservations.last() {
            Some(before) => {
                let at = now + self.graph.link(before.link).delay;
                let event = Event::Core(CoreEvent::Refused(slot));
                context.queue.push(at, Rank::Arrival, event);
            }
            None => self.ask_again(now, slot, context),
        }
    }

    /// The ingress knows of a refusal: it asks again after a while, or gives up.
    fn ask_again(&mut self, now: Time, slot: u32, context: &mut Context) {
        let burst = self.bursts.get_mut(slot);
        burst.attempts += 1;
        if burst.attempts >= self.rules.requests {
            self.record_refusal(self.bursts.get(slot), &mut context.recorder);
            let burst = self.bursts.get_mut(slot);
            // Who was refused a two-way reservation too often is lost on no fibre.
            (burst.hop, burst.struck) = (0, true);
            let cause = if burst.dark { LossCause::Failure } else { LossCause::Blocked };
            self.lose(now, slot, cause, context);
            return;
        }
        let event = Event::Core(CoreEvent::Again(slot));
        context.queue.push(now + self.rules.retry, Rank::Arrival, event);
    }

    /// The last bit of a burst reaches its egress, unless the event is stale.
    pub(super) fn land(&mut self, now: Time, slot: u32, context: &mut Context) {
        let burst = self.bursts.get(slot);
        if burst.number == 0 || burst.lands != now {
            return;
        }
        if burst.left.is_zero() || burst.packets > 0 && burst.payload.is_empty() {
            // All of it, or all that it carried, was cut off on the way.
            self.ends(now, slot, Some(LossCause::Cut), context);
            self.bursts.close(slot);
            return;
        }
        if self.is_killed_at_end(now, slot, context) {
            return;
        }
        self.ends(now, slot, None, context);
        if !self.fed.is_empty() {
            self.batches.delivered += self.bursts.get(slot).payload.of_batches();
        }
        let landed = &mut self.effects.landed;
        std::mem::swap(landed, &mut self.bursts.get_mut(slot).payload);
        // Nobody follows packets that are but counted.
        landed.load = Default::default();
        self.landed(slot, context);
        self.bursts.close(slot);
    }
}

impl Reservation {
    /// How long the burst has left this node at `at`.
    pub(super) fn gone_by(&self, at: Time) -> Span {
        if at > self.departs { at.since(self.departs) } else { Span::ZERO }
    }
}
