//! Pools of wavelength converters.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Equal converters that several outputs, or the wavelengths of one, share.
///
/// A burst that changes its wavelength holds a converter while it holds the wavelength:
/// [`is_free`](Self::is_free), then [`take`](Self::take). Converters are equal and are given out as
/// bursts come, so that a burst needs one at each instant, and not the same one from the start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConverterPool {
    number: usize,
    /// The reservations that are not dropped, by rising start.
    held: Vec<Held>,
    /// Their ends, rising.
    ends: Vec<Time>,
    /// Time that dropped reservations took since the measurement began.
    dropped: Span,
    /// Use is measured from here.
    origin: Time,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Held {
    start: Time,
    end: Time,
    owner: u128,
}

impl ConverterPool {
    /// A pool of `number` converters, all free.
    #[must_use]
    pub fn new(number: u32) -> Self {
        let (held, ends) = (Vec::new(), Vec::new());
        Self { number: number as usize, held, ends, dropped: Span::ZERO, origin: Time::ZERO }
    }

    /// Whether fewer than all converters are taken at each instant from `start` up to `end`.
    #[must_use]
    pub fn is_free(&self, start: Time, end: Time) -> bool {
        if self.held.len() < self.number {
            return true;
        }
        let begun = self.held.partition_point(|held| held.start <= start);
        let mut gone = self.ends.partition_point(|&end| end <= start);
        if begun - gone >= self.number {
            return false;
        }
        let later = self.held.iter().enumerate().skip(begun);
        for (index, held) in later.take_while(|(_, held)| held.start < end) {
            while self.ends[gone] <= held.start {
                gone += 1;
            }
            if index + 1 - gone >= self.number {
                return false;
            }
        }
        true
    }

    /// Takes a converter from `start` up to `end` for `owner`; drops reservations that ended at or
    /// before `now`.
    ///
    /// # Panics
    /// When none is free, or `end` is not after `start`.
    pub fn take(&mut self, now: Time, (start, end): (Time, Time), owner: u128) {
        assert!(start < end, "a burst takes time");
        assert!(self.is_free(start, end), "a converter is free where it is taken");
        let gone = self.ends.partition_point(|&end| end <= now);
        if gone > 0 {
            self.ends.drain(..gone);
            let Self { held, dropped, origin, .. } = self;
            held.retain(|held| {
                let over = held.end <= now;
                *dropped += if over { held.within(*origin, Time::MAX) } else { Span::ZERO };
                !over
            });
        }
        let place = self.held.partition_point(|held| held.start <= start);
        self.held.insert(place, Held { start, end, owner });
        self.enter(end);
    }

    /// Lets the reservation of `owner` that begins at `start` end at `new_end`; removes it where
    /// `new_end` is not after `start`. Without such a reservation nothing happens.
    ///
    /// # Panics
    /// When `new_end` lies after its end.
    pub fn shorten(&mut self, start: Time, owner: u128, new_end: Time) {
        let first = self.held.partition_point(|held| held.start < start);
        let same = self.held[first..].iter().take_while(|held| held.start == start);
        let Some(place) = same.into_iter().position(|held| held.owner == owner) else { return };
        let held = &mut self.held[first + place];
        assert!(new_end <= held.end, "{held:?} cannot be lengthened to {new_end}");
        let old = std::mem::replace(&mut held.end, new_end);
        let place_of_end = self.ends.partition_point(|&end| end < old);
        self.ends.remove(place_of_end);
        if new_end <= start {
            self.held.remove(first + place);
        } else {
            self.enter(new_end);
        }
    }

    fn enter(&mut self, end: Time) {
        let place = self.ends.partition_point(|&other| other <= end);
        self.ends.insert(place, end);
    }

    /// How long converters were taken up to `until`, together, since the run or the measurement
    /// began.
    #[must_use]
    pub fn busy(&self, until: Time) -> Span {
        let held = self.held.iter().map(|held| held.within(self.origin, until));
        held.fold(self.dropped, |sum, held| sum + held)
    }

    /// Use counts from `now` on: warm-up is over.
    pub fn measure_from(&mut self, now: Time) {
        (self.origin, self.dropped) = (now, Span::ZERO);
    }

    /// How many converters there are.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number as u32
    }
}

impl Held {
    /// How much of it lies between two instants.
    fn within(&self, from: Time, until: Time) -> Span {
        let (start, end) = (self.start.max(from), self.end.min(until));
        if start < end { end.since(start) } else { Span::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    #[test]
    fn as_many_bursts_change_their_wavelength_at_a_time_as_there_are_converters() {
        let mut pool = ConverterPool::new(2);
        pool.take(us(0), (us(0), us(10)), 1);
        pool.take(us(0), (us(5), us(20)), 2);
        assert!(!pool.is_free(us(9), us(12)) && pool.is_free(us(10), us(12)));
        assert!(!pool.is_free(us(0), us(6)) && pool.is_free(us(0), us(5)));
        pool.shorten(us(0), 3, us(2));
        assert!(!pool.is_free(us(9), us(12)), "another one's reservation stays");
        pool.shorten(us(0), 1, us(5));
        assert!(pool.is_free(us(0), us(30)));
        pool.shorten(us(5), 2, us(5));
        assert_eq!(pool.busy(us(100)), Span::from_us(5));
    }

    #[test]
    fn an_empty_pool_has_no_converter() {
        assert!(!ConverterPool::new(0).is_free(us(0), us(1)));
    }

    #[test]
    fn use_counts_from_the_beginning_of_the_measurement() {
        let mut pool = ConverterPool::new(1);
        pool.take(us(0), (us(0), us(10)), 1);
        pool.measure_from(us(4));
        assert_eq!(pool.busy(us(6)), Span::from_us(2));
        pool.take(us(12), (us(12), us(15)), 2);
        assert_eq!((pool.busy(us(13)), pool.busy(us(20))), (Span::from_us(7), Span::from_us(9)));
    }

    #[test]
    #[should_panic(expected = "is free where it is taken")]
    fn a_converter_that_is_taken_twice_is_a_bug() {
        let mut pool = ConverterPool::new(1);
        pool.take(us(0), (us(0), us(8)), 1);
        pool.take(us(0), (us(7), us(9)), 2);
    }

    proptest! {
        /// A slow twin counts at each instant.
        #[test]
        fn a_pool_counts_as_its_slow_twin(
            number in 0u32..4,
            bursts in proptest::collection::vec((0u64..6, 0u64..12, 1u64..10, 0u64..14), 1..80),
        ) {
            let mut pool = ConverterPool::new(number);
            let mut taken: Vec<(u64, u64)> = Vec::new();
            let mut now = 0;
            for (owner, (pause, ahead, hold, cut)) in bursts.into_iter().enumerate() {
                now += pause;
                let (start, end) = (now + ahead, now + ahead + hold);
                let at = |t: u64| taken.iter().filter(|one| one.0 <= t && t < one.1).count();
                let free = (start..end).all(|t| at(t) < number as usize);
                prop_assert_eq!(pool.is_free(us(start), us(end)), free);
                if free {
                    pool.take(us(now), (us(start), us(end)), owner as u128);
                    let left = end.min(now.max(start + cut));
                    if cut < hold {
                        pool.shorten(us(start), owner as u128, us(left));
                    }
                    taken.push((start, if cut < hold { left } else { end }));
                }
                let busy: u64 = taken.iter().map(|one| one.1.saturating_sub(one.0)).sum();
                prop_assert_eq!(pool.busy(us(1_000_000)), Span::from_us(busy));
            }
        }
    }
}
