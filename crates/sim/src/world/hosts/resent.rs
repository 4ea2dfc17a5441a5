//! How often segments were sent.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The segments of a flow that were sent more than once and are not acknowledged.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Resent {
    /// Segment and how often it was sent, rising: what is sent again comes at the back most of the
    /// time, and leaves at the front.
    counts: VecDeque<(u64, u32)>,
    /// No segment from this one on was sent more than once.
    beyond: u64,
}

impl Resent {
    /// `seq` is sent again, when all below `acked` is acknowledged; returns how often it was sent.
    pub(super) fn again(&mut self, seq: u64, acked: u64) -> u32 {
        self.beyond = self.beyond.max(seq + 1);
        while self.counts.front().is_some_and(|&(first, _)| first < acked) {
            self.counts.pop_front();
        }
        match self.counts.binary_search_by_key(&seq, |&(seq, _)| seq) {
            Ok(place) => {
                self.counts[place].1 += 1;
                self.counts[place].1
            }
            Err(place) => {
                self.counts.insert(place, (seq, 2));
                2
            }
        }
    }

    /// How often `seq`, which is not acknowledged, was sent so far.
    pub(super) fn transmissions(&self, seq: u64) -> u32 {
        if self.is_below(seq) {
            return 1;
        }
        let place = self.counts.binary_search_by_key(&seq, |&(seq, _)| seq);
        place.map_or(1, |place| self.counts[place].1)
    }

    /// Whether no segment from `seq` on was sent more than once.
    #[inline]
    pub(super) fn is_below(&self, seq: u64) -> bool {
        self.beyond <= seq
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_segment_has_a_count_of_its_own_until_it_is_acknowledged() {
        let mut counts = Resent::default();
        assert!(counts.is_below(0));
        assert_eq!([5, 7, 6, 5, 6].map(|seq| counts.again(seq, 5)), [2, 2, 2, 3, 3]);
        assert!(counts.is_below(8) && !counts.is_below(7));
        assert_eq!([4, 5, 6, 7, 8].map(|seq| counts.transmissions(seq)), [1, 3, 3, 2, 1]);
        assert_eq!(counts.again(7, 7), 3);
        assert_eq!(counts.counts, [(7, 3)], "what is acknowledged is forgotten");
    }
}
