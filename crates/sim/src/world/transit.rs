//! Packets between hosts and the optical network: from a host to its access link, from there to an
//! edge, and from an edge to the link of the other host. What a packet does at a host may be done
//! ahead of the clock: as it leaves its burst, at the time it will be there, where nothing else can
//! happen to that host before.

use burstlab_kernel::Rank;
use burstlab_link::Wire;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::access::{Access, AirLoss, Hop};
use super::context::Context;
use super::core::{Address, Core, Expected, Network};
use super::events::Event;
use super::hosts::{FAR, Hosts, NEAR, Verdict};
use super::notices::Message;
use super::packet::{AckPacket, DataPacket, Packet, Parcel};
use super::tie_key::TieKey;
use crate::measure::loss::{Loss, LossCause};
use crate::measure::{PacketCause, SenderBefore};
use crate::slab::Slot;

/// The rooms, and what passes between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Transit {
    pub(super) context: Context,
    pub(super) hosts: Hosts,
    pub(super) access: Access,
    pub(super) core: Core,
}

/// Hands a packet to a link with a bounded queue, or one that marks; returns when it is at the far
/// end, or why it is dropped: the queue is `full`, or drops it in place of a mark.
fn queue_up(
    hosts: &mut Hosts,
    wire: &mut Wire,
    (now, full): (Time, LossCause),
    packet: &DataPacket,
) -> Result<Time, LossCause> {
    if !wire.admits(now, packet.bytes()) {
        return Err(full);
    }
    if let Some(chance) = wire.chance() {
        let verdict = hosts.draws_mark((chance, wire.drops_unmarkable()), packet);
        wire.settle(verdict != Verdict::Passes);
        if verdict == Verdict::Dropped {
            return Err(LossCause::NotEct);
        }
    }
    Ok(wire.take(now, packet.bytes()))
}

impl Transit {
    /// Tells the network of the flow in a slot.
    pub(super) fn register(&mut self, slot: u32) {
        let flow = &self.hosts.flows[slot as usize];
        let (class, listens) = (flow.kind.class, flow.kind.listens);
        let (id, key, from, to) = (flow.id, flow.key, flow.from, flow.to);
        let (back, third_party) = (flow.goes_back(), flow.is_third_party());
        let address = Address { id, key, from, to, class, listens, back, third_party };
        self.core.flows().register(slot, address);
    }

    /// The application of a flow writes.
    pub(super) fn write(&mut self, index: u32) {
        let before = self.hosts.write(self.context.now, index, &self.context);
        self.has_written(index, &before);
    }

    /// The application of a flow has written: the network learns how much there is of it, what the
    /// sender lets go is sent, and the next write is queued.
    pub(super) fn has_written(&mut self, index: u32, before: &SenderBefore) {
        let limit = self.hosts.flows[index as usize].near.sender().limit();
        self.core.flows().supply(index, limit);
        self.transmit(index, before);
        self.hosts.schedule_write(self.context.now, index, &mut self.context);
    }

    /// A connection leaves its row and frees its slot.
    pub(super) fn retire(&mut self, slot: u32) {
        self.leave_row(slot);
        if self.context.phase.since().is_some() {
            self.core.connection(self.core.bursts_of(slot));
        }
        self.hosts.vacate(slot);
        self.core.flows().vacate(slot);
    }

    /// A connection leaves its row.
    pub(super) fn leave_row(&mut self, slot: u32) {
        let carried = self.core.bursts_of(slot);
        self.hosts.leave_row(slot, (carried.bursts, carried.lost), &self.context);
    }

    /// A message reaches the sender's access link, or the sender itself.
    pub(super) fn notice(&mut self, slot: Slot<Message>) {
        let (mut message, now) = (self.context.notices.take(slot), self.context.now);
        let index = message.flow;
        if self.hosts.flows[index as usize].id != message.id {
            return;
        }
        if !message.in_band {
            let before = self.hosts.notice(now, &message, &mut self.context);
            return self.transmit(index, &before);
        }
        let (link, size) = (self.link(index, Hop::Near), self.context.notices.size);
        let lost = self.loses(now, index, (Hop::Near, link));
        let sent = if lost { None } else { self.access.ack_down_wire(index, link).send(now, size) };
        let Some(at) = sent else {
            self.context.notices.lost += 1;
            return;
        };
        (message.in_band, message.at) = (false, at);
        let slot = self.context.notices.keep(message);
        self.context.queue.push(at, Rank::Arrival, Event::Notice(slot));
    }

