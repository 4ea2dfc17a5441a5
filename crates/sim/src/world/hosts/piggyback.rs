//! Connections with data in both directions: at either host sits the sender of one flow and the
//! receiver of the other, and segments of the one carry the ACKs of the other.

use burstlab_kernel::Rank;
use burstlab_tcp::{Ack, AckOptions, FullAck, Transmission};
use burstlab_units::{Bytes, Span, Time};

use super::duplex::CarriedAck;
use super::sender::AckOutcome;
use super::{Flow, Hosts};
use crate::measure::{NO_ROW, SenderBefore};
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::packet::{AckPacket, DataPacket};

impl Flow {
    /// Whether no ACK is in flight with data of this direction, if the connection has data in both.
    #[cfg(test)]
    pub(in crate::world) fn carries_no_ack(&self) -> Option<bool> {
        self.duplex.as_ref().map(|other| other.piggybacked.is_empty())
    }

    /// The slot of the flow of the other direction, if the connection has data in both.
    #[inline]
    pub(in crate::world) fn reverse_flow(&self) -> Option<u32> {
        self.duplex.as_ref().map(|other| other.slot)
    }

    /// An ACK for `next` has come alone.
    pub(super) fn hears_alone(&mut self, now: Time, next: u64) {
        if let Some(other) = self.duplex.as_mut().filter(|_| next == 1) {
            other.opened = Some(now);
        }
    }

    /// Whether it is the flow back of a connection with data in both directions.
    pub(in crate::world) fn goes_back(&self) -> bool {
        self.duplex.as_ref().is_some_and(|other| other.back)
    }

    /// When its SYN was acknowledged, if the receiver at its host does not know it yet.
    fn takes_opened(&mut self) -> Option<Time> {
        self.duplex.as_mut().and_then(|other| other.opened.take())
    }
}

/// How long after the arrival of all of the other direction a flow begins to write, if it replies.
pub(super) fn replies(flow: &Flow) -> Option<Span> {
    flow.duplex.as_ref().and_then(|other| other.replies)
}

/// All of the other direction has arrived `now`: the flow back replies, if it does so.
pub(super) fn begin_to_reply(flow: &mut Flow, now: Time) {
    if let Some(wait) = replies(flow) {
        flow.near.begin(now.saturating_add(wait));
    }
}

impl Hosts {
    /// A data packet is where the sender of the other direction is: that hears the ACK that it
    /// carries, if it carries one.
    pub(in crate::world) fn on_piggybacked_ack(
        &mut self,
        now: Time,
        packet: &DataPacket,
        context: &mut Context,
    ) -> Option<AckOutcome> {
        let other = self.flows[packet.flow() as usize].duplex.as_mut()?;
        let piggybacked = other.piggybacked.take(packet.seq, packet.nth)?;
        other.blocks = piggybacked.blocks;
        let flow = &mut self.flows[piggybacked.ack.flow as usize];
        if let Some(carried) = &mut flow.carried {
            carried.on_piggybacked_ack(piggybacked.ack.next, piggybacked.options);
        }
        Some(self.hear_as::<true>(now, &piggybacked.ack, context))
    }

    /// The sender at the host of the receiver of flow `index` learns what SACK blocks take of its
    /// segments: of what is there, or will be with segment `coming`.
    pub(in crate::world) fn reserve(&mut self, index: u32, coming: Option<u64>) {
        let flow = &self.flows[index as usize];
        let (Some(other), Some(_)) = (flow.reverse_flow(), &flow.carried) else { return };
        let blocks = flow.far.receiver().block_bytes(coming);
        self.flows[other as usize].near.sender_mut().reserve(blocks);
    }

    /// A data packet is at its receiver; returns whether an ACK is to go now. It waits for a
    /// segment that [carries it](Self::piggyback), or to be [sent alone](Self::flush_ack).
    pub(in crate::world) fn take_segment(
        &mut self,
        now: Time,
        packet: &DataPacket,
        context: &mut Context,
    ) -> bool {
        let flow = &mut self.flows[packet.flow() as usize];
        let Some(slot) = flow.reverse_flow() else { return false };
        let received = flow.far.received();
        flow.arrives(now, packet, context);
        let due = match flow.carried {
            None => flow.receives(now, packet.seq).map(|ack| (ack, AckOptions::default())),
            Some(_) => self.take_full_segment(now, packet, slot),
        };
        let flow = &mut self.flows[packet.flow() as usize];
        flow.far.arm(packet.flow(), context);
        let complete = flow.far.received() != received;
        let back = &mut self.flows[slot as usize];
        // Whoever has not been heard yet answers a SYN with a SYN alone, again by its timer.
        let unheard = back.goes_back() && back.near.sender().highest_acked().is_none();
        let due = due.filter(|_| !unheard);
        let now_due = due.is_some();
        if unheard {
            self.full_acks.clear();
        }
        if let Some(other) = &mut back.duplex {
            other.due = due;
            if let Some(wait) = other.replies.filter(|_| complete) {
                let at = now.saturating_add(wait);
                back.near.begin(at);
                context.queue.push(at, Rank::Timer, Event::Start(slot));
            }
        }
        now_due
    }

