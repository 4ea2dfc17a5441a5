//! Assembly queues.

use burstlab_kernel::Rank;
use burstlab_optical::{Assembler, ClosedBurst};
use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::announced::Announced;
use super::batch_arrivals::{AHEAD, BatchArrivals};
use super::filling::Filling;
use super::pending::Entry;
use super::rules::EdgeRules;
use crate::measure::NO_ROW;
use crate::world::context::Context;
use crate::world::core::burst::{BurstId, Closed, ScheduledLoss};
use crate::world::core::payload::Payload;
use crate::world::events::BurstEvent;
use crate::world::packet::{DataPacket, Owner, Parcel};
use crate::world::tie_key::TieKey;
use crate::world::train::{TimedTrain, Train};

/// Stands for no exclusive path.
const NO_WAY: u32 = u32::MAX;

/// An assembly queue, with the burst that is open in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queue {
    /// The nodes between which its bursts travel.
    pub(super) ends: (u32, u32),
    pub(super) class: u32,
    /// Which of the routes of its pair its flows have, where each flow has one.
    pub(super) route_index: u32,
    pub(super) place: u32,
    pub(super) assembler: Assembler<()>,
    pub(super) payload: Payload,
    /// The announced packets.
    pub(super) announced: Announced,
    /// Batches that enter it.
    pub(super) arrivals: Option<Box<BatchArrivals>>,
    /// The exclusive path of its bursts; `NO_WAY`: none, or a timer alone closes them.
    pub(super) way: u32,
    /// How far its burst is, where a size closes it and what enters is announced.
    pub(super) filling: Option<Box<Filling>>,
    /// Rows in the trace of packets that came to the open burst and that a script lost.
    pub(super) killed: Vec<u32>,
    /// Where packets leave spaced: how many have come to the open burst, lost ones too, and how
    /// many before each that is in it.
    entered: u64,
    spaced: Vec<u64>,
}

impl Queue {
    /// A queue of data, or of ACKs alone.
    pub(super) fn new(
        rules: &EdgeRules,
        ends: (u32, u32),
        (class, route_index): (u32, u32),
        (acks, place): (bool, usize),
    ) -> Self {
        let (edge, assembly) = (&rules.edge, &rules.assembly);
        let policy = if acks { assembly.ack } else { assembly.data.policy(class) };
        let assembler = Assembler::new(policy).with_minimum(edge.min_size.unwrap_or_default());
        let own = if acks { &edge.ack.burst_timers } else { &edge.burst_timers };
        let assembler = assembler.with_own_timers(own.clone());
        Self {
            ends,
            class,
            route_index,
            place: place as u32,
            assembler: assembler.with_at_most(edge.at_most && !acks),
            payload: Payload::default(),
            announced: Announced::default(),
            arrivals: None,
            way: NO_WAY,
            filling: None,
            killed: Vec::new(),
            entered: 0,
            spaced: Vec::new(),
        }
    }

    /// Whether it is taken in as far ahead as what reaches it is known.
    #[inline]
    pub(super) fn is_flushed(&self) -> bool {
        self.way != NO_WAY
    }

    /// A packet comes to the open burst, and is in it unless a script loses it.
    pub(super) fn space(&mut self, killed: bool) {
        if !killed {
            self.spaced.push(self.entered);
        }
        self.entered += 1;
    }

    /// A script loses a packet that came to the open burst.
    pub(super) fn kills(&mut self, row: u32) {
        if row != NO_ROW {
            self.killed.push(row);
        }
    }

    /// Whether packets have entered by `now` that are in no burst.
    pub(super) fn waits(&self, now: Time) -> bool {
        let entered = || self.announced.rows(now).next().is_some();
        !self.payload.is_empty() || !self.killed.is_empty() || entered()
    }

    /// Its burst has left; the next packet opens another.
    pub(super) fn left(&mut self) {
        self.killed.clear();
        self.entered = 0;
        self.spaced.clear();
    }

    /// What it holds, as the burst that is `closed` at a time.
    pub(super) fn as_closed(
        &mut self,
        (at, id): (Time, BurstId),
        closed: &ClosedBurst,
        prescribed: Option<ScheduledLoss>,
    ) -> Closed<'_> {
        Closed {
            id,
            ends: self.ends,
            class: self.class,
            route_index: self.route_index,
            opened: closed.opened,
            at,
            bytes: closed.bytes,
            load: closed.bytes.get() - closed.padding.get(),
            kind: self.payload.kind(),
            drawn: false,
            payload: &mut self.payload,
            spaced: &self.spaced,
            killed: &self.killed,
            prescribed,
        }
    }

    /// Packets will enter: schedules the closing of the queue.
    #[inline]
    pub(super) fn expect<P: Parcel>(
        &mut self,
        coming: &TimedTrain<P>,
        number: usize,
        context: &mut Context,
    ) {
        if self.filling.is_some() {
            self.fill(coming, number, context);
        } else if coming.at < self.announced.first {
            self.announced.first = coming.at;
            if self.arrivals.as_ref().is_none_or(|arrivals| coming.at < arrivals.first()) {
                self.set_timer(number, context);
            }
        }
    }

    /// When the burst that the first packet opens is closed; of a queue that is flushed, when it is
    /// to be looked at.
    pub(super) fn due(&self) -> Option<Time> {
        if self.is_flushed() {
            let due = self
                .assembler
                .poll_timeout()
                .map_or(self.announced.first, |at| at.min(self.announced.first));
            return Some(due).filter(|&at| at < Time::MAX);
        }
        if let Some(filling) = &self.filling {
            return Some(filling.due()).filter(|_| filling.is_open);
        }
        let timer = self.assembler.next_timer_alone();
        timer.filter(|_| self.opens() < Time::MAX).map(|span| self.opens() + span)
    }

    /// When the first packet or batch enters that is known to come.
    pub(super) fn opens(&self) -> Time {
        self.arrivals
            .as_ref()
            .map_or(self.announced.first, |arrivals| arrivals.first().min(self.announced.first))
    }

    pub(super) fn set_timer(&self, number: usize, context: &mut Context) {
        if let Some(at) = self.due() {
            context.queue_timer(at, self.place, number);
        }
    }

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
        match filling.is_open {
            false => filling.awaited = Some(entry),
            true => filling.learn(coming, &self.announced),
        }
        if filling.awaited != before {
            filling.wait(number, context);
        }
    }

    /// The burst of a queue is closed: waits for the packet that opens the next one.
    #[inline(never)]
    pub(super) fn await_next(&mut self, number: usize, context: &mut Context) {
        let Some(filling) = &mut self.filling else { return };
        filling.is_open = false;
        let heads = [self.announced.data.head(), self.announced.acks.head()];
        filling.awaited = heads.into_iter().flatten().min();
        filling.packets.clear();
        filling.bytes = 0;
        filling.wait(number, context);
    }

    pub(super) fn awaits(&self, entry: Entry) -> bool {
        self.filling.as_ref().is_some_and(|filling| filling.awaited == Some(entry))
    }

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
                        owner: Owner::BATCH,
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
    pub(super) fn foresee(&mut self, work: &mut u32) -> Option<Time> {
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

impl Context {
    /// Queues the timer of an assembly queue; its place, and not its number, settles ties, since
    /// queues are numbered as packets come or are announced.
    pub(super) fn queue_timer(&mut self, at: Time, place: u32, queue: usize) {
        let ticket = self.ticket(Rank::Timer, TieKey::ASSEMBLY.of(place));
        self.queue.push_at(at, ticket, BurstEvent::Assembly.of(queue as u32));
    }
}
