//! Where packets pass from one room to the next: from a host to its access link, from there to the
//! optical network, and back. What a packet does at a host may be done ahead of the clock: as it
//! leaves its burst, at the time it will be there, where nothing else can happen to that host
//! before.

use burstlab_kernel::Rank;
use burstlab_tcp::{Ack, SackBlocks, SegmentFlags, Transmission};
use burstlab_units::Time;

use super::World;
use super::access::Hop;
use super::core::{Effect, Expected, Network, Payload};
use super::events::Event;
use super::packet::{AckPacket, DataPacket, Packet, Parcel};
use super::tie_key::TieKey;
use super::train::{Timed, TimedTrain, Train};
use crate::measure::loss::{Loss, LossCause};
use crate::measure::{PacketCause, SenderBefore, SentRow};

/// ACKs of a set that an edge node writes: one that may be new to the sender, and three that repeat
/// it.
const ACKS: usize = 4;

impl World {
    /// The sender's access link of the flow in slot `flow`.
    #[inline]
    pub(super) fn near_link(&self, flow: u32) -> u32 {
        if self.access.shared {
            self.access.own_lane(flow).unwrap_or(self.hosts.flows[flow as usize].from)
        } else {
            flow
        }
    }

    /// The receiver's access link of the flow in slot `flow`.
    #[inline]
    pub(super) fn far_link(&self, flow: u32) -> u32 {
        if self.access.shared {
            self.access.own_lane(flow).unwrap_or(self.hosts.flows[flow as usize].to)
        } else {
            flow
        }
    }

    /// Puts what a sender sends on its access link; what it was `before` is for the ledger.
    #[inline]
    pub(super) fn transmit(&mut self, index: u32, before: &SenderBefore) {
        if self.reverse_flow(index).is_some() {
            return self.transmit_two_way(index, before);
        }
        let link = self.near_link(index);
        let now = self.now;
        let mut sending = std::mem::take(&mut self.hosts.sending);
        self.context.work += sending.len() as u32;
        for sent in sending.drain(..) {
            let packet = self.hosts.packet(now, index, (&sent, before), &mut self.context);
            if self.access.wireless.has(index, 0) {
                self.on_air((Packet::Data(packet), 0), false);
            } else {
                self.send(now, link, packet);
            }
        }
        self.hosts.sending = sending;
        self.hosts.has_sent(now, index, &mut self.context);
    }

    /// Puts a packet on its sender's access link at `now`, which may be ahead of the clock.
    #[inline]
    pub(super) fn send(&mut self, now: Time, link: u32, packet: DataPacket) {
        if self.access.departures[0].takes(packet.flow) {
            let loss = Loss::at_access(LossCause::Scripted, now);
            self.hosts.flow(packet.flow).lose(packet.transmission(), loss);
            self.context.recorder.lost(packet.row, PacketCause::Scripted);
            return;
        }
        if self.is_lossy() && self.link_takes(now, &packet, (Hop::Near, link)) {
            self.lose_on_link(now, &packet, Hop::Near);
            return;
        }
        let wire = self.access.data_up_wire(packet.flow, link);
        let Some(at) = wire.send(now, packet.bytes()) else {
            let loss = Loss::at_access(LossCause::SenderAccess, now);
            self.hosts.flow(packet.flow).lose(packet.transmission(), loss);
            self.access.sender_drops += 1;
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
        };
        if let Some(chance) = wire.chance() {
            wire.settle(self.hosts.draws_mark(chance, &packet));
        }
        if !self.core.expects_data(at, packet, &mut self.context) {
            let ticket = self.context.ticket(Rank::Arrival, TieKey::DATA_UP.of(link));
            let (queue, event) = (&mut self.context.queue, Event::DataAtIngress(link));
            self.access.data_up[link as usize].lane.push_in(queue, at, ticket, event, packet);
        }
    }

    #[inline]
    pub(super) fn data_at_ingress(&mut self, link: u32) {
        let event = Event::DataAtIngress(link);
        let packet = self.access.data_up[link as usize].lane.pop(&mut self.context.queue, event);
        self.core.data_arrives(self.now, packet, &mut self.context);
        self.apply();
    }

    /// Data packets leave the fibres: each goes on its receiver's link.
    pub(super) fn data_land(&mut self, mut trains: &[impl Timed<DataPacket>]) {
        while let Some((next, others)) = trains.split_first() {
            let done = self.receive_run(trains);
            trains = if done > 0 { &trains[done..] } else { others };
            let (train, (at, gap)) = (next.train(), next.ready(self.now));
            match done {
                0 if train.first.is_of_batch() => {}
                0 if train.first.is_cross() => {
                    self.access.cross.leave(self.now, train, &mut self.context.recorder);
                }
                0 => {
                    let each = TimedTrain { train: *train, at, gap };
                    let packets = (0..).zip(train.packets());
                    packets.for_each(|(number, one)| self.data_on_link(each.at(number), one));
                }
                _ => {}
            }
        }
    }

