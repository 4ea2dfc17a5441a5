//! The hosts and their access links. In a mesh the hosts may be ahead of the clock: what a packet
//! does at a host is done as it leaves its burst, at the time it will be there, where nothing else
//! can happen to that host before. All packets of a burst are then dealt with at once.

use burstlab_kernel::Rank;
use burstlab_tcp::Ack;
use burstlab_units::Time;

use super::causes::{Loss, LossCause};
use super::optics::Optics;
use super::packet::{AckPacket, DataPacket, Parcel};
use super::place::Place;
use super::{Event, World};
use crate::measure::{PacketCause, SentRow};

impl World {
    #[inline]
    pub(super) fn data_at_ingress(&mut self, link: u32) {
        let event = Event::DataAtIngress(link);
        let packet = self.data_up[link as usize].lane.pop(&mut self.context.queue, event);
        let (context, flows) = (&mut self.context, &mut self.flows);
        match &mut self.optics {
            Optics::Mesh(mesh) => mesh.data_arrives(self.now, packet, context, flows),
            Optics::Ops(ops) => ops.data_arrives(self.now, packet, context, flows),
        }
    }

    /// Puts a packet on its receiver's link at `out`, which may be ahead of the clock.
    #[inline]
    pub(super) fn data_on_link(&mut self, out: Time, packet: DataPacket) {
        self.context.recorder.crossed(packet.row, out);
        let link = self.far_link(packet.flow);
        let access = &mut self.data_down[link as usize];
        let Some(at) = access.wire.send(out, packet.bytes()) else {
            let loss = Loss::at_access(LossCause::ReceiverAccess, out);
            self.flows[packet.flow as usize].lose(packet.transmission(), loss);
            self.receiver_drops += 1;
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
        };
        let clear = access.lane.is_empty();
        let flow = &mut self.flows[packet.flow as usize];
        if clear
            && flow.receiver.takes_in_stride(packet.seq)
            && at <= flow.receives_until(self.now, self.context.safe)
            && flow.receives_by(at)
        {
            flow.count(1, u64::from(packet.size));
            let acks = flow.receiver.on_segment_in_stride(at, packet.seq);
            if flow.has_received() {
                flow.received = Some(at);
            }
            flow.arm_receiver(packet.flow, &mut self.context);
            if acks {
                let receiver = &flow.receiver;
                let ack = AckPacket::plain(packet.flow, receiver.next(), receiver.ack_size());
                self.acknowledge(at, ack);
            }
        } else {
            self.data_comes(at, link, packet);
        }
    }

    /// A packet will be at its receiver at `at`.
    #[inline]
    pub(super) fn data_comes(&mut self, at: Time, link: u32, packet: DataPacket) {
        let ticket = self.context.ticket(Rank::Arrival, Place::DATA_DOWN.of(link));
        let (queue, event) = (&mut self.context.queue, Event::DataAtReceiver(link));
        self.data_down[link as usize].lane.push_in(queue, at, ticket, event, packet);
    }

    #[inline]
    pub(super) fn data_at_receiver(&mut self, link: u32) {
        let event = Event::DataAtReceiver(link);
        let packet = self.data_down[link as usize].lane.pop(&mut self.context.queue, event);
        if self.is_on_air(packet.flow, 1) {
            self.data_at_base(packet);
        } else {
            self.receive(packet);
        }
    }

    /// A data packet is at its receiver.
    #[inline(always)]
    pub(super) fn receive(&mut self, packet: DataPacket) {
        let flow = &mut self.flows[packet.flow as usize];
        flow.tally.delivered += 1;
        flow.causes.found(packet.seq);
        flow.tally.delivered_bytes += u64::from(packet.size);
        self.context.recorder.delivered(packet.row, self.now);
        let ack = flow.receives(self.now, packet.seq);
        flow.arm_receiver(packet.flow, &mut self.context);
        self.answer(packet.flow, ack);
    }

    /// The receiver of a flow sends an ACK now, if there is one.
    #[inline]
    fn answer(&mut self, index: u32, ack: Option<Ack>) {
        if let Some(ack) = ack {
            let id = self.flows[index as usize].id;
            let row = self.context.recorder.sent(self.now, id, &SentRow::Ack(&ack));
            let packet = AckPacket::new(index, row, &ack);
            if self.is_on_air(index, 1) {
                self.ack_on_air(packet);
            } else {
                self.acknowledge(self.now, packet);
            }
        }
    }

