//! The one place where a landing in the optical network, or a loss there, meets a connection.

use burstlab_tcp::{Ack, SackBlocks, SegmentFlags, Transmission};
use burstlab_units::Time;

use super::core::{Effect, Network, Payload, Place};
use super::packet::{AckPacket, DataPacket, Packet};
use super::train::{Timed, TimedTrain, Train};
use super::transit::Transit;
use crate::measure::loss::{Loss, LossCause};
use crate::measure::{PacketCause, SentRow};

/// ACKs of a set that an edge node writes: one that may be new to the sender, and three that repeat
/// it.
const ACKS: usize = 4;

impl Transit {
    /// Data packets leave the fibres: each goes on its receiver's link.
    fn data_land(&mut self, mut trains: &[impl Timed<DataPacket>]) {
        while let Some((next, others)) = trains.split_first() {
            let done = self.receive_run(trains);
            trains = if done > 0 { &trains[done..] } else { others };
            let (train, (at, gap)) = (next.train(), next.ready(self.context.now));
            match done {
                0 if train.first.is_of_batch() => {}
                0 if train.first.is_cross() => {
                    self.access.cross.leave(self.context.now, train, &mut self.context.recorder);
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
    fn acks_land(&mut self, mut trains: &[impl Timed<AckPacket>]) {
        while let Some((next, others)) = trains.split_first() {
            let done = self.hear_run(trains);
            trains = if done > 0 { &trains[done..] } else { others };
            if done == 0 {
                let (train, (at, gap)) = (next.train(), next.ready(self.context.now));
                let each = TimedTrain { train: *train, at, gap };
                let acks = (0..).zip(train.packets());
                acks.for_each(|(number, one)| self.ack_on_link(each.at(number), one));
            }
        }
    }

    /// Deals with all of it.
    pub(super) fn apply_effects(&mut self) {
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
            let (data, acks) = (&landing.data.all, &landing.acks.all);
            match self.access.goes_one_way() {
                true => {
                    self.data_land(data);
                    self.acks_land(acks);
                }
                false => self.land_in_turn(data, acks),
            }
            landing.clear();
            self.core.effects().landing = landing;
        } else if !effects.landed.is_empty() {
            self.land();
        }
    }

    /// Packets of bursts have landed, where the data of a flow share a link with the ACKs of the
    /// other direction. They are taken burst after burst, the data of each burst first.
    #[cold]
    fn land_in_turn(
        &mut self,
        mut data: &[TimedTrain<DataPacket>],
        mut acks: &[TimedTrain<AckPacket>],
    ) {
        while let (Some(one), Some(other)) = (data.first(), acks.first()) {
            let (at, until) = (one.at, other.at);
            if at <= until {
                let count = data.iter().take_while(|train| train.at <= until).count();
                self.data_land(&data[..count]);
                data = &data[count..];
            } else {
                let count = acks.iter().take_while(|train| train.at < at).count();
                self.acks_land(&acks[..count]);
                acks = &acks[count..];
            }
        }
        self.data_land(data);
        self.acks_land(acks);
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
            Effect::Lost(payload, loss, cause) => self.lose_payload(payload, loss, cause),
            Effect::Marked(packet, place) => {
                let marked = self.hosts.flow(packet.flow()).mark(&packet);
                if let (false, Some(place)) = (marked, place) {
                    self.drop_in_core(&packet, place);
                }
            }
            Effect::Left(at, Packet::Data(packet)) if packet.is_cross() => {
                self.access.cross.leave(at, &Train::one(packet), &mut self.context.recorder);
            }
            Effect::Left(at, Packet::Data(packet)) => self.data_on_link(at, packet),
            Effect::Left(at, Packet::Ack(packet)) => self.ack_home(at, packet),
            Effect::Acknowledge(flow, number) => self.acknowledge_for(flow, number),
        }
    }

    /// A queue of the optical network drops a packet that it cannot mark.
    #[cold]
    fn drop_in_core(&mut self, packet: &DataPacket, place: Place) {
        if !self.core.drops(place, packet) {
            return;
        }
        let (cause, at) = (LossCause::NotEct, self.context.now);
        let loss = Loss { cause, burst: 0, node: place.node, port: 0, at };
        self.hosts.flow(packet.flow()).lose(packet.transmission(), loss);
        self.context.recorder.lost(packet.row, PacketCause::NotEct);
    }

    /// Packets are lost in the optical network.
    fn lose_payload(&mut self, payload: Payload, loss: Loss, cause: PacketCause) {
        for packet in payload.data.iter().flat_map(|train| train.packets()) {
            self.context.recorder.lost(packet.row, cause);
            if !packet.is_cross() {
                self.hosts.flow(packet.flow()).lose(packet.transmission(), loss);
            }
        }
        for train in &payload.acks {
            let count = u64::from(train.count);
            self.hosts.flow(train.first.flow).lose_acks(&train.first, count);
            for ack in train.packets() {
                self.context.recorder.lost(ack.row, cause);
            }
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
        self.lose_ack(&packet, PacketCause::Filtered);
    }

    /// An edge node writes ACKs for `number` in the name of the receiver of a flow.
    fn acknowledge_for(&mut self, index: u32, number: u64) {
        let flow = self.hosts.flow(index);
        flow.far.sends(ACKS as u64);
        let (id, size) = (flow.id, flow.far.receiver().ack_size());
        let ack = Ack { next: number, sack: SackBlocks::NONE, size };
        for _ in 0..ACKS {
            let row = self.context.recorder.sent(self.context.now, id, &SentRow::Ack(&ack, None));
            // It passes the ACKs that are held back, so that the sender hears at once.
            self.context.recorder.crossed(row, self.context.now);
            self.ack_leaves_edge(self.context.now, AckPacket::of_edge(index, row, number, size));
        }
    }
}
