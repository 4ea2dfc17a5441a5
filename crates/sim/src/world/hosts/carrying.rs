//! Hosts of connections whose packets carry options: they write them, read them and are marked.

use burstlab_kernel::Stream;
use burstlab_tcp::Transmission;
use burstlab_units::{Bytes, Time};

use super::options::Verdict;
use super::{Flow, Hosts};
use crate::measure::SentRow;
use crate::world::context::Context;
use crate::world::packet::{AckPacket, DataPacket};

impl Flow {
    /// Records the options of a segment that is sent now.
    #[inline]
    pub(in crate::world) fn carry(&mut self, now: Time, sent: &Transmission, nth: u16) {
        if let Some(carried) = &mut self.carried {
            carried.send(sent.seq, nth, self.near.sender().options(now, sent));
        }
    }

    /// A queue marks a packet, if it may.
    pub(in crate::world) fn mark(&mut self, packet: &DataPacket) -> bool {
        if let Some(stack) = &mut self.stack {
            return stack.mark(packet.seq);
        }
        let Some(carried) = &mut self.carried else { return false };
        let marked = carried.mark(packet.seq, packet.nth);
        carried.marks += u64::from(marked);
        marked
    }

    /// The sender of a connection with options hears an ACK.
    pub(super) fn hear_full(&mut self, now: Time, ack: &AckPacket, out: &mut Vec<Transmission>) {
        let carried = self.carried.as_mut().and_then(|one| one.hear(ack.next, ack.nth));
        self.hears_alone(now, ack.next);
        match carried {
            Some(options) => self.near.sender_mut().on_full_ack(now, &ack.ack(), &options, out),
            None => self.near.sender_mut().on_ack(now, &ack.ack(), out),
        }
    }

    /// The same, of an ACK that came with data.
    pub(super) fn hear_full_aboard(
        &mut self,
        now: Time,
        ack: &AckPacket,
        out: &mut Vec<Transmission>,
    ) {
        let options = self.carried.as_ref().map(|one| one.piggybacked).unwrap_or_default();
        self.near.sender_mut().on_full_ack_with_data(now, &ack.ack(), &options, out);
    }

    /// The verdict on a packet of a queue that marks with this chance, and may drop a packet in
    /// place of a mark.
    fn draws_mark(
        &mut self,
        (chance, drops): (f64, bool),
        packet: &DataPacket,
        draws: &Stream,
    ) -> Verdict {
        let markable = self.carried.is_some() || self.stack.is_some();
        if chance <= 0.0 || !markable && !drops {
            return Verdict::Passes;
        }
        if chance < 1.0 {
            let drawn = match &mut self.stack {
                Some(stack) => stack.draws(),
                None => {
                    self.mark_draws = self.mark_draws.wrapping_add(1);
                    u64::from(self.mark_draws.wrapping_sub(1))
                }
            };
            let ordinal = u64::from(self.id) << 32 | drawn;
            if draws.uniforms(ordinal)[0] >= chance {
                return Verdict::Passes;
            }
        }
        match self.mark(packet) {
            true => Verdict::Marked,
            false if drops => Verdict::Dropped,
            false => Verdict::Passes,
        }
    }
}

impl Hosts {
    /// The verdict on a packet of a queue that marks with this chance, and may drop a packet in
    /// place of a mark.
    pub(in crate::world) fn draws_mark(
        &mut self,
        rule: (f64, bool),
        packet: &DataPacket,
    ) -> Verdict {
        self.flows[packet.flow() as usize].draws_mark(rule, packet, &self.marks)
    }

    /// A data packet of a connection with options is at its receiver; returns the first ACK that is
    /// sent now, and keeps those behind it.
    pub(super) fn receive_full(
        &mut self,
        now: Time,
        packet: &DataPacket,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let flow = &mut self.flows[packet.flow() as usize];
        let carried = flow.carried.as_mut().and_then(|one| one.take(packet.seq, packet.nth));
        let probe = carried.is_some_and(|options| options.flags.probe);
        let again = packet.nth > 1 || flow.far.receiver().next() == 0 || probe;
        let handshake = packet.seq == 0 && !again;
        if handshake {
            flow.far.receiver_mut().on_handshake(now);
        } else {
            let bytes = flow.kind.data_of(u64::from(packet.size));
            let data = (packet.seq, Bytes::new(if packet.seq == 0 { 0 } else { bytes }));
            let next = flow.far.receiver().next();
            let options = carried.unwrap_or_default();
            flow.far.receiver_mut().on_packet(now, data, &options, &mut self.full_acks);
            flow.has_taken(now, next);
        }
        self.answer_full(now, packet.flow(), context)
    }

    /// A timer of the receiver of a connection with options is due.
    pub(super) fn full_timer(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<AckPacket> {
        self.flows[index as usize].far.receiver_mut().on_full_timeout(now, &mut self.full_acks);
        self.answer_full(now, index, context)
    }

    /// The ACKs of a receiver as packets: returns the first.
    pub(super) fn answer_full(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let flow = &mut self.flows[index as usize];
        flow.far.arm(index, context);
        let mut first = None;
        for (ack, options) in self.full_acks.drain(..) {
            let sent = SentRow::Ack(&ack, Some(options.window));
            let row = context.recorder.sent(now, flow.id, &sent);
            let nth = flow.carried.as_mut().map_or(0, |one| one.acknowledge(ack.next, options));
            let packet = AckPacket::new(index, row, &ack).nth(nth);
            match first {
                None => first = Some(packet),
                Some(_) => self.more_acks.push(packet),
            }
        }
        first
    }
}
