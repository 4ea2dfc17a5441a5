//! Packets that are announced to an assembly queue before they arrive.
//!
//! A packet's time at its edge node is known when it is put on its access link: nothing on the link
//! changes that time. A queue that only a timer closes depends on the first arrival alone, which
//! starts the timer. So the packets need no events: when the timer runs out, the burst takes all
//! that have entered by then, in order. The order is that of time, flow and position on the link.
//! `policy` (sentences 17 to 20) lists the queues for which this equals the order of events.

use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::coalescer::Coalescer;
use super::pending::{Entry, Pending, Tail};
use crate::world::packet::{AckPacket, DataPacket, Owner, Parcel};
use crate::world::train::{TimedTrain, Train};

/// The packets that will enter a queue, by the time they do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Announced {
    pub(super) data: Pending<DataPacket>,
    pub(super) acks: Pending<AckPacket>,
    /// When the first of them enters.
    pub(super) first: Time,
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
    pub(super) fn data(&mut self, packet: &DataPacket, trains: bool) -> Option<&mut Tail> {
        (trains && !packet.is_cross()).then(|| tail(&mut self.data, packet.flow()))
    }

    /// Of the ACKs of a flow.
    #[inline]
    pub(super) fn ack(&mut self, flow: u32, trains: bool) -> Option<&mut Tail> {
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
type AnnouncedEntry = (Time, Owner, u32);

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
        let (data, acks) = (self.data.iter().flat_map(rows), self.acks.iter().flat_map(rows));
        data.chain(acks).filter(move |&(_, at)| at <= now)
    }
}

/// The rows of a train in the trace, and when they enter.
fn rows<P: Parcel>(coming: &TimedTrain<P>) -> impl Iterator<Item = (u32, Time)> {
    (0..).zip(coming.train.packets()).map(|(n, packet)| (packet.row(), coming.at(n)))
}

/// In which order packets enter a burst, and the buffers that are used again for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Entering {
    /// In the order of time; every packet is a train of its own until it is in its burst.
    Sorted(Vec<AnnouncedEntry>),
    /// Each flow's in order, put together where they go on.
    Coalesced(Coalescer),
    /// Each flow's in order.
    OneByOne,
}

impl Entering {
    /// Whether their order matters, and whether packets may be kept as trains.
    pub(super) fn new(ordered: bool, trains: bool) -> Self {
        match (ordered, trains) {
            (true, _) => Self::Sorted(Vec::new()),
            (false, true) => Self::Coalesced(Coalescer::default()),
            (false, false) => Self::OneByOne,
        }
    }

    /// Adds a train to what a burst carries.
    #[inline]
    pub(super) fn add<P: Parcel>(&mut self, payload: &mut Vec<Train<P>>, train: Train<P>) {
        match self {
            Self::Coalesced(coalescer) => coalescer.add(payload, train),
            Self::Sorted(_) | Self::OneByOne => payload.push(train),
        }
    }
}

/// Moves the packets that enter before `until` out of `coming` to `payload`, where those that
/// follow one another may join; returns how many bytes they are, and when the first of the others
/// enters.
pub(super) fn take<P: Parcel>(
    coming: &mut Pending<P>,
    (payload, joins): (&mut Vec<Train<P>>, bool),
    entering: &mut Entering,
    until: Entry,
    mut each: impl FnMut(&TimedTrain<P>),
) -> (Bytes, Time) {
    let mut bytes = Bytes::ZERO;
    if let Entering::Sorted(order) = entering {
        let (now, _) = until;
        let near = coming.near(now);
        let due = (0..).zip(near.iter()).filter(|(_, coming)| coming.at < now);
        order.extend(due.map(|(index, coming)| (coming.at, coming.train.first.owner(), index)));
        order.sort_unstable();
        for (at, _, index) in order.drain(..) {
            let coming = &near[index as usize];
            assert_eq!((coming.at, coming.train.count), (at, 1), "each is a train of its own");
            let train = coming.train;
            bytes += train.bytes();
            each(coming);
            if !(joins && payload.last_mut().is_some_and(|last| last.admits(&train))) {
                payload.push(train);
            }
        }
        return (bytes, coming.split(until, |_| {}));
    }
    let first = coming.split(until, |due| {
        each(&due);
        bytes += due.train.bytes();
        entering.add(payload, due.train);
    });
    (bytes, first)
}
