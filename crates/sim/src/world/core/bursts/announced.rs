//! Packets that are known to come. When a packet will be at its edge node is known as it is put on
//! its access link. A queue that only its timer closes needs no more: its burst takes what has come
//! by then, in order, at once.

use crate::world::core::flows::Address;
use burstlab_kernel::Rank;
use burstlab_link::Wire;
use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::Mesh;
use super::coalescer::Coalescer;
use super::edge::Queue;
use super::pending::{Entry, Pending, Tail};
use super::rules::Rules;
use crate::scenario::Queues;
use crate::world::context::Context;
use crate::world::events::{CoreEvent, Event};
use crate::world::packet::{AckPacket, DataPacket, Parcel};
use crate::world::place::Place;
use crate::world::train::{TimedTrain, Train};

/// The packets that will enter a queue, by the time they do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Announced {
    pub(super) data: Pending<DataPacket>,
    pub(super) acks: Pending<AckPacket>,
    /// When the first of them enters.
    pub(super) first: Time,
}

/// Where the data packets of a flow go.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::world) enum DataQueue {
    /// To this queue.
    One(usize),
    /// Between these nodes, in this class, to the queue for the window that they carry.
    ByWindow((u32, u32), u32, u64),
}

impl DataQueue {
    /// Whether packets need to carry the window of their sender.
    #[inline]
    pub(in crate::world) fn is_by_window(self) -> bool {
        matches!(self, Self::ByWindow(..))
    }

    /// The queue of `packet`.
    #[inline]
    pub(in crate::world::core) fn of(self, mesh: &mut Mesh, packet: &DataPacket) -> usize {
        match self {
            Self::One(queue) => queue,
            Self::ByWindow(ends, class, key) => {
                let class = mesh.rules.class_of(packet, class);
                mesh.queue_of(ends, class, (packet.flow, key), false)
            }
        }
    }
}

/// Where the last trains of flows lie that are known to come, by slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tails {
    data: Vec<Tail>,
    acks: Vec<Tail>,
}

impl Tails {
    /// Of the data of a flow, where trains may be joined.
    #[inline]
    fn data(&mut self, packet: &DataPacket, trains: bool) -> Option<&mut Tail> {
        (trains && !packet.is_cross()).then(|| tail(&mut self.data, packet.flow))
    }

    /// Of the ACKs of a flow.
    #[inline]
    fn ack(&mut self, flow: u32, trains: bool) -> Option<&mut Tail> {
        trains.then(|| tail(&mut self.acks, flow))
    }
}

#[inline]
fn tail(tails: &mut Vec<Tail>, flow: u32) -> &mut Tail {
    let slot = flow as usize;
    if tails.len() <= slot {
        tails.resize(slot + 1, Tail::NONE);
    }
    &mut tails[slot]
}

/// Where an announced packet lies, in the order in which they enter: by time, flow, and then as
/// they were put on the link.
type AnnouncedEntry = (Time, u32, u32);

impl Default for Announced {
    fn default() -> Self {
        Self { data: Pending::default(), acks: Pending::default(), first: Time::MAX }
    }
}

impl Announced {
    pub(super) fn is_empty(&self) -> bool {
        self.first == Time::MAX
    }

    pub(super) fn data(&self) -> impl Iterator<Item = &Train<DataPacket>> {
        self.data.iter().map(|coming| &coming.train)
    }

    pub(super) fn acks(&self) -> u64 {
        self.acks.iter().map(|coming| u64::from(coming.train.count)).sum()
    }

    /// Packets and bytes of what has entered before `now`.
    pub(super) fn entered(&self, now: Time) -> (u64, u64) {
        fn before<P: Parcel>(pending: &Pending<P>, now: Time) -> (u64, u64) {
            let due = pending.iter().filter(|coming| coming.at < now);
            due.fold((0, 0), |(packets, bytes), &coming| {
                let mut coming = coming;
                let train = coming.split_before(now);
                (packets + u64::from(train.train.count), bytes + train.train.bytes().get())
            })
        }
        let (data, acks) = (before(&self.data, now), before(&self.acks, now));
        (data.0 + acks.0, data.1 + acks.1)
    }

