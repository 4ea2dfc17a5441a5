//! Packets that are known to come. When a packet will be at its edge node is known as it is put on
//! its access link. A queue that only its timer closes needs no more: its burst takes what has come
//! by then, in order, at once.

use burstlab_kernel::Rank;
use burstlab_tcp::Sender;
use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::super::flow::Flow;
use super::super::packet::{AckPacket, DataPacket, Parcel};
use super::super::train::{Coming, Train};
use super::super::{Context, Event, Place};
use super::edge::Queue;
use super::joins::Joins;
use super::rules::Rules;
use super::{Mesh, MeshEvent};

/// The packets that will enter a queue, by the time they do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Inbox {
    data: Vec<Coming<DataPacket>>,
    acks: Vec<Coming<AckPacket>>,
    /// When the first of them enters.
    first: Time,
}

/// Where the data packets of a flow go.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::world) enum DataQueue {
    /// To this queue.
    One(usize),
    /// Between these nodes, in this class, to the queue for the window that they carry.
    ByWindow((u32, u32), u32),
}

impl DataQueue {
    /// The window that a packet of `sender` needs to carry.
    #[inline]
    pub(in crate::world) fn stamp(self, sender: &Sender) -> f64 {
        match self {
            Self::One(_) => 0.0,
            Self::ByWindow(..) => sender.cwnd(),
        }
    }

    /// The queue of `packet`.
    #[inline]
    pub(in crate::world) fn of(self, mesh: &mut Mesh, packet: &DataPacket) -> usize {
        match self {
            Self::One(queue) => queue,
            Self::ByWindow(ends, class) => {
                let class = mesh.rules.class_of(packet, class);
                mesh.queue_of(ends, class, packet.flow, false)
            }
        }
    }
}

/// Where a packet of an inbox lies, in the order in which they enter: by time, flow, and then as
/// they were put on the link.
type Entry = (Time, u32, u32);

impl Default for Inbox {
    fn default() -> Self {
        Self { data: Vec::new(), acks: Vec::new(), first: Time::MAX }
    }
}

impl Inbox {
    pub(super) fn is_empty(&self) -> bool {
        self.first == Time::MAX
    }

    pub(super) fn data(&self) -> impl Iterator<Item = &Train<DataPacket>> {
        self.data.iter().map(|coming| &coming.train)
    }

    pub(super) fn acks(&self) -> u64 {
        self.acks.iter().map(|coming| u64::from(coming.train.count)).sum()
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
    Sorted(Vec<Entry>),
    /// Each flow's in order, put together where they go on.
    Joined(Joins),
    /// Each flow's in order.
    OneByOne,
}

impl Entering {
    /// As the rules ask for; `trains`: whether packets may be kept as trains.
    pub(super) fn new(rules: &Rules, trains: bool) -> Self {
        match (rules.ordered, trains) {
            (true, _) => Self::Sorted(Vec::new()),
            (false, true) => Self::Joined(Joins::default()),
            (false, false) => Self::OneByOne,
        }
    }
}

/// Moves the packets that enter before `now` out of `coming` to `cargo`; answers how many bytes
/// they are, and when the first of the others enters.
fn take<P: Parcel>(
    coming: &mut Vec<Coming<P>>,
    cargo: &mut Vec<Train<P>>,
    entering: &mut Entering,
    now: Time,
    mut each: impl FnMut(Time, &P),
) -> (Bytes, Time) {
    let (mut bytes, mut first) = (Bytes::ZERO, Time::MAX);
    let sorted = matches!(entering, Entering::Sorted(_));
    if let Entering::Sorted(order) = entering {
        let due = (0..).zip(coming.iter()).filter(|(_, coming)| coming.at < now);
        order.extend(due.map(|(index, coming)| (coming.at, coming.train.first.flow(), index)));
        order.sort_unstable();
        for (at, _, index) in order.drain(..) {
            let train = coming[index as usize].train;
            bytes += train.bytes();
            each(at, &train.first);
            cargo.push(train);
        }
    }
    coming.retain_mut(|coming| {
        if coming.at < now {
            if sorted {
                return false;
            }
            each(coming.at, &coming.train.first);
            let train = coming.take_before(now);
            bytes += train.bytes();
            match entering {
                Entering::Joined(joins) => joins.add(cargo, train),
                _ => cargo.push(train),
            }
        }
        let stays = coming.train.count > 0;
        if stays {
            first = first.min(coming.at);
        }
        stays
    });
    (bytes, first)
}

/// Adds a packet to those that are coming, to the last train if it goes on as that does.
#[inline]
fn announce<P: Parcel>(coming: &mut Vec<Coming<P>>, at: Time, packet: P, trains: bool) {
    let joins = trains && coming.last_mut().is_some_and(|last| last.admits(at, &packet));
    if !joins {
        coming.push(Coming::one(at, packet));
    }
}

impl Context {
    /// Queues the timer of an assembly queue; its place, and not its number, settles ties, since
    /// queues are numbered as packets come or are announced.
    pub(super) fn queue_timer(&mut self, at: Time, place: u32, queue: usize) {
        let ticket = self.ticket(Rank::Timer, Place::ASSEMBLY.of(place));
        self.queue.push_at(at, ticket, Event::Mesh(MeshEvent::Assembly(queue as u32)));
    }
}

impl Queue {
    /// A packet will enter at `at`: sees to it that the queue closes in time.
    #[inline]
    fn expect(&mut self, at: Time, number: usize, context: &mut Context) {
        if at < self.inbox.first {
            self.inbox.first = at;
            if self.feed.as_ref().is_none_or(|feed| at < feed.first()) {
                self.set_timer(number, context);
            }
        }
    }

