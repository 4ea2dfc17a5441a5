//! Packets that follow one another, dealt with all at once. Where a flow has its links to itself,
//! nothing is repaired and nothing is late, all that the packets of a landed burst do at a host is
//! known, and when. Whatever is not as it should be ends a run; the packets from there on are taken
//! one by one (`transit`), which is also what runs are tested against.

use std::ops::Range;

use burstlab_tcp::PacketRun;
use burstlab_units::{Bytes, Span, Time};

use super::World;
use super::context::Context;
use super::core::{Core, DataQueue};
use super::packet::{AckPacket, DataPacket, Parcel};
use super::train::{Timed, TimedTrain, Train};
use crate::measure::NO_ROW;

impl World {
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

    /// Data packets land, or will; returns how many trains of the first one's flow it has dealt
    /// with, up to the ACKs that are announced.
    fn receive_run(&mut self, trains: &[impl Timed<DataPacket>]) -> usize {
        let now = self.now;
        let first = &trains[0].train().first;
        let index = first.flow;
        if !self.context.ahead.is_any() || first.is_cross() {
            return 0;
        }
        let flow = &mut self.hosts.flows[index as usize];
        let down = &mut self.access.data_down[index as usize];
        let up = &mut self.access.ack_up[index as usize];
        if !down.is_clear() || up.wire.is_bounded() {
            return 0;
        }
        let (core, context) = (&mut self.core, &mut self.context);
        let Some(queue) = core.ack_queue(index, &context.ahead) else { return 0 };
        let until = context.ahead.data(now, flow, context.told(index));
        let size = flow.receiver.ack_size();
        let (mut done, mut late) = (0, None);
        for timed in trains {
            let (train, ready) = (timed.train(), timed.ready(now));
            let (packet, count) = (&train.first, train.count);
            if packet.flow != index || !flow.receiver.takes_fast(packet.seq) {
                break;
            }
            let arrives = down.wire.carry_evenly(ready, count, packet.bytes(), Time::MAX);
            let Some((at, gap)) = arrives else { break };
            done += 1;
            let coming = TimedTrain { train: *train, at, gap };
            let mut run = coming.run(packet.seq);
            loop {
                let received = flow.receiver.take(&run, until);
                let taken = received.segments;
                if taken == 0 {
                    break;
                }
                if flow.has_received() {
                    flow.received = Some(run.time(taken - 1));
                }
                flow.count(u64::from(taken), packet.bytes().get() * u64::from(taken));
                if let Some(acks) = received.acks {
                    flow.tally.acks_sent += u64::from(acks.count);
                    let first = AckPacket::plain(index, acks.first, size);
                    let sent = TimedTrain::of(&acks, first);
                    core.expect_acks_over(queue, &mut up.wire, &sent, context);
                }
                if taken == run.count {
                    run.count = 0;
                    break;
                }
                run = run.behind(taken);
            }
            if run.count > 0 {
                late = Some((coming, train.count - run.count));
                break;
            }
        }
        if done == 0 {
            return match flow.receiver.has_options() {
                true => self.receive_full_run(trains),
                false => self.receive_behind(trains),
            };
        }
        flow.arm_receiver(index, context);
        self.come_later(index, late);
        done
    }

    /// Packets of a train from one of them on, if any, are yet to come to their receiver.
    pub(super) fn come_later(&mut self, index: u32, late: Option<(TimedTrain<DataPacket>, u32)>) {
        if let Some((coming, from)) = late {
            for number in from..coming.train.count {
                self.data_comes(coming.at(number), index, coming.train.packet(number));
            }
        }
    }

    /// As [`receive_run`](Self::receive_run), of packets that come behind a gap.
    fn receive_behind(&mut self, trains: &[impl Timed<DataPacket>]) -> usize {
        let now = self.now;
        let index = trains[0].train().first.flow;
        let flow = &mut self.hosts.flows[index as usize];
        let down = &mut self.access.data_down[index as usize];
        let up = &mut self.access.ack_up[index as usize];
        let (core, context) = (&mut self.core, &mut self.context);
        let Some(queue) = core.ack_queue(index, &context.ahead) else { return 0 };
        let until = context.ahead.data_behind(flow, context.told(index));
        let (mut done, mut late) = (0, None);
        for timed in trains {
            let (train, ready) = (timed.train(), timed.ready(now));
            let packet = &train.first;
            if packet.flow != index || !flow.takes_behind(packet.seq) || ready.0 > until {
                break;
            }
            let arrives = down.wire.carry_evenly(ready, train.count, packet.bytes(), Time::MAX);
            let Some((at, gap)) = arrives else { break };
            done += 1;
            let coming = TimedTrain { train: *train, at, gap };
            let run = coming.run(packet.seq);
            let behind = flow.receive_behind((now, until), &run);
            let taken = behind.map_or(0, |(taken, _)| taken);
            if let Some((_, ack)) = behind {
                flow.count(u64::from(taken), packet.bytes().get() * u64::from(taken));
                flow.tally.acks_sent += u64::from(taken);
                let acks = PacketRun { count: taken, step: u32::from(!ack.sack.is_empty()), ..run };
                let sent = TimedTrain::of(&acks, AckPacket::new(index, NO_ROW, &ack));
                core.expect_acks_over(queue, &mut up.wire, &sent, context);
            }
            if taken < train.count {
                late = Some((coming, taken));
                break;
            }
        }
        flow.arm_receiver(index, context);
        self.come_later(index, late);
        done
    }

