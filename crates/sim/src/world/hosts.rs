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
            Optics::Path(path) => path.data.arrive(self.now, packet, context, flows),
            Optics::Mesh(mesh) => mesh.data_arrives(self.now, packet, context, flows),
        }
    }

    /// Packets leave the fibres of a path: each goes on its receiver's link.
    #[inline]
    pub(super) fn data_at_egress(&mut self) {
        for _ in 0..self.optics.path().data.land(&mut self.context) {
            let packet = self.optics.path().data.unload();
            self.data_on_link(packet);
        }
    }

    /// Puts a packet on its receiver's link.
    #[inline]
    pub(super) fn data_on_link(&mut self, packet: DataPacket) {
        let link = self.far_link(packet.flow);
        let access = &mut self.data_down[link as usize];
        let Some(at) = access.wire.send(self.now, packet.bytes()) else {
            let loss = Loss::at_access(LossCause::ReceiverAccess, self.now);
            self.flows[packet.flow as usize].lose(packet.seq, loss);
            self.receiver_drops += 1;
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
        };
        let flow = &self.flows[packet.flow as usize];
        if self.ahead.is_some_and(|ahead| at <= ahead)
            && access.lane.is_empty()
            && flow.receives_in_stride(self.now, at, packet.seq)
        {
            self.events += 1;
            self.receive(at, packet);
            return;
        }
        let ticket = self.context.ticket(Rank::Arrival, Place::DATA_DOWN.of(link));
        let (queue, event) = (&mut self.context.queue, Event::DataAtReceiver(link));
        access.lane.push_in(queue, at, ticket, event, packet);
    }

    #[inline]
    pub(super) fn data_at_receiver(&mut self, link: u32) {
        let event = Event::DataAtReceiver(link);
        let packet = self.data_down[link as usize].lane.pop(&mut self.context.queue, event);
        self.receive(self.now, packet);
    }

    /// A packet is at its receiver.
    #[inline]
    fn receive(&mut self, now: Time, packet: DataPacket) {
        let flow = &mut self.flows[packet.flow as usize];
        flow.tally.delivered += 1;
        flow.causes.found(packet.seq);
        flow.tally.delivered_bytes += u64::from(packet.size);
        self.context.recorder.delivered(packet.row, now);
        let ack = flow.receiver.on_segment(now, packet.seq);
        self.acknowledge(packet.flow, now, ack);
    }

    /// Puts an ACK on its access link, and sees to the timer of delayed ACKs.
    #[inline]
    fn acknowledge(&mut self, index: u32, now: Time, ack: Option<Ack>) {
        let link = self.far_link(index);
        let flow = &mut self.flows[index as usize];
        flow.arm_receiver(index, &mut self.context);
        let Some(ack) = ack else { return };
        flow.tally.acks_sent += 1;
        let row = SentRow::Ack(ack.next as i64 - 1, ack.size);
        let row = self.context.recorder.sent(now, flow.id, &row);
        let access = &mut self.ack_up[link as usize];
        let Some(at) = access.wire.send(now, ack.size) else {
            flow.tally.acks_lost += 1;
            self.context.recorder.lost(row, PacketCause::Overflow);
            return;
        };
        let packet = AckPacket::new(index, row, &ack);
        match &mut self.optics {
            Optics::Mesh(mesh) if mesh.expects_acks() => {
                mesh.expect_ack(at, packet, flow, &mut self.context);
            }
            _ => {
                let ticket = self.context.ticket(Rank::Arrival, Place::ACK_UP.of(link));
                let (queue, event) = (&mut self.context.queue, Event::AckAtEgress(link));
                access.lane.push_in(queue, at, ticket, event, packet);
            }
        }
    }

    #[inline]
    pub(super) fn ack_at_egress(&mut self, link: u32) {
        let event = Event::AckAtEgress(link);
        let packet = self.ack_up[link as usize].lane.pop(&mut self.context.queue, event);
        let (context, flows) = (&mut self.context, &mut self.flows);
        match &mut self.optics {
            Optics::Path(path) => path.ack.arrive(self.now, packet, context, flows),
            Optics::Mesh(mesh) => mesh.ack_arrives(self.now, packet, context, flows),
        }
    }

    /// ACKs leave the fibres of a path: each goes on its sender's link.
    #[inline]
    pub(super) fn acks_at_ingress(&mut self) {
        for _ in 0..self.optics.path().ack.land(&mut self.context) {
            let packet = self.optics.path().ack.unload();
            self.ack_on_link(packet);
        }
    }

    /// Puts an ACK on its sender's link.
    #[inline]
    pub(super) fn ack_on_link(&mut self, packet: AckPacket) {
        let link = self.near_link(packet.flow);
        let access = &mut self.ack_down[link as usize];
        let Some(at) = access.wire.send(self.now, packet.bytes()) else {
            self.flows[packet.flow as usize].tally.acks_lost += 1;
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
        };
        let flow = &self.flows[packet.flow as usize];
        if self.ahead.is_some_and(|ahead| at <= ahead)
            && access.lane.is_empty()
            && flow.hears_in_stride(at, &packet.ack())
        {
            self.events += 1;
            self.hear(at, &packet);
            return;
        }
        let ticket = self.context.ticket(Rank::Arrival, Place::ACK_DOWN.of(link));
        let (queue, event) = (&mut self.context.queue, Event::AckAtSender(link));
        access.lane.push_in(queue, at, ticket, event, packet);
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
        self.acknowledge(index, self.now, ack);
    }
}
