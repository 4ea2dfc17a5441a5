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

    /// Bytes of copies that edge nodes keep.
    #[cfg(test)]
    pub(in crate::world) fn copied(&self) -> u64 {
        self.copies.iter().sum()
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
            && let Some((hop, cause)) = self.bursts.get(slot).scheduled_loss
        {
            let what = self.happened(slot, (now, Some(cause), self.on_way(slot, hop)));
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
        if let Some((hop, cause)) = scheduled_loss {
            if context.surgery.spares(burst) {
                self.bursts.get_mut(slot).scheduled_loss = None;
                let what = self.happened(slot, (now, Some(cause), self.on_way(slot, hop)));
                context.surgery.done(Operation::Spare, &what);
            }
        } else if context.surgery.kills(burst) {
            let acks = self.bursts.get(slot).kind == BurstKind::Ack;
            let rule = if acks { &self.ack_loss } else { &self.data_loss };
            let hop = rule.node;
            self.bursts.get_mut(slot).scheduled_loss = Some((hop, LossCause::Operated));
            let node = self.on_way(slot, hop);
            context.surgery.done(Operation::Kill, &self.happened(slot, (now, None, node)));
        }
        let lives = self.bursts.get(slot).scheduled_loss.is_none();
        if lives && !context.surgery.delay(burst).is_zero() {
            let what = self.happened(slot, (now, None, 0));
            context.surgery.done(Operation::Delay, &what);
        }
    }

    /// The number of the node at which a burst of a way that has yet to set out has `hop` fibres
    /// behind it, or fewer where there are not as many.
    fn on_way(&self, slot: u32, hop: usize) -> usize {
        let burst = self.bursts.get(slot);
        let way = self.way(burst.from, burst.to).expect("a path has ways");
        let behind = hop.min(self.ways[way].fibres.len() - 1);
        let last = behind.checked_sub(1).map(|last| self.ways[way].fibres[last]);
        self.number_of(last.map_or(burst.from, |link| self.graph.link(link).to))
    }

    /// Lets a burst that would be lost before its fibre `hop` go on beside the others to its
    /// egress, if it is to be spared; notes the loss otherwise. Returns whether it goes on. Its
    /// header may be further, and is then of no use any more.
    pub(super) fn goes_beside(
        &mut self,
        now: Time,
        (slot, hop): (u32, usize),
        cause: LossCause,
        context: &mut Context,
    ) -> bool {
        let spares = !context.surgery.is_empty() && context.surgery.spares(self.named(slot));
        if !spares && !context.surgery.notes_losses() {
            return false;
        }
        let node = self.number_of(self.node_at(slot, hop));
        let what = self.happened(slot, (now, Some(cause), node));
        if !spares {
            context.surgery.lost(what, context.clock);
            return false;
        }
        context.surgery.done(Operation::Spare, &what);
        let late = self.late(slot, context);
        let burst = self.bursts.get(slot);
        let link = burst.route.get(hop).copied();
        let on = self.reach(slot, burst.route.len());
        let back = self.reach(slot, hop);
        self.note((now, slot), Step::Spared, link, Span::ZERO, &mut context.recorder);
        let (from, bytes) = (burst.from as usize, burst.bytes.get());
        let burst = self.bursts.get_mut(slot);
        let leaves = match burst.reservations.get(hop) {
            Some(held) => held.departs,
            // An ingress that gives up lets it go at once.
            None if cause == LossCause::Blocked => burst.arrives.max(now),
            None => burst.arrives,
        };
        let rest = Span::from_ps(on.as_ps() - back.as_ps());
        burst.lands = (leaves + rest + burst.left).max(now) + late;
        burst.arrives = leaves + rest;
        let copied = std::mem::take(&mut burst.copy);
        burst.beside = true;
        let departs = std::mem::replace(&mut burst.hop, burst.route.len()) == 0;
        let lands = burst.lands;
        if departs {
            burst.departs = leaves;
            if context.recorder.traces_packets() {
                burst.record_departure(&mut context.recorder);
            }
        }
        if copied {
            // As it would be where the burst is lost.
            self.copies[from] -= bytes;
        }
        if departs && self.reports && self.bursts.get(slot).attempts == 0 {
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
        let burst = self.bursts.get(slot);
        let (payload, acks) = (&burst.payload, burst.kind == BurstKind::Ack);
        let data = payload.data.iter().map(|train| train.first);
        let data = data.filter(|packet| !packet.is_cross()).map(|packet| packet.flow);
        let slots = data.chain(payload.acks.iter().map(|train| train.first.flow));
        let connections = slots.map(|slot| self.flows.address(slot).id).collect();
        Happened { burst: self.named(slot), acks, at, cause, node, connections }.in_order()
    }
}
