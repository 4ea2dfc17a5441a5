//! A packet of a connection with data in both directions at a host, which has the sender of the one
//! and the receiver of the other.

use super::World;
use super::packet::{DataPacket, Packet};
use crate::measure::SenderBefore;

impl World {
    /// The flow of the other direction, if the connection of a flow has data in both.
    #[inline(always)]
    pub(super) fn reverse_flow(&self, flow: u32) -> Option<u32> {
        // Most worlds have none, and need not look at the flow.
        if self.access.goes_one_way() {
            return None;
        }
        self.hosts.flows[flow as usize].reverse_flow()
    }

    /// A data packet is at its receiver. What is done first and last is as RFC 9293 says (section
    /// 3.10.7.4): the ACK that it carries is heard, its data are taken, and an ACK of them goes
    /// with the segments that both let go, if there are any, else alone, if one is due now.
    pub(super) fn receive_two_way(&mut self, packet: &DataPacket, other: u32) {
        let now = self.now;
        self.hosts.reserve(packet.flow, Some(packet.seq));
        let heard = self.hosts.on_piggybacked_ack(now, packet, &mut self.context);
        self.active -= usize::from(heard.as_ref().is_some_and(|heard| heard.completed));
        let due = self.hosts.take_segment(now, packet, &mut self.context);
        let first = self.hosts.flush_earlier_acks(now, other, &mut self.context);
        self.emit_ack(first);
        if due && packet.seq == 0 && self.hosts.ends_handshake(other) {
            self.flush_ack(other);
        }
        let opened = self.hosts.answer_syn(now, other, &self.context);
        if let Some(before) = opened.or(heard.map(|heard| heard.before)) {
            self.transmit(other, &before);
        }
        if due {
            self.flush_ack(other);
        }
        self.hosts.reserve(packet.flow, None);
    }

    /// The ACK that is due at the host of this sender goes alone, if no segment has carried it.
    fn flush_ack(&mut self, index: u32) {
        let ack = self.hosts.flush_ack(self.now, index, &mut self.context);
        self.emit_ack(ack);
    }

    /// Puts what a sender sends on its access link, each segment with the ACK of the other
    /// direction.
    pub(super) fn transmit_two_way(&mut self, index: u32, before: &SenderBefore) {
        let (now, link) = (self.now, self.near_link(index));
        let mut sending = std::mem::take(&mut self.hosts.sending);
        self.context.work += sending.len() as u32;
        for mut sent in sending.drain(..) {
            let piggybacked = self.hosts.piggyback(now, index, &mut sent);
            let packet = self.hosts.packet(now, index, (&sent, before), &mut self.context);
            if let Some(piggybacked) = piggybacked {
                self.hosts.load(&packet, &piggybacked, &mut self.context);
            }
            if self.access.wireless.has(index, 0) {
                self.on_air((Packet::Data(packet), 0), false);
            } else {
                self.send(now, link, packet);
            }
        }
        self.hosts.sending = sending;
        self.hosts.has_sent(now, index, &mut self.context);
    }
}
