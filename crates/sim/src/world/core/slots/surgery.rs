//! Operations on optical packets. One that is spared travels outside of the slots from the switch
//! that would drop it, on every fibre as long as in them, and takes nobody's position.

use burstlab_units::Time;

use super::{CellSlot, InFlight, SlotFibre, SlotNetwork};
use crate::measure::loss::LossCause;
use crate::scenario::Operation;
use crate::world::context::Context;
use crate::world::packet::Packet;
use crate::world::surgery::{Happened, Named};

impl SlotFibre {
    /// Puts a cell on the fibre that is at its end in slot `at`, and there at its egress if it
    /// `ends`; one that is late is overtaken.
    #[inline]
    pub(super) fn flies(&mut self, at: u64, cell: CellSlot, ends: bool) {
        self.ending += u32::from(ends);
        if self.flying.back().is_none_or(|&(last, _)| last <= at) {
            self.flying.push_back((at, cell));
        } else {
            let place = self.flying.partition_point(|&(other, _)| other <= at);
            self.flying.insert(place, (at, cell));
        }
    }
}

impl InFlight {
    fn named(&self) -> Named {
        (0, self.label)
    }
}

impl SlotNetwork {
    /// By how many slots a cell that leaves on a fibre is late at its end.
    #[inline]
    pub(super) fn late(&mut self, cell: CellSlot, context: &Context) -> u64 {
        if context.surgery.is_empty() {
            return 0;
        }
        let flying = self.cells.get(cell);
        let (named, pair, hop) = (flying.named(), flying.pair, flying.hop);
        if self.pairs[pair as usize].route.len() != hop as usize {
            return 0;
        }
        context.surgery.delay(named).as_ps().div_ceil(self.clock.slot().as_ps())
    }

    /// The event of a cell.
    pub(super) fn happened(
        &self,
        flying: &InFlight,
        (at, cause, node): (Time, Option<LossCause>, usize),
    ) -> Happened {
        let slots = flying.left().filter_map(|piece| match piece.datagram {
            Packet::Data(packet) if packet.is_cross() => None,
            Packet::Data(packet) => Some(packet.flow()),
            Packet::Ack(packet) => Some(packet.flow),
        });
        let connections = slots.map(|slot| self.flows.address(slot).id).collect();
        let acks = flying.kind() == 1;
        Happened { burst: flying.named(), acks, at, cause, node, connections }.in_order()
    }

    /// Lets a cell that the switch before `link` would drop go on, if it is to be spared; answers
    /// whether it does.
    pub(super) fn goes_beside(
        &mut self,
        slot: u64,
        link: u32,
        cell: CellSlot,
        context: &mut Context,
    ) -> bool {
        if context.surgery.is_empty() || !context.surgery.spares(self.cells.get(cell).named()) {
            return false;
        }
        let node = self.fixed.graph.link(link).from;
        let now = self.clock.start(slot);
        let flying = self.cells.get(cell).clone();
        let congested = self.fibres[link as usize].descriptor.is_congested(slot);
        let cause = if congested { LossCause::Congestion } else { LossCause::Contention };
        let what = self.happened(&flying, (now, Some(cause), node as usize + 1));
        context.surgery.done(Operation::Spare, &what);
        let (pair, hop) = (flying.pair as usize, flying.hop as usize);
        let rest = self.pairs[pair].route[hop..].to_vec();
        self.cells.get_mut(cell).hop += rest.len() as u32;
        self.nodes[node as usize].switch.leaves_beside();
        let on = |slot, &link: &u32| self.fixed.crosses(self.clock, slot, link);
        let there = rest.iter().fold(slot, on);
        let at = there + self.late(cell, context);
        let last = *rest.last().unwrap_or(&link);
        self.fibres[last as usize].flies(at, cell, true);
        self.fronts[last as usize] = self.fronts[last as usize].min(at);
        let to = self.fixed.graph.link(last).to;
        self.calendar.wake(to, at, context);
        true
    }

    /// Loses a cell that has come to its egress, if it is to be killed; returns whether it does.
    #[inline]
    pub(super) fn is_killed(&mut self, at: Time, cell: CellSlot, context: &mut Context) -> bool {
        !context.surgery.is_empty() && self.lands_operated(at, cell, context)
    }

    #[cold]
    fn lands_operated(&mut self, at: Time, cell: CellSlot, context: &mut Context) -> bool {
        let flying = self.cells.get(cell).clone();
        let route = &self.pairs[flying.pair as usize].route;
        let link = *route.last().expect("a route has a fibre");
        let node = self.fixed.graph.link(link).from as usize + 1;
        let what = self.happened(&flying, (at, None, node));
        if !context.surgery.kills(flying.named()) {
            if !context.surgery.delay(flying.named()).is_zero() {
                context.surgery.done(Operation::Delay, &what);
            }
            return false;
        }
        context.surgery.done(Operation::Kill, &what);
        let flying = self.cells.take(cell);
        self.tally.kinds[flying.kind()].killed += 1;
        self.ends_lost((at, link), &flying, LossCause::Operated, context);
        true
    }
}
