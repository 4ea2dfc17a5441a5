//! Packets of a connection with options that follow one another, dealt with all at once: the same
//! as in `batch`, but that what each packet carries is looked at.

use burstlab_units::{Bytes, Time};

use super::World;
use super::batch::Sending;
use super::context::Context;
use super::core::{Core, DataQueue};
use super::packet::{AckPacket, DataPacket, Parcel};
use super::train::{Timed, TimedTrain};
use burstlab_link::Wire;

impl World {
    /// Data packets land, or will; returns how many trains of the first one's flow it has dealt
    /// with, up to the ACKs that are announced.
    pub(super) fn receive_full_run(&mut self, trains: &[impl Timed<DataPacket>]) -> usize {
        let (now, safe) = (self.now, self.context.safe);
        let index = trains[0].train().first.flow;
        let flow = &mut self.hosts.flows[index as usize];
        let down = &mut self.access.data_down[index as usize];
        let up = &mut self.access.ack_up[index as usize];
        let until = flow.receives_with_options_until(safe);
        if until == Time::ZERO || !down.is_clear() || up.wire.is_bounded() {
            return 0;
        }
        let (core, context) = (&mut self.core, &mut self.context);
        let Some(queue) = core.ack_queue(index) else { return 0 };
        let mut answering = Answering { queue, train: None };
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
            let taken = flow.receive_fast((now, until), (index, &coming), acks, |at, ack| {
                answering.add(at, ack, (core, &mut up.wire), context);
            });
            if taken < count {
                late = Some((coming, taken));
                break;
            }
        }
        answering.end((core, &mut up.wire), context);
        flow.arm_receiver(index, context);
        if let Some((coming, from)) = late {
            for number in from..coming.train.count {
                self.data_comes(coming.at(number), index, coming.train.packet(number));
            }
        }
        done
    }

    /// ACKs land, or will; returns how many trains of the first one's flow it has dealt with, up to
    /// the packets that are announced.
    pub(super) fn hear_full_run(&mut self, trains: &[impl Timed<AckPacket>]) -> usize {
        let (now, safe) = (self.now, self.context.safe);
        let index = trains[0].train().first.flow;
        let flow = &mut self.hosts.flows[index as usize];
        let down = &mut self.access.ack_down[index as usize];
        let up = &mut self.access.data_up[index as usize];
        if !flow.goes_straight_on_with_options() || !down.is_clear() || up.wire.is_bounded() {
            return 0;
        }
        let (core, context) = (&mut self.core, &mut self.context);
        let Some(queue) = core.data_queue(index) else { return 0 };
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
            let size = ack.bytes();
            let arrives = down.wire.carry_evenly(ready, count, size, Time::MAX);
            let Some((at, gap)) = arrives else { break };
            done += 1;
            let coming = TimedTrain { train: *train, at, gap };
            let (mut rest, mut taken) = (coming.run(ack.next), 0);
            while taken < count && rest.at <= safe {
                let mut heard = flow.hear_fast(&rest, safe, |at, sent| leaving.let_go(at, sent));
                if heard == 0 {
                    let released = &mut self.hosts.sending;
                    if !flow.hear_slowly(rest.at, (rest.first, size), released) {
                        break;
                    }
                    for sent in released.drain(..) {
                        leaving.let_go(rest.at, (sent.seq, sent.size, sent.cwnd));
                    }
                    heard = 1;
                }
                taken += heard;
                if taken < count {
                    rest = rest.behind(heard);
                }
            }
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
    #[inline(always)]
    fn let_go(&mut self, now: Time, (seq, size, cwnd): (u64, Bytes, f64)) {
        let at = self.wire.carry(now, size);
        if !self.sending.goes_on(at, seq, size) {
            let cwnd = if self.queue.is_by_window() { cwnd } else { 0.0 };
            let packet = DataPacket::first(self.index, seq, size, cwnd);
            self.sending.begin(self.core, self.queue, at, packet, self.context);
        }
    }
}

/// ACKs that a receiver sends: as long as they are even, they are announced together.
struct Answering {
    queue: usize,
    train: Option<TimedTrain<AckPacket>>,
}

impl Answering {
    #[inline(always)]
    fn add(
        &mut self,
        at: Time,
        ack: AckPacket,
        out: (&mut Core, &mut Wire),
        context: &mut Context,
    ) {
        if self.train.as_mut().is_none_or(|train| !train.admits(at, &ack)) {
            self.end(out, context);
            self.train = Some(TimedTrain::one(at, ack));
        }
    }

    fn end(&mut self, (core, wire): (&mut Core, &mut Wire), context: &mut Context) {
        if let Some(train) = self.train.take() {
            core.expect_acks_over(self.queue, wire, &train, context);
        }
    }
}
