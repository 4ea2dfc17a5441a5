//! Rates and exact serialisation times.

use serde::{Deserialize, Serialize};

use crate::quantity::Bytes;
use crate::time::{PS_PER_S, Span, Time};

/// A speed in bit/s. Range 1 bit/s to 1.8e19 bit/s; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// `bits` bit/s.
    ///
    /// # Panics
    /// When `bits` is zero: nothing would ever leave such a link.
    #[must_use]
    pub const fn from_bps(bits: u64) -> Self {
        assert!(bits > 0, "a rate is positive");
        Self(bits)
    }

    /// Bits a second.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }
}

/// Turns sizes into serialisation spans at one rate, exactly: what one packet's span leaves below a
/// picosecond is carried to the next packet, so that n packets take the span of their bits rounded
/// down once, not n times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Serializer {
    rate: Rate,
    /// Carried remainder, in 1/rate picoseconds; always below `rate`.
    remainder: u64,
    /// Last size and its quotient and remainder: links carry few different sizes.
    memo: (Bytes, u64, u64),
    /// The last size that takes whole picoseconds, so that nothing is carried, and its span.
    whole: (Bytes, Span),
}

impl Serializer {
    /// A serialiser at `rate` with nothing carried.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        let none = (Bytes::ZERO, Span::ZERO);
        Self { rate, remainder: 0, memo: (Bytes::ZERO, 0, 0), whole: none }
    }

    /// The rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The time the next `size` bytes take on the wire.
    #[inline(always)]
    pub fn next(&mut self, size: Bytes) -> Span {
        if self.whole.0 == size {
            return self.whole.1;
        }
        self.next_carried(size)
    }

    /// The most that the next `size` bytes may take.
    #[inline]
    pub fn at_most(&mut self, size: Bytes) -> Span {
        if self.whole.0 == size {
            return self.whole.1;
        }
        self.measure(size);
        Span::from_ps(self.memo.1.saturating_add(1))
    }

    /// The time each `size` bytes take, if that is a whole number of picoseconds, so that nothing
    /// is carried from one to the next.
    #[inline]
    pub fn whole(&mut self, size: Bytes) -> Option<Span> {
        if self.whole.0 != size {
            self.measure(size);
        }
        (self.whole.0 == size).then_some(self.whole.1)
    }

    /// When `count` units of `size` leave a line that is free at `free_at`, the first ready at a
    /// time and each other a gap after the one before. `None` where they would not leave evenly, in
    /// whole picoseconds.
    #[inline]
    pub fn evenly(
        &mut self,
        free_at: Time,
        (ready, gap): (Time, Span),
        count: u32,
        size: Bytes,
    ) -> Option<Evenly> {
        let (start, span) = (ready.max(free_at), self.whole(size)?);
        let gap = if gap <= span {
            // Each is there before the line is free again.
            span
        } else if start == ready || count == 1 {
            gap
        } else {
            return None;
        };
        let first = start + span;
        Some(Evenly { first, gap, last: first + gap.saturating_mul(u64::from(count - 1)) })
    }

    #[inline(never)]
    fn next_carried(&mut self, size: Bytes) -> Span {
        self.measure(size);
        let rate = self.rate.as_bps();
        let (_, quotient, rest) = self.memo;
        // Written so that no sum can pass u64::MAX, whatever the rate.
        let room = rate - self.remainder;
        if rest >= room {
            self.remainder = rest - room;
            Span::from_ps(quotient + 1)
        } else {
            self.remainder += rest;
            Span::from_ps(quotient)
        }
    }
}

impl Serializer {
    /// Works out the time of `size`, if it is not the one that is known.
    fn measure(&mut self, size: Bytes) {
        if self.memo.0 != size {
            let (quotient, rest) = divided(size.get(), self.rate.as_bps());
            self.memo = (size, quotient, rest);
            if self.memo.2 == 0 {
                self.whole = (size, Span::from_ps(quotient));
            }
        }
    }
}

/// The whole picoseconds that so many bytes take at so many bit/s, and the rest, in 1/rate
/// picoseconds.
#[inline]
fn divided(bytes: u64, rate: u64) -> (u64, u64) {
    // Up to 2.3 MB the numbers of half the length do, whose division takes a fifth of the time.
    if let Some(units) = bytes.checked_mul(8 * PS_PER_S) {
        return (units / rate, units % rate);
    }
    let (units, rate) = (u128::from(bytes) * 8 * u128::from(PS_PER_S), u128::from(rate));
    // A unit that takes longer than there is time has not left when the run ends.
    (u64::try_from(units / rate).unwrap_or(u64::MAX - 1), (units % rate) as u64)
}

/// The times of units that are evenly at one place: when the last bit of each is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evenly {
    /// Of the first unit.
    pub first: Time,
    /// From each to the next.
    pub gap: Span,
    /// Of the last unit.
    pub last: Time,
}

impl Evenly {
    /// The times at a place that is so far on.
    #[inline]
    #[must_use]
    pub fn after(self, delay: Span) -> Self {
        Self { first: self.first + delay, last: self.last + delay, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_takes_longer_than_there_is_time_is_never_out() {
        let mut line = Serializer::new(Rate::from_bps(1));
        assert_eq!(Time::from_ps(1) + line.next(Bytes::new(u64::MAX)), Time::NEVER);
        let evenly =
            line.evenly(Time::ZERO, (Time::ZERO, Span::ZERO), u32::MAX, Bytes::new(10_000));
        assert_eq!(evenly.map(|all| all.last), Some(Time::NEVER));
    }

    #[test]
    fn a_kilobyte_at_one_megabit_takes_eight_milliseconds() {
        let mut line = Serializer::new(Rate::from_bps(1_000_000));
        assert_eq!(line.next(Bytes::new(1_000)), Span::from_ms(8));
        assert_eq!(line.next(Bytes::new(40)), Span::from_us(320));
    }

    proptest! {
        #[test]
        fn short_numbers_divide_as_long_ones_do(bytes in 0u64..5_000_000, rate in 1u64..=u64::MAX) {
            let units = u128::from(bytes) * 8 * u128::from(PS_PER_S);
            let rest = (units % u128::from(rate)) as u64;
            let whole = u64::try_from(units / u128::from(rate)).unwrap_or(u64::MAX - 1);
            prop_assert_eq!(divided(bytes, rate), (whole, rest));
        }

        #[test]
        fn many_packets_take_exactly_the_time_of_their_bits(
            rate in 1u64..=u64::MAX,
            sizes in proptest::collection::vec(1u64..70_000, 1..60),
        ) {
            // Bits as u128: a rate of 1 bit/s makes 70 kB last 5.6e17 ps, within u64.
            let mut line = Serializer::new(Rate::from_bps(rate));
            let spent: u128 =
                sizes.iter().map(|&s| u128::from(line.next(Bytes::new(s)).as_ps())).sum();
            let bits: u128 = sizes.iter().map(|&s| u128::from(s) * 8).sum();
            prop_assert_eq!(spent, bits * u128::from(PS_PER_S) / u128::from(rate));
        }
    }
}