    /// ACKs leave the fibres: each goes on its sender's link.
    pub(super) fn acks_land(&mut self, mut trains: &[impl Timed<AckPacket>]) {
        while let Some((next, others)) = trains.split_first() {
            let done = self.hear_run(trains);
            trains = if done > 0 { &trains[done..] } else { others };
            if done == 0 {
                let (train, (at, gap)) = (next.train(), next.ready(self.now));
                let each = TimedTrain { train: *train, at, gap };
                let acks = (0..).zip(train.packets());
                acks.for_each(|(number, one)| self.ack_on_link(each.at(number), one));
            }
        }
    }

    /// Puts a packet on its receiver's link at `out`, which may be ahead of the clock.
    #[inline]
    pub(super) fn data_on_link(&mut self, out: Time, packet: DataPacket) {
        self.context.recorder.crossed(packet.row, out);
        let link = self.far_link(packet.flow);
        if self.is_lossy() && self.link_takes(out, &packet, (Hop::Far, link)) {
            self.lose_on_link(out, &packet, Hop::Far);
            return;
        }
        let wire = self.access.data_down_wire(packet.flow, link);
        let Some(at) = wire.send(out, packet.bytes()) else {
            let loss = Loss::at_access(LossCause::ReceiverAccess, out);
            self.hosts.flow(packet.flow).lose(packet.transmission(), loss);
            self.access.receiver_drops += 1;
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
        };
        if let Some(chance) = wire.chance() {
            wire.settle(self.hosts.draws_mark(chance, &packet));
        }
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

    #[inline]
    pub(super) fn data_at_receiver(&mut self, link: u32) {
        if self.receive_those_behind(link) {
            return;
        }
        let event = Event::DataAtReceiver(link);
        let packet = self.access.data_down[link as usize].lane.pop(&mut self.context.queue, event);
        if self.access.wireless.has(packet.flow, 1) {
            self.on_air((Packet::Data(packet), 1), true);
        } else {
            self.receive(&packet);
        }
    }

    /// A data packet is at its receiver: it is received with those behind it on the link, as far
    /// as they may be ahead of the clock. Returns whether it is.
    #[inline]
    fn receive_those_behind(&mut self, link: u32) -> bool {
        if !self.context.ahead.is_any() {
            return false;
        }
        let count = match self.hosts.flows[link as usize].far.receiver().has_options() {
            true => self.receive_in_front(link),
            false => self.receive_lane(link),
        };
        if count > 0 {
            self.context.work += count;
            let lane = &self.access.data_down[link as usize].lane;
            lane.announce(&mut self.context.queue, Event::DataAtReceiver(link));
        }
        count > 0
    }

    fn receive_lane(&mut self, link: u32) -> u32 {
        let mut count = 0;
        while let Some((at, &packet)) = self.access.data_down[link as usize].lane.front()
            && self.receive_one(at, &packet)
        {
            self.access.data_down[link as usize].lane.take();
            count += 1;
        }
        count
    }

    /// A data packet is at its receiver.
    #[inline(always)]
    pub(super) fn receive(&mut self, packet: &DataPacket) {
        if self.hosts.has_stack(packet.flow) {
            return self.stack_hears(&Packet::Data(*packet));
        }
        if let Some(other) = self.reverse_flow(packet.flow) {
            return self.receive_two_way(packet, other);
        }
        let ack = self.hosts.receive(self.now, packet, &mut self.context);
        self.emit_ack(ack);
    }

    /// The delayed ACK of a flow may be due.
    pub(super) fn receiver_timer(&mut self, index: u32) {
        let ack = self.hosts.receiver_timer(self.now, index, &mut self.context);
        self.emit_ack(ack);
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
        if self.access.wireless.has(ack.flow, 1) {
            self.hosts.flow(ack.flow).far.sends(1);
            self.on_air((Packet::Ack(ack), 1), false);
        } else {
            self.acknowledge(self.now, ack);
        }
    }

    /// Puts an ACK on its receiver's access link at `now`, which may be ahead of the clock.
    #[inline]
    fn acknowledge(&mut self, now: Time, packet: AckPacket) {
        self.hosts.flow(packet.flow).far.sends(1);
        self.ack_on_wire(now, packet);
    }

    /// Puts an ACK that is counted on its access link.
    #[inline]
    pub(super) fn ack_on_wire(&mut self, now: Time, packet: AckPacket) {
        let link = self.far_link(packet.flow);
        if self.access.departures[1].takes(packet.flow) {
            self.hosts.flow(packet.flow).counted.acks_lost += 1;
            self.context.recorder.lost(packet.row, PacketCause::Scripted);
            return;
        }
        if self.is_lossy() && self.link_takes(now, &packet, (Hop::Far, link)) {
            self.hosts.flow(packet.flow).lose_acks(&packet, 1);
            self.context.recorder.lost(packet.row, PacketCause::Link);
            return;
        }
        let Some(at) = self.access.ack_up_wire(packet.flow, link).send(now, packet.bytes()) else {
            self.hosts.flow(packet.flow).lose_acks(&packet, 1);
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
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

    #[inline]
    pub(super) fn ack_at_egress(&mut self, link: u32) {
        let event = Event::AckAtEgress(link);
        let packet = self.access.ack_up[link as usize].lane.pop(&mut self.context.queue, event);
        self.core.ack_arrives(self.now, packet, &mut self.context);
        self.apply();
    }

    /// Puts an ACK on its sender's link at `now`, which may be ahead of the clock.
    #[inline]
    pub(super) fn ack_on_link(&mut self, now: Time, packet: AckPacket) {
        self.context.recorder.crossed(packet.row, now);
        let link = self.near_link(packet.flow);
        if self.is_lossy() && self.link_takes(now, &packet, (Hop::Near, link)) {
            self.hosts.flow(packet.flow).lose_acks(&packet, 1);
            self.context.recorder.lost(packet.row, PacketCause::Link);
            return;
        }
        let Some(at) = self.access.ack_down_wire(packet.flow, link).send(now, packet.bytes())
        else {
            self.hosts.flow(packet.flow).lose_acks(&packet, 1);
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
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

    /// An ACK is at its sender, or at the base station of it.
    #[inline]
    pub(super) fn ack_at_sender(&mut self, link: u32) {
        if self.hear_those_behind(link) {
            return;
        }
        let event = Event::AckAtSender(link);
        let packet = self.access.ack_down[link as usize].lane.pop(&mut self.context.queue, event);
        if self.access.wireless.has(packet.flow, 0) {
            self.on_air((Packet::Ack(packet), 0), true);
        } else {
            self.hear(&packet);
        }
    }

    /// An ACK is at its sender: it is heard with those behind it on the link, as long as the sender
    /// goes straight on. Returns whether it is.
    #[inline]
    fn hear_those_behind(&mut self, link: u32) -> bool {
        if !self.context.ahead.is_any() {
            return false;
        }
        let heard = match self.hosts.flows[link as usize].near.sender().has_options() {
            true => self.hear_in_front(link),
            false => self.hear_lane(link),
        };
        if heard > 0 {
            self.context.work += heard;
            let lane = &self.access.ack_down[link as usize].lane;
            lane.announce(&mut self.context.queue, Event::AckAtSender(link));
        }
        heard > 0
    }

    fn hear_lane(&mut self, link: u32) -> u32 {
        let mut heard = 0;
        while let Some((at, &packet)) = self.access.ack_down[link as usize].lane.front()
            && self.hear_one(at, &packet)
        {
            self.access.ack_down[link as usize].lane.take();
            heard += 1;
        }
        heard
    }

    /// A sender hears an ACK.
    #[inline(always)]
    pub(super) fn hear(&mut self, packet: &AckPacket) {
        if self.hosts.has_stack(packet.flow) {
            return self.stack_hears(&Packet::Ack(*packet));
        }
        let heard = self.hosts.hear(self.now, packet, &mut self.context);
        if heard.by_edge {
            self.core.repaired();
        }
        self.active -= usize::from(heard.completed);
        self.transmit(packet.flow, &heard.before);
        if heard.completed {
            self.leave(packet.flow);
        }
    }

    /// A message reaches the sender's access link, or the sender itself.
    pub(super) fn notice(&mut self, slot: u32) {
        let mut message = self.context.notices.take(slot);
        let index = message.flow;
        if self.hosts.flows[index as usize].id != message.id {
            return;
        }
        if !message.in_band {
            let before = self.hosts.notice(self.now, &message, &mut self.context);
            return self.transmit(index, &before);
        }
        let link = self.near_link(index);
        if self.is_lossy() && self.loses_at(self.now, index, (Hop::Near, link)) {
            self.context.notices.lost += 1;
            return;
        }
        match self.access.ack_down_wire(index, link).send(self.now, self.notice_size) {
            Some(at) => {
                (message.in_band, message.at) = (false, at);
                let slot = self.context.notices.keep(message);
                self.context.queue.push(at, Rank::Arrival, Event::Notice(slot));
            }
            None => self.context.notices.lost += 1,
        }
    }

    /// Deals with what the optical network has brought about: the one place where a landing or a
    /// loss meets a connection.
    #[inline]
    pub(super) fn apply(&mut self) {
        if !self.core.effects().is_empty() {
            self.apply_effects();
        }
    }

    fn apply_effects(&mut self) {
        if !self.core.effects().list.is_empty() {
            let mut list = std::mem::take(&mut self.core.effects().list);
            list.drain(..).for_each(|effect| self.apply_one(effect));
            self.core.effects().list = list;
        }
        let effects = self.core.effects();
        if !effects.landing.is_empty() {
            if !effects.landed.is_empty() {
                self.land_before();
            }
            let mut landing = std::mem::take(&mut self.core.effects().landing);
            self.data_land(&landing.data.all);
            self.acks_land(&landing.acks.all);
            landing.clear();
            self.core.effects().landing = landing;
        } else if !effects.landed.is_empty() {
            self.land();
        }
    }

    /// What a burst carried has landed.
    #[inline(always)]
    fn land(&mut self) {
        let mut landed = std::mem::take(&mut self.core.effects().landed);
        self.data_land(&landed.data);
        self.acks_land(&landed.acks);
        landed.clear();
        self.core.effects().landed = landed;
    }

    /// The same before others that land ahead of the clock, which is rare.
    #[cold]
    fn land_before(&mut self) {
        self.land();
    }

    fn apply_one(&mut self, effect: Effect) {
        match effect {
            Effect::Lost(payload, loss, cause) => self.lose(payload, loss, cause),
            Effect::Marked(packet) => {
                self.hosts.flow(packet.flow).mark(&packet);
            }
            Effect::Left(at, Packet::Data(packet)) if packet.is_cross() => {
                self.access.cross.leave(at, &Train::one(packet), &mut self.context.recorder);
            }
            Effect::Left(at, Packet::Data(packet)) => self.data_on_link(at, packet),
            Effect::Left(at, Packet::Ack(packet)) => self.ack_home(at, packet),
            Effect::Acknowledge(flow, number) => self.acknowledge_for(flow, number),
        }
    }

    /// Packets are lost in the optical network.
    fn lose(&mut self, payload: Payload, loss: Loss, cause: PacketCause) {
        for packet in payload.data.iter().flat_map(|train| train.packets()) {
            self.context.recorder.lost(packet.row, cause);
            if !packet.is_cross() {
                self.hosts.flow(packet.flow).lose(packet.transmission(), loss);
            }
        }
        for train in &payload.acks {
            let count = u64::from(train.count);
            self.hosts.flow(train.first.flow).lose_acks(&train.first, count);
            self.context.recorder.lost(train.first.row, cause);
        }
        self.core.reuse(payload);
    }

    /// An ACK of a receiver is at the edge of its sender at `at`.
    #[inline]
    fn ack_home(&mut self, at: Time, packet: AckPacket) {
        let passed = self.core.passes(at, &packet);
        if let Some(mut copy) = passed.copy {
            let flow = self.hosts.flow(packet.flow);
            let nth = flow.copied(copy.seq);
            copy.nth = u16::try_from(nth).unwrap_or(u16::MAX);
            let (none, size) = (f64::NAN, copy.bytes());
            let sent = Transmission {
                seq: copy.seq,
                size,
                retransmission: true,
                cwnd: none,
                ssthresh: none,
                flags: SegmentFlags::default(),
            };
            copy.row = self.context.recorder.sent(at, flow.id, &SentRow::Data(&sent, nth));
            self.core.sends_copy(at, copy, &mut self.context);
        }
        if passed.on {
            return self.ack_on_link(at, packet);
        }
        self.hosts.flow(packet.flow).lose_acks(&packet, 1);
        self.context.recorder.lost(packet.row, PacketCause::Filtered);
    }

    /// An edge node writes ACKs for `number` in the name of the receiver of a flow.
    fn acknowledge_for(&mut self, index: u32, number: u64) {
        let flow = self.hosts.flow(index);
        flow.far.sends(ACKS as u64);
        let (id, size) = (flow.id, flow.far.receiver().ack_size());
        let ack = Ack { next: number, sack: SackBlocks::NONE, size };
        for _ in 0..ACKS {
            let row = self.context.recorder.sent(self.now, id, &SentRow::Ack(&ack, None));
            self.ack_on_link(self.now, AckPacket::of_edge(index, row, number, size));
        }
    }
}
