//! Batches that enter an assembly queue. No batch is an event: they are drawn ahead until it is
//! certain when the open burst is closed, if nothing else enters, and that instant is the event. A
//! packet that comes before is preceded by the batches that have come by then.

use std::ops::{Add, AddAssign};

use burstlab_kernel::RandomSource;
use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::Mesh;
use super::edge::Queue;
use super::pending::INSTANT;
use crate::measure::NO_ROW;
use crate::scenario::{Interrupt, Resolved, keys};
use crate::traffic::{Batch, BatchSource, BatchSources};
use crate::world::context::Context;
use crate::world::keys::Keys;
use crate::world::packet::{BATCH, CROSS, DataPacket};
use crate::world::train::Train;

/// So much of batches. A batch counts with its last packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::world) struct Load {
    pub(in crate::world) batches: u64,
    pub(in crate::world) packets: u64,
    pub(in crate::world) bytes: u64,
}

impl Load {
    /// A packet that is kept by itself.
    pub(super) fn of(packet: &DataPacket) -> Self {
        Self { batches: packet.seq, packets: 1, bytes: u64::from(packet.size) }
    }
}

impl Add for Load {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            batches: self.batches + other.batches,
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl AddAssign for Load {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// What became of batches that left their queue.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct BatchCounts {
    pub(in crate::world) delivered: Load,
    pub(in crate::world) lost: Load,
}

/// Batches that are drawn at a time.
const DRAWN: usize = 32;

/// Batches of an open burst that are looked at ahead of the clock. A burst that holds more of them
/// is looked at again when the last of these has come, so that what is drawn needs little room.
const AHEAD: usize = 1 << 12;

/// Bursts that are closed in one event; the rest of a batch that makes more of them goes on in the
/// next event of the same instant.
const CLOSED: u32 = 1 << 12;

/// What it takes to close a burst and to send its header, in packets.
const CLOSING: usize = 4;

/// Packets that are kept one by one in bursts that are closed in one event, before it is the last.
const KEPT: usize = 1 << 20;

/// What enters a queue in batches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct BatchArrivals {
    /// Each with its next batch, where there are several.
    sources: Vec<(BatchSource, Option<Batch>)>,
    /// Batches that were drawn, in order of time; those before `first` have entered, and of the one
    /// there a part may have.
    drawn: Vec<Batch>,
    first: usize,
    /// When the queue is to be looked at next.
    due: Option<Time>,
    /// Whether that is before its burst is complete, as only so many batches are drawn ahead.
    halfway: bool,
    /// What has entered.
    pub(super) taken: Load,
}

impl BatchArrivals {
    /// Adds a source, of which nothing has come.
    fn add(&mut self, mut source: BatchSource) {
        let next = source.next();
        self.sources.push((source, next));
    }

    /// When the next batch comes; [`Time::MAX`] if there is none.
    #[inline]
    pub(super) fn first(&self) -> Time {
        self.drawn.get(self.first).map_or(Time::MAX, |batch| batch.at)
    }

    /// The batch that is `index` places behind the first, if there is one.
    #[inline]
    fn peek(&mut self, index: usize) -> Option<Batch> {
        if self.first + index >= self.drawn.len() {
            self.draw();
        }
        self.drawn.get(self.first + index).copied()
    }

    /// Draws some more.
    fn draw(&mut self) {
        self.drawn.drain(..self.first);
        self.first = 0;
        if let [(source, next)] = &mut self.sources[..] {
            // One that was drawn to be compared with others.
            self.drawn.extend(next.take());
            if !source.ended() {
                self.drawn.extend(source.draw::<DRAWN>());
            }
            return;
        }
        for _ in 0..DRAWN {
            let nexts = self.sources.iter_mut().filter(|(_, next)| next.is_some());
            let earliest = nexts.min_by_key(|(_, next)| next.map(|batch| batch.at));
            let Some((source, next)) = earliest else { return };
            self.drawn.extend(*next);
            *next = source.next();
        }
    }

    /// Takes `bytes` out of the first batch, in whole packets.
    #[inline]
    fn take(&mut self, bytes: Bytes) -> Load {
        let batch = &mut self.drawn[self.first];
        let bytes = bytes.get() as u32;
        batch.bytes -= bytes;
        let ends = batch.bytes == 0;
        let packets = u64::from(bytes.div_ceil(batch.packet));
        self.first += usize::from(ends);
        if self.first == self.drawn.len() {
            self.draw();
        }
        let load = Load { batches: u64::from(ends), packets, bytes: u64::from(bytes) };
        self.taken += load;
        load
    }

