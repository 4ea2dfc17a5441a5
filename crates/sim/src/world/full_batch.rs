//! Packets of a connection with options that follow one another, dealt with all at once: the same
//! as in `batch`, but that what each packet carries is looked at.

use std::ops::Range;

use burstlab_tcp::{Ack, Transmission};
use burstlab_units::{Bytes, Span, Time};

use super::World;
use super::batch::Sending;
use super::context::Context;
use super::core::{Core, DataQueue};
use super::hosts::{AckOutlet, Flow};
use super::packet::{AckPacket, DataPacket, Parcel};
use super::train::{Timed, TimedTrain};
use crate::measure::NO_ROW;
use burstlab_link::Wire;

/// Packets on a link that are looked at first, then twice as many: of those of a sender that paces
/// often one alone is taken.
const FIRST: usize = 4;

impl World {
    /// Data packets land, or will; returns how many trains of the first one's flow it has dealt
    /// with, up to the ACKs that are announced.
    pub(super) fn receive_full_run(&mut self, trains: &[impl Timed<DataPacket>]) -> usize {
        let now = self.now;
        let index = trains[0].train().first.flow;
        let flow = &mut self.hosts.flows[index as usize];
        let down = &mut self.access.data_down[index as usize];
        let up = &mut self.access.ack_up[index as usize];
        let until = self.context.ahead.data_with_options(flow);
        if until == Time::ZERO || !down.is_clear() || up.wire.is_bounded() {
            return 0;
        }
        let (core, context) = (&mut self.core, &mut self.context);
        let Some(queue) = core.ack_queue(index, &context.ahead) else { return 0 };
        let of = (index, flow.receiver.ack_size());
        let mut answering = Answering::new(of, queue, &mut up.wire, core, context);
        let (mut done, mut late) = (0, None);
        for timed in trains {
            let (train, ready) = (timed.train(), timed.ready(now));
            let (packet, count) = (&train.first, train.count);
            if packet.flow != index || !flow.receiver.takes_full_fast(packet.seq) {
                break;
            }
            let arrives = down.wire.carry_evenly(ready, count, packet.bytes(), Time::MAX);
            let Some((at, gap)) = arrives else { break };
            done += 1;
            let coming = TimedTrain { train: *train, at, gap };
            let acks = &mut self.hosts.full_acks;
            let taken = flow.receive_fast((now, until), &coming, acks, &mut answering);
            if taken < count {
                late = Some((coming, taken));
                break;
            }
        }
        answering.end();
        flow.arm_receiver(index, answering.context);
        self.come_later(index, late);
        done
    }

    /// ACKs land, or will; returns how many trains of the first one's flow it has dealt with, up to
    /// the packets that are announced.
    pub(super) fn hear_full_run(&mut self, trains: &[impl Timed<AckPacket>]) -> usize {
        let now = self.now;
        let index = trains[0].train().first.flow;
        let flow = &mut self.hosts.flows[index as usize];
        let until = self.context.ahead.acks(flow, self.context.told(index));
        let down = &mut self.access.ack_down[index as usize];
        let up = &mut self.access.data_up[index as usize];
        if until == Time::ZERO || !down.is_clear() || up.wire.is_bounded() {
            return 0;
        }
        let (core, context) = (&mut self.core, &mut self.context);
        let Some(queue) = core.data_queue(index, &context.ahead) else { return 0 };
        let (mut done, mut late) = (0, None);
        let sending = Sending::default();
        let wire = &mut up.wire;
        let mut leaving = Leaving { index, queue, sending, wire, core, context };
        for timed in trains {
            let (train, ready) = (timed.train(), timed.ready(now));
            let (ack, count) = (&train.first, train.count);
            if ack.flow != index || !ack.is_plain() || ack.nth != 1 {
                break;
            }
            let arrives = down.wire.carry_evenly(ready, count, ack.bytes(), Time::MAX);
            let Some((at, gap)) = arrives else { break };
            done += 1;
            let coming = TimedTrain { train: *train, at, gap };
            let taken = leaving.hear(flow, &coming, until, &mut self.hosts.sending);
            if taken < count {
                late = Some((coming, taken));
                break;
            }
        }
        let Leaving { mut sending, core, context, .. } = leaving;
        sending.end(core, context);
        flow.arm_sender(index, context);
        if let Some((coming, from)) = late {
            for number in from..coming.train.count {
                self.ack_comes(coming.at(number), index, coming.train.packet(number));
            }
        }
        done
    }

