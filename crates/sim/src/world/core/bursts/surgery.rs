//! Operations on bursts: what is done to one, and where.
//!
//! A burst that is spared holds what it held in the run in which it was lost, and no more: from
//! where it would be lost it goes on beside all others, as if a wavelength were there for it alone,
//! and what would be cut of it stays in it while others have its wavelength. So nobody else's way
//! is another for it; what others meet with differs only by what its hosts do next.

use burstlab_units::{Span, Time};

use super::Mesh;
use super::burst::{BurstKind, Reservation};
use crate::measure::Step;
use crate::measure::loss::LossCause;
use crate::scenario::{Operation, Resolution};
use crate::world::context::Context;
use crate::world::events::{CoreEvent, Event};
use crate::world::surgery::{Happened, Named};

impl Mesh {
    /// Bursts numbered so far, each way.
    pub(in crate::world) fn numbered(&self) -> [u64; 2] {
        self.numbered
    }

    /// Whether the burst `number` of a way, or every one where none is named, is yet to be closed.
    pub(in crate::world) fn is_before(&self, way: usize, number: Option<u64>) -> bool {
        let number = number.unwrap_or(1);
        let is_open =
            |queue: &super::edge::Queue| queue.number == number && self.counter(queue.from) == way;
        number > self.numbered[way] || self.queues.iter().any(is_open)
    }

    /// What a burst is called.
    fn named(&self, slot: u32) -> Named {
        let burst = self.bursts.get(slot);
        (self.counter(burst.from), burst.number)
    }

    /// By how much later than else the burst in a slot lands.
    #[inline]
    pub(super) fn late(&self, slot: u32, context: &mut Context) -> Span {
        if context.surgery.is_empty() {
            Span::ZERO
        } else {
            context.surgery.delay(self.named(slot))
        }
    }

    /// A closed burst is about to set out: what the scenario prescribes for it is changed as
    /// surgery wants, and losses that are certain now are noted.
    #[inline]
    pub(super) fn operate(&mut self, now: Time, slot: u32, context: &mut Context) {
        if !context.surgery.is_empty() {
            self.operate_on(now, slot, context);
        }
        if context.surgery.notes_losses()
            && !self.rules.control
            && let Some((node, cause)) = self.bursts.get(slot).scheduled_loss
        {
            let what = self.happened(slot, (now, Some(cause), node));
            context.surgery.lost(what, context.clock);
        }
    }

    #[cold]
    fn operate_on(&mut self, now: Time, slot: u32, context: &mut Context) {
        let (burst, scheduled_loss) = (self.named(slot), self.bursts.get(slot).scheduled_loss);
        if self.rules.control {
            self.bursts.get_mut(slot).converts = context.surgery.converts(burst);
            return;
        }
        if let Some((node, cause)) = scheduled_loss {
            if context.surgery.spares(burst) {
                self.bursts.get_mut(slot).scheduled_loss = None;
                let what = self.happened(slot, (now, Some(cause), node));
                context.surgery.done(Operation::Spare, &what);
            }
        } else if context.surgery.kills(burst) {
            let acks = self.bursts.get(slot).kind == BurstKind::Ack;
            let rule = if acks { &self.ack_loss } else { &self.data_loss };
            let node = rule.node;
            self.bursts.get_mut(slot).scheduled_loss = Some((node, LossCause::Operated));
            context.surgery.done(Operation::Kill, &self.happened(slot, (now, None, node)));
        }
        let lives = self.bursts.get(slot).scheduled_loss.is_none();
        if lives && !context.surgery.delay(burst).is_zero() {
            let what = self.happened(slot, (now, None, 0));
            context.surgery.done(Operation::Delay, &what);
        }
    }

    /// Lets a burst that would be lost go on beside the others to its egress, if it is to be
    /// spared; notes the loss otherwise. Returns whether it goes on.
    pub(super) fn goes_beside(
        &mut self,
        now: Time,
        slot: u32,
        cause: LossCause,
        context: &mut Context,
    ) -> bool {
        let spares = !context.surgery.is_empty() && context.surgery.spares(self.named(slot));
        if !spares && !context.surgery.notes_losses() {
            return false;
        }
        let hop = self.bursts.get(slot).hop;
        let node = self.number_of(self.node_at(slot, hop));
        let what = self.happened(slot, (now, Some(cause), node));
        if !spares {
            context.surgery.lost(what, context.clock);
            return false;
        }
        context.surgery.done(Operation::Spare, &what);
        let late = self.late(slot, context);
        let burst = self.bursts.get(slot);
        let link = burst.route.get(burst.hop).copied();
        let on = self.reach(slot, burst.route.len());
        let back = self.reach(slot, hop);
        self.note((now, slot), Step::Spared, link, Span::ZERO, &mut context.recorder);
        let (from, bytes) = (burst.from as usize, burst.bytes.get());
        let burst = self.bursts.get_mut(slot);
        // An ingress that gives up lets it go at once.
        let leaves =
            if cause == LossCause::Blocked { burst.arrives.max(now) } else { burst.arrives };
        let rest = Span::from_ps(on.as_ps() - back.as_ps());
        burst.lands = (leaves + rest + burst.left).max(now) + late;
        burst.arrives = leaves + rest;
        let copied = std::mem::take(&mut burst.copy);
        burst.hop = burst.route.len();
        let lands = burst.lands;
        if hop == 0 && burst.reservations.is_empty() {
            burst.departs = leaves;
            if context.recorder.traces_packets() {
                burst.record_departure(&mut context.recorder);
            }
        }
        if copied {
            // As it would be where the burst is lost.
            self.copies[from] -= bytes;
        }
        if hop == 0 && self.reports && self.bursts.get(slot).attempts == 0 {
            self.tell_left(slot, context);
        }
        context.queue.push(
            lands,
            burstlab_kernel::Rank::Arrival,
            Event::Core(CoreEvent::Landed(slot)),
        );
        true
    }

