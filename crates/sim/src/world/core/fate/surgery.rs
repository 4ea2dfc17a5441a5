//! Operations on bursts: what is done to one, and where.
//!
//! A spared burst holds the resources that it held in the run in which it was lost, and no more.
//! From the node of its loss it goes on as if an extra wavelength were there for it alone. Packets
//! that would be cut stay in it, while the other burst has its wavelength. So no other burst takes
//! another path because of it: other bursts differ only by the next actions of its hosts.

use burstlab_units::{Span, Time};

use super::Fates;
use crate::measure::loss::LossCause;
use crate::scenario::Operation;
use crate::world::core::burst::Burst;
use crate::world::core::payload::BurstKind;
use crate::world::core::scope::{Common, Scope};
use crate::world::surgery::{Happened, Named};

impl Fates {
    /// Where a burst of a kind is lost that is killed on a path.
    fn node_of_loss(&self, kind: BurstKind) -> usize {
        if kind == BurstKind::Ack { self.acks.node } else { self.data.node }
    }
}

impl Scope<'_> {
    fn named(&self, slot: u32) -> Named {
        self.common.plan.named(self.common.bursts.get(slot))
    }

    /// By how much later than else the burst in a slot lands.
    #[inline]
    pub(crate) fn late(&self, slot: u32) -> Span {
        if self.context.surgery.is_empty() {
            Span::ZERO
        } else {
            self.context.surgery.delay(self.named(slot))
        }
    }

    /// A closed burst is about to set out: what the scenario prescribes for it is changed as
    /// surgery wants, and losses that are certain now are noted.
    #[inline]
    pub(crate) fn operate(&mut self, now: Time, slot: u32) {
        if !self.context.surgery.is_empty() {
            self.operate_on(now, slot);
        }
        if self.context.surgery.notes_losses()
            && !self.common.plan.rules.control
            && let Some((hop, cause)) = self.common.bursts.get(slot).scheduled_loss
        {
            let what = self.happened(slot, (now, Some(cause), self.on_way(slot, hop)));
            self.context.surgery.lost(what, self.context.now);
        }
    }

    #[cold]
    fn operate_on(&mut self, now: Time, slot: u32) {
        let (burst, scheduled_loss) =
            (self.named(slot), self.common.bursts.get(slot).scheduled_loss);
        if self.common.plan.rules.control {
            self.common.bursts.get_mut(slot).converts = self.context.surgery.converts(burst);
            return;
        }
        if let Some((hop, cause)) = scheduled_loss {
            if self.context.surgery.spares(burst) {
                self.common.bursts.get_mut(slot).scheduled_loss = None;
                let what = self.happened(slot, (now, Some(cause), self.on_way(slot, hop)));
                self.context.surgery.done(Operation::Spare, &what);
            }
        } else if self.context.surgery.kills(burst) {
            let hop = self.common.fates.node_of_loss(self.common.bursts.get(slot).kind);
            self.common.bursts.get_mut(slot).scheduled_loss = Some((hop, LossCause::Operated));
            let what = self.happened(slot, (now, None, self.on_way(slot, hop)));
            self.context.surgery.done(Operation::Kill, &what);
        }
        if self.common.bursts.get(slot).scheduled_loss.is_none() {
            self.note_delay(now, slot);
        }
    }

    /// Notes that a burst lands later than else, if it does.
    fn note_delay(&mut self, now: Time, slot: u32) {
        if !self.late(slot).is_zero() {
            self.context.surgery.done(Operation::Delay, &self.happened(slot, (now, None, 0)));
        }
    }

    /// The number of the node at which a burst of a path that has yet to set out has `hop` fibres
    /// behind it, or fewer where there are not as many.
    fn on_way(&self, slot: u32, hop: usize) -> usize {
        let &Burst { from, to, .. } = self.common.bursts.get(slot);
        let fibres = &self.common.plan.routes.of(from, to)[0];
        let last = hop.min(fibres.len() - 1).checked_sub(1).map(|last| fibres[last]);
        self.common.plan.number_of(last.map_or(from, |link| self.common.plan.graph.link(link).to))
    }

    /// Whether a burst that would be lost before its fibre `hop` is spared; notes the loss
    /// otherwise.
    pub(crate) fn spares(
        &mut self,
        now: Time,
        (slot, hop): (u32, usize),
        cause: LossCause,
    ) -> bool {
        let spares =
            !self.context.surgery.is_empty() && self.context.surgery.spares(self.named(slot));
        if spares || self.context.surgery.notes_losses() {
            let what = self.happened(slot, (now, Some(cause), self.node(slot, hop)));
            match spares {
                true => self.context.surgery.done(Operation::Spare, &what),
                false => self.context.surgery.lost(what, self.context.now),
            }
        }
        spares
    }

    /// Whether a burst that has found the last fibre of its route is to be killed there. Where
    /// bursts
    /// are cut it may yet be lost by itself.
    #[inline]
    pub(crate) fn is_killed(&self, slot: u32) -> bool {
        if self.context.surgery.is_empty() || self.common.plan.rules.cuts {
            return false;
        }
        let burst = self.common.bursts.get(slot);
        burst.hop + 1 == burst.route.len() && self.context.surgery.kills(self.named(slot))
    }

    /// Whether a burst is to be killed at its egress that was not before; notes that it is late
    /// otherwise.
    #[inline]
    pub(crate) fn is_killed_at_end(&mut self, now: Time, slot: u32) -> bool {
        let asked = !self.context.surgery.is_empty() && self.common.plan.rules.control;
        asked && self.kills_at_end(now, slot)
    }

    #[cold]
    fn kills_at_end(&mut self, now: Time, slot: u32) -> bool {
        let killed = self.context.surgery.kills(self.named(slot));
        if !killed {
            self.note_delay(now, slot);
        }
        killed
    }

    /// Notes what is done to a burst where its header has come to.
    pub(crate) fn note(&mut self, now: Time, slot: u32, operation: Operation) {
        let node = self.node(slot, self.common.bursts.get(slot).hop);
        self.context.surgery.done(operation, &self.happened(slot, (now, None, node)));
    }

    /// The number of the node at which a burst has `hop` fibres behind it.
    fn node(&self, slot: u32, hop: usize) -> usize {
        let Common { plan, bursts, .. } = &*self.common;
        plan.number_of(plan.node_at(bursts.get(slot), hop))
    }

    fn happened(&self, slot: u32, (at, cause, node): (Time, Option<LossCause>, usize)) -> Happened {
        let burst = self.common.bursts.get(slot);
        let (payload, acks) = (&burst.payload, burst.kind == BurstKind::Ack);
        let data = payload.data.iter().map(|train| train.first);
        let data = data.filter(|packet| !packet.is_cross()).map(|packet| packet.flow());
        let slots = data.chain(payload.acks.iter().map(|train| train.first.flow));
        let connections = slots.map(|slot| self.common.flows.address(slot).id).collect();
        Happened { burst: self.named(slot), acks, at, cause, node, connections }.in_order()
    }
}