    /// The flow of the other direction, if the connection of a flow has data in both.
    #[inline(always)]
    pub(super) fn reverse_flow(&self, flow: u32) -> Option<u32> {
        // Most worlds have none, and need not look at the flow.
        if self.access.goes_one_way() {
            return None;
        }
        self.hosts.flows[flow as usize].reverse_flow()
    }

    /// The access link of a flow on the side of its sender, or of its receiver.
    #[inline]
    pub(super) fn link(&self, flow: u32, hop: Hop) -> u32 {
        if !self.access.shared {
            return flow;
        }
        self.access.own_lane(flow).unwrap_or_else(|| {
            let flow = &self.hosts.flows[flow as usize];
            if hop == Hop::Near { flow.from } else { flow.to }
        })
    }

    /// Whether an access link loses what belongs to a flow and is handed to it.
    #[inline(always)]
    pub(super) fn loses(&mut self, now: Time, flow: u32, at: (Hop, u32)) -> bool {
        let hosts = &self.hosts;
        !self.access.losses.are_none()
            && self.access.loses(now, flow, at, |link| hosts.flows[link as usize].key)
    }

    /// An access link, or a script before it, has lost a data packet.
    #[cold]
    fn lose(&mut self, now: Time, packet: &DataPacket, cause: LossCause) {
        self.access.count_lost(cause);
        let loss = Loss::at_access(cause, now);
        self.hosts.flow(packet.flow()).lose(packet.transmission(), loss);
        self.context.recorder.lost(packet.row, PacketCause::at_access(cause));
    }

    /// The same of an ACK.
    #[cold]
    pub(super) fn lose_ack(&mut self, packet: &AckPacket, cause: PacketCause) {
        self.hosts.flow(packet.flow).lose_acks(packet, 1);
        self.context.recorder.lost(packet.row, cause);
    }

    /// Puts what a sender sends on its access link, each segment with the ACK of the other
    /// direction if there is one; what the sender was `before` is for the ledger.
    #[inline]
    pub(super) fn transmit(&mut self, index: u32, before: &SenderBefore) {
        if self.reverse_flow(index).is_some() {
            return self.transmit_as::<true>(index, before);
        }
        self.transmit_as::<false>(index, before);
    }

    #[inline(always)]
    fn transmit_as<const TWO_WAY: bool>(&mut self, index: u32, before: &SenderBefore) {
        let (now, link) = (self.context.now, self.link(index, Hop::Near));
        let mut sending = std::mem::take(&mut self.hosts.sending);
        self.context.work += sending.len() as u32;
        for mut sent in sending.drain(..) {
            let ack = if TWO_WAY { self.hosts.piggyback(now, index, &mut sent) } else { None };
            let packet = self.hosts.packet(now, index, (&sent, before), &mut self.context);
            if let Some(ack) = ack {
                self.hosts.load(&packet, &ack, &mut self.context);
            }
            self.leave(now, link, packet);
        }
        self.hosts.sending = sending;
        self.hosts.has_sent(now, index, &mut self.context);
    }

    /// A data packet leaves its host: on the air, or on the host's link.
    #[inline(always)]
    pub(super) fn leave(&mut self, now: Time, link: u32, packet: DataPacket) {
        if self.access.wireless.has(packet.flow(), NEAR) {
            self.on_air((Packet::Data(packet), NEAR), false);
        } else {
            self.send(now, link, packet);
        }
    }

    /// A packet for a station (`down`) has come to its base station, or one of its own leaves it.
    /// The station is the sender of the packet's flow (0), or its receiver (1).
    pub(super) fn on_air(&mut self, what: (Packet, usize), down: bool) {
        let offered = self.access.wireless.offer(self.context.now, what, down, &mut self.context);
        if let Err(lost) = offered {
            self.lost_on_air(&lost);
        }
    }

    /// A cell has lost a packet.
    pub(super) fn lost_on_air(&mut self, lost: &AirLoss) {
        let now = self.context.now;
        let note = match &lost.packet {
            Packet::Data(packet) => {
                self.lose(now, packet, lost.cause);
                (6, packet.seq)
            }
            Packet::Ack(packet) => {
                self.lose_ack(packet, PacketCause::at_access(lost.cause));
                (7, packet.next)
            }
        };
        self.hosts.flow(lost.packet.flow()).near.note(now, note.0, note.1);
    }