    /// Takes whole batches that come before `until`, as long as there is more room than they need;
    /// returns what they are, and when the first of them came.
    #[inline]
    fn take_whole(&mut self, until: Time, room: u64) -> Option<(Time, Load)> {
        let since = self.peek(0)?.at;
        let mut load = Load::default();
        while self.first < self.drawn.len() {
            let mut count = 0;
            for batch in &self.drawn[self.first..] {
                let bytes = load.bytes + u64::from(batch.bytes);
                if batch.at >= until || bytes >= room {
                    break;
                }
                load.packets += u64::from(batch.bytes.div_ceil(batch.packet));
                load.bytes = bytes;
                count += 1;
            }
            self.first += count;
            load.batches += count as u64;
            if self.first < self.drawn.len() {
                break;
            }
            self.draw();
        }
        self.taken += load;
        (load.batches > 0).then_some((since, load))
    }

    /// What has come by `now` and has not entered.
    pub(super) fn waiting(&self, now: Time) -> Load {
        let mut rest = self.clone();
        let before = rest.taken;
        while let Some(batch) = rest.peek(0).filter(|batch| batch.at <= now) {
            rest.take(Bytes::new(u64::from(batch.bytes)));
        }
        let all = rest.taken;
        Load {
            batches: all.batches - before.batches,
            packets: all.packets - before.packets,
            bytes: all.bytes - before.bytes,
        }
    }
}

impl Queue {
    /// Batches enter that come before `until`, as far as the open burst takes them; returns whether
    /// it is complete. With `single`, their packets are kept one by one, which takes so much work.
    pub(super) fn take_batches(
        &mut self,
        until: Time,
        single: bool,
        context: &mut Context,
    ) -> bool {
        let Some(arrivals) = &mut self.arrivals else { return false };
        loop {
            // Most of them neither complete a burst nor are parted. The first may be a rest.
            let room = if single { 0 } else { self.assembler.room() };
            if let Some((at, load)) = arrivals.take_whole(until, room) {
                self.assembler.push(at, (), Bytes::new(load.bytes));
                self.payload.load += load;
            }
            let Some(batch) = arrivals.peek(0).filter(|batch| batch.at < until) else {
                return false;
            };
            let (all, packet) = (u64::from(batch.bytes), u64::from(batch.packet));
            let (bytes, full) = self.assembler.share_of(Bytes::new(all), Bytes::new(packet));
            if bytes > Bytes::ZERO {
                self.assembler.push(batch.at, (), bytes);
                let load = arrivals.take(bytes);
                if single {
                    context.works(load.packets.try_into().unwrap_or(usize::MAX));
                    let lengths = (0..load.packets).map(|n| packet.min(bytes.get() - n * packet));
                    let packets = (1..).zip(lengths).map(|(n, size)| DataPacket {
                        flow: BATCH,
                        nth: 1,
                        cwnd: 0,
                        size: size as u32,
                        row: NO_ROW,
                        seq: if n == load.packets { load.batches } else { 0 },
                    });
                    self.payload.data.extend(packets.map(Train::one));
                } else {
                    self.payload.load += load;
                }
            }
            if full {
                return true;
            }
        }
    }

    /// When it is to be looked at next; counts the batches that are looked at to know.
    fn foresee(&mut self, work: &mut u32) -> Option<Time> {
        let arrivals = self.arrivals.as_mut()?;
        let (mut index, mut last) = (0, Time::ZERO);
        let coming = std::iter::from_fn(|| {
            if index == AHEAD {
                return None;
            }
            let batch = arrivals.peek(index)?;
            (index, last) = (index + 1, batch.at);
            Some((batch.at, Bytes::new(u64::from(batch.bytes))))
        });
        let due = self.assembler.foresee(coming);
        *work += index as u32;
        arrivals.halfway = index == AHEAD && due.is_none_or(|due| due > last);
        if arrivals.halfway { Some(last) } else { due }
    }
}

