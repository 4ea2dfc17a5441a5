//! Packets of one connection that follow one another evenly.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Segments at the receiver, or ACKs without SACK blocks at the sender, whose numbers rise by one
/// step and whose times are one gap apart. One packet is a run too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketRun {
    /// Number of the first segment; of the first ACK, [the segment it asks for](crate::Ack::next).
    pub first: u64,
    /// How many packets there are: at least 1.
    pub count: u32,
    /// From each number to the next: 1 for segments in order.
    pub step: u32,
    /// When the first packet is there.
    pub at: Time,
    /// From each packet to the next.
    pub gap: Span,
}

impl PacketRun {
    /// One packet.
    #[inline(always)]
    #[must_use]
    pub fn one(at: Time, number: u64) -> Self {
        Self { first: number, count: 1, step: 0, at, gap: Span::ZERO }
    }

    /// Number of packet `index`, from 0.
    #[inline(always)]
    #[must_use]
    pub fn number(&self, index: u32) -> u64 {
        self.first + u64::from(self.step) * u64::from(index)
    }

    /// When packet `index`, from 0, is there.
    #[inline(always)]
    #[must_use]
    pub fn time(&self, index: u32) -> Time {
        self.at + self.gap.saturating_mul(u64::from(index))
    }

    /// How many packets are there at `until`.
    #[inline(always)]
    #[must_use]
    pub fn by(&self, until: Time) -> u32 {
        if self.at > until {
            0
        } else if self.time(self.count - 1) <= until {
            self.count
        } else {
            within(until.since(self.at).as_ps(), self.gap.as_ps())
        }
    }

    /// How many numbers are at most `number`.
    #[inline(always)]
    #[must_use]
    pub fn up_to(&self, number: u64) -> u32 {
        if self.first > number {
            0
        } else if self.number(self.count - 1) <= number {
            self.count
        } else {
            within(number - self.first, u64::from(self.step))
        }
    }

    /// The packets behind the first `count`, which are not all.
    #[inline(always)]
    #[must_use]
    pub fn behind(&self, count: u32) -> Self {
        let (first, at) = (self.number(count), self.time(count));
        Self { first, at, count: self.count - count, ..*self }
    }
}

/// How many of 0, `step`, twice that and so on are at most `length`, where there are fewer than a
/// run has packets, so that the step is not zero.
#[cold]
fn within(length: u64, step: u64) -> u32 {
    (length / step) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The obviously correct twin is a list of packets.
        #[test]
        fn agrees_with_a_list(
            (first, count, step) in (0u64..50, 1u32..20, 0u32..4),
            (at, gap) in (0u64..50, 0u64..9),
            (until, number, cut) in (0u64..200, 0u64..120, 0u32..20),
        ) {
            let time = |index: u32| Time::from_ps(at + gap * u64::from(index));
            let list: Vec<_> =
                (0..count).map(|i| (first + u64::from(step * i), time(i))).collect();
            let (at, gap) = (Time::from_ps(at), Span::from_ps(gap));
            let run = PacketRun { first, count, step, at, gap };
            let packets = |run: &PacketRun| -> Vec<_> {
                (0..run.count).map(|index| (run.number(index), run.time(index))).collect()
            };
            prop_assert_eq!(packets(&run), list.clone());
            let there = list.iter().filter(|packet| packet.1 <= Time::from_ps(until)).count();
            prop_assert_eq!(run.by(Time::from_ps(until)), there as u32);
            let low = list.iter().filter(|packet| packet.0 <= number).count();
            prop_assert_eq!(run.up_to(number), low as u32);
            let cut = cut % count;
            prop_assert_eq!(packets(&run.behind(cut)), list[cut as usize..].to_vec());
        }
    }

    #[test]
    fn what_never_comes_is_there_at_never() {
        let run = PacketRun { first: 1, count: 3, step: 1, at: Time::from_ps(5), gap: Span::MAX };
        assert_eq!((run.by(Time::NEVER), run.by(Time::NEVER.before())), (3, 1));
        assert_eq!((run.by(Time::from_ps(5)), run.by(Time::from_ps(4))), (1, 0));
    }

    #[test]
    fn one_packet_is_a_run() {
        let run = PacketRun::one(Time::from_ps(7), 3);
        assert_eq!((run.count, run.number(0), run.time(0)), (1, 3, Time::from_ps(7)));
    }
}