    /// Puts a packet on its sender's access link at `now`, which may be ahead of the clock.
    #[inline]
    pub(super) fn send(&mut self, now: Time, link: u32, packet: DataPacket) {
        if self.access.departures[0].takes(packet.flow()) {
            return self.lose(now, &packet, LossCause::Scripted);
        }
        if self.loses(now, packet.flow(), (Hop::Near, link)) {
            return self.lose(now, &packet, LossCause::SenderLink);
        }
        let wire = self.access.data_up_wire(packet.flow(), link);
        let at = match wire.is_bounded() {
            false => wire.carry(now, packet.bytes()),
            true => {
                match queue_up(&mut self.hosts, wire, (now, LossCause::SenderAccess), &packet) {
                    Ok(at) => at,
                    Err(cause) => return self.lose(now, &packet, cause),
                }
            }
        };
        if !self.core.expects_data(at, packet, &mut self.context) {
            let ticket = self.context.ticket(Rank::Arrival, TieKey::DATA_UP.of(link));
            let (queue, event) = (&mut self.context.queue, Event::DataAtIngress(link));
            self.access.data_up[link as usize].lane.push_in(queue, at, ticket, event, packet);
        }
    }

    /// A data packet is at its first edge node.
    #[inline]
    pub(super) fn data_at_ingress(&mut self, link: u32) {
        let event = Event::DataAtIngress(link);
        let packet = self.access.data_up[link as usize].lane.pop(&mut self.context.queue, event);
        self.core.data_arrives(self.context.now, packet, &mut self.context);
    }

    /// Puts a packet on its receiver's link at `out`, which may be ahead of the clock.
    #[inline]
    pub(super) fn data_on_link(&mut self, out: Time, packet: DataPacket) {
        self.context.recorder.crossed(packet.row, out);
        let link = self.link(packet.flow(), Hop::Far);
        if self.loses(out, packet.flow(), (Hop::Far, link)) {
            return self.lose(out, &packet, LossCause::ReceiverLink);
        }
        let wire = self.access.data_down_wire(packet.flow(), link);
        let at = match wire.is_bounded() {
            false => wire.carry(out, packet.bytes()),
            true => {
                match queue_up(&mut self.hosts, wire, (out, LossCause::ReceiverAccess), &packet) {
                    Ok(at) => at,
                    Err(cause) => {
                        self.access.receiver_not_ect += u64::from(cause == LossCause::NotEct);
                        return self.lose(out, &packet, cause);
                    }
                }
            }
        };
        let clear = self.access.data_down[link as usize].lane.is_empty();
        if !(clear && self.receive_one(at, &packet)) {
            self.data_comes(at, link, packet);
        }
    }

    /// A packet will be at its receiver at `at`.
    #[inline]
    pub(super) fn data_comes(&mut self, at: Time, link: u32, packet: DataPacket) {
        let ticket = self.context.ticket(Rank::Arrival, TieKey::DATA_DOWN.of(link));
        let (queue, event) = (&mut self.context.queue, Event::DataAtReceiver(link));
        self.access.data_down[link as usize].lane.push_in(queue, at, ticket, event, packet);
    }

    /// A data packet is at its receiver, or at the base station of it: returns it, unless it is
    /// received with those behind it, or has to go over the air.
    #[inline]
    pub(super) fn data_at_receiver(&mut self, link: u32) -> Option<DataPacket> {
        if self.receive_those_behind(link) {
            return None;
        }
        let event = Event::DataAtReceiver(link);
        let packet = self.access.data_down[link as usize].lane.pop(&mut self.context.queue, event);
        if self.access.wireless.has(packet.flow(), FAR) {
            self.on_air((Packet::Data(packet), FAR), true);
            return None;
        }
        Some(packet)
    }

    /// A receiver sends an ACK now, if there is one, and those behind it.
    #[inline]
    pub(super) fn emit_ack(&mut self, ack: Option<AckPacket>) {
        let Some(ack) = ack else { return };
        self.answer_one(ack);
        if !self.hosts.more_acks.is_empty() {
            let mut more = std::mem::take(&mut self.hosts.more_acks);
            more.drain(..).for_each(|ack| self.answer_one(ack));
            self.hosts.more_acks = more;
        }
    }

    #[inline]
    fn answer_one(&mut self, ack: AckPacket) {
        self.hosts.flow(ack.flow).far.sends(1);
        if self.access.wireless.has(ack.flow, FAR) {
            self.on_air((Packet::Ack(ack), FAR), false);
        } else {
            self.ack_on_wire(self.context.now, ack);
        }
    }