    /// The same on a connection with options: returns the last of the ACKs that are to go now;
    /// those before it are in [`Hosts::full_acks`], and go alone. `other` is the flow of the sender
    /// at this host.
    fn take_full_segment(&mut self, now: Time, packet: &DataPacket, other: u32) -> Option<FullAck> {
        let sender = &mut self.flows[other as usize];
        let (known, opened) = (sender.near.sender().known_round_trip(), sender.takes_opened());
        let flow = &mut self.flows[packet.flow() as usize];
        if let Some(at) = opened {
            flow.far.receiver_mut().on_handshake(at);
        }
        if let Some(known) = known {
            flow.far.receiver_mut().know_round_trip(known);
        }
        let blocks = flow.duplex.as_mut().map_or(0, |other| std::mem::take(&mut other.blocks));
        let carried = flow.carried.as_mut().and_then(|one| one.take(packet.seq, packet.nth));
        let options = carried.unwrap_or_default();
        if packet.seq == 0 && flow.goes_back() {
            flow.far.receiver_mut().on_answer(now, &options, &mut self.full_acks);
        } else {
            let bytes = flow.kind.data_of(u64::from(packet.size - blocks));
            let data = (packet.seq, Bytes::new(if packet.seq == 0 { 0 } else { bytes }));
            let next = flow.far.receiver().next();
            flow.far.receiver_mut().note_blocks(u64::from(blocks));
            flow.far.receiver_mut().on_packet(now, data, &options, &mut self.full_acks);
            if packet.seq == 0 {
                flow.far.receiver_mut().leave_syn();
            }
            flow.has_taken(now, next);
        }
        self.full_acks.pop()
    }

    /// The SYN of a connection with data in both directions has come: its flow back sends its own,
    /// if it has not.
    pub(in crate::world) fn answer_syn(
        &mut self,
        now: Time,
        index: u32,
        context: &Context,
    ) -> Option<SenderBefore> {
        let back = &self.flows[index as usize];
        let opens = back.goes_back() && back.near.sender().counters().segments_sent == 0;
        opens.then(|| self.start(now, index, context))
    }

    /// A segment is about to leave: takes the ACK that goes with it, whose SACK blocks come on top
    /// of its size.
    pub(in crate::world) fn piggyback(
        &mut self,
        now: Time,
        index: u32,
        sent: &mut Transmission,
    ) -> Option<FullAck> {
        let other = self.flows[index as usize].duplex.as_mut()?;
        let (slot, due, opened) = (other.slot, other.due.take(), other.opened.take());
        let receiver = self.flows[slot as usize].far.receiver_mut();
        if let Some(at) = opened {
            receiver.on_handshake(at);
        }
        let piggybacked = if receiver.has_options() {
            if due.is_some() {
                receiver.ack_was_piggybacked(now);
            }
            due.or_else(|| receiver.piggyback_full(now))?
        } else {
            let ack = receiver.piggyback().map(|ack| (ack, AckOptions::default()));
            // The ACK that is due now may report a segment that came twice, which is reported once.
            due.or(ack)?
        };
        sent.size += blocks_of(&piggybacked.0, receiver.ack_size());
        Some(piggybacked)
    }

    /// A segment leaves with an ACK.
    pub(in crate::world) fn load(
        &mut self,
        packet: &DataPacket,
        (ack, options): &FullAck,
        context: &mut Context,
    ) {
        let Some(slot) = self.flows[packet.flow() as usize].reverse_flow() else { return };
        let acked = &self.flows[slot as usize];
        let window = acked.far.receiver().has_options().then_some(options.window);
        context.recorder.carries(packet.row, acked.id, ack, window);
        let blocks = blocks_of(ack, acked.far.receiver().ack_size()).get() as u32;
        if let Some(other) = &mut self.flows[packet.flow() as usize].duplex {
            let ack = AckPacket::new(slot, NO_ROW, ack);
            let piggybacked = CarriedAck { ack, options: *options, blocks };
            other.piggybacked.put(packet.seq, packet.nth, piggybacked);
        }
    }

    /// Whether the ACK of the other SYN goes alone, before data: on a connection with options,
    /// whose application writes once the connection is there.
    pub(in crate::world) fn ends_handshake(&self, index: u32) -> bool {
        let flow = &self.flows[index as usize];
        flow.carried.is_some() && !flow.goes_back()
    }

    /// The ACK that is to go now, if no segment has carried it, as a packet of its own; `index` is
    /// the flow of the sender at its host.
    pub(in crate::world) fn flush_ack(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let other = self.flows[index as usize].duplex.as_mut()?;
        let (slot, due) = (other.slot, other.due.take());
        if self.flows[slot as usize].carried.is_some() {
            self.full_acks.extend(due);
            return self.answer_full(now, slot, context);
        }
        self.emit_ack(now, slot, due.map(|(ack, _)| ack), context)
    }

    /// The first of the ACKs that go before the one that is due, alone even if that does not;
    /// others are kept behind it. `index` is the flow of the sender at their host.
    pub(in crate::world) fn flush_earlier_acks(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let slot =
            self.flows[index as usize].reverse_flow().filter(|_| !self.full_acks.is_empty())?;
        self.answer_full(now, slot, context)
    }
}

/// Bytes of the SACK blocks of an ACK, with what they need besides, if one alone has `size`.
fn blocks_of(ack: &Ack, size: Bytes) -> Bytes {
    Bytes::new(ack.size.get().saturating_sub(size.get()))
}
