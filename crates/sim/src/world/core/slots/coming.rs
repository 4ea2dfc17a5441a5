//! Data packets that will be at their first edge node: those that are no events.

use burstlab_units::{Span, Time};

use super::ingress::Moment;
use super::{Fixed, SlotNetwork};
use crate::world::context::Context;
use crate::world::core::flows::Address;
use crate::world::packet::{DataPacket, Packet};

/// The greatest common divisor of two numbers that are not zero.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

impl Fixed {
    /// Whether something holds of the delay of the first fibres of any route.
    fn any_way_back(&self, holds: impl Fn(Span) -> bool) -> bool {
        let edges = self.graph.edges();
        let ends = edges.iter().flat_map(|&from| edges.iter().map(move |&to| (from, to)));
        let all = ends.filter(|(from, to)| from != to).map(|(from, to)| self.routes.peek(from, to));
        let mut routes = all.flat_map(|all| all.into_owned().into_iter().take(self.rules.routes()));
        let holds = |way: &[u32]| self.graph.steady_delay(way).is_none_or(&holds);
        routes.any(|route| (1..=route.len()).any(|hops| holds(&route[..hops])))
    }
}

impl SlotNetwork {
    /// Whether the rate of a buffer may change at the very instant at which a slot begins, until
    /// `end`. A buffer that may then send before the next slot does so in this one if its node has
    /// anything to do in it: which events there are makes a difference, and none is left out.
    pub(super) fn changes_in_step(&self, end: Time) -> bool {
        let (rules, slot) = (&self.fixed.rules, self.clock.slot().as_ps());
        if !rules.smoothing.enabled {
            return false;
        }
        let unit = rules.smoothing.unit.as_ps();
        let both = u128::from(unit / common(unit, slot)) * u128::from(slot);
        let cuts = rules.dlcc.as_ref().filter(|dlcc| dlcc.rate_cut);
        let cut_in_step = cuts.is_some_and(|dlcc| {
            let meets = |delay: Span| {
                [delay, delay + dlcc.piggyback_wait]
                    .iter()
                    .any(|at| at.as_ps().is_multiple_of(slot))
            };
            dlcc.notification_delay.map_or_else(|| self.fixed.any_way_back(meets), meets)
        });
        both <= u128::from(end.as_ps()) || cut_in_step
    }

    /// A data packet will be at its first edge node at `at`; returns whether it need not be told
    /// again as it comes. A pair's first packet has to: in which order buffers come to be decides
    /// which of them sends first.
    #[inline]
    pub(in crate::world) fn expects(
        &mut self,
        at: Time,
        packet: DataPacket,
        context: &mut Context,
    ) -> bool {
        if !context.ahead.foresees() {
            return false;
        }
        let &Address { from, to, .. } = self.flows.address(packet.flow());
        let number = match self.flows.queue(packet.flow(), false) {
            Some(known) => known as u32,
            None => {
                let Some(&number) = self.numbers.get(&(from, to)) else { return false };
                self.flows.found(packet.flow(), false, number as usize);
                number
            }
        };
        self.ingress.add(from, (at, number, packet));
        let pair = &self.pairs[number as usize];
        if pair.buffer.is_empty() {
            let slot = self.clock.after(at).max(pair.pacer.due());
            self.calendar.wake(from, slot, context);
        }
        true
    }

    /// What is at `node` before `until` enters its buffers. The node has an event by the slot in
    /// which the first of it may leave.
    #[inline]
    pub(super) fn take_in(&mut self, node: u32, until: Moment) {
        while let Some((at, number, packet)) = self.ingress.take(node, until) {
            self.forwards(&packet);
            self.fills(at, number, Packet::Data(packet));
        }
    }

    /// The same at all nodes.
    pub(super) fn take_all_in(&mut self, until: Moment) {
        for node in 0..self.nodes.len() as u32 {
            self.take_in(node, until);
        }
    }

    /// The slot in which the next packet for `node` may leave at the soonest, if one is on its way.
    #[inline]
    pub(super) fn next_in(&self, node: u32) -> Option<u64> {
        let slot = self.clock.after(self.ingress.first(node)?);
        match self.nodes[node as usize].pairs[..] {
            [pair] => Some(slot.max(self.pairs[pair as usize].pacer.due())),
            _ => Some(slot),
        }
    }
}