    /// Puts an ACK on its receiver's access link at `now`, which may be ahead of the clock.
    #[inline]
    pub(super) fn acknowledge(&mut self, now: Time, packet: AckPacket) {
        self.flows[packet.flow as usize].tally.acks_sent += 1;
        self.ack_on_wire(now, packet);
    }

    /// Puts an ACK that is counted on its access link.
    #[inline]
    pub(super) fn ack_on_wire(&mut self, now: Time, packet: AckPacket) {
        let link = self.far_link(packet.flow);
        let flow = &mut self.flows[packet.flow as usize];
        let access = &mut self.ack_up[link as usize];
        let Some(at) = access.wire.send(now, packet.bytes()) else {
            flow.tally.acks_lost += 1;
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
        };
        match &mut self.optics {
            Optics::Mesh(mesh) if mesh.expects_acks() => {
                mesh.expect_ack(at, packet, flow, &mut self.context);
                return;
            }
            Optics::Ops(ops) if ops.frees_acks() => {
                return ops.ack_flies(at, packet, flow, &mut self.context);
            }
            _ => {}
        }
        self.ack_comes_to_edge(at, link, packet);
    }

    /// An ACK will be at the edge of its receiver at `at`.
    #[inline]
    pub(super) fn ack_comes_to_edge(&mut self, at: Time, link: u32, packet: AckPacket) {
        let ticket = self.context.ticket(Rank::Arrival, Place::ACK_UP.of(link));
        let (queue, event) = (&mut self.context.queue, Event::AckAtEgress(link));
        self.ack_up[link as usize].lane.push_in(queue, at, ticket, event, packet);
    }

    #[inline]
    pub(super) fn ack_at_egress(&mut self, link: u32) {
        let event = Event::AckAtEgress(link);
        let packet = self.ack_up[link as usize].lane.pop(&mut self.context.queue, event);
        let (context, flows) = (&mut self.context, &mut self.flows);
        match &mut self.optics {
            Optics::Mesh(mesh) => mesh.ack_arrives(self.now, packet, context, flows),
            Optics::Ops(ops) => ops.ack_arrives(self.now, packet, context, flows),
        }
    }

    /// Puts an ACK on its sender's link at `now`, which may be ahead of the clock.
    #[inline]
    pub(super) fn ack_on_link(&mut self, now: Time, packet: AckPacket) {
        self.context.recorder.crossed(packet.row, now);
        let link = self.near_link(packet.flow);
        let access = &mut self.ack_down[link as usize];
        let Some(at) = access.wire.send(now, packet.bytes()) else {
            self.flows[packet.flow as usize].tally.acks_lost += 1;
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
        };
        let clear = access.lane.is_empty() && packet.is_plain();
        let flow = &self.flows[packet.flow as usize];
        if clear
            && flow.goes_straight_on()
            && flow.sender.covers(packet.next)
            && at <= flow.hears_until(self.context.safe)
        {
            self.hear_in_stride(at, &packet);
        } else {
            self.ack_comes(at, link, packet);
        }
    }

    /// An ACK will be at its sender at `at`.
    #[inline]
    pub(super) fn ack_comes(&mut self, at: Time, link: u32, packet: AckPacket) {
        let ticket = self.context.ticket(Rank::Arrival, Place::ACK_DOWN.of(link));
        let (queue, event) = (&mut self.context.queue, Event::AckAtSender(link));
        self.ack_down[link as usize].lane.push_in(queue, at, ticket, event, packet);
    }

    pub(super) fn receiver_timer(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if !flow.receiver_alarm_due(self.now) {
            self.context.stale += 1;
            return;
        }
        let due = flow.receiver.poll_timeout().is_some_and(|at| at <= self.now);
        self.context.stale += u64::from(!due);
        let ack = if due { flow.receiver.on_timeout(self.now) } else { None };
        flow.arm_receiver(index, &mut self.context);
        self.answer(index, ack);
    }
}
