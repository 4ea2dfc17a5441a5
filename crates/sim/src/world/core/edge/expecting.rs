//! Packets that are announced to their queues, and bursts that are loaded with what has come.

use std::cmp::Reverse;

use burstlab_link::Wire;
use burstlab_units::Time;

use super::announced::take;
use super::pending::Entry;
use super::{DataQueue, Edges};
use crate::scenario::Queues;
use crate::world::ahead::policy::Lookahead;
use crate::world::context::Context;
use crate::world::core::beyond::Beyond;
use crate::world::core::flows::{Address, Flows};
use crate::world::core::plan::Plan;
use crate::world::packet::{AckPacket, DataPacket, Owner, Parcel};
use crate::world::tie_key::TieKey;
use crate::world::train::TimedTrain;

impl Edges {
    /// An ACK will enter a queue at `at`.
    #[inline]
    pub(crate) fn expect_ack(
        &mut self,
        queue: usize,
        at: Time,
        packet: AckPacket,
        context: &mut Context,
    ) {
        let tail = self.tails.ack(packet.flow, self.keeps_trains(queue));
        let (place, coming) = (&mut self.queues[queue], TimedTrain::one(at, packet));
        place.announced.acks.push(coming, tail, queue);
        place.expect(&coming, queue, context);
    }

    /// ACKs that are `sent` over an access link will enter a queue.
    #[inline]
    pub(crate) fn expect_acks_over(
        &mut self,
        queue: usize,
        link: &mut Wire,
        sent: &TimedTrain<AckPacket>,
        context: &mut Context,
    ) {
        let (train, size) = (&sent.train, sent.train.first.bytes());
        let trains = self.keeps_trains(queue);
        match link.carry_evenly((sent.at, sent.gap), train.count, size, Time::MAX) {
            Some((at, gap)) if trains || train.count == 1 => {
                let tail = self.tails.ack(train.first.flow, trains);
                let place = &mut self.queues[queue];
                let coming = TimedTrain { train: *train, at, gap };
                place.announced.acks.push(coming, tail, queue);
                place.expect(&coming, queue, context);
            }
            Some((at, gap)) => {
                let coming = TimedTrain { train: *train, at, gap };
                for (number, ack) in (0..).zip(train.packets()) {
                    self.expect_ack(queue, coming.at(number), ack, context);
                }
            }
            None => {
                for (number, ack) in (0..).zip(train.packets()) {
                    let at = link.carry(sent.at(number), size);
                    self.expect_ack(queue, at, ack, context);
                }
            }
        }
    }

    /// Data packets will enter a queue.
    #[inline]
    pub(crate) fn expect_run_in(
        &mut self,
        queue: usize,
        run: TimedTrain<DataPacket>,
        context: &mut Context,
    ) {
        let trains = self.keeps_trains(queue);
        let place = &mut self.queues[queue];
        if trains || run.train.count == 1 {
            let tail = self.tails.data(&run.train.first, trains);
            place.announced.data.push(run, tail, queue);
        } else {
            let packets = (0..).zip(run.train.packets());
            let packets = packets.map(|(n, packet)| TimedTrain::one(run.at(n), packet));
            packets.for_each(|one| place.announced.data.push(one, None, queue));
        }
        place.expect(&run, queue, context);
    }

    /// Whether packets that are announced to a queue may be kept as trains: nobody looks at their
    /// order, or they are taken in one by one.
    #[inline]
    fn keeps_trains(&self, queue: usize) -> bool {
        let rules = &self.rules;
        rules.trains || rules.joins && self.queues[queue].is_flushed()
    }

    /// The queue of the ACKs of a flow.
    #[inline]
    pub(crate) fn ack_queue(
        &mut self,
        flow: u32,
        flows: &mut Flows,
        rules: (&Plan, &Lookahead),
    ) -> usize {
        if let Some(known) = flows.queue(flow, true) {
            return known;
        }
        let &Address { key, from, to, class, .. } = flows.address(flow);
        let class = self.rules.class_of_ack(class);
        self.find_queue((to, from), class, (flow, key), true, (flows, rules))
    }

