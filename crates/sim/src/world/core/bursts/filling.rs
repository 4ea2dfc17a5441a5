//! Queues of a mesh that a size closes, if no timer does before. What enters them is announced, and
//! two packets of a burst are events: the one that opens it, as bursts are numbered in the order in
//! which they are opened, and the one that completes it. That one is looked for only once as much
//! is announced as completes the burst.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use burstlab_kernel::Rank;
use burstlab_optical::Assembler;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Mesh;
use super::announced::Announced;
use super::edge::Queue;
use super::pending::Entry;
use crate::world::context::Context;
use crate::world::events::{CoreEvent, Event};
use crate::world::packet::Parcel;
use crate::world::train::TimedTrain;

/// How far the open burst of a queue is, and which packet is waited for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Filling {
    /// The size that completes a burst, and whether it holds no more than that.
    size: u64,
    at_most: bool,
    /// The time from its first packet after which it is closed.
    timer: Span,
    /// When that is.
    due: Time,
    /// The packet that opens the next burst, or completes the open one, if it is announced.
    awaited: Option<Entry>,
    /// What is still to be announced, of what enters before the timer ends, to complete the burst.
    missing: u64,
    /// Once nothing is: the packets of the burst with their bytes, the completing one on top, and
    /// the bytes of all.
    packets: BinaryHeap<(Entry, u32)>,
    bytes: u64,
    /// The packets of which an event is queued. An event has no room for a place, but they come in
    /// this order.
    queued: BinaryHeap<Reverse<Entry>>,
}

impl Filling {
    /// That of an empty queue, if a size closes it; packets that are bursts of their own would be
    /// two events each, and a time that follows the load is not known ahead.
    pub(super) fn of(assembler: &Assembler<()>) -> Option<Self> {
        let (size, timer) = assembler.policy().size_or_time()?;
        Some(Self {
            size: size.get(),
            at_most: assembler.holds_at_most(),
            timer,
            due: Time::MAX,
            awaited: None,
            missing: 0,
            packets: BinaryHeap::new(),
            bytes: 0,
            queued: BinaryHeap::new(),
        })
    }

    /// When the open burst is closed at the latest.
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// A burst is opened at `now`; these packets are `announced`, the one that opens it too.
    fn open(&mut self, now: Time, announced: &Announced) {
        self.due = now.saturating_add(self.timer);
        let data: u64 = announced.data.iter().map(|coming| coming.bytes_before(self.due)).sum();
        let acks: u64 = announced.acks.iter().map(|coming| coming.bytes_before(self.due)).sum();
        self.missing = self.size.saturating_sub(data + acks);
        self.awaited = None;
        if self.missing == 0 {
            self.complete(announced);
        }
    }

    /// A train is among those `announced` to the open burst, which may be complete with it, or
    /// earlier than without it.
    fn learn<P: Parcel>(&mut self, coming: &TimedTrain<P>, announced: &Announced) {
        if self.missing == 0 {
            self.add(coming);
        } else {
            self.missing = self.missing.saturating_sub(coming.bytes_before(self.due));
            if self.missing == 0 {
                self.complete(announced);
            }
        }
    }

    /// Enough is announced: finds the packet that completes the burst.
    fn complete(&mut self, announced: &Announced) {
        announced.data.iter().for_each(|coming| self.add(coming));
        announced.acks.iter().for_each(|coming| self.add(coming));
    }

    /// Adds what enters before the timer ends and before the packet that completes the burst; a
    /// burst without its last packets may be complete then.
    fn add<P: Parcel>(&mut self, coming: &TimedTrain<P>) {
        let (place, size) = (coming.train.first.enters_at(), coming.train.first.bytes().get());
        for number in 0..coming.train.count {
            let entry = (coming.at(number), place);
            if entry.0 >= self.due || self.awaited.is_some_and(|last| last < entry) {
                break;
            }
            self.packets.push((entry, size as u32));
            self.bytes += size;
            while let Some(&(last, size)) = self.packets.peek() {
                let rest = self.bytes - u64::from(size);
                if rest < self.size {
                    self.awaited = Some(last).filter(|_| self.bytes >= self.size);
                    break;
                }
                self.packets.pop();
                self.bytes = rest;
            }
        }
    }

    /// The packet that completes the burst enters: returns before what the burst ends. One that
    /// would be too much for a burst of others belongs to the next one.
    fn end(&self, (now, place): Entry) -> Entry {
        let above = self.at_most && self.bytes > self.size && self.packets.len() > 1;
        (now, if above { place } else { place.next() })
    }
}

impl Queue {
    /// Packets are announced to a queue that a size closes.
    #[inline(never)]
    pub(super) fn fill<P: Parcel>(
        &mut self,
        coming: &TimedTrain<P>,
        number: usize,
        context: &mut Context,
    ) {
        self.announced.first = self.announced.first.min(coming.at);
        let Some(filling) = &mut self.filling else { return };
        let (before, entry) = (filling.awaited, (coming.at, coming.train.first.enters_at()));
        if before.is_some_and(|awaited| awaited < entry) {
            return;
        }
        match self.number {
            0 => filling.awaited = Some(entry),
            _ => filling.learn(coming, &self.announced),
        }
        if filling.awaited != before {
            filling.wait(number, context);
        }
    }

    /// The burst of a queue is closed: waits for the packet that opens the next one.
    #[inline(never)]
    pub(super) fn await_next(&mut self, number: usize, context: &mut Context) {
        let Some(filling) = &mut self.filling else { return };
        let heads = [self.announced.data.head(), self.announced.acks.head()];
        filling.awaited = heads.into_iter().flatten().min();
        filling.packets.clear();
        filling.bytes = 0;
        filling.wait(number, context);
    }

    fn awaits(&self, entry: Entry) -> bool {
        self.filling.as_ref().is_some_and(|filling| filling.awaited == Some(entry))
    }
}

impl Filling {
    /// Queues the event of the packet that is waited for.
    fn wait(&mut self, queue: usize, context: &mut Context) {
        if let Some((at, place)) = self.awaited {
            self.queued.push(Reverse((at, place)));
            let ticket = context.ticket(Rank::Arrival, place);
            let event = Event::Core(CoreEvent::Enters(queue as u32));
            context.queue.push_at(at, ticket, event);
        }
    }
}

impl Mesh {
    /// A packet enters a queue that opens or completes its burst, if it still does.
    pub(super) fn enters(&mut self, now: Time, queue: u32, context: &mut Context) {
        let queue = queue as usize;
        let queued = self.queues[queue].filling.as_mut().and_then(|filling| filling.queued.pop());
        let Reverse(entry) = queued.expect("an event is queued for each");
        assert_eq!(entry.0, now, "the events come in this order");
        context.stale += u64::from(!self.queues[queue].awaits(entry));
        // Of a packet that is too much for a burst, and enough for one of its own, three times.
        while self.queues[queue].awaits(entry) {
            if self.queues[queue].number == 0 {
                self.open(entry, queue, context);
            } else if let Some(filling) = &self.queues[queue].filling {
                let end = filling.end(entry);
                self.gather(end, queue, context);
                self.close(now, queue, context);
            }
        }
    }

    /// A packet opens the burst of a queue.
    fn open(&mut self, entry: Entry, queue: usize, context: &mut Context) {
        let number = self.next_number(self.queues[queue].from);
        let place = &mut self.queues[queue];
        place.number = number;
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