    /// ACKs land, or will; returns how many trains of the first one's flow it has dealt with, up to
    /// the packets that are announced.
    fn hear_run(&mut self, trains: &[impl Timed<AckPacket>]) -> usize {
        let now = self.now;
        if !self.context.ahead.is_any() {
            return 0;
        }
        let index = trains[0].train().first.flow;
        let flow = &mut self.hosts.flows[index as usize];
        let down = &mut self.access.ack_down[index as usize];
        let up = &mut self.access.data_up[index as usize];
        if !down.is_clear() || up.wire.is_bounded() || !flow.sender.is_fast() {
            return if flow.sender.has_options() { self.hear_full_run(trains) } else { 0 };
        }
        let (core, context) = (&mut self.core, &mut self.context);
        let until = context.ahead.acks(flow, context.told(index));
        if until == Time::ZERO {
            return 0;
        }
        let Some(queue) = core.data_queue(index, &context.ahead) else { return 0 };
        let (mut done, mut late) = (0, None);
        let mut digest = flow.digest.clone();
        let mut sending = Sending::default();
        for timed in trains {
            let (train, ready) = (timed.train(), timed.ready(now));
            let (ack, count) = (&train.first, train.count);
            if ack.flow != index || !ack.is_plain() {
                break;
            }
            let arrives = down.wire.carry_evenly(ready, count, ack.bytes(), Time::MAX);
            let Some((at, gap)) = arrives else { break };
            done += 1;
            let coming = TimedTrain { train: *train, at, gap };
            let run = coming.run(ack.next);
            let (mut clock, most) = flow.sender.begin_run(&run, until);
            let (mut heard, mut next, mut taken) = (run.at, run.first, 0);
            while taken < most {
                let Some(segments) = clock.take(&mut flow.sender, heard, next) else { break };
                digest.add(heard, 2, next);
                let mut seq = segments.start;
                while seq < segments.end {
                    digest.add(heard, 1, seq);
                    let size = flow.sender.segment_size(seq);
                    let at = up.wire.carry(heard, size);
                    if !sending.goes_on(at, seq, size) {
                        let cwnd = if queue.is_by_window() { clock.cwnd() } else { 0.0 };
                        let packet = DataPacket::first(index, seq, size, cwnd);
                        sending.begin(core, queue, at, packet, context);
                    }
                    seq += 1;
                }
                heard += run.gap;
                next += u64::from(run.step);
                taken += 1;
            }
            flow.sender.end_run(&clock, &run, taken);
            if taken < count {
                late = Some((coming, taken));
                break;
            }
        }
        sending.end(core, context);
        flow.digest = digest;
        flow.arm_sender(index, context);
        if let Some((coming, from)) = late {
            for number in from..coming.train.count {
                self.ack_comes(coming.at(number), index, coming.train.packet(number));
            }
        }
        done
    }
}

/// Data packets that a sender lets go: as long as they are even, they are announced together.
#[derive(Default)]
pub(super) struct Sending {
    /// The first packet, the queue it goes to, and when it is there.
    first: Option<(DataQueue, DataPacket, Time)>,
    count: u32,
    gap: Span,
    /// What the next packet has to be to go on: when it is there, its segment, its size.
    at: Time,
    seq: u64,
    size: Bytes,
}

impl Sending {
    /// Whether a packet goes on as those before it; then it is one of them.
    #[inline(always)]
    pub(super) fn goes_on(&mut self, at: Time, seq: u64, size: Bytes) -> bool {
        if (seq, size) != (self.seq, self.size) || at != self.at && !self.sets_gap(at) {
            return false;
        }
        self.count += 1;
        (self.at, self.seq) = (at + self.gap, seq + 1);
        true
    }

    /// Whether packets, the first of them at `at` and each other a gap after the one before, all go
    /// on so; then they are among them.
    #[inline(always)]
    pub(super) fn all_go_on(
        &mut self,
        (at, gap): (Time, Span),
        seqs: &Range<u64>,
        size: Bytes,
    ) -> bool {
        let goes_on = (seqs.start, size, at, gap) == (self.seq, self.size, self.at, self.gap);
        if goes_on {
            let count = seqs.end - seqs.start;
            self.count += count as u32;
            (self.at, self.seq) = (at + gap * count, seqs.end);
        }
        goes_on
    }

    /// Whether the packet at `at` is the second one, which says how far apart all are.
    #[inline]
    fn sets_gap(&mut self, at: Time) -> bool {
        if let Some((DataQueue::One(_), _, first)) = self.first
            && self.count == 1
        {
            self.gap = at.since(first);
            return true;
        }
        false
    }

    /// A packet begins a run, and ends the one before.
    #[inline]
    pub(super) fn begin(
        &mut self,
        core: &mut Core,
        queue: DataQueue,
        at: Time,
        packet: DataPacket,
        context: &mut Context,
    ) {
        self.end(core, context);
        // Of one packet nothing but the next one says when that is there.
        (self.at, self.seq, self.size) = (Time::MAX, packet.seq + 1, packet.bytes());
        (self.count, self.gap) = (1, Span::ZERO);
        self.first = Some((queue, packet, at));
    }

    /// There are no more packets.
    #[inline]
    pub(super) fn end(&mut self, core: &mut Core, context: &mut Context) {
        if let Some((queue, first, at)) = self.first.take() {
            let train = Train { first, count: self.count, step: u32::from(self.count > 1) };
            core.expect_run(queue, TimedTrain { train, at, gap: self.gap }, context);
        }
    }
}
