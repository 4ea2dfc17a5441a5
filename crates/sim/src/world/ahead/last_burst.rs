//! A run that ends with a burst, and the saved world that it may go back to.
//!
//! The time of the last burst is not known before that burst is closed. A host that is ahead of the
//! clock may be past it by then. Therefore the world is saved now and then, at instants that no
//! host has passed (`policy`, sentence 8). When the last burst is closed, the run goes back to the
//! latest saved world and repeats the rest. This time the end is known, and no host passes it. The
//! repeated part gives the same events, because the world is a plain value and every draw is keyed.
//! A burst that is closed ahead of the clock may be counted early, but never late: in the repeated
//! part the last one is closed at the same time or later.

use crate::world::core::Network;
use burstlab_kernel::Ticket;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::world::World;
use crate::world::events::Event;

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
pub(in crate::world) struct LastBurst {
    /// So many bursts are closed when the run ends.
    pub(in crate::world) limit: u64,
    kept: Option<Box<World>>,
}

impl LastBurst {
    /// Of a run that ends with its burst `limit`, or with none.
    pub(in crate::world) fn new(limit: Option<u64>) -> Self {
        Self { limit: limit.unwrap_or(u64::MAX), kept: None }
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

impl World {
    /// Sees to it that the world is kept, where hosts may be ahead of the clock in a run that ends
    /// with a burst: nothing is done ahead before it is.
    pub(in crate::world) fn begin_keeping(&mut self) {
        if self.context.ahead.is_kept() {
            self.keep_at(Time::ZERO);
        }
    }

    fn keep_at(&mut self, at: Time) {
        self.context.queue.push_at(at, Ticket::first(u32::MAX), Event::Keep);
    }

    /// No host has passed this instant: the world is kept, and they may go on.
    pub(in crate::world) fn keep(&mut self) {
        // Bookkeeping: not counted in `events`.
        self.context.stale += 1;
        self.last_burst.kept = None;
        if self.hosts.flows.len() > CONNECTIONS_MAX || self.core.weight() > BURSTS_MAX {
            self.context.ahead.stop();
        }
        if !self.context.ahead.is_allowed() {
            return;
        }
        let mut kept = Box::new(self.clone());
        kept.context.work = 0;
        self.last_burst.kept = Some(kept);
        let next = self.last_burst.next(self.now, self.core.closed());
        self.context.ahead.keeps_next(next);
        self.keep_at(next);
    }

    /// The last burst is closed: goes back to the world that was kept, and returns whether there is
    /// one. A burst that is closed ahead of the clock is counted then, but none is counted late: in
    /// the run to come the last one is closed now, or later.
    #[cold]
    pub(in crate::world) fn goes_back(&mut self) -> bool {
        let closed = self.now;
        let Some(kept) = self.last_burst.kept.take() else { return false };
        *self = *kept;
        self.context.ahead.keeps_next(closed);
        true
    }

    /// From now on no host is ahead of the clock in a run that ends with a burst. Where one may be,
    /// the run goes back to an instant that none has passed.
    pub(crate) fn keep_to_the_clock(&mut self) {
        if self.context.ahead.is_kept() {
            if let Some(kept) = self.last_burst.kept.take() {
                *self = *kept;
            }
            self.context.ahead.stop();
        }
    }

    /// The world that is kept, if one is.
    pub(in crate::world) fn kept(&mut self) -> Option<&mut Self> {
        self.last_burst.kept.as_deref_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Trace;
    use crate::scenario::Scenario;
    use burstlab_kernel::RandomSource;

    /// When a run whose bursts are closed evenly, one in each of so many picoseconds, is kept.
    fn kept(limit: u64, each: u64) -> Vec<u64> {
        let (last, end) = (LastBurst::new(Some(limit)), limit * each);
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

    /// A world that ends with a burst, on its way between two instants at which it is kept.
    fn under_way(surgery: &str) -> World {
        let text = format!(r#"{{"run": {{"bursts": 4000, "duration": "900 s"}}, {surgery}}}"#);
        let resolved = Scenario::from_json(&text).and_then(|scenario| scenario.resolve());
        let resolved = resolved.expect("it is valid");
        let mut world = World::new(&resolved, &RandomSource::new(1, 0), Trace::default());
        loop {
            assert!(world.advance(1));
            let now = world.now;
            if world.kept().is_some_and(|kept| kept.now > Time::ZERO && kept.now < now) {
                return world;
            }
        }
    }

    #[test]
    fn a_world_that_is_kept_has_the_same_operations_and_the_same_end() {
        let mut world = under_way(r#""surgery": []"#);
        let other = under_way(r#""surgery": [{"operation": "kill", "burst": 3999}]"#);
        let end = world.now + Span::from_secs(7);
        world.operate(other.surgery().clone());
        world.end_at(end);
        let kept = world.kept().expect("it is kept");
        assert!(!kept.surgery().is_empty());
        assert_eq!((kept.end, kept.context.ahead.bounds().0), (end, end.before()));
    }

    #[test]
    fn to_keep_to_the_clock_it_goes_back_to_where_no_host_was_ahead() {
        let mut world = under_way(r#""surgery": []"#);
        let at = world.kept().map(|kept| kept.now);
        assert!(world.context.ahead.bounds().1 > world.now && at < Some(world.now));
        world.keep_to_the_clock();
        assert_eq!((Some(world.now), world.context.ahead.bounds().1), (at, Time::ZERO));
        assert!(world.kept().is_none() && !world.context.ahead.is_allowed());
        while world.advance(100) {}
        assert!(world.kept().is_none(), "nor is it kept from then on");
        assert_eq!(world.core.closed(), 4000);
    }
}
