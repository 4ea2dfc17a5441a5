//! Packets that follow one another, processed together as a run. A single packet is a run of one.
//!
//! While a host repairs nothing and no packet is late, the effect and the time of every packet of a
//! run are known. Any irregularity ends the run: the packets from there on become events
//! (`transit`). Runs are tested against these events.
//!
//! A run lands and crosses an access link that its flow has for itself, or it is in front of such a
//! link. The host's packets are announced to their queue, evenly spaced ones together. A single
//! packet needs neither such a link nor such a queue. Where flows share access links, packets are
//! taken one by one, each in its turn. Only the two flows of a connection with data in both
//! directions share links besides, and both of its hosts go by the clock.

use burstlab_kernel::Rank;
use burstlab_units::Time;

use super::hearing::{Hearing, Leaving, Sending, record, record_sent};
use super::host::Host;
use super::receiving::{Answering, Coming, Receiving};
use crate::measure::{NO_ROW, SentRow};
use crate::world::access::{Hop, Link};
use crate::world::core::Network;
use crate::world::events::Event;
use crate::world::hosts::{FAR, NEAR};
use crate::world::packet::{AckPacket, DataPacket, Parcel};
use crate::world::tie_key::TieKey;
use crate::world::train::{Timed, TimedTrain};
use crate::world::transit::Transit;

/// Packets on a link that are looked at first, then twice as many: of those of a sender that paces
/// often one alone is taken.
const FIRST: usize = 4;

/// Trains land, or will, and cross the link to a host. Returns how many it has dealt with, and the
/// last of them with how many of its packets it has taken, if that is not all.
#[inline(always)]
fn land<P: Parcel>(
    now: Time,
    trains: &[impl Timed<P>],
    mut host: impl Host<P>,
) -> (usize, Option<(TimedTrain<P>, u32)>) {
    let (mut done, mut late) = (0, None);
    for timed in trains {
        let (train, ready) = (timed.train(), timed.ready(now));
        if !host.admits(&train.first, ready.0) {
            break;
        }
        let (count, size) = (train.count, train.first.bytes());
        let arrives = host.link().wire.carry_evenly(ready, count, size, Time::MAX);
        let Some((at, gap)) = arrives else { break };
        done += 1;
        let coming = TimedTrain { train: *train, at, gap };
        host.recorder().crossed_all(coming.rows(), ready);
        let taken = host.take(&coming);
        if taken < count {
            late = Some((coming, taken));
            break;
        }
    }
    host.end();
    (done, late)
}

/// A host takes packets in front of its link; returns how many.
fn take_in_front<P: Parcel>(mut host: impl Host<P>) -> u32 {
    let (mut all, mut most) = (0, FIRST);
    while let Some(coming) = TimedTrain::in_front(&host.link().lane, most)
        && host.admits(&coming.train.first, coming.at)
    {
        most = most.saturating_mul(2);
        let taken = host.take(&coming);
        (0..taken).for_each(|_| host.link().lane.take());
        all += taken;
        if taken < coming.train.count {
            break;
        }
    }
    host.end();
    all
}