    /// A data packet is at its receiver: takes it with those behind it on the link, as far as they
    /// may be ahead of the clock. Returns how many.
    pub(super) fn receive_full_lane(&mut self, link: u32) -> u32 {
        let (now, index) = (self.now, link);
        let flow = &mut self.hosts.flows[index as usize];
        let lane = &mut self.access.data_down[index as usize].lane;
        let up = &mut self.access.ack_up[index as usize];
        let until = self.context.ahead.data_with_options(flow);
        if until == Time::ZERO || up.wire.is_bounded() {
            return 0;
        }
        let (core, context) = (&mut self.core, &mut self.context);
        let Some(queue) = core.ack_queue(index, &context.ahead) else { return 0 };
        let of = (index, flow.receiver.ack_size());
        let mut answering = Answering::new(of, queue, &mut up.wire, core, context);
        let (mut received, mut most) = (0, FIRST);
        while let Some((_, first)) = lane.front()
            && flow.receives_fast(first)
            && let Some(coming) = TimedTrain::in_front(lane, most)
        {
            most = most.saturating_mul(2);
            let acks = &mut self.hosts.full_acks;
            let taken = flow.receive_fast((now, until), &coming, acks, &mut answering);
            (0..taken).for_each(|_| lane.take());
            received += taken;
            if taken < coming.train.count {
                break;
            }
        }
        answering.end();
        flow.arm_receiver(index, answering.context);
        received
    }

    /// An ACK is at its sender: takes it with those behind it on the link, as far as the sender
    /// goes straight on. Returns how many.
    pub(super) fn hear_full_lane(&mut self, link: u32) -> u32 {
        let index = link;
        let flow = &mut self.hosts.flows[index as usize];
        let until = self.context.ahead.acks(flow, self.context.told(index));
        let lane = &mut self.access.ack_down[index as usize].lane;
        let up = &mut self.access.data_up[index as usize];
        if until == Time::ZERO || up.wire.is_bounded() {
            return 0;
        }
        let (core, context) = (&mut self.core, &mut self.context);
        let Some(queue) = core.data_queue(index, &context.ahead) else { return 0 };
        let (sending, wire) = (Sending::default(), &mut up.wire);
        let mut leaving = Leaving { index, queue, sending, wire, core, context };
        let (mut heard, mut most) = (0, FIRST);
        while let Some((at, first)) = lane.front()
            && flow.hears_fast(at, first)
            && let Some(coming) = TimedTrain::in_front(lane, most)
        {
            most = most.saturating_mul(2);
            let taken = leaving.hear(flow, &coming, until, &mut self.hosts.sending);
            (0..taken).for_each(|_| lane.take());
            heard += taken;
            if taken < coming.train.count {
                break;
            }
        }
        let Leaving { mut sending, core, context, .. } = leaving;
        sending.end(core, context);
        flow.arm_sender(index, context);
        heard
    }
}

/// Segments that a sender lets go on its link, and what is announced of them.
struct Leaving<'a> {
    index: u32,
    queue: DataQueue,
    sending: Sending,
    wire: &'a mut Wire,
    core: &'a mut Core,
    context: &'a mut Context,
}

