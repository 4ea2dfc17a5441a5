//! A run that ends with a burst, and the saved world that it may go back to.
//!
//! The time of the last burst is not known before that burst is closed. A host that is ahead of the
//! clock may be past it by then. Therefore the world is saved now and then, at instants that no
//! host has passed (`policy`, sentence 8). When the last burst is closed, the run goes back to the
//! latest saved world and repeats the rest. This time the end is known, and no host passes it. The
//! repeated part gives the same events, because the world is a plain value and every draw is keyed.
//! A burst that is closed ahead of the clock may be counted early, but never late: in the repeated
//! part the last one is closed at the same time or later.

use burstlab_kernel::Ticket;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::world::context::Context;
use crate::world::core::{Core, Network};
use crate::world::events::Event;
use crate::world::hosts::Hosts;

/// A world with more connections than these, or with more bursts under way and sources of them, is
/// not kept: it would take as much memory again. Its hosts go by the clock.
const CONNECTIONS_MAX: usize = 1 << 12;
const BURSTS_MAX: u64 = 1 << 16;

/// The world is kept after so much time first, and then whenever the run is twice as far.
const FIRST: Span = Span::from_ps(100_000_000_000);

/// As the end comes near, it is kept once so much of the time has passed that the remaining bursts
/// will take if they come as those before: seven parts in eight.
const SHARE: (u64, u64) = (7, 8);

/// Once they will take less than one part in so many of the time that has passed, it is kept no
/// more unless they take twice as long: to go back costs no more than that.
const REST: u64 = 64;

/// With which burst a run ends, and the world that it goes back to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct LastBurst<W> {
    /// So many bursts are closed when the run ends.
    limit: u64,
    kept: Option<Box<W>>,
}

impl<W> LastBurst<W> {
    /// Of a run that ends with its burst `limit`, or with none.
    pub(in crate::world) fn new(limit: Option<u64>) -> Self {
        Self { limit: limit.unwrap_or(u64::MAX), kept: None }
    }

    /// Whether so many bursts closed end the run.
    #[inline]
    pub(in crate::world) fn is_closed(&self, closed: u64) -> bool {
        closed >= self.limit
    }

    /// The share of its bursts that is closed.
    pub(in crate::world) fn progress(&self, closed: u64) -> f64 {
        closed as f64 / self.limit as f64
    }

    /// Sees to it that the world is kept, where hosts may be ahead of the clock in a run that ends
    /// with a burst: nothing is done ahead before it is.
    pub(in crate::world) fn begin(context: &mut Context) {
        if context.ahead.is_kept() {
            keep_at(Time::ZERO, context);
        }
    }

    /// No host has passed this instant: forgets the world that was kept, and returns whether this
    /// one is to be.
    pub(in crate::world) fn renews(
        &mut self,
        hosts: &Hosts,
        core: &Core,
        context: &mut Context,
    ) -> bool {
        // Bookkeeping: not counted among the events.
        context.stale += 1;
        self.kept = None;
        if hosts.flows.len() > CONNECTIONS_MAX || core.weight() > BURSTS_MAX {
            context.ahead.stop();
        }
        context.ahead.is_allowed()
    }

    /// Keeps a world, with so many bursts closed, and hosts may go on.
    pub(in crate::world) fn keep(&mut self, world: Box<W>, closed: u64, context: &mut Context) {
        self.kept = Some(world);
        let next = self.next(context.now, closed);
        context.ahead.keeps_next(next);
        keep_at(next, context);
    }

    /// The world that is kept, if one is.
    pub(in crate::world) fn kept(&mut self) -> Option<&mut W> {
        self.kept.as_deref_mut()
    }

    /// Hands that world over.
    pub(in crate::world) fn take(&mut self) -> Option<Box<W>> {
        self.kept.take()
    }

    /// When the world is kept next, where it is at `now`, with so many bursts closed.
    fn next(&self, now: Time, closed: u64) -> Time {
        let passed = now.since(Time::ZERO).as_ps();
        let doubled = passed.max(FIRST.as_ps());
        let left = self.limit.saturating_sub(closed);
        let rest = u128::from(passed) * u128::from(left) / u128::from(closed.max(1));
        let rest = u64::try_from(rest).unwrap_or(u64::MAX);
        let step = match closed {
            0 => doubled,
            _ if rest < passed / REST => rest.saturating_mul(2).max(FIRST.as_ps()),
            _ => doubled.min(rest / SHARE.1 * SHARE.0).max(1),
        };
        now.saturating_add(Span::from_ps(step))
    }
}

fn keep_at(at: Time, context: &mut Context) {
    context.queue.push_at(at, Ticket::first(u32::MAX), Event::Keep);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a run whose bursts are closed evenly, one in each of so many picoseconds, is kept.
    fn kept(limit: u64, each: u64) -> Vec<u64> {
        let (last, end) = (LastBurst::<()>::new(Some(limit)), limit * each);
        let next = |now: &Time| Some(last.next(*now, now.as_ps() / each));
        let all = std::iter::successors(Some(Time::ZERO), next).map(Time::as_ps);
        all.take_while(|&at| at < end).collect()
    }

    #[test]
    fn little_is_run_again_and_a_world_is_kept_seldom() {
        for (limit, each) in [(40_000, 140_000_000_000), (1_000_000, 1_000_000), (300, 7_000_000)] {
            let (all, end) = (kept(limit, each), limit * each);
            assert!(all.is_sorted() && all.len() < 25, "{all:?}");
            let last = all.last().copied().expect("it is kept at the beginning");
            let again = (end - last) as f64 / end as f64;
            let short = end <= FIRST.as_ps();
            assert!(if short { last == 0 } else { again < 0.02 }, "{limit}: {again}");
        }
    }
}
