//! Segmentation: bursts that lose their tail.

use super::burst::Payload;
use crate::world::core::effects::Effect;
use burstlab_units::{Span, Time};

use super::Mesh;
use super::batch_arrivals::Load;
use super::burst::owner_of;
use super::header::Signal;
use crate::measure::loss::{Loss, LossCause};
use crate::measure::{PacketCause, Step, StepRow};
use crate::world::context::Context;
use crate::world::events::{CoreEvent, Event};

/// The least that a wavelength is held for.
const INSTANT: Span = Span::from_ps(1);

impl Mesh {
    /// Cuts what is reserved at `from` on a wavelength of a fibre and began before.
    pub(super) fn cut_tail(
        &mut self,
        now: Time,
        (link, wavelength): (u32, u32),
        from: Time,
        context: &mut Context,
    ) {
        let port = &self.ports[link as usize];
        let held = port.overlapping(wavelength, from, from + INSTANT).next().copied();
        let Some(held) = held.filter(|held| held.start < from) else { return };
        self.ports[link as usize].shorten(wavelength, held.start, held.owner, from);
        // A burst that was lost further on holds this for nothing.
        let (slot, number) = owner_of(held.owner);
        let burst = self.bursts.get(slot);
        let mine = self.bursts.is(slot, number);
        let Some(hop) = burst.holds(link, wavelength, held.start).filter(|_| mine) else { return };
        let left = burst.reservations[hop].gone_by(from);
        let further = burst.hop > hop && hop + 1 < burst.route.len();
        let whole = burst.left;
        let burst = self.bursts.get_mut(slot);
        for reservation in burst.reservations.iter_mut().skip(hop) {
            reservation.passes = reservation.passes.min(left);
        }
        if burst.hop == hop {
            // Its header is still at this ingress, behind a queue, and tells the new length.
            burst.hold = burst.hold.min(left.max(INSTANT));
        }
        if left < whole {
            self.cut(now, slot, hop, left, context);
        }
        if self.rules.trailer && further {
            let signal = Signal { slot, number, trailer: Some((hop as u32 + 1, left)) };
            self.pass_on(now, link, signal, context);
        }
    }

    /// What is left of a burst from its fibre `hop` on is `left` long; the packets beyond are lost.
    pub(super) fn cut(
        &mut self,
        now: Time,
        slot: u32,
        hop: usize,
        left: Span,
        context: &mut Context,
    ) {
        if self.stays_whole(now, slot, hop, context) {
            return;
        }
        let late = self.late(slot, context);
        let room = self.rules.bytes_in(left);
        let node = self.node_at(slot, hop) as usize + 1;
        let burst = self.bursts.get_mut(slot);
        context.works(burst.payload.trains());
        let (data, acks) = burst.payload.within(room);
        burst.left = left;
        let before = burst.load_left;
        if burst.packets == 0 {
            // It carries nothing that would have to be left whole.
            burst.load_left = before.min(room.get());
        }
        let loss = Loss { cause: LossCause::Cut, burst: burst.number, node, port: 0, at: now };
        let lost = Payload {
            data: burst.payload.data.split_off(data),
            acks: burst.payload.acks.split_off(acks),
            load: Load::default(),
        };
        let cut = lost.packets();
        burst.load_left -= lost.bytes();
        self.cross_lost += lost.cross();
        self.batches.lost += lost.of_batches();
        let steps = &mut self.tally.of(burst.kind as usize).resolutions;
        steps.packets_cut += cut;
        let bytes = before - burst.load_left;
        steps.bytes_cut += bytes;
        let (node, wait) = (node as u32, Span::ZERO);
        let (step, ends, cut) = (Step::Cut, (node, 0), (cut as u32, bytes));
        context.recorder.step(&StepRow { now, burst: burst.number, step, ends, wait, cut });
        if !lost.is_empty() {
            self.effects.list.push(Effect::Lost(lost, loss, PacketCause::Cut));
        }
        // Where the landing is certain already, it comes earlier now.
        if burst.lands > Time::ZERO {
            burst.lands = burst.arrives + left + late;
            let event = Event::Core(CoreEvent::Landed(slot));
            context.queue.push(burst.lands, burstlab_kernel::Rank::Arrival, event);
        }
    }

    /// Puts a trailer on the control channel of a fibre.
    fn pass_on(&mut self, now: Time, link: u32, signal: Signal, context: &mut Context) {
        let done = now + self.rules.processing;
        self.tally.trailed(link);
        let (burst, step, ends) = (signal.number, Step::Trailer, self.joined_by(link));
        let (wait, cut) = (Span::ZERO, (0, 0));
        context.recorder.step(&StepRow { now, burst, step, ends, wait, cut });
        let (_, sent) = self.control[link as usize].send(done);
        let at = sent + self.graph.link(link).delay;
        let event = Event::Core(CoreEvent::Signal(link));
        self.signals[link as usize].push(&mut context.queue, at, event, signal);
    }

    /// A trailer reaches a node: what the node holds for the tail is free again.
    pub(super) fn trail(
        &mut self,
        now: Time,
        signal: &Signal,
        hop: usize,
        left: Span,
        context: &mut Context,
    ) {
        if !self.bursts.is(signal.slot, signal.number) {
            return;
        }
        let burst = self.bursts.get_mut(signal.slot);
        let Some(&reservation) = burst.reservations.get(hop) else {
            // The header waits here: it goes on with the new length. Of a burst that was cut before
            // its first bit, which a header holds wavelengths for, no more than that bit is left.
            burst.hold = burst.hold.min(left.max(INSTANT));
            return;
        };
        let (end, owner) = ((reservation.departs + left).max(now), burst.owner(signal.slot));
        let port = &mut self.ports[reservation.link as usize];
        let held = port
            .overlapping(reservation.wavelength, reservation.start, reservation.start + INSTANT)
            .next()
            .copied();
        if held.is_some_and(|held| held.start == reservation.start && held.end > end) {
            port.shorten(reservation.wavelength, reservation.start, owner, end);
        }
        if hop + 1 < self.bursts.get(signal.slot).route.len() {
            let signal = Signal { trailer: Some((hop as u32 + 1, left)), ..*signal };
            self.pass_on(now, reservation.link, signal, context);
        }
    }
}