    /// Rows in the trace, and when they enter, of those that enter by `now`.
    pub(super) fn rows(&self, now: Time) -> impl Iterator<Item = (u32, Time)> {
        let data = self.data.iter().map(|coming| (coming.train.first.row, coming.at));
        let acks = self.acks.iter().map(|coming| (coming.train.first.row, coming.at));
        data.chain(acks).filter(move |&(_, at)| at <= now)
    }
}

/// In which order packets enter a burst, and the buffers that are used again for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Entering {
    /// In the order of time; every packet is a train of its own.
    Sorted(Vec<AnnouncedEntry>),
    /// Each flow's in order, put together where they go on.
    Coalesced(Coalescer),
    /// Each flow's in order.
    OneByOne,
}

impl Entering {
    /// As the rules ask for; `trains`: whether packets may be kept as trains.
    pub(super) fn new(rules: &Rules, trains: bool) -> Self {
        match (rules.ordered, trains) {
            (true, _) => Self::Sorted(Vec::new()),
            (false, true) => Self::Coalesced(Coalescer::default()),
            (false, false) => Self::OneByOne,
        }
    }
}

impl Entering {
    /// Adds a train to what a burst carries.
    #[inline]
    pub(super) fn add<P: Parcel>(&mut self, payload: &mut Vec<Train<P>>, train: Train<P>) {
        match self {
            Self::Coalesced(coalescer) => coalescer.add(payload, train),
            Self::Sorted(_) | Self::OneByOne => payload.push(train),
        }
    }
}

/// Moves the packets that enter before `until` out of `coming` to `payload`; returns how many bytes
/// they are, and when the first of the others enters.
fn take<P: Parcel>(
    coming: &mut Pending<P>,
    payload: &mut Vec<Train<P>>,
    entering: &mut Entering,
    until: Entry,
    mut each: impl FnMut(Time, &P),
) -> (Bytes, Time) {
    let mut bytes = Bytes::ZERO;
    if let Entering::Sorted(order) = entering {
        let (now, _) = until;
        let near = coming.near(now);
        let due = (0..).zip(near.iter()).filter(|(_, coming)| coming.at < now);
        order.extend(due.map(|(index, coming)| (coming.at, coming.train.first.flow(), index)));
        order.sort_unstable();
        for (at, _, index) in order.drain(..) {
            let train = near[index as usize].train;
            bytes += train.bytes();
            each(at, &train.first);
            payload.push(train);
        }
        return (bytes, coming.split(until, |_| {}));
    }
    let first = coming.split(until, |due| {
        each(due.at, &due.train.first);
        bytes += due.train.bytes();
        entering.add(payload, due.train);
    });
    (bytes, first)
}

impl Context {
    /// Queues the timer of an assembly queue; its place, and not its number, settles ties, since
    /// queues are numbered as packets come or are announced.
    pub(super) fn queue_timer(&mut self, at: Time, place: u32, queue: usize) {
        let ticket = self.ticket(Rank::Timer, Place::ASSEMBLY.of(place));
        self.queue.push_at(at, ticket, Event::Core(CoreEvent::Assembly(queue as u32)));
    }
}

impl Queue {
    /// Packets will enter: sees to it that the queue closes in time.
    #[inline]
    fn expect<P: Parcel>(&mut self, coming: &TimedTrain<P>, number: usize, context: &mut Context) {
        if self.filling.is_some() {
            self.fill(coming, number, context);
        } else if coming.at < self.announced.first {
            self.announced.first = coming.at;
            if self.arrivals.as_ref().is_none_or(|arrivals| coming.at < arrivals.first()) {
                self.set_timer(number, context);
            }
        }
    }

