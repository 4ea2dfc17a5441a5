//! A sender's knowledge of the segments above the cumulative ACK.

use serde::{Deserialize, Serialize};

use crate::bitmap::Bitmap;
use crate::segment::SackBlocks;

/// The segments that were reported as received out of order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Scoreboard {
    sacked: Bitmap,
    /// Cumulative ACK: members lie at or above it.
    low: u64,
    /// One past the highest member; `low` or less when there is none.
    high: u64,
    count: u64,
}

impl Scoreboard {
    /// For a sender that never has more than `window` segments outstanding.
    pub(crate) fn new(window: u64) -> Self {
        Self { sacked: Bitmap::new(window), low: 0, high: 0, count: 0 }
    }

    /// Forgets everything.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.count > 0 {
            self.sacked.clear();
            (self.high, self.count) = (0, 0);
        }
    }

    /// Takes in an ACK whose cumulative part is `acked`, from a receiver that can have seen nothing
    /// at or above `sent`: the part of a block beyond these bounds is ignored. Returns how many
    /// segments are newly known to have arrived out of order.
    #[inline]
    pub(crate) fn update(&mut self, acked: u64, sent: u64, blocks: &SackBlocks) -> u64 {
        if acked > self.low {
            if self.count > 0 {
                self.count -= self.sacked.remove(self.low, acked.min(self.high));
            }
            self.low = acked;
        }
        let mut news = 0;
        for &(left, right) in blocks.as_slice() {
            let (left, right) = (left.max(self.low), right.min(sent));
            if left < right {
                news += self.sacked.insert(left, right);
                self.high = self.high.max(right);
            }
        }
        self.count += news;
        news
    }

    /// Whether [`update`](Self::update) would count any segment.
    pub(crate) fn learns_from(&self, acked: u64, sent: u64, blocks: &SackBlocks) -> bool {
        blocks.as_slice().iter().any(|&(left, right)| {
            let (left, right) = (left.max(self.low).max(acked), right.min(sent));
            left < right && self.missing(left, right) > 0
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn contains(&self, seq: u64) -> bool {
        self.count > 0 && (self.low..self.high).contains(&seq) && self.sacked.contains(seq)
    }

    /// The first segment at or above `from` that was not reported while a higher one was.
    pub(crate) fn next_hole(&self, from: u64) -> Option<u64> {
        let from = from.max(self.low);
        if self.count == 0 || from >= self.high {
            return None;
        }
        let hole = self.sacked.first_absent(from, self.high);
        (hole < self.high).then_some(hole)
    }

    /// The number of segments of `[from, to)` that were not reported.
    pub(crate) fn missing(&self, from: u64, to: u64) -> u64 {
        let (from, to) = (from.max(self.low), to.max(self.low));
        let known = if self.count == 0 { 0 } else { self.sacked.count(from, to.min(self.high)) };
        to.saturating_sub(from) - known
    }

    /// The `n`-th highest reported segment, n from 1; below it everything missing has at least `n`
    /// reported segments above it.
    pub(crate) fn nth_highest(&self, n: u32) -> Option<u64> {
        if self.count < u64::from(n) {
            return None;
        }
        let mut end = self.high;
        for _ in 0..n {
            end = self.sacked.last_member(self.low, end)?;
        }
        Some(end)
    }

    /// The highest segment below `to` that was not reported.
    pub(crate) fn highest_missing(&self, to: u64) -> Option<u64> {
        self.sacked.run_start(self.low, to).checked_sub(1).filter(|&seq| seq >= self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const WINDOW: u64 = 150;

    proptest! {
        /// The obviously correct twin is a set of segments.
        #[test]
        fn agrees_with_a_set(
            steps in prop::collection::vec(
                (0u64..4, 0u64..30, prop::array::uniform3((0u64..200, 0u64..20)), 0u8..20), 1..150,
            ),
            from in 0u64..200,
            n in 1u32..5,
        ) {
            let mut scoreboard = Scoreboard::new(WINDOW);
            let (mut twin, mut acked, mut sent) = (BTreeSet::new(), 0, 0);
            for (progress, growth, blocks, clear) in steps {
                sent = (sent + growth).min(acked + WINDOW);
                acked = (acked + progress * progress * 7).min(sent);
                let mut sack = SackBlocks::NONE;
                for (left, length) in blocks {
                    let left = (acked + left).saturating_sub(20);
                    sack.push(left, left + length);
                }
                if clear == 0 {
                    scoreboard.clear();
                    twin.clear();
                }
                twin.retain(|&seq| seq >= acked);
                let news = sack.as_slice().iter().flat_map(|&(left, right)| left..right)
                    .filter(|&seq| seq >= acked && seq < sent && twin.insert(seq)).count();
                prop_assert_eq!(scoreboard.learns_from(acked, sent, &sack), news > 0);
                prop_assert_eq!(scoreboard.update(acked, sent, &sack), news as u64);

                let from = acked + from;
                let high = twin.last().map_or(acked, |last| last + 1);
                let missing = |a: u64, b: u64| (a.max(acked)..b).filter(|seq| !twin.contains(seq));
                prop_assert_eq!(scoreboard.is_empty(), twin.is_empty());
                prop_assert_eq!(scoreboard.contains(from), twin.contains(&from));
                prop_assert_eq!(scoreboard.next_hole(from), missing(from, high).next());
                let count = |a, b| missing(a, b).count() as u64;
                prop_assert_eq!(scoreboard.missing(acked, from), count(acked, from));
                prop_assert_eq!(scoreboard.missing(from, sent), count(from, sent));
                let nth = twin.iter().nth_back(n as usize - 1).copied();
                prop_assert_eq!(scoreboard.nth_highest(n), nth);
                for to in [acked.saturating_sub(3), acked, (acked + 7).min(sent), sent] {
                    let missing = missing(acked, to).next_back();
                    prop_assert_eq!(scoreboard.highest_missing(to), missing);
                }
            }
        }
    }
}
