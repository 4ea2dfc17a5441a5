//! Connections with data in both directions. Each direction is a flow with a sender and a receiver
//! of its own; at either host sits the sender of the one and the receiver of the other, and what
//! couples them is here: segments of the one carry the ACKs of the other.

use burstlab_kernel::Rank;
use burstlab_tcp::{Ack, Transmission};
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::option_table::OptionTable;
use super::sender::Heard;
use super::{Flow, Hosts};
use crate::measure::SenderBefore;
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::packet::{AckPacket, DataPacket};

/// What a flow knows of the flow of the other direction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct OtherWay {
    /// Its slot.
    slot: u32,
    /// Whether this flow goes back: its sender answers the SYN that the other one sent.
    back: bool,
    /// Of a flow back that begins to write when all of the other one has arrived: how long after.
    replies: Option<Span>,
    /// ACKs for the other flow on data packets of this one that are under way.
    aboard: OptionTable<AckPacket>,
    /// The ACK that the receiver at the host of this flow's sender would send now.
    #[serde(skip)]
    due: Option<Ack>,
}

impl OtherWay {
    pub(super) fn new(slot: u32, back: bool, replies: Option<Span>) -> Box<Self> {
        Box::new(Self { slot, back, replies, aboard: OptionTable::default(), due: None })
    }

    /// A data packet is lost, and with it the ACK that it carries.
    pub(super) fn lose(&mut self, seq: u64, nth: u16) {
        self.aboard.take(seq, nth);
    }
}

impl Flow {
    /// The slot of the flow of the other direction, if the connection has data in both.
    #[inline]
    pub(in crate::world) fn other_way(&self) -> Option<u32> {
        self.other.as_ref().map(|other| other.slot)
    }

    /// Whether it is the flow back of a connection with data in both directions.
    pub(in crate::world) fn goes_back(&self) -> bool {
        self.other.as_ref().is_some_and(|other| other.back)
    }

    /// It is to begin at `at`, with its writes.
    fn begin(&mut self, at: Time) {
        self.start = at;
        for (due, _) in self.writes.iter_mut().flatten() {
            *due = at + due.since(Time::ZERO);
        }
    }
}

impl Hosts {
    /// A data packet is where the sender of the other direction is: that hears the ACK that it
    /// carries, if it carries one.
    pub(in crate::world) fn hear_aboard(
        &mut self,
        now: Time,
        packet: &DataPacket,
        context: &mut Context,
    ) -> Option<Heard> {
        let other = self.flows[packet.flow as usize].other.as_mut()?;
        let ack = other.aboard.take(packet.seq, packet.nth)?;
        Some(self.hear_as::<true>(now, &ack, context))
    }

    /// A data packet is at its receiver; returns whether an ACK is to go now. It waits for a
    /// segment that [carries it](Self::ride), or to be [sent alone](Self::send_due).
    pub(in crate::world) fn take_segment(
        &mut self,
        now: Time,
        packet: &DataPacket,
        context: &mut Context,
    ) -> bool {
        let flow = &mut self.flows[packet.flow as usize];
        let received = flow.received;
        flow.arrives(now, packet, context);
        let ack = flow.receives(now, packet.seq);
        flow.arm_receiver(packet.flow, context);
        let complete = flow.received != received;
        let Some(slot) = flow.other_way() else { return false };
        let back = &mut self.flows[slot as usize];
        // Whoever has not been heard yet answers a SYN with a SYN alone, again by its timer.
        let unheard = back.goes_back() && back.sender.highest_acked().is_none();
        let due = ack.filter(|_| !unheard);
        let now_due = due.is_some();
        if let Some(other) = &mut back.other {
            other.due = due;
            if let Some(wait) = other.replies.filter(|_| complete) {
                let at = now.saturating_add(wait);
                back.begin(at);
                context.queue.push(at, Rank::Timer, Event::Start(slot));
            }
        }
        now_due
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
        let opens = back.goes_back() && back.sender.counters().segments_sent == 0;
        opens.then(|| self.start(now, index, context))
    }

    /// A segment is about to leave: takes the ACK that goes with it, whose SACK blocks come on top
    /// of its size.
    pub(in crate::world) fn ride(&mut self, index: u32, sent: &mut Transmission) -> Option<Ack> {
        let other = self.flows[index as usize].other.as_mut()?;
        let (slot, due) = (other.slot, other.due.take());
        let receiver = &mut self.flows[slot as usize].receiver;
        let ack = receiver.on_ride();
        // What is due now may report a segment that came twice, which is told once.
        let ack = due.or(ack)?;
        sent.size += Bytes::new(ack.size.get() - receiver.ack_size().get());
        Some(ack)
    }

    /// A segment leaves with an ACK.
    pub(in crate::world) fn load(&mut self, packet: &DataPacket, ack: &Ack, context: &mut Context) {
        let Some(slot) = self.flows[packet.flow as usize].other_way() else { return };
        context.recorder.carries(packet.row, self.flows[slot as usize].id, ack);
        if let Some(other) = &mut self.flows[packet.flow as usize].other {
            let ack = AckPacket::new(slot, crate::measure::NO_ROW, ack);
            other.aboard.put(packet.seq, packet.nth, ack);
        }
    }

    /// The ACK that is to go now, if no segment has carried it, as a packet of its own; `index` is
    /// the flow of the sender at its host.
    pub(in crate::world) fn send_due(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let other = self.flows[index as usize].other.as_mut()?;
        let (slot, due) = (other.slot, other.due.take());
        self.answer(now, slot, due, context)
    }
}
