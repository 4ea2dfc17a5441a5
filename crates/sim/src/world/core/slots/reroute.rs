//! Rerouting of UDP: the fibres that an edge node takes for congested, and the buffers of routes
//! that avoid them (Lu and Hunter 2009, section IV).

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::scenario::Reroute;

/// Congested fibres that edge nodes avoid.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Detours {
    /// By edge node and fibre: from when, and until when, UDP avoids it.
    avoided: Vec<((u32, u32), (Time, Time))>,
    /// UDP packets that took another route.
    pub(super) packets: u64,
}

impl Detours {
    /// An edge node is notified of congestion at a fibre.
    pub(super) fn hears(&mut self, now: Time, place: (u32, u32), rules: &Reroute) {
        let fresh = (now + rules.after, now + rules.hold);
        match self.avoided.binary_search_by_key(&place, |&(other, _)| other) {
            Ok(at) if now < self.avoided[at].1.1 => self.avoided[at].1.1 = fresh.1,
            Ok(at) => self.avoided[at].1 = fresh,
            Err(at) => self.avoided.insert(at, (place, fresh)),
        }
    }

    /// The place among `routes` of the route for a UDP packet at `edge`: the first route without
    /// congested fibres, or the first of all where there is none.
    pub(super) fn takes(&mut self, now: Time, edge: u32, routes: &[Vec<u32>]) -> u32 {
        let clear = |route: &Vec<u32>| !route.iter().any(|&link| self.avoids(now, edge, link));
        let place = routes.iter().position(clear).unwrap_or(0) as u32;
        self.packets += u64::from(place > 0);
        place
    }

    fn avoids(&self, now: Time, edge: u32, link: u32) -> bool {
        let known = self.avoided.binary_search_by_key(&(edge, link), |&(other, _)| other);
        known.is_ok_and(|at| {
            let (from, until) = self.avoided[at].1;
            from <= now && now < until
        })
    }
}

#[cfg(test)]
mod tests {
    use burstlab_units::Span;

    use super::*;

    #[test]
    fn a_fibre_is_avoided_until_nothing_is_heard_of_it() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let rules = Reroute { after: Span::from_ms(10), hold: Span::from_ms(100) };
        let mut detours = Detours::default();
        let avoids = |detours: &Detours, ms| detours.avoids(at(ms), 1, 7);
        assert!(!avoids(&detours, 0));
        detours.hears(at(0), (1, 7), &rules);
        let known: Vec<_> = [9, 10, 99, 100].map(|ms| avoids(&detours, ms)).to_vec();
        assert_eq!(known, [false, true, true, false]);
        detours.hears(at(50), (1, 7), &rules);
        let known: Vec<_> = [50, 149, 150].map(|ms| avoids(&detours, ms)).to_vec();
        assert_eq!(known, [true, true, false], "the route is known since the first");
        detours.hears(at(150), (1, 7), &rules);
        assert!(!avoids(&detours, 159) && avoids(&detours, 160), "a new one is computed");
        assert!(!detours.avoids(at(160), 2, 7) && !detours.avoids(at(160), 1, 8));
    }
}