    /// The queues of the data of a flow.
    #[inline]
    pub(crate) fn data_queue(
        &mut self,
        flow: u32,
        flows: &mut Flows,
        rules: (&Plan, &Lookahead),
    ) -> DataQueue {
        if let Some(known) = flows.queue(flow, false) {
            return DataQueue::One(known);
        }
        let &Address { key, from, to, class, .. } = flows.address(flow);
        let ends = (from, to);
        match self.rules.assembly.data.thresholds() {
            None => {
                DataQueue::One(self.find_queue(ends, class, (flow, key), false, (flows, rules)))
            }
            Some(_) => DataQueue::ByWindow(ends, class, key),
        }
    }

    /// The queue of a packet of a flow, of which this is the one or are the queues.
    #[inline]
    pub(crate) fn queue_for(
        &mut self,
        queue: DataQueue,
        packet: &DataPacket,
        rules: (&Plan, &Lookahead),
    ) -> usize {
        match queue {
            DataQueue::One(queue) => queue,
            DataQueue::ByWindow(ends, class, key) => {
                let class = self.rules.class_of(packet, class);
                self.queue_of(ends, class, (packet.owner, key), false, rules)
            }
        }
    }

    /// The only queue of the data of a flow, or of its ACKs: found once, unless the flow has queues
    /// of its own, which were another's, or a route that a failure may change.
    fn find_queue(
        &mut self,
        ends: (u32, u32),
        class: u32,
        (flow, key): (u32, u64),
        ack: bool,
        (flows, rules): (&mut Flows, (&Plan, &Lookahead)),
    ) -> usize {
        let queue = self.queue_of(ends, class, (Owner::flow(flow), key), ack, rules);
        let same = self.rules.routes_apart == 1 || !self.rules.reroutes;
        if same && self.rules.queues != Queues::Flow {
            flows.found(flow, ack, queue);
        }
        queue
    }

    /// The timer of a queue: if it is due, all that entered before is in the burst now open.
    pub(super) fn take_in(&mut self, now: Time, queue: usize, context: &mut Context) -> bool {
        let due = self.queues[queue].due() == Some(now);
        if due {
            self.gather((now, TieKey::FIRST), queue, context);
        }
        due
    }

    /// What enters a queue before `until` is in its burst, which is about to be closed.
    #[inline]
    pub(super) fn gather(&mut self, until: Entry, queue: usize, context: &mut Context) {
        let joins = self.rules.joins;
        let (place, entering) = (&mut self.queues[queue], &mut self.entering);
        let opened = place.opens();
        let (payload, announced) = (&mut place.payload, &mut place.announced);
        let recorder = &mut context.recorder;
        let (bytes, data) =
            take(&mut announced.data, (&mut payload.data, joins), entering, until, |coming| {
                recorder.joined_all(coming.rows(), (coming.at, coming.gap));
            });
        let (more, acks) =
            take(&mut announced.acks, (&mut payload.acks, joins), entering, until, |coming| {
                recorder.joined_all(coming.rows(), (coming.at, coming.gap));
            });
        let full = place.assembler.push(opened, (), bytes + more);
        announced.first = data.min(acks);
        if place.filling.is_some() {
            place.await_next(queue, context);
            return;
        }
        let full = full || place.take_batches(until.0, false, context);
        assert!(!full, "only the timer closes such a queue");
        place.set_timer(queue, context);
    }

    /// A packet enters a queue that opens or completes its burst, if it still does.
    pub(crate) fn enters(&mut self, now: Time, queue: u32, out: &mut Beyond<'_>) {
        let queue = queue as usize;
        let queued = self.queues[queue].filling.as_mut().and_then(|filling| filling.queued.pop());
        let Reverse(entry) = queued.expect("an event is queued for each");
        assert_eq!(entry.0, now, "the events come in this order");
        out.context().stale += u64::from(!self.queues[queue].awaits(entry));
        // Of a packet that is too much for a burst, and enough for one of its own, three times.
        while self.queues[queue].awaits(entry) {
            let Some(filling) = &self.queues[queue].filling else { return };
            if filling.is_open {
                let end = filling.end(entry);
                self.gather(end, queue, out.context());
                self.close(now, queue, out);
            } else {
                self.open(entry, queue, out.context());
            }
        }
    }

    /// A packet opens the burst of a queue.
    fn open(&mut self, entry: Entry, queue: usize, context: &mut Context) {
        let place = &mut self.queues[queue];
        let Some(filling) = &mut place.filling else { return };
        filling.open(entry.0, &place.announced);
        if filling.awaited != Some(entry) {
            filling.wait(queue, context);
        }
        if filling.due < Time::MAX {
            context.queue_timer(filling.due, place.place, queue);
        }
    }
}