    /// Puts an ACK that is counted on its access link at `now`, which may be ahead of the clock.
    #[inline]
    pub(super) fn ack_on_wire(&mut self, now: Time, packet: AckPacket) {
        let link = self.link(packet.flow, Hop::Far);
        if self.access.departures[1].takes(packet.flow) {
            return self.lose_ack(&packet, PacketCause::Scripted);
        }
        if self.loses(now, packet.flow, (Hop::Far, link)) {
            return self.lose_ack(&packet, PacketCause::Link);
        }
        let Some(at) = self.access.ack_up_wire(packet.flow, link).send(now, packet.bytes()) else {
            return self.lose_ack(&packet, PacketCause::Overflow);
        };
        match self.core.expects_ack(at, packet, &mut self.context) {
            Expected::Taken => {}
            Expected::Home(at) => self.ack_on_link(at, packet),
            Expected::Comes => {
                let ticket = self.context.ticket(Rank::Arrival, TieKey::ACK_UP.of(link));
                let (queue, event) = (&mut self.context.queue, Event::AckAtEgress(link));
                self.access.ack_up[link as usize].lane.push_in(queue, at, ticket, event, packet);
            }
        }
    }

    /// An ACK is at the edge node of its receiver.
    #[inline]
    pub(super) fn ack_at_egress(&mut self, link: u32) {
        let event = Event::AckAtEgress(link);
        let packet = self.access.ack_up[link as usize].lane.pop(&mut self.context.queue, event);
        self.core.ack_arrives(self.context.now, packet, &mut self.context);
    }

    /// An ACK is at the edge node of its sender at `now`, which may be ahead of the clock: it goes
    /// on the sender's link, unless it is held back.
    #[inline]
    pub(super) fn ack_on_link(&mut self, now: Time, packet: AckPacket) {
        self.context.recorder.crossed(packet.row, now);
        if self.access.pacing.is_on() && !self.paces(now, packet) {
            return;
        }
        self.ack_leaves_edge(now, packet);
    }

    /// Puts an ACK on its sender's link at `now`, which may be ahead of the clock.
    #[inline]
    pub(super) fn ack_leaves_edge(&mut self, now: Time, packet: AckPacket) {
        let link = self.link(packet.flow, Hop::Near);
        if self.loses(now, packet.flow, (Hop::Near, link)) {
            return self.lose_ack(&packet, PacketCause::Link);
        }
        let Some(at) = self.access.ack_down_wire(packet.flow, link).send(now, packet.bytes())
        else {
            return self.lose_ack(&packet, PacketCause::Overflow);
        };
        let clear = self.access.ack_down[link as usize].lane.is_empty();
        if !(clear && self.hear_one(at, &packet)) {
            self.ack_comes(at, link, packet);
        }
    }

    /// An ACK will be at its sender at `at`.
    #[inline]
    pub(super) fn ack_comes(&mut self, at: Time, link: u32, packet: AckPacket) {
        let ticket = self.context.ticket(Rank::Arrival, TieKey::ACK_DOWN.of(link));
        let (queue, event) = (&mut self.context.queue, Event::AckAtSender(link));
        self.access.ack_down[link as usize].lane.push_in(queue, at, ticket, event, packet);
    }

    /// An ACK is at its sender, or at the base station of it: returns it, unless it is heard with
    /// those behind it, or has to go over the air.
    #[inline]
    pub(super) fn ack_at_sender(&mut self, link: u32) -> Option<AckPacket> {
        if self.hear_those_behind(link) {
            return None;
        }
        let event = Event::AckAtSender(link);
        let packet = self.access.ack_down[link as usize].lane.pop(&mut self.context.queue, event);
        if self.access.wireless.has(packet.flow, NEAR) {
            self.on_air((Packet::Ack(packet), NEAR), true);
            return None;
        }
        Some(packet)
    }

    /// A source of cross-traffic is due: its packet goes over the link it loads, or into the
    /// optical network.
    pub(super) fn cross_sends(&mut self, index: u32) {
        let Self { access, context, .. } = self;
        let now = context.now;
        let Some(sent) = access.cross.fire(now, index, context) else { return };
        if access.cross.across {
            let to = (sent.ends, sent.class, sent.key);
            return self.core.cross_arrives(now, sent.packet, to, context);
        }
        let (from, to) = sent.ends;
        let link = [from, to][sent.side as usize];
        if access.losses.takes(now, (sent.side, link), u64::from(link)) {
            return access.cross.loses(&sent, context);
        }
        let at = access.loaded(sent.side, sent.ends).send(now, sent.packet.bytes());
        access.cross.loads(at, &sent, context);
    }
}
