//! Receivers that take data ahead of the clock, and the ACKs that they send.
//!
//! Assumptions: the receiver's link to the edge is its own and has no bounded queue (`runs` checks
//! this), and up to `until` nothing but these data and its timer changes the receiver (`policy`,
//! sentences 9, 10 and 14 to 16). There are three cases (`Coming`). In order, nothing is missing,
//! and the endpoint stops before a delayed ACK is due. Behind a gap, all ACKs ask for the same
//! segment, and a list records the segments that were taken early. With options, each segment must
//! be in order and a first transmission; a timer that is due before a segment runs out first. ACKs
//! that leave evenly spaced are announced as one train.

use burstlab_link::Wire;
use burstlab_tcp::{Ack, FullAck, PacketRun};
use burstlab_units::{Bytes, Time};

use super::host::Host;
use crate::measure::NO_ROW;
use crate::world::access::Link;
use crate::world::context::Context;
use crate::world::core::{Core, Network};
use crate::world::hosts::{AckOutlet, Flow};
use crate::world::packet::{AckPacket, DataPacket, Parcel};
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
                answering.send(&TimedTrain::of(acks, first));
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
        taken
    }

    #[inline(always)]
    fn end(mut self) {
        self.answering.end();
        self.flow.far.arm(self.answering.index, self.answering.context);
    }
}

impl Receiving<'_> {
    fn take_behind(&mut self, coming: &TimedTrain<DataPacket>) -> u32 {
        let behind = self.flow.far.receive_behind((self.now, self.until), coming);
        let Some((taken, ack)) = behind else { return 0 };
        let run = coming.run(coming.train.first.seq);
        let acks = PacketRun { count: taken, step: u32::from(!ack.sack.is_empty()), ..run };
        let first = AckPacket::new(self.answering.index, NO_ROW, &ack);
        self.answering.send(&TimedTrain::of(&acks, first));
        taken
    }
}

/// ACKs that a receiver sends on its link: as long as they are even, they are announced together.
pub(super) struct Answering<'a> {
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

impl Answering<'_> {
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