impl Leaving<'_> {
    /// ACKs will be at the sender by `until`, each first of its number: takes those in front that
    /// may be heard ahead of the clock, and returns how many. `released` is empty, and stays so.
    #[inline(always)]
    fn hear(
        &mut self,
        flow: &mut Flow,
        coming: &TimedTrain<AckPacket>,
        until: Time,
        released: &mut Vec<Transmission>,
    ) -> u32 {
        let (ack, count) = (&coming.train.first, coming.train.count);
        let (mut rest, mut taken) = (coming.run(ack.next), 0);
        while taken < count && rest.at <= until {
            let mut heard = flow.hear_fast(&rest, until, |at, seqs, of| self.let_go(at, seqs, of));
            if heard == 0 {
                if !flow.hear_slowly(rest.at, (rest.first, ack.bytes()), released) {
                    break;
                }
                for sent in released.drain(..) {
                    self.let_go(rest.at, sent.seq..sent.seq + 1, (sent.size, sent.cwnd));
                }
                heard = 1;
            }
            taken += heard;
            if taken < count {
                rest = rest.behind(heard);
            }
        }
        taken
    }

    /// Segments go, each of this size.
    #[inline(always)]
    fn let_go(&mut self, now: Time, seqs: Range<u64>, of: (Bytes, f64)) {
        let (count, size) = ((seqs.end - seqs.start) as u32, of.0);
        let evenly = match count {
            0 | 1 => None,
            _ => self.wire.carry_evenly((now, Span::ZERO), count, size, Time::MAX),
        };
        if let Some((at, gap)) = evenly {
            if !self.sending.all_go_on((at, gap), &seqs, size) {
                for (nth, seq) in (0..).zip(seqs) {
                    self.put(at + gap * nth, seq, of);
                }
            }
            return;
        }
        for seq in seqs {
            let at = self.wire.carry(now, size);
            self.put(at, seq, of);
        }
    }

    /// A segment will be at its queue.
    #[inline]
    fn put(&mut self, at: Time, seq: u64, (size, cwnd): (Bytes, f64)) {
        if !self.sending.goes_on(at, seq, size) {
            let cwnd = if self.queue.is_by_window() { cwnd } else { 0.0 };
            let packet = DataPacket::first(self.index, seq, size, cwnd);
            self.sending.begin(self.core, self.queue, at, packet, self.context);
        }
    }
}

/// ACKs that a receiver sends on its link: as long as they are even, they are announced together.
struct Answering<'a> {
    index: u32,
    queue: usize,
    /// Of an ACK without SACK blocks.
    size: Bytes,
    train: Option<TimedTrain<AckPacket>>,
    /// When a plain ACK goes on as those of the train do, and what it asks for.
    next: (Time, u64),
    wire: &'a mut Wire,
    core: &'a mut Core,
    context: &'a mut Context,
}

impl AckOutlet for Answering<'_> {
    #[inline(always)]
    fn plain(&mut self, at: Time, next: u64, nth: u16) {
        if (at, next) == self.next
            && nth == 1
            && let Some(train) = &mut self.train
        {
            train.train.count += 1;
            self.next = (at + train.gap, next + u64::from(train.train.step));
            return;
        }
        self.put(at, AckPacket::plain(self.index, next, self.size).nth(nth));
    }

    fn whole(&mut self, at: Time, ack: &Ack, nth: u16) {
        self.put(at, AckPacket::new(self.index, NO_ROW, ack).nth(nth));
    }
}

impl<'a> Answering<'a> {
    fn new(
        (index, size): (u32, Bytes),
        queue: usize,
        wire: &'a mut Wire,
        core: &'a mut Core,
        context: &'a mut Context,
    ) -> Self {
        Self { index, queue, size, train: None, next: (Time::MAX, 0), wire, core, context }
    }

    fn put(&mut self, at: Time, ack: AckPacket) {
        self.next = (Time::MAX, 0);
        if let Some(train) = &mut self.train
            && train.admits(at, &ack)
        {
            if ack.is_plain() && ack.nth == 1 && ack.bytes() == self.size {
                self.next = (at + train.gap, ack.next + u64::from(train.train.step));
            }
            return;
        }
        self.end();
        self.train = Some(TimedTrain::one(at, ack));
    }

    fn end(&mut self) {
        if let Some(train) = self.train.take() {
            self.core.expect_acks_over(self.queue, self.wire, &train, self.context);
        }
    }
}
