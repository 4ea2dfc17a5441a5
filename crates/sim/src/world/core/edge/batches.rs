//! Queues that batches enter.

use burstlab_kernel::RandomSource;
use burstlab_units::{Bytes, Time};

use super::Edges;
use super::pending::INSTANT;
use super::queue::Queue;
use crate::scenario::{Interrupt, Resolved, keys};
use crate::traffic::BatchSources;
use crate::world::ahead::policy::{DATA, Lookahead};
use crate::world::context::Context;
use crate::world::core::beyond::Beyond;
use crate::world::core::plan::Plan;
use crate::world::keys::Keys;
use crate::world::packet::Owner;

/// Bursts that are closed in one event; the rest of a batch that makes more of them goes on in the
/// next event of the same instant.
const CLOSED: u32 = 1 << 12;

/// The cost of closing a burst and of sending its header, in packets.
const CLOSING: usize = 4;

/// Packets that are kept one by one in bursts that are closed in one event, before it is the last.
const KEPT: usize = 1 << 20;

impl Edges {
    /// Gives each queue that batches enter its sources.
    pub(super) fn attach_batches(
        &mut self,
        resolved: &Resolved,
        random: &RandomSource,
        rules: (&Plan, &Lookahead),
    ) {
        let scenario = &resolved.scenario;
        let names = keys(scenario.batches.iter().map(|one| one.name.as_ref()));
        let entries = scenario.batches.iter().zip(&resolved.batches).enumerate();
        let pairs = entries.flat_map(|(index, (batches, law))| {
            let pairs = resolved.pairs(batches.from.as_ref(), batches.to.as_ref());
            let own = Keys::of("batches", batches.name.as_ref());
            (0..).zip(pairs).map(move |(nth, ends)| (index, batches.class, law, ends, (own, nth)))
        });
        let traffic: u32 = scenario.traffic.iter().map(|traffic| traffic.count).sum();
        // Unnamed sources before these entries, with those of `[[traffic]]`: they key the draws.
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
            let key = own.key(nth, Owner::unnamed_source(unnamed));
            unnamed += u64::from(!own.are_named());
            let queue = self.queue_of(ends, class, (Owner::source(number), key), false, rules);
            if self.queues[queue].arrivals.is_none() {
                self.fed.push(queue as u32);
            }
            let arrivals = self.queues[queue].arrivals.get_or_insert_default();
            arrivals.add(sources.between(ends, random));
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
            if context.ahead.announces(DATA) {
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
    pub(super) fn make_room(&mut self, now: Time, queue: usize, size: Bytes, out: &mut Beyond<'_>) {
        let place = &mut self.queues[queue];
        if place.arrivals.is_some() {
            let full = place.take_batches(now + INSTANT, self.rules.cuts, out.context());
            assert!(!full, "a burst that batches complete is closed as they come");
        }
        if place.assembler.overflows(size) {
            self.close(now, queue, out);
        }
    }

    /// A queue that batches enter is due; stale where a packet has come since this was foreseen.
    pub(super) fn fed_timer(&mut self, now: Time, queue: usize, out: &mut Beyond<'_>) {
        let due = |place: &Queue| place.arrivals.as_ref().and_then(|arrivals| arrivals.due);
        if due(&self.queues[queue]) != Some(now) {
            out.context().stale += 1;
            return;
        }
        let halfway = self.queues[queue].arrivals.as_ref().is_some_and(|arrivals| arrivals.halfway);
        let (before, mut closed) = (self.queues[queue].assembler.closed(), 0);
        let mut kept = 0;
        while due(&self.queues[queue]) == Some(now) {
            if closed == CLOSED || kept >= KEPT {
                let place = &self.queues[queue];
                out.context().queue_timer(now, place.place, queue);
                out.context().works(CLOSING * closed as usize + kept);
                return;
            }
            closed += 1;
            let (place, single) = (&mut self.queues[queue], self.rules.cuts);
            let full = place.take_batches(now, single, out.context());
            assert!(!full, "no burst is complete before it is due");
            // Timers come before arrivals.
            let timed = place.assembler.poll_timeout().is_some_and(|at| at <= now);
            if timed || place.take_batches(now + INSTANT, single, out.context()) {
                kept += place.payload.trains();
                self.close(now, queue, out);
            }
            self.look_ahead(now, queue, out.context());
        }
        out.context().works(CLOSING * closed as usize + kept);
        let none = self.queues[queue].assembler.closed() == before;
        out.context().stale += u64::from(halfway && none);
    }

    /// Foresees when a queue is due, and schedules a look at it then, unless that is now.
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