    /// When the burst that the first packet opens is closed; of a queue that is [flushed], when it
    /// is to be looked at.
    ///
    /// [flushed]: Mesh::flush
    pub(super) fn due(&self) -> Option<Time> {
        if self.is_flushed() {
            let due = self
                .assembler
                .poll_timeout()
                .map_or(self.announced.first, |at| at.min(self.announced.first));
            return Some(due).filter(|&at| at < Time::MAX);
        }
        if let Some(filling) = &self.filling {
            return Some(filling.due()).filter(|_| self.number > 0);
        }
        let timer = self.assembler.next_timer_alone();
        timer.filter(|_| self.opens() < Time::MAX).map(|span| self.opens() + span)
    }

    /// When the first packet or batch enters that is known to come.
    fn opens(&self) -> Time {
        self.arrivals
            .as_ref()
            .map_or(self.announced.first, |arrivals| arrivals.first().min(self.announced.first))
    }

    pub(super) fn set_timer(&self, number: usize, context: &mut Context) {
        if let Some(at) = self.due() {
            context.queue_timer(at, self.place, number);
        }
    }
}

impl Mesh {
    /// Whether data packets may be announced, in place of an event when they arrive.
    #[inline]
    pub(in crate::world) fn expects_data(&self) -> bool {
        self.expects.0
    }

    /// Whether ACKs may be announced.
    #[inline]
    pub(in crate::world) fn expects_acks(&self) -> bool {
        self.expects.1
    }

    /// A data packet will reach its ingress at `at`.
    #[inline]
    pub(in crate::world) fn expect_data(
        &mut self,
        at: Time,
        packet: DataPacket,
        context: &mut Context,
    ) {
        let queue = self.data_queue(packet.flow).of(self, &packet);
        self.expect_in(queue, at, packet, context);
    }

    /// A data packet will enter a queue at `at`.
    #[inline]
    pub(in crate::world) fn expect_in(
        &mut self,
        queue: usize,
        at: Time,
        packet: DataPacket,
        context: &mut Context,
    ) {
        self.expect_run_in(queue, TimedTrain::one(at, packet), context);
    }

    /// An ACK will reach the edge node of its receiver at `at`.
    #[inline]
    pub(in crate::world) fn expect_ack(
        &mut self,
        at: Time,
        packet: AckPacket,
        context: &mut Context,
    ) {
        let queue = self.ack_queue(packet.flow);
        self.expect_ack_in(queue, at, packet, context);
    }

    /// An ACK will enter a queue at `at`.
    #[inline]
    pub(in crate::world) fn expect_ack_in(
        &mut self,
        queue: usize,
        at: Time,
        packet: AckPacket,
        context: &mut Context,
    ) {
        let tail = self.tails.ack(packet.flow, self.trains);
        let (place, coming) = (&mut self.queues[queue], TimedTrain::one(at, packet));
        place.announced.acks.push(coming, tail, queue);
        place.expect(&coming, queue, context);
    }

    /// ACKs that are `sent` over an access link will enter a queue.
    #[inline]
    pub(in crate::world) fn expect_acks_over(
        &mut self,
        queue: usize,
        link: &mut Wire,
        sent: &TimedTrain<AckPacket>,
        context: &mut Context,
    ) {
        let (train, size) = (&sent.train, sent.train.first.bytes());
        match link.carry_evenly((sent.at, sent.gap), train.count, size, Time::MAX) {
            Some((at, gap)) if self.trains || train.count == 1 => {
                let tail = self.tails.ack(train.first.flow, self.trains);
                let place = &mut self.queues[queue];
                let coming = TimedTrain { train: *train, at, gap };
                place.announced.acks.push(coming, tail, queue);
                place.expect(&coming, queue, context);
            }
            Some((at, gap)) => {
                let coming = TimedTrain { train: *train, at, gap };
                for (number, ack) in (0..).zip(train.packets()) {
                    self.expect_ack_in(queue, coming.at(number), ack, context);
                }
            }
            None => {
                for (number, ack) in (0..).zip(train.packets()) {
                    let at = link.carry(sent.at(number), size);
                    self.expect_ack_in(queue, at, ack, context);
                }
            }
        }
    }

