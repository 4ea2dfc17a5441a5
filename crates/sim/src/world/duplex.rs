//! A packet of a connection with data in both directions at a host, which has the sender of the one
//! and the receiver of the other.

use super::endpoints::Endpoints;
use super::packet::DataPacket;
use super::transit::Transit;

impl Endpoints {
    /// A data packet is at its receiver. What is done first and last is as RFC 9293 says (section
    /// 3.10.7.4): the ACK that it carries is heard, its data are taken, and an ACK of them goes
    /// with the segments that both let go, if there are any, else alone, if one is due now.
    pub(super) fn receive_two_way(
        &mut self,
        packet: &DataPacket,
        other: u32,
        transit: &mut Transit,
    ) {
        let Transit { hosts, context, .. } = transit;
        let now = context.now;
        hosts.reserve(packet.flow(), Some(packet.seq));
        let heard = hosts.on_piggybacked_ack(now, packet, context);
        self.active -= usize::from(heard.as_ref().is_some_and(|heard| heard.completed));
        let due = hosts.take_segment(now, packet, context);
        let first = hosts.flush_earlier_acks(now, other, context);
        transit.emit_ack(first);
        if due && packet.seq == 0 && transit.hosts.ends_handshake(other) {
            transit.flush_ack(other);
        }
        let opened = transit.hosts.answer_syn(now, other, &transit.context);
        if let Some(before) = opened.or(heard.map(|heard| heard.before)) {
            transit.transmit(other, &before);
        }
        if due {
            transit.flush_ack(other);
        }
        transit.hosts.reserve(packet.flow(), None);
    }
}

impl Transit {
    /// The ACK that is due at the host of this sender goes alone, if no segment has carried it.
    fn flush_ack(&mut self, index: u32) {
        let ack = self.hosts.flush_ack(self.context.now, index, &mut self.context);
        self.emit_ack(ack);
    }
}