impl Transit {
    /// The receiver of a flow, if packets from segment `seq` on may come ahead of the clock. The
    /// flow must have its links to itself, as flows with data in one direction have. Where packets
    /// land, the link of the receiver has to be `clear`.
    #[inline(always)]
    fn receiving(&mut self, (index, seq): (u32, u64), clear: bool) -> Option<Receiving<'_>> {
        let Self { hosts, access, core, context } = self;
        let now = context.now;
        let ahead = &context.ahead;
        // Where flows share links, there are fewer links than flows.
        if !ahead.is_any() || access.shared {
            return None;
        }
        let flow = &mut hosts.flows[index as usize];
        if flow.kind.ahead.have_both_ways() {
            return None;
        }
        let link = &mut access.data_down[index as usize];
        let Link { wire, .. } = &mut access.ack_up[index as usize];
        if clear && !link.is_clear() || wire.is_bounded() {
            return None;
        }
        let (coming, until) = if flow.far.receiver().has_options() {
            (Coming::WithOptions, ahead.data(flow))
        } else if flow.far.receiver().takes_fast(seq) {
            (Coming::InOrder, ahead.data(flow))
        } else {
            (Coming::Behind, ahead.data_behind(flow, context.next_message(index)))
        };
        let none = until == Time::ZERO && !matches!(coming, Coming::InOrder);
        if none && !clear {
            return None;
        }
        let queue = core.ack_queue(index, ahead)?;
        let (size, train, next) = (flow.far.receiver().ack_size(), None, (Time::MAX, 0));
        let id = flow.id;
        let answering = Answering { id, index, queue, size, train, next, wire, core, context };
        let acks = &mut hosts.full_acks;
        let host = Receiving { now, until, coming, flow, link, acks, answering };
        (!none).then_some(host)
    }

    /// The sender of a flow, as ACKs come ahead of the clock, if they may and it has its links to
    /// itself. Where they land, its link has to be `clear`.
    #[inline(always)]
    fn hearing(&mut self, index: u32, clear: bool) -> Option<Hearing<'_>> {
        let Self { hosts, access, core, context } = self;
        if !context.ahead.is_any() || access.shared {
            return None;
        }
        let flow = &mut hosts.flows[index as usize];
        let link = &mut access.ack_down[index as usize];
        let Link { wire, .. } = &mut access.data_up[index as usize];
        let options = flow.near.sender().has_options();
        if !options && !flow.near.sender().is_fast()
            || clear && !link.is_clear()
            || wire.is_bounded()
        {
            return None;
        }
        let until = context.ahead.acks(flow, context.next_message(index));
        if until == Time::ZERO {
            return None;
        }
        let (queue, sending) = (core.data_queue(index, &context.ahead)?, Sending::default());
        let (id, row) = (flow.id, NO_ROW);
        let leaving = Leaving { id, row, index, queue, sending, wire, core, context };
        Some(Hearing { until, options, flow, link, released: &mut hosts.sending, leaving })
    }

    /// Data packets land, or will; returns how many trains of the first one's flow are dealt with,
    /// up to the ACKs that are announced.
    pub(in crate::world) fn receive_run(&mut self, trains: &[impl Timed<DataPacket>]) -> usize {
        let (now, first) = (self.context.now, &trains[0].train().first);
        if first.is_cross() {
            return 0;
        }
        let Some(host) = self.receiving((first.flow(), first.seq), true) else { return 0 };
        let (done, late) = land(now, trains, host);
        if let Some((coming, from)) = late {
            for number in from..coming.train.count {
                self.data_comes(coming.at(number), first.flow(), coming.train.packet(number));
            }
        }
        done
    }

    /// ACKs land, or will; returns how many trains of the first one's flow are dealt with, up to
    /// the packets that are announced.
    pub(in crate::world) fn hear_run(&mut self, trains: &[impl Timed<AckPacket>]) -> usize {
        let (now, first) = (self.context.now, &trains[0].train().first);
        let Some(host) = self.hearing(first.flow, true) else { return 0 };
        let (done, late) = land(now, trains, host);
        if let Some((coming, from)) = late {
            for number in from..coming.train.count {
                self.ack_comes(coming.at(number), first.flow, coming.train.packet(number));
            }
        }
        done
    }

    /// Data packets are in front of the link to their receiver, with options: it takes those that
    /// it may; returns how many.
    fn receive_in_front(&mut self, index: u32) -> u32 {
        self.receiving((index, 0), false).map_or(0, take_in_front)
    }

    /// ACKs are in front of the link to their sender, with options: it hears those that it may;
    /// returns how many.
    fn hear_in_front(&mut self, index: u32) -> u32 {
        self.hearing(index, false).map_or(0, take_in_front)
    }

    /// Whether no sender, or no receiver, sends anything by itself before a packet comes to another
    /// one at `at`, where all share a link.
    #[inline(always)]
    fn comes_in_turn(&mut self, side: usize, at: Time) -> bool {
        let Self { hosts, context, .. } = self;
        let (flows, now) = (&hosts.flows, context.now);
        let look = || flows.iter().filter_map(|flow| flow.sends_by_itself(side, now)).min();
        context.ahead.comes_in_turn((side, at), flows.len(), || look().unwrap_or(Time::MAX))
    }

    /// A data packet will be at its receiver at `at`, and no other before. Takes it if that may be
    /// done now; returns whether it does.
    #[inline]
    pub(in crate::world) fn receive_one(&mut self, at: Time, packet: &DataPacket) -> bool {
        let index = packet.flow();
        if !self.hosts.flows[index as usize].far.receiver().takes_fast(packet.seq)
            || !self.comes_in_turn(FAR, at)
        {
            return false;
        }
        let (context, flow) = (&mut self.context, &mut self.hosts.flows[index as usize]);
        let times = (context.now, context.ahead.data(flow));
        let (mut next, size) = (None, flow.far.receiver().ack_size());
        let coming = TimedTrain::one(at, *packet);
        if flow.far.receive_in_order(times, &coming, |acks| next = Some(acks.first)) == 0 {
            return false;
        }
        flow.may_have_all(at);
        flow.far.arm(index, context);
        context.recorder.delivered(packet.row, at);
        if let Some(next) = next {
            let mut ack = AckPacket::plain(index, next, size);
            if context.recorder.traces_packets() {
                let turn = (at, TieKey::DATA_DOWN.of(index).turn(Rank::Arrival));
                let id = flow.id;
                ack.row = context.recorder.sent_in(turn, id, &SentRow::Ack(&ack.ack(), None));
            }
            self.ack_on_wire(at, ack);
        }
        true
    }

    /// An ACK will be at its sender at `at`, and no other before. Hears it if that may be done now;
    /// returns whether it does.
    #[inline]
    pub(in crate::world) fn hear_one(&mut self, at: Time, ack: &AckPacket) -> bool {
        let index = ack.flow;
        if !ack.is_plain()
            || !self.hosts.flows[index as usize].near.sender().is_fast()
            || !self.comes_in_turn(NEAR, at)
        {
            return false;
        }
        let (context, flow) = (&mut self.context, &mut self.hosts.flows[index as usize]);
        let until = context.ahead.acks(flow, context.next_message(index));
        let (coming, released) = (TimedTrain::one(at, *ack), &mut self.hosts.released);
        let (traced, packets) = (context.recorder.traces_cwnd(), context.recorder.traces_packets());
        let measured = if traced { flow.near.sender().round_trips().0 } else { 0 };
        let recorder = &mut context.recorder;
        let heard = flow.near.hear_in_order(&coming, until, |_, seq, (size, cwnd)| {
            let mut packet = DataPacket::first(index, seq, size, cwnd);
            if packets {
                packet.row = record_sent((at, index), flow.id, (seq, size, cwnd), recorder);
            }
            released.push(packet);
        });
        if heard == 0 {
            return false;
        }
        if traced {
            let of = (flow.id, index);
            record((at, ack.next), of, (flow.near.sender(), measured), context);
        }
        if packets {
            let ssthresh = flow.near.sender().ssthresh();
            let recorder = &mut context.recorder;
            released.iter().for_each(|packet| recorder.below((packet.row, 1), ssthresh));
            recorder.delivered(ack.row, at);
            recorder.acked(flow.id, at, ack.next);
        }
        flow.near.arm(index, context);
        let link = self.link(index, Hop::Near);
        let mut released = std::mem::take(&mut self.hosts.released);
        released.drain(..).for_each(|packet| self.send(at, link, packet));
        self.hosts.released = released;
        true
    }

    /// A data packet is at its receiver: it is received with those behind it on the link, as far
    /// as they may be ahead of the clock. Returns whether it is.
    #[inline]
    pub(in crate::world) fn receive_those_behind(&mut self, link: u32) -> bool {
        if !self.context.ahead.is_any() {
            return false;
        }
        let flows = &self.hosts.flows;
        let own = !self.access.shared && flows[link as usize].far.receiver().has_options();
        let count = match own {
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

    /// An ACK is at its sender: it is heard with those behind it on the link, as long as the sender
    /// goes straight on. Returns whether it is.
    #[inline]
    pub(in crate::world) fn hear_those_behind(&mut self, link: u32) -> bool {
        if !self.context.ahead.is_any() {
            return false;
        }
        let flows = &self.hosts.flows;
        let own = !self.access.shared && flows[link as usize].near.sender().has_options();
        let heard = match own {
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
}