    /// When the burst that the first packet opens is closed.
    fn due(&self) -> Option<Time> {
        let timer = self.assembler.policy().timer_alone();
        timer.filter(|_| self.opens() < Time::MAX).map(|span| self.opens() + span)
    }

    /// When the first packet or batch enters that is known to come.
    fn opens(&self) -> Time {
        self.feed.as_ref().map_or(self.inbox.first, |feed| feed.first().min(self.inbox.first))
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

    /// A data packet of `flow` will reach its ingress at `at`.
    #[inline]
    pub(in crate::world) fn expect_data(
        &mut self,
        at: Time,
        packet: DataPacket,
        flow: &Flow,
        context: &mut Context,
    ) {
        let queue = self.data_queue(packet.flow, flow).of(self, &packet);
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
        let place = &mut self.queues[queue];
        announce(&mut place.inbox.data, at, packet, self.trains);
        place.expect(at, queue, context);
    }

    /// An ACK of `flow` will reach the edge node of its receiver at `at`.
    #[inline]
    pub(in crate::world) fn expect_ack(
        &mut self,
        at: Time,
        packet: AckPacket,
        flow: &Flow,
        context: &mut Context,
    ) {
        let queue = self.ack_queue(packet.flow, flow);
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
        let place = &mut self.queues[queue];
        announce(&mut place.inbox.acks, at, packet, self.trains);
        place.expect(at, queue, context);
    }

    /// ACKs will enter a queue.
    #[inline]
    pub(in crate::world) fn expect_acks_in(
        &mut self,
        queue: usize,
        coming: Coming<AckPacket>,
        context: &mut Context,
    ) {
        let place = &mut self.queues[queue];
        place.inbox.acks.push(coming);
        place.expect(coming.at, queue, context);
    }

    /// The queue of the ACKs of `flow`, which is in slot `index`.
    #[inline]
    pub(in crate::world) fn ack_queue(&mut self, index: u32, flow: &Flow) -> usize {
        let class = self.rules.class_of_ack(flow.kind.class);
        self.queue_of((flow.to, flow.from), class, index, true)
    }

    /// The queues of the data of `flow`, which is in slot `index`.
    #[inline]
    pub(in crate::world) fn data_queue(&mut self, index: u32, flow: &Flow) -> DataQueue {
        let (ends, class) = ((flow.from, flow.to), flow.kind.class);
        match self.rules.assembly.data.thresholds() {
            None => DataQueue::One(self.queue_of(ends, class, index, false)),
            Some(_) => DataQueue::ByWindow(ends, class),
        }
    }

    /// The timer of a queue: if it is due, all that entered before is in the burst now open.
    pub(super) fn take_in(&mut self, now: Time, queue: usize, context: &mut Context) -> bool {
        let place = &mut self.queues[queue];
        if place.due() != Some(now) {
            return false;
        }
        self.numbered += 1;
        place.number = self.numbered;
        let opened = place.opens();
        let (number, entering) = (place.number, &mut self.entering);
        let (cargo, inbox) = (&mut place.cargo, &mut place.inbox);
        let mut enter = |at: Time, row: u32| context.recorder.joined(row, at, number);
        let (bytes, data) = take(&mut inbox.data, &mut cargo.data, entering, now, |at, packet| {
            enter(at, packet.row);
        });
        let (more, acks) = take(&mut inbox.acks, &mut cargo.acks, entering, now, |at, packet| {
            enter(at, packet.row);
        });
        let full = place.assembler.push(opened, (), bytes + more);
        inbox.first = data.min(acks);
        let full = full || place.take_batches(now, false);
        assert!(!full, "only the timer closes such a queue");
        place.set_timer(queue, context);
        true
    }

    /// Packets that have entered a queue by the end of the run and are in no burst.
    pub(super) fn record_waiting(&self, now: Time, recorder: &mut crate::measure::Recorder) {
        for (number, queue) in (self.numbered + 1..).zip(&self.queues) {
            queue.inbox.rows(now).for_each(|(row, at)| recorder.joined(row, at, number));
        }
    }
}
