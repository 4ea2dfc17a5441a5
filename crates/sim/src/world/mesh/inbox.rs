//! Packets that are known to come. When a packet will be at its edge node is known as it is put on
//! its access link. A queue that only its timer closes needs no more: its burst takes what has come
//! by then, in order, at once.

use burstlab_kernel::Rank;
use burstlab_optical::AssemblyPolicy;
use burstlab_units::{Bytes, Time};

use super::super::flow::Flow;
use super::super::packet::{AckPacket, DataPacket, Parcel};
use super::super::{Context, Event, Place};
use super::edge::Queue;
use super::{Mesh, MeshEvent};

/// The packets that will enter a queue, by the time they do.
#[derive(Clone, Debug)]
pub(super) struct Inbox {
    data: Vec<(Time, DataPacket)>,
    acks: Vec<(Time, AckPacket)>,
    /// When the first of them enters.
    first: Time,
}

/// Where the data packets of a flow go.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) enum DataQueue {
    /// To this queue.
    One(usize),
    /// Between these nodes, in this class, to the queue for the window that they carry.
    ByWindow((u32, u32), u32),
}

impl DataQueue {
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

    pub(super) fn data(&self) -> impl Iterator<Item = &DataPacket> {
        self.data.iter().map(|(_, packet)| packet)
    }

    pub(super) fn acks(&self) -> usize {
        self.acks.len()
    }

    /// Rows in the trace, and when they enter, of those that enter by `now`.
    pub(super) fn rows(&self, now: Time) -> impl Iterator<Item = (u32, Time)> {
        let data = self.data.iter().map(|(at, packet)| (packet.row, *at));
        let acks = self.acks.iter().map(|(at, packet)| (packet.row, *at));
        data.chain(acks).filter(move |&(_, at)| at <= now)
    }
}

/// Whether a queue under this rule needs to know nothing of a packet before it closes.
pub(super) fn only_timed(policy: AssemblyPolicy) -> bool {
    matches!(policy, AssemblyPolicy::Timer(span) if !span.is_zero())
}

/// Takes the packets that enter before `now` out of `coming`, in order; answers when the first of
/// the others enters.
fn take<P: Parcel>(
    coming: &mut Vec<(Time, P)>,
    order: &mut Vec<Entry>,
    now: Time,
    mut each: impl FnMut(Time, P),
) -> Time {
    let mut first = Time::MAX;
    for (index, (at, packet)) in (0..).zip(coming.iter()) {
        if *at < now {
            order.push((*at, packet.flow(), index));
        } else {
            first = first.min(*at);
        }
    }
    order.sort_unstable();
    for (at, _, index) in order.drain(..) {
        each(at, coming[index as usize].1);
    }
    coming.retain(|&(at, _)| at >= now);
    first
}

impl Context {
    /// Queues the timer of an assembly queue; its place, and not its number, settles ties, since
    /// queues are numbered as packets come or are announced.
    pub(super) fn queue_timer(&mut self, at: Time, place: u32, queue: usize) {
        let ticket = Place::ASSEMBLY.of(place).ticket(Rank::Timer);
        self.queue.push_at(at, ticket, Event::Mesh(MeshEvent::Assembly(queue as u32)));
    }
}

impl Queue {
    /// A packet will enter at `at`: sees to it that the queue closes in time.
    #[inline]
    fn expect(&mut self, at: Time, number: usize, context: &mut Context) {
        if at < self.inbox.first {
            self.inbox.first = at;
            self.set_timer(number, context);
        }
    }

    /// When the burst that the first packet opens is closed.
    fn due(&self) -> Option<Time> {
        match self.assembler.policy() {
            AssemblyPolicy::Timer(span) if !self.inbox.is_empty() => Some(self.inbox.first + span),
            _ => None,
        }
    }

    fn set_timer(&self, number: usize, context: &mut Context) {
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
        place.inbox.data.push((at, packet));
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
        place.inbox.acks.push((at, packet));
        place.expect(at, queue, context);
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
        match self.rules.cwnd_thresholds {
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
        let (number, order) = (place.number, &mut self.order);
        let (assembler, cargo, inbox) = (&mut place.assembler, &mut place.cargo, &mut place.inbox);
        assembler.open(inbox.first);
        let mut enter = |at: Time, row: u32, size: Bytes| {
            context.recorder.joined(row, at, number);
            let full = assembler.push(at, (), size);
            assert!(!full, "only the timer closes such a queue");
        };
        let data = take(&mut inbox.data, order, now, |at, packet| {
            enter(at, packet.row, packet.bytes());
            cargo.data.push(packet);
        });
        let acks = take(&mut inbox.acks, order, now, |at, packet| {
            enter(at, packet.row, Parcel::bytes(&packet));
            cargo.acks.push(packet);
        });
        inbox.first = data.min(acks);
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
