//! The answers of a slotted network to hosts and access links.

use burstlab_kernel::Rank;
use burstlab_optical::slotted::{Passed, Piece};
use burstlab_units::{Span, Time};

use super::{CellSlot, InFlight, SlotNetwork};
use crate::measure::Recorder;
use crate::scenario::{Interrupt, Run};
use crate::slab::Slot;
use crate::topology::Graph;
use crate::world::ahead::policy::{Lookahead, Promises};
use crate::world::context::Context;
use crate::world::core::effects::{Effect, Effects, Expected, Place};
use crate::world::core::flows::{Address, Flows};
use crate::world::core::network::{Network, Report, Totals};
use crate::world::core::under_way::UnderWay;
use crate::world::events::SlotEvent;
use crate::world::packet::{AckPacket, DataPacket, Packet};
use crate::world::surgery::Surgery;

impl SlotNetwork {
    /// Something happens.
    #[inline]
    pub(in crate::world::core) fn happen(
        &mut self,
        now: Time,
        (event, number): (SlotEvent, u32),
        context: &mut Context,
    ) {
        self.present = (now, 0);
        match event {
            SlotEvent::Begins => self.slot_begins(context),
            SlotEvent::SmoothingUnit => self.ends_unit(now, context),
            SlotEvent::CongestionNotice => self.notified(now, Slot::numbered(number), context),
            SlotEvent::NoticesLeave => self.waited(now, number, context),
            SlotEvent::AckHome => {
                self.present = (now, u32::MAX);
                let event = SlotEvent::AckHome.of(number);
                let packet = self.home[number as usize].pop(&mut context.queue, event);
                self.effects.list.push(Effect::Left(now, Packet::Ack(packet)));
            }
        }
    }
}

impl Network for SlotNetwork {
    fn drops(&mut self, place: Place, packet: &DataPacket) -> bool {
        // The bytes of the packet are left empty.
        let InFlight { cell, pair, .. } = self.cells.get_mut(CellSlot::numbered(place.slot));
        let mut pieces = std::iter::once(&mut cell.first).chain(&mut cell.more);
        let same = |piece: &&mut Piece<Packet>| piece.parts > 0 && piece.datagram.is_data(packet);
        let Some(piece) = pieces.find(same) else { return false };
        let parts = std::mem::take(&mut piece.parts);
        parts == 1 || self.pairs[*pair as usize].whole.loses(piece.number, parts)
    }

    fn begin(&mut self, _watch: &Interrupt, context: &mut Context) {
        let at = Time::ZERO + self.fixed.rules.smoothing.unit;
        context.queue.push(at, Rank::Timer, SlotEvent::SmoothingUnit.of(0));
    }

    /// The response of an edge that writes ACKs to a receiver's ACK depends on its news until that
    /// ACK comes by.
    fn promises(&self, run: &Run, ahead: &Lookahead) -> Promises {
        let last = (Time::ZERO + run.duration + run.drain.unwrap_or_default()).before();
        let in_step = ahead.is_allowed() && self.changes_in_step(last);
        let passes = self.fixed.proxy.is_none() || self.fixed.frees_acks();
        Promises::Slots { in_step, passes, drops_behind: self.fixed.drops_behind }
    }

    #[inline]
    fn flows(&mut self) -> &mut Flows {
        &mut self.flows
    }

    #[inline]
    fn effects(&mut self) -> &mut Effects {
        &mut self.effects
    }

    fn graph(&self) -> &Graph {
        &self.fixed.graph
    }

    fn warmed_up(&mut self, now: Time) {
        self.measures_from(now);
    }

    fn measured(&mut self, now: Time) {
        self.measured = Some(Box::new(self.summary(now)));
    }

    #[inline]
    fn data_arrives(&mut self, now: Time, packet: DataPacket, context: &mut Context) {
        self.arrives(now, Packet::Data(packet), context);
    }

    #[inline]
    fn ack_arrives(&mut self, now: Time, packet: AckPacket, context: &mut Context) {
        self.arrives(now, Packet::Ack(packet), context);
    }

    fn cross_arrives(
        &mut self,
        now: Time,
        packet: DataPacket,
        (ends, ..): ((u32, u32), u32, u64),
        context: &mut Context,
    ) {
        context.recorder.reached(packet.row, now);
        self.present = (now, 0);
        let routes = self.fixed.routes.of(ends.0, ends.1);
        let place = match self.fixed.rules.reroute() {
            Some(_) => self.detours.takes(now, ends.0, routes),
            None => 0,
        };
        self.enters(now, (ends, place), Packet::Data(packet), context);
    }

    #[inline]
    fn expects_data(&mut self, at: Time, packet: DataPacket, context: &mut Context) -> bool {
        self.expects(at, packet, context)
    }

    #[inline]
    fn expects_ack(&mut self, at: Time, packet: AckPacket, context: &mut Context) -> Expected {
        if self.fixed.frees_acks() { self.ack_flies(at, packet, context) } else { Expected::Comes }
    }

    fn numbered(&self) -> [u64; 2] {
        [self.numbered, 0]
    }

    fn is_before(&self, surgery: &Surgery) -> bool {
        surgery.named().all(|(_, burst)| burst.unwrap_or(1) > self.numbered)
    }

    fn totals(&self, _under_way: &UnderWay) -> Totals {
        Totals { in_flight: self.in_flight(), cross_lost: self.cross_lost, ..Totals::default() }
    }

    fn report(&self, now: Time, _: Span, _: &UnderWay, _: &mut Recorder) -> Report {
        let (ops, warnings) = (Some(self.summary(now)), self.warnings());
        Report { ops, warnings, ..Report::default() }
    }

    #[inline]
    fn passes(&mut self, at: Time, packet: &AckPacket) -> Passed<DataPacket> {
        let Some(rules) = self.fixed.proxy else { return Passed { on: true, copy: None } };
        let &Address { id, from, .. } = self.flows.address(packet.flow);
        self.take_in(from, self.present);
        let passed = self.known(packet.flow, id).proxy.passes(at, packet.next, &rules);
        self.tally.copies += u64::from(passed.copy.is_some());
        self.tally.filtered += u64::from(!passed.on);
        passed
    }

    fn is_loaded(&mut self, now: Time, flow: u32, share: f64) -> bool {
        let &Address { from, to, .. } = self.flows.address(flow);
        let slot = self.clock.after(now).saturating_sub(1);
        let Self { fixed, fibres, .. } = self;
        let mut route = fixed.routes.of(from, to)[0].iter();
        route.any(|&link| fibres[link as usize].descriptor.load(slot) >= share)
    }

    fn sends_copy(&mut self, at: Time, copy: DataPacket, context: &mut Context) {
        context.recorder.reached(copy.row, at);
        let &Address { from, to, .. } = self.flows.address(copy.flow());
        self.enters(at, ((from, to), 0), Packet::Data(copy), context);
    }

    fn repaired(&mut self) {
        self.tally.retransmissions += 1;
    }
}