impl Mesh {
    /// Gives each queue that batches enter its sources.
    pub(super) fn attach_batches(&mut self, resolved: &Resolved, random: &RandomSource) {
        let scenario = &resolved.scenario;
        let names = keys(scenario.batches.iter().map(|one| one.name.as_ref()));
        let entries = scenario.batches.iter().zip(&resolved.batches).enumerate();
        let pairs = entries.flat_map(|(index, (batches, law))| {
            let pairs = resolved.pairs(batches.from.as_ref(), batches.to.as_ref());
            let own = Keys::of("batches", batches.name.as_ref());
            (0..).zip(pairs).map(move |(nth, ends)| (index, batches.class, law, ends, (own, nth)))
        });
        let traffic: u32 = scenario.traffic.iter().map(|traffic| traffic.count).sum();
        // Sources of entries without a name so far, of other traffic too.
        let without = scenario.traffic.iter().filter(|one| one.name.is_none());
        let mut unnamed: u64 = without.map(|one| u64::from(one.count)).sum();
        let run = &resolved.scenario.run;
        let end = Time::ZERO + run.duration + run.drain.unwrap_or_default();
        let mut sources: Option<(usize, BatchSources)> = None;
        for (number, (index, class, law, ends, (own, nth))) in (traffic..).zip(pairs) {
            if !resolved.watch.at(self.fed.len()) {
                return;
            }
            if sources.as_ref().is_none_or(|(of, _)| *of != index) {
                sources = Some((index, BatchSources::new(&names[index], law.clone(), end)));
            }
            let Some((_, sources)) = &sources else { return };
            let key = own.key(nth, u64::from(CROSS) | unnamed);
            unnamed += u64::from(!own.are_named());
            let queue = self.queue_of(ends, class, (CROSS | number, key), false);
            if self.queues[queue].arrivals.is_none() {
                self.fed.push(queue as u32);
            }
            let arrivals = self.queues[queue].arrivals.get_or_insert_default();
            arrivals.add(sources.between(ends, random));
        }
        if self.rules.cuts && !self.fed.is_empty() {
            // What is cut off depends on the order in which packets of all kinds came.
            self.expects.0 = false;
            self.expects.1 &= !self.rules.acks_with_data;
        }
    }

    /// Foresees the first closing of each queue that batches enter.
    pub(super) fn begin_batches(&mut self, watch: &Interrupt, context: &mut Context) {
        for index in 0..self.fed.len() {
            if !watch.at(index) {
                return;
            }
            let queue = self.fed[index] as usize;
            if let Some(arrivals) = &mut self.queues[queue].arrivals {
                arrivals.draw();
            }
            if self.expects_data() {
                self.queues[queue].set_timer(queue, context);
            } else {
                self.look_ahead(Time::ZERO, queue, context);
                let place = &self.queues[queue];
                if place.arrivals.as_ref().is_some_and(|arrivals| arrivals.due == Some(Time::ZERO))
                {
                    context.queue_timer(Time::ZERO, place.place, queue);
                }
            }
        }
    }

    /// A packet of `size` is about to enter a queue: what came before it enters, and the burst that
    /// has no room for it is closed.
    #[inline]
    pub(super) fn make_room(
        &mut self,
        now: Time,
        queue: usize,
        size: Bytes,
        context: &mut Context,
    ) {
        let place = &mut self.queues[queue];
        if place.arrivals.is_some() {
            let full = place.take_batches(now + INSTANT, self.rules.cuts, context);
            assert!(!full, "a burst that batches complete is closed as they come");
        }
        if place.assembler.overflows(size) {
            self.close(now, queue, context);
        }
    }

    /// A queue that batches enter is due; stale where a packet has come since this was foreseen.
    pub(super) fn fed_timer(&mut self, now: Time, queue: usize, context: &mut Context) {
        let due = |place: &Queue| place.arrivals.as_ref().and_then(|arrivals| arrivals.due);
        if due(&self.queues[queue]) != Some(now) {
            context.stale += 1;
            return;
        }
        let halfway = self.queues[queue].arrivals.as_ref().is_some_and(|arrivals| arrivals.halfway);
        let (before, mut closed) = (self.queues[queue].assembler.closed(), 0);
        let mut kept = 0;
        while due(&self.queues[queue]) == Some(now) {
            if closed == CLOSED || kept >= KEPT {
                let place = &self.queues[queue];
                context.queue_timer(now, place.place, queue);
                context.works(CLOSING * closed as usize + kept);
                return;
            }
            closed += 1;
            let (place, single) = (&mut self.queues[queue], self.rules.cuts);
            let full = place.take_batches(now, single, context);
            assert!(!full, "no burst is complete before it is due");
            // Timers come before arrivals.
            let timed = place.assembler.poll_timeout().is_some_and(|at| at <= now);
            if timed || place.take_batches(now + INSTANT, single, context) {
                kept += place.payload.trains();
                self.close(now, queue, context);
            }
            self.look_ahead(now, queue, context);
        }
        context.works(CLOSING * closed as usize + kept);
        let none = self.queues[queue].assembler.closed() == before;
        context.stale += u64::from(halfway && none);
    }

    /// Foresees when a queue is due, and sees to it that it is looked at then, unless that is now.
    pub(super) fn look_ahead(&mut self, now: Time, queue: usize, context: &mut Context) {
        let place = &mut self.queues[queue];
        let due = place.foresee(&mut context.work);
        let Some(arrivals) = &mut place.arrivals else { return };
        if std::mem::replace(&mut arrivals.due, due) != due
            && let Some(at) = due.filter(|&at| at > now)
        {
            context.queue_timer(at, place.place, queue);
        }
    }
}