    /// Data packets will enter a queue.
    #[inline]
    pub(in crate::world) fn expect_run_in(
        &mut self,
        queue: usize,
        run: TimedTrain<DataPacket>,
        context: &mut Context,
    ) {
        let place = &mut self.queues[queue];
        if self.trains || run.train.count == 1 {
            let tail = self.tails.data(&run.train.first, self.trains);
            place.announced.data.push(run, tail, queue);
        } else {
            let packets = (0..).zip(run.train.packets());
            let packets = packets.map(|(n, packet)| TimedTrain::one(run.at(n), packet));
            packets.for_each(|one| place.announced.data.push(one, None, queue));
        }
        place.expect(&run, queue, context);
    }

    /// The queue of the ACKs of a flow.
    #[inline]
    pub(in crate::world) fn ack_queue(&mut self, flow: u32) -> usize {
        if let Some(known) = self.flows.queue(flow, true) {
            return known;
        }
        let &Address { key, from, to, class, .. } = self.flows.address(flow);
        let class = self.rules.class_of_ack(class);
        self.find_queue((to, from), class, (flow, key), true)
    }

    /// The queues of the data of a flow.
    #[inline]
    pub(in crate::world) fn data_queue(&mut self, flow: u32) -> DataQueue {
        if let Some(known) = self.flows.queue(flow, false) {
            return DataQueue::One(known);
        }
        let &Address { key, from, to, class, .. } = self.flows.address(flow);
        let ends = (from, to);
        match self.rules.assembly.data.thresholds() {
            None => DataQueue::One(self.find_queue(ends, class, (flow, key), false)),
            Some(_) => DataQueue::ByWindow(ends, class, key),
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
    ) -> usize {
        let queue = self.queue_of(ends, class, (flow, key), ack);
        if self.rules.queues != Queues::Flow && self.rules.lanes == 1 {
            self.flows.found(flow, ack, queue);
        }
        queue
    }

    /// The timer of a queue: if it is due, all that entered before is in the burst now open.
    pub(super) fn take_in(&mut self, now: Time, queue: usize, context: &mut Context) -> bool {
        let due = self.queues[queue].due() == Some(now);
        if due {
            self.gather((now, Place::FIRST), queue, context);
        }
        due
    }

    /// What enters a queue before `until` is in its burst, which is about to be closed.
    #[inline]
    pub(super) fn gather(&mut self, until: Entry, queue: usize, context: &mut Context) {
        if self.queues[queue].number == 0 {
            self.queues[queue].number = self.next_number(self.queues[queue].from);
        }
        let place = &mut self.queues[queue];
        let opened = place.opens();
        let (number, entering) = (place.number, &mut self.entering);
        let (payload, announced) = (&mut place.payload, &mut place.announced);
        let mut enter = |at: Time, row: u32| context.recorder.joined(row, at, number);
        let (bytes, data) =
            take(&mut announced.data, &mut payload.data, entering, until, |at, packet| {
                enter(at, packet.row);
            });
        let (more, acks) =
            take(&mut announced.acks, &mut payload.acks, entering, until, |at, packet| {
                enter(at, packet.row);
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

    /// Packets that have entered a queue by the end of the run and are in no burst.
    pub(super) fn record_waiting(&self, now: Time, recorder: &mut crate::measure::Recorder) {
        let mut numbered = self.numbered;
        for queue in &self.queues {
            let last = &mut numbered[self.counter(queue.from)];
            *last += 1;
            let number = if queue.number == 0 { *last } else { queue.number };
            queue.announced.rows(now).for_each(|(row, at)| recorder.joined(row, at, number));
        }
    }
}