    /// Whether a burst whose tail is cut off is to be whole all the same.
    pub(super) fn stays_whole(
        &self,
        now: Time,
        slot: u32,
        hop: usize,
        context: &mut Context,
    ) -> bool {
        let whole = !context.surgery.is_empty() && context.surgery.spares(self.named(slot));
        if whole || context.surgery.notes_losses() {
            let node = self.number_of(self.node_at(slot, hop));
            let what = self.happened(slot, (now, Some(LossCause::Cut), node));
            match whole {
                true => context.surgery.done(Operation::Spare, &what),
                false => context.surgery.lost(what, context.clock),
            }
        }
        whole
    }

    /// Loses a burst that has found the last fibre of its way, if it is to be killed: that fibre is
    /// free again. Returns whether it does. Where bursts are cut it may yet be lost by itself.
    pub(super) fn is_killed(&mut self, slot: u32, context: &mut Context) -> bool {
        if context.surgery.is_empty() || self.cuts() {
            return false;
        }
        let burst = self.bursts.get(slot);
        let last = burst.hop + 1 == burst.route.len();
        if !last || !context.surgery.kills(self.named(slot)) {
            return false;
        }
        let (now, owner) = (context.clock, burst.owner(slot));
        if let Some(taken) = self.bursts.get_mut(slot).reservations.pop() {
            let port = &mut self.ports[taken.link as usize];
            port.shorten(taken.wavelength, taken.start, owner, taken.start);
        }
        self.kill(now, slot, context);
        true
    }

    /// Loses a burst at its egress, if it is to be killed and was not before. Returns whether it
    /// does.
    pub(super) fn is_killed_at_end(&mut self, now: Time, slot: u32, context: &mut Context) -> bool {
        let killed = !context.surgery.is_empty()
            && self.rules.control
            && context.surgery.kills(self.named(slot));
        if killed {
            self.bursts.get_mut(slot).hop -= 1;
            self.kill(now, slot, context);
        } else if !context.surgery.is_empty() && self.rules.control {
            let delayed = !context.surgery.delay(self.named(slot)).is_zero();
            if delayed {
                let what = self.happened(slot, (now, None, 0));
                context.surgery.done(Operation::Delay, &what);
            }
        }
        killed
    }

    fn kill(&mut self, now: Time, slot: u32, context: &mut Context) {
        let hop = self.bursts.get(slot).hop;
        let node = self.number_of(self.node_at(slot, hop));
        context.surgery.done(Operation::Kill, &self.happened(slot, (now, None, node)));
        self.lose(now, slot, LossCause::Operated, context);
    }

    /// Notes where a burst that may convert its wavelength takes one that it could not have.
    pub(super) fn converted(
        &mut self,
        now: Time,
        slot: u32,
        taken: Reservation,
        context: &mut Context,
    ) {
        if !self.bursts.get(slot).converts {
            return;
        }
        self.bursts.get_mut(slot).converts = false;
        let plain = self.range(taken.link, slot, !self.rules.keeps_wavelength);
        self.bursts.get_mut(slot).converts = true;
        if plain.is_none_or(|(low, high)| !(low..=high).contains(&taken.wavelength)) {
            let node = self.number_of(self.node_at(slot, self.bursts.get(slot).hop));
            let what = self.happened(slot, (now, None, node));
            context.surgery.done(Operation::Convert, &what);
        }
    }

    /// Whether a burst may be cut after its last fibre is reserved.
    fn cuts(&self) -> bool {
        self.rules.contention.contains(&Resolution::Segmentation)
    }

    fn happened(&self, slot: u32, (at, cause, node): (Time, Option<LossCause>, usize)) -> Happened {
        let payload = &self.bursts.get(slot).payload;
        let data = payload.data.iter().map(|train| train.first);
        let data = data.filter(|packet| !packet.is_cross()).map(|packet| packet.flow);
        let slots = data.chain(payload.acks.iter().map(|train| train.first.flow));
        let connections = slots.map(|slot| self.flows.address(slot).id).collect();
        Happened { burst: self.named(slot), at, cause, node, connections }.in_order()
    }
}
