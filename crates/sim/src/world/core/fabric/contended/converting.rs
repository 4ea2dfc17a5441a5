//! Wavelength converters: which bursts need one, and the pools that have them.

use burstlab_optical::converters::ConverterPool;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Contended;
use super::contention::{Wish, opens};
use crate::scenario::{ConverterSharing, Converters};
use crate::topology::Graph;
use crate::world::core::burst::Burst;
use crate::world::core::plan::Plan;

/// The converters of the nodes. Both lists are empty if every node has as many as it needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pools {
    all: Vec<ConverterPool>,
    /// By fibre: the pool of its output.
    of: Vec<u32>,
}

/// Stands for no pool: the node has as many converters as it needs.
const UNLIMITED: u32 = u32::MAX;

impl Pools {
    /// The pools of a network, by the converters of each node.
    pub(super) fn new(graph: &Graph, at: impl Fn(u32) -> Option<Converters>) -> Self {
        let (mut all, mut of) = (Vec::new(), vec![UNLIMITED; graph.links.len()]);
        for node in 0..graph.nodes.len() as u32 {
            let Some(Converters { number, shared }) = at(node) else { continue };
            for (place, &link) in graph.outgoing(node).iter().enumerate() {
                if place == 0 || shared == ConverterSharing::Output {
                    all.push(ConverterPool::new(number));
                }
                of[link as usize] = all.len() as u32 - 1;
            }
        }
        if all.is_empty() {
            of.clear();
        }
        Self { all, of }
    }

    /// Whether every node has as many converters as it needs.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.all.is_empty()
    }

    /// The pool of the output to a fibre; `None`: the node has as many converters as it needs.
    fn of(&self, link: u32) -> Option<&ConverterPool> {
        let &place = self.of.get(link as usize)?;
        self.all.get(place as usize)
    }

    pub(super) fn measure_from(&mut self, now: Time) {
        self.all.iter_mut().for_each(|pool| pool.measure_from(now));
    }

    /// By node: its converters, if their number is limited, and how long converters were taken
    /// by `now`, together. Empty if no node has a limit.
    pub(super) fn busy(&self, now: Time, graph: &Graph) -> Vec<Option<(u64, Span)>> {
        let mut last = UNLIMITED;
        let mut sum = |node: u32| {
            let mut found = None;
            for &link in graph.outgoing(node) {
                let place = self.of[link as usize];
                if place == last {
                    continue;
                }
                last = place;
                let Some(pool) = self.all.get(place as usize) else { continue };
                let (number, busy) = found.unwrap_or_default();
                found = Some((number + u64::from(pool.number()), busy + pool.busy(now)));
            }
            found
        };
        let nodes = if self.all.is_empty() { 0 } else { graph.nodes.len() as u32 };
        (0..nodes).map(&mut sum).collect()
    }
}

/// Stands for no wavelength: a burst is sent there, or surgery lets it change.
pub(super) const ON_NONE: u32 = u32::MAX;

/// The wavelength on which a burst comes to the node that schedules it, or [`ON_NONE`].
#[inline]
pub(super) fn came_on(burst: &Burst, plan: &Plan) -> u32 {
    let sent = burst.hop == 0 && !plan.rules.random_wavelength;
    if sent || burst.converts { ON_NONE } else { burst.wavelength }
}

impl Contended {
    /// A free channel, of some, for a burst from `start` for `hold`. A node with limited
    /// converters keeps the wavelength of the burst where it can.
    #[cold]
    pub(super) fn sparing(
        &self,
        (start, hold): (Time, Span),
        range: (u32, u32),
        wish: &Wish,
        plan: &Plan,
    ) -> Option<u32> {
        let port = &self.ports[wish.link as usize];
        let came = wish.came;
        let Some(pool) = self.pools.of(wish.link).filter(|_| came != ON_NONE) else {
            return port.find_seldom(start, hold, range);
        };
        let (low, high) = plan.graph.link(wish.link).channels_of((came, came));
        let same = range.0 <= low && high <= range.1;
        let kept = same.then(|| port.find_seldom(start, hold, (low, high))).flatten();
        let changed = || port.find_seldom(start, hold, range);
        kept.or_else(|| pool.is_free(start, start + hold).then(changed).flatten())
    }

    /// Whether a burst that came on `came` may leave on a channel from `start` to `end`: it keeps
    /// its wavelength, or a converter is free.
    pub(super) fn can_change(
        &self,
        (link, channel): (u32, u32),
        came: u32,
        (start, end): (Time, Time),
        plan: &Plan,
    ) -> bool {
        let Some(pool) = self.pools.of(link).filter(|_| came != ON_NONE) else { return true };
        plan.graph.link(link).wavelength_of(channel) == came || pool.is_free(start, end)
    }

    /// Whether a burst that found no channel would have one with a converter more.
    #[cold]
    pub(super) fn lacks_converter(&self, now: Time, wish: &Wish, plan: &Plan) -> bool {
        let start = opens(now, wish.departs, &plan.rules);
        let hold = (wish.departs + wish.hold).since(start);
        let find = |range| self.ports[wish.link as usize].find_seldom(start, hold, range).is_some();
        self.pools.of(wish.link).is_some() && wish.came != ON_NONE && wish.range.is_some_and(find)
    }

    /// Takes a converter for a burst that is given a channel from `start` up to `end`, if it needs
    /// one. Returns whether surgery alone gives it the channel.
    #[cold]
    pub(super) fn convert(
        &mut self,
        now: Time,
        (burst, owner): (&Burst, u128),
        (link, channel): (u32, u32),
        (start, end): (Time, Time),
        plan: &Plan,
    ) -> bool {
        let beyond = || {
            let converts = !plan.rules.before(link, &plan.graph).keeps_wavelength;
            let plain = self.reachable(link, (burst.hop, burst.wavelength), converts, plan);
            plain.is_none_or(|(low, high)| !(low..=high).contains(&channel))
        };
        if burst.converts && beyond() {
            return true;
        }
        let sent = burst.hop == 0 && !plan.rules.random_wavelength;
        if sent || plan.graph.link(link).wavelength_of(channel) == burst.wavelength {
            return false;
        }
        let Some(&place) = self.pools.of.get(link as usize) else { return false };
        let Some(pool) = self.pools.all.get_mut(place as usize) else { return false };
        if burst.converts && !pool.is_free(start, end) {
            return true;
        }
        pool.take(now, (start, end), owner);
        false
    }

    /// Lets the channel of a burst from `start` on, and its converter, end at `new_end`.
    pub(super) fn release(
        &mut self,
        (link, channel): (u32, u32),
        (start, owner): (Time, u128),
        new_end: Time,
    ) {
        self.ports[link as usize].shorten(channel, start, owner, new_end);
        if !self.pools.are_none()
            && let Some(pool) = self.pools.all.get_mut(self.pools.of[link as usize] as usize)
        {
            pool.shorten(start, owner, new_end);
        }
    }
}
