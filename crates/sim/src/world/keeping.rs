//! A world is kept now and then where a run ends with a burst, and goes back to the one that was
//! kept ([`ahead::last_burst`](super::ahead)).

use super::World;
use super::core::Network;

impl World {
    /// No host has passed this instant: the world is kept, and they may go on.
    pub(super) fn keep(&mut self) {
        let Self { transit, last_burst, .. } = self;
        if last_burst.renews(&transit.hosts, &transit.core, &mut transit.context) {
            let mut kept = Box::new(self.clone());
            kept.transit.context.work = 0;
            let closed = self.transit.core.closed();
            self.last_burst.keep(kept, closed, &mut self.transit.context);
        }
    }

    /// The last burst is closed: goes back to the world that was kept, and returns whether there is
    /// one. A burst that is closed ahead of the clock is counted then, but none is counted late: in
    /// the run to come the last one is closed now, or later.
    #[cold]
    pub(super) fn goes_back(&mut self) -> bool {
        let closed = self.now();
        let Some(kept) = self.last_burst.take() else { return false };
        *self = *kept;
        self.transit.context.ahead.keeps_next(closed);
        true
    }

    /// From now on no host is ahead of the clock in a run that ends with a burst. Where one may be,
    /// the run goes back to an instant that none has passed.
    pub(crate) fn keep_to_the_clock(&mut self) {
        if self.transit.context.ahead.is_kept() {
            if let Some(kept) = self.last_burst.take() {
                *self = *kept;
            }
            self.transit.context.ahead.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Trace;
    use crate::scenario::Scenario;
    use burstlab_kernel::RandomSource;
    use burstlab_units::{Span, Time};

    /// A world that ends with a burst, on its way between two instants at which it is kept.
    fn under_way(surgery: &str) -> World {
        let text = format!(r#"{{"run": {{"bursts": 4000, "duration": "900 s"}}, {surgery}}}"#);
        let resolved = Scenario::from_json(&text).and_then(|scenario| scenario.resolve());
        let resolved = resolved.expect("it is valid");
        let mut world = World::new(&resolved, &RandomSource::new(1, 0), Trace::default());
        loop {
            assert!(world.advance(1));
            let now = world.now();
            if world
                .last_burst
                .kept()
                .is_some_and(|kept| kept.now() > Time::ZERO && kept.now() < now)
            {
                return world;
            }
        }
    }

    #[test]
    fn a_world_that_is_kept_has_the_same_operations_and_the_same_end() {
        let mut world = under_way(r#""surgery": []"#);
        let other = under_way(r#""surgery": [{"operation": "kill", "burst": 3999}]"#);
        let end = world.now() + Span::from_secs(7);
        world.operate(other.surgery().clone());
        world.end_at(end);
        let kept = world.last_burst.kept().expect("it is kept");
        assert!(!kept.surgery().is_empty());
        assert_eq!((kept.course.end(), kept.transit.context.ahead.bounds().0), (end, end.before()));
    }

    #[test]
    fn to_keep_to_the_clock_it_goes_back_to_where_no_host_was_ahead() {
        let mut world = under_way(r#""surgery": []"#);
        let at = world.last_burst.kept().map(|kept| kept.now());
        assert!(world.transit.context.ahead.bounds().1 > world.now() && at < Some(world.now()));
        world.keep_to_the_clock();
        assert_eq!((Some(world.now()), world.transit.context.ahead.bounds().1), (at, Time::ZERO));
        assert!(world.last_burst.kept().is_none() && !world.transit.context.ahead.is_allowed());
        while world.advance(100) {}
        assert!(world.last_burst.kept().is_none(), "nor is it kept from then on");
        assert_eq!(world.transit.core.closed(), 4000);
    }
}
