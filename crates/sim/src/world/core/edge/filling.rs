//! Queues of a mesh that a size closes, if no timer does before. What enters them is announced, and
//! two packets of a burst are events: the one that opens it, from which its timer runs, and the one
//! that completes it. That one is looked for only once as much is announced as completes the burst.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use burstlab_kernel::Rank;
use burstlab_optical::Assembler;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::announced::Announced;
use super::pending::Entry;
use crate::world::context::Context;
use crate::world::events::BurstEvent;
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
    /// Whether a burst is open, and when it is closed at the latest.
    pub(super) is_open: bool,
    pub(super) due: Time,
    /// The packet that opens the next burst, or completes the open one, if it is announced.
    pub(super) awaited: Option<Entry>,
    /// The bytes still to be announced, among those that enter before the timer ends, to complete
    /// it.
    missing: u64,
    /// Once nothing is: the packets of the burst with their bytes, the completing one on top, and
    /// the bytes of all.
    pub(super) packets: BinaryHeap<(Entry, u32)>,
    pub(super) bytes: u64,
    /// The packets of which an event is queued. An event has no room for a place, but they come in
    /// this order.
    pub(super) queued: BinaryHeap<Reverse<Entry>>,
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
            is_open: false,
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
    pub(super) fn open(&mut self, now: Time, announced: &Announced) {
        (self.is_open, self.due) = (true, now.saturating_add(self.timer));
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
    pub(super) fn learn<P: Parcel>(&mut self, coming: &TimedTrain<P>, announced: &Announced) {
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

    /// The packet that completes the burst enters: returns before which entry the burst ends. A
    /// packet that would be too much for a burst with other packets belongs to the next one.
    pub(super) fn end(&self, (now, place): Entry) -> Entry {
        let above = self.at_most && self.bytes > self.size && self.packets.len() > 1;
        (now, if above { place } else { place.next() })
    }
}

impl Filling {
    /// Queues the event of the packet that is waited for.
    pub(super) fn wait(&mut self, queue: usize, context: &mut Context) {
        if let Some((at, place)) = self.awaited {
            self.queued.push(Reverse((at, place)));
            let ticket = context.ticket(Rank::Arrival, place);
            let event = BurstEvent::Enters.of(queue as u32);
            context.queue.push_at(at, ticket, event);
        }
    }
}
