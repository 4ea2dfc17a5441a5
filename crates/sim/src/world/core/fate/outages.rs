//! Fibres that are down for a while: what is on them is lost, and routes follow later.

use burstlab_kernel::Rank;
use burstlab_optical::Fibres;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::scenario::{Outage, Resolved};
use crate::world::context::Context;
use crate::world::core::burst::Bursts;
use crate::world::events::BurstEvent;

/// The outages of a scenario, and what they make of each fibre.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outages {
    /// Not stored: the scenario has them, and no event changes them.
    #[serde(skip)]
    all: Vec<Outage>,
    /// By fibre, how many outages it is down by, as routes know it; empty where there are none.
    known: Vec<u32>,
}

/// The phases of an outage, in this order; an event has four times its number, and the place of one
/// of these.
const PHASES: [Phase; 4] = [Phase::Down, Phase::Up, Phase::KnownDown, Phase::KnownUp];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Down,
    Up,
    /// Routes learn of it, and are to be found anew.
    KnownDown,
    KnownUp,
}

impl Outages {
    pub(super) fn new(resolved: &Resolved, links: usize) -> Self {
        let all = resolved.failures.clone();
        let known = if all.is_empty() { Vec::new() } else { vec![0; links] };
        Self { all, known }
    }

    /// Takes what is not stored from those of the same scenario.
    pub(super) fn adopt(&mut self, fresh: Self) {
        self.all = fresh.all;
    }

    /// How much of the time from `start` to `end` a fibre was up, from 0 to 1; of no time, 1.
    pub(crate) fn share_up(&self, link: u32, start: Time, end: Time) -> f64 {
        let at = |span: Span| (Time::ZERO + span).clamp(start, end);
        let mine = self.all.iter().filter(|outage| outage.links.contains(&link));
        let mut spells: Vec<(Time, Time)> =
            mine.map(|one| (at(one.down), one.up.map_or(end, at))).collect();
        spells.sort_unstable();
        let (mut down, mut until) = (Span::ZERO, start);
        for (from, to) in spells {
            let from = from.max(until);
            if to > from {
                down += to.since(from);
                until = to;
            }
        }
        let whole = end.since(start).as_secs_f64();
        if whole > 0.0 { 1.0 - down.as_secs_f64() / whole } else { 1.0 }
    }

    /// Whether no fibre ever goes down.
    pub(crate) fn are_none(&self) -> bool {
        self.all.is_empty()
    }

    /// By fibre, whether routes keep away from it; empty where there are no outages at all.
    pub(crate) fn avoided(&self) -> Vec<bool> {
        self.known.iter().map(|&outages| outages > 0).collect()
    }

    /// Something happens in an outage: which one, and what.
    pub(crate) fn happens(&mut self, event: u32, fibres: &mut Fibres) -> (usize, Phase) {
        let (number, phase) = ((event / 4) as usize, PHASES[event as usize % 4]);
        for &link in &self.all[number].links {
            match phase {
                Phase::Down => fibres.fails(link),
                Phase::Up => fibres.recovers(link),
                Phase::KnownDown => self.known[link as usize] += 1,
                Phase::KnownUp => self.known[link as usize] -= 1,
            }
        }
        (number, phase)
    }

    /// The bursts that an outage strikes which begins at `now`, each with its hop: those on the
    /// fibres, and those whose turn comes while the fibres are down.
    pub(crate) fn hit_by_failure(
        &self,
        number: usize,
        now: Time,
        bursts: &Bursts,
    ) -> Vec<(u32, usize)> {
        let Outage { links, up, .. } = &self.all[number];
        let until = up.map_or(Time::MAX, |up| Time::ZERO + up);
        let mut hit_by_failure = Vec::new();
        for (slot, burst) in bursts.all().filter(|(_, burst)| !burst.spared) {
            let hit = burst.reservations.iter().position(|held| {
                let over = held.arrives + held.passes;
                links.binary_search(&held.link).is_ok() && over > now && held.departs < until
            });
            hit_by_failure.extend(hit.map(|hop| (slot, hop)));
        }
        hit_by_failure
    }

    /// Puts what happens into the queue.
    pub(crate) fn begin(&self, context: &mut Context) {
        for (number, outage) in (0..).zip(&self.all) {
            let follow = |at: Option<Span>| Some(at? + outage.reroute?);
            let times =
                [Some(outage.down), outage.up, follow(Some(outage.down)), follow(outage.up)];
            for (place, at) in (0..).zip(times) {
                let event = BurstEvent::Outage.of(4 * number + place);
                if let Some(at) = at {
                    context.queue.push(Time::ZERO + at, Rank::Timer, event);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fibre_is_up_as_long_as_no_outage_covers_it() {
        let outage = |down, up: Option<u64>| Outage {
            links: vec![3],
            down: Span::from_secs(down),
            up: up.map(Span::from_secs),
            reroute: None,
        };
        let up = |all: Vec<Outage>, from, to| {
            let outages = Outages { all, ..Outages::default() };
            let [from, to] = [from, to].map(|s| Time::ZERO + Span::from_secs(s));
            assert_eq!(outages.share_up(2, from, to), 1.0, "another fibre");
            outages.share_up(3, from, to)
        };
        assert_eq!(up(vec![], 0, 10), 1.0);
        assert_eq!(up(vec![outage(2, Some(4))], 0, 10), 0.8);
        assert_eq!(up(vec![outage(2, Some(4)), outage(3, Some(6))], 0, 10), 0.6);
        assert_eq!(up(vec![outage(2, Some(8)), outage(3, Some(6))], 0, 10), 0.4);
        assert_eq!(up(vec![outage(2, Some(4)), outage(6, None)], 3, 11), 0.25);
        assert_eq!(up(vec![outage(2, Some(4))], 5, 10), 1.0, "before the measured time");
        assert_eq!(up(vec![outage(20, None)], 5, 10), 1.0, "after it");
        assert_eq!(up(vec![outage(2, None)], 5, 5), 1.0, "no time");
    }
}
