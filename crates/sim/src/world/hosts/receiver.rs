//! The events of a receiver: a segment comes, or its delayed ACK is due.

use burstlab_tcp::Ack;
use burstlab_units::Time;

use super::Hosts;
use crate::measure::SentRow;
use crate::world::context::Context;
use crate::world::packet::{AckPacket, DataPacket};

impl Hosts {
    /// A data packet is at its receiver; returns the ACK that is sent now, if there is one.
    #[inline(always)]
    pub(in crate::world) fn receive(
        &mut self,
        now: Time,
        packet: &DataPacket,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let flow = &mut self.flows[packet.flow() as usize];
        flow.settle(now);
        flow.arrives(now, packet, context);
        if flow.carried.is_some() {
            return self.receive_full(now, packet, context);
        }
        let ack = flow.receives(now, packet.seq);
        flow.far.arm(packet.flow(), context);
        self.emit_ack(now, packet.flow(), ack, context)
    }

    /// The ACK of a receiver as a packet.
    #[inline]
    pub(super) fn emit_ack(
        &mut self,
        now: Time,
        index: u32,
        ack: Option<Ack>,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let id = self.flows[index as usize].id;
        ack.map(|ack| {
            let row = context.recorder.sent(now, id, &SentRow::Ack(&ack, None));
            AckPacket::new(index, row, &ack)
        })
    }

    /// The delayed-ACK timer of a flow may be due; returns the ACK.
    pub(in crate::world) fn receiver_timer(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let flow = &mut self.flows[index as usize];
        if !flow.far.alarm_due(now) {
            context.stale += 1;
            return None;
        }
        let due = flow.far.receiver().poll_timeout().is_some_and(|at| at <= now);
        context.stale += u64::from(!due);
        if due && flow.carried.is_some() {
            return self.full_timer(now, index, context);
        }
        let ack = if due { flow.far.receiver_mut().on_timeout(now) } else { None };
        flow.far.arm(index, context);
        self.emit_ack(now, index, ack, context)
    }
}
