//! Segmentation: bursts that lose their tail.

use burstlab_kernel::Rank;
use burstlab_units::{Span, Time};

use super::{Contended, Signal};
use crate::measure::PacketCause;
use crate::measure::loss::{Loss, LossCause};
use crate::world::core::burst::owner_of;
use crate::world::core::effects::Effect;
use crate::world::core::payload::{Load, Payload};
use crate::world::core::scope::{Common, Scope};
use crate::world::events::BurstEvent;

/// The least that a wavelength is held for.
const INSTANT: Span = Span::from_ps(1);

impl Contended {
    /// Cuts what is reserved at `from` on a wavelength of a fibre and began before.
    pub(super) fn cut_tail(
        &mut self,
        now: Time,
        (link, wavelength): (u32, u32),
        from: Time,
        scope: &mut Scope,
    ) {
        let port = &self.ports[link as usize];
        let held = port.overlapping(wavelength, from, from + INSTANT).next().copied();
        let Some(held) = held.filter(|held| held.start < from) else { return };
        self.release((link, wavelength), (held.start, held.owner), from);
        // A burst that was lost further on holds this for nothing.
        let (slot, id) = owner_of(held.owner);
        let mine = scope.common.bursts.is(slot, id);
        let burst = scope.common.bursts.get_mut(slot);
        let Some(hop) = burst.holds(link, wavelength, held.start).filter(|_| mine) else { return };
        let left = burst.reservations[hop].gone_by(from);
        let further = burst.hop > hop && hop + 1 < burst.route.len();
        for reservation in burst.reservations.iter_mut().skip(hop) {
            reservation.passes = reservation.passes.min(left);
        }
        if burst.hop == hop {
            // Its header is still at this ingress, behind a queue, and carries the new length.
            burst.hold = burst.hold.min(left.max(INSTANT));
        }
        if left < burst.left {
            cut(now, (slot, hop), left, scope);
        }
        if scope.common.plan.rules.trailer && further {
            let signal = Signal { slot, id, trailer: Some((hop as u32 + 1, left)) };
            self.pass_on(now, link, signal, scope);
        }
    }

    /// Puts a trailer on the control channel of a fibre.
    fn pass_on(&mut self, now: Time, link: u32, signal: Signal, scope: &mut Scope) {
        let Common { plan, bursts, account, .. } = &mut *scope.common;
        let at = (now, bursts.get(signal.slot).label);
        account.trailer(plan, at, link, &mut scope.context.recorder);
        let (_, sent) = self.control[link as usize].send(now + plan.rules.processing);
        let (at, event) = (plan.fibres.signal(link, sent), BurstEvent::Signal.of(link));
        self.signals[link as usize].push(&mut scope.context.queue, at, event, signal);
    }

    /// A trailer reaches a node: what the node holds for the tail is free again.
    pub(super) fn trail(
        &mut self,
        now: Time,
        signal: &Signal,
        (hop, left): (usize, Span),
        scope: &mut Scope,
    ) {
        if !scope.common.bursts.is(signal.slot, signal.id) {
            return;
        }
        let burst = scope.common.bursts.get_mut(signal.slot);
        let Some(&reservation) = burst.reservations.get(hop) else {
            // The header waits here: it goes on with the new length. Of a burst that was cut before
            // its first bit, which a header holds wavelengths for, no more than that bit is left.
            burst.hold = burst.hold.min(left.max(INSTANT));
            return;
        };
        let (end, owner) = ((reservation.departs + left).max(now), burst.owner(signal.slot));
        let further = hop + 1 < burst.route.len();
        let (link, wavelength, start) =
            (reservation.link, reservation.wavelength, reservation.start);
        let port = &self.ports[link as usize];
        let held = port.overlapping(wavelength, start, start + INSTANT).next().copied();
        if held.is_some_and(|held| held.start == start && held.end > end) {
            self.release((link, wavelength), (start, owner), end);
        }
        if further {
            let signal = Signal { trailer: Some((hop as u32 + 1, left)), ..*signal };
            self.pass_on(now, reservation.link, signal, scope);
        }
    }
}

/// A burst from its fibre `hop` on becomes `left` long; the packets beyond are lost.
pub(super) fn cut(now: Time, (slot, hop): (u32, usize), left: Span, scope: &mut Scope) {
    if scope.spares(now, (slot, hop), LossCause::Cut) {
        return;
    }
    let late = scope.late(slot);
    let Common { plan, bursts, account, effects, .. } = &mut *scope.common;
    let burst = bursts.get_mut(slot);
    let (room, node) = (plan.rules.bytes_in(left), plan.node_at(burst, hop) + 1);
    scope.context.works(burst.payload.trains());
    let (data, acks) = burst.payload.within(room);
    burst.left = left;
    let before = burst.load_left;
    if burst.packets == 0 {
        // It carries nothing that would have to be left whole.
        burst.load_left = before.min(room.get());
    }
    let lost = Payload {
        data: burst.payload.data.split_off(data),
        acks: burst.payload.acks.split_off(acks),
        load: Load::default(),
    };
    burst.load_left -= lost.bytes();
    let gone = (&lost, before - burst.load_left);
    account.cut((now, burst), node, gone, &mut scope.context.recorder);
    if !lost.is_empty() {
        let (cause, node) = (LossCause::Cut, node as usize);
        let loss = Loss { cause, burst: burst.label, node, port: 0, at: now };
        effects.list.push(Effect::Lost(lost, loss, PacketCause::Cut));
    }
    // Where the landing is certain already, it comes earlier now.
    if burst.lands > Time::ZERO {
        burst.lands = burst.arrives + left + late;
        let event = BurstEvent::Landed.of(slot);
        scope.context.queue.push(burst.lands, Rank::Arrival, event);
    }
}
