//! Receivers that take data ahead of the clock, and the ACKs that they send.
//!
//! Assumptions: the receiver's link to the edge is its own and has no bounded queue (`runs` checks
//! this), and up to `until` nothing but these data and its timer changes the receiver (`policy`,
//! sentences 9, 10 and 14 to 16). There are three cases (`Coming`). In order, nothing is missing,
//! and the endpoint stops before a delayed ACK is due. Behind a gap, all ACKs ask for the same
//! segment, and a list records the segments that were taken early. With options, each segment must
//! be in order and a first transmission; a timer that is due before a segment runs out first. ACKs
//! that leave evenly spaced are announced as one train.

use burstlab_kernel::Rank;
use burstlab_link::Wire;
use burstlab_tcp::{Ack, FullAck, PacketRun};
use burstlab_units::{Bytes, Time};

use super::host::Host;
use crate::measure::{NO_ROW, Recorder, SentRow};
use crate::world::access::Link;
use crate::world::context::Context;
use crate::world::core::{Core, Network};
use crate::world::hosts::{AckOutlet, Flow};
use crate::world::packet::{AckPacket, DataPacket, Parcel};
use crate::world::tie_key::TieKey;
use crate::world::train::TimedTrain;

/// How packets come to a receiver.
pub(super) enum Coming {
    InOrder,
    Behind,
    WithOptions,
}

/// A receiver.
pub(super) struct Receiving<'a> {
    pub(super) now: Time,
    pub(super) until: Time,
    pub(super) coming: Coming,
    pub(super) flow: &'a mut Flow,
    pub(super) link: &'a mut Link<DataPacket>,
    /// Empty, and stays so.
    pub(super) acks: &'a mut Vec<FullAck>,
    pub(super) answering: Answering<'a>,
}

impl Host<DataPacket> for Receiving<'_> {
    #[inline(always)]
    fn link(&mut self) -> &mut Link<DataPacket> {
        self.link
    }

    #[inline(always)]
    fn recorder(&mut self) -> &mut Recorder {
        &mut self.answering.context.recorder
    }

    #[inline(always)]
    fn admits(&self, first: &DataPacket, at: Time) -> bool {
        first.flow() == self.answering.index
            && match self.coming {
                Coming::InOrder => self.flow.far.receiver().takes_fast(first.seq),
                Coming::Behind => self.flow.takes_behind(first.seq) && at <= self.until,
                Coming::WithOptions => self.flow.receives_fast(first),
            }
    }

    #[inline(always)]
    fn take(&mut self, coming: &TimedTrain<DataPacket>) -> u32 {
        let Self { now, until, flow, acks, answering, .. } = self;
        let taken = match self.coming {
            Coming::InOrder => flow.far.receive_in_order((*now, *until), coming, |acks| {
                let first = AckPacket::plain(answering.index, acks.first, answering.size);
                answering.send_run(TimedTrain::of(acks, first));
            }),
            Coming::Behind => return self.take_behind(coming),
            Coming::WithOptions => {
                let Flow { far, carried, kind, .. } = &mut **flow;
                let Some(carried) = carried else { return 0 };
                let bytes = Bytes::new(kind.data_of(coming.train.first.bytes().get()));
                far.receive_fast((*now, *until), (coming, bytes), carried, acks, answering)
            }
        };
        if taken > 0 {
            flow.may_have_all(coming.at(taken - 1));
        }
        self.came(coming, taken);
        taken
    }

    #[inline(always)]
    fn end(mut self) {
        self.answering.end();
        self.flow.far.arm(self.answering.index, self.answering.context);
    }
}

impl Receiving<'_> {
    /// The receiver has taken so many packets.
    #[inline(always)]
    fn came(&mut self, coming: &TimedTrain<DataPacket>, taken: u32) {
        let rows = (coming.train.first.row, taken);
        self.recorder().delivered_all(rows, (coming.at, coming.gap));
    }

    fn take_behind(&mut self, coming: &TimedTrain<DataPacket>) -> u32 {
        let behind = self.flow.far.receive_behind((self.now, self.until), coming);
        let Some((taken, ack)) = behind else { return 0 };
        let run = coming.run(coming.train.first.seq);
        let acks = PacketRun { count: taken, step: u32::from(!ack.sack.is_empty()), ..run };
        let first = AckPacket::new(self.answering.index, NO_ROW, &ack);
        self.answering.send_run(TimedTrain::of(&acks, first));
        self.came(coming, taken);
        taken
    }
}

/// ACKs that a receiver sends on its link: as long as they are even, they are announced together.
pub(super) struct Answering<'a> {
    pub(super) id: u32,
    pub(super) index: u32,
    pub(super) queue: usize,
    /// Of an ACK without SACK blocks.
    pub(super) size: Bytes,
    pub(super) train: Option<TimedTrain<AckPacket>>,
    /// The time and the number with which a plain ACK would continue the train.
    pub(super) next: (Time, u64),
    pub(super) wire: &'a mut Wire,
    pub(super) core: &'a mut Core,
    pub(super) context: &'a mut Context,
}

impl AckOutlet for Answering<'_> {
    #[inline(always)]
    fn plain(&mut self, at: Time, next: u64, window: u32, nth: u16) {
        if self.context.recorder.traces_packets() {
            return self.put_traced(at, next, (window, nth));
        }
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

    fn whole(&mut self, at: Time, (ack, window): (&Ack, u32), nth: u16, timed: bool) {
        let row = match self.context.recorder.traces_packets() {
            true => self.record((at, timed), ack, Some(window)),
            false => NO_ROW,
        };
        self.put(at, AckPacket::new(self.index, row, ack).nth(nth));
    }
}

impl Answering<'_> {
    #[cold]
    fn put_traced(&mut self, at: Time, next: u64, (window, nth): (u32, u16)) {
        let mut ack = AckPacket::plain(self.index, next, self.size).nth(nth);
        ack.row = self.record((at, false), &ack.ack(), Some(window));
        self.put(at, ack);
    }

    /// An ACK goes that a segment lets go, or a timer: adds its row to the trace, and returns that.
    fn record(&mut self, (at, timed): (Time, bool), ack: &Ack, window: Option<u32>) -> u32 {
        let turn = match timed {
            true => TieKey::RECEIVER.of(self.index).turn(Rank::Timer),
            false => TieKey::DATA_DOWN.of(self.index).turn(Rank::Arrival),
        };
        self.context.recorder.sent_in((at, turn), self.id, &SentRow::Ack(ack, window))
    }

    /// ACKs without options go.
    #[inline(always)]
    fn send_run(&mut self, mut acks: TimedTrain<AckPacket>) {
        if self.context.recorder.traces_packets() {
            self.record_run(&mut acks);
        }
        self.send(&acks);
    }

    #[cold]
    fn record_run(&mut self, acks: &mut TimedTrain<AckPacket>) {
        for number in 0..acks.train.count {
            let ack = acks.train.packet(number).ack();
            let row = self.record((acks.at(number), false), &ack, None);
            if number == 0 {
                acks.train.first.row = row;
            }
        }
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

    #[inline(always)]
    fn send(&mut self, acks: &TimedTrain<AckPacket>) {
        self.core.expect_acks_over(self.queue, self.wire, acks, self.context);
    }

    fn end(&mut self) {
        if let Some(train) = self.train.take() {
            self.send(&train);
        }
    }
}
