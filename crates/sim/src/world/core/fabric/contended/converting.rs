//! Wavelength converters: which bursts need one.

use burstlab_units::{Span, Time};

use super::Contended;
use super::wish::{ON_NONE, Wish, opens};
use crate::world::core::burst::Burst;
use crate::world::core::plan::Plan;

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
        let Some(pool) = self.pools.of_mut(link) else { return false };
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
        if let Some(pool) = self.pools.of_mut(link) {
            pool.shorten(start, owner, new_end);
        }
    }
}
