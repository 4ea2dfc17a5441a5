//! A set of segment numbers within a sliding range, one bit each, in a ring that never grows.

use serde::{Deserialize, Serialize};

/// Members must lie in a range `[low, low + capacity)` that the owner slides; the owner removes
/// members before they leave it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bitmap {
    words: Box<[u64]>,
    /// Number of words less one; the number of words is a power of two.
    mask: u64,
}

const BITS: u64 = 64;

impl Bitmap {
    /// Room for any range of `capacity` numbers.
    pub(crate) fn new(capacity: u64) -> Self {
        // One word more than needed: the ends of the range never share a word.
        let words = (capacity.div_ceil(BITS) + 1).next_power_of_two();
        Self { words: vec![0; words as usize].into_boxed_slice(), mask: words - 1 }
    }

    fn word(&self, index: u64) -> u64 {
        self.words[(index & self.mask) as usize]
    }

    fn word_mut(&mut self, index: u64) -> &mut u64 {
        &mut self.words[(index & self.mask) as usize]
    }

    pub(crate) fn contains(&self, seq: u64) -> bool {
        self.word(seq / BITS) >> (seq % BITS) & 1 == 1
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Calls `f(word, mask of the bits of the range in it)` for every word of `[from, to)`.
    fn for_each_word(&mut self, from: u64, to: u64, mut f: impl FnMut(&mut u64, u64)) {
        if from >= to {
            return;
        }
        let (first, last) = (from / BITS, (to - 1) / BITS);
        for index in first..=last {
            let mut bits = u64::MAX;
            if index == first {
                bits &= u64::MAX << (from % BITS);
            }
            if index == last {
                bits &= u64::MAX >> (BITS - 1 - (to - 1) % BITS);
            }
            f(self.word_mut(index), bits);
        }
    }

    /// Adds `[from, to)`; returns how many were not members.
    pub(crate) fn insert(&mut self, from: u64, to: u64) -> u64 {
        let mut added = 0;
        self.for_each_word(from, to, |word, bits| {
            added += u64::from((bits & !*word).count_ones());
            *word |= bits;
        });
        added
    }

    /// Removes `[from, to)`; returns how many were members.
    pub(crate) fn remove(&mut self, from: u64, to: u64) -> u64 {
        let mut removed = 0;
        self.for_each_word(from, to, |word, bits| {
            removed += u64::from((bits & *word).count_ones());
            *word &= !bits;
        });
        removed
    }

    /// How many of `[from, to)` are members.
    pub(crate) fn count(&self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        let (first, last) = (from / BITS, (to - 1) / BITS);
        let mut count = 0;
        for index in first..=last {
            let mut word = self.word(index);
            if index == first {
                word &= u64::MAX << (from % BITS);
            }
            if index == last {
                word &= u64::MAX >> (BITS - 1 - (to - 1) % BITS);
            }
            count += u64::from(word.count_ones());
        }
        count
    }

    /// The first number of `[from, to)` that is no member, or `to`.
    pub(crate) fn first_absent(&self, from: u64, to: u64) -> u64 {
        let mut seq = from;
        while seq < to {
            let absent = !self.word(seq / BITS) >> (seq % BITS);
            if absent != 0 {
                return (seq + u64::from(absent.trailing_zeros())).min(to);
            }
            seq = (seq / BITS + 1) * BITS;
        }
        to
    }

    /// The left end of the run of members that ends before `to`: one above the last number of
    /// `[from, to)` that is no member, or `from`.
    pub(crate) fn run_start(&self, from: u64, to: u64) -> u64 {
        self.last(from, to, |word| !word).map_or(from, |seq| seq + 1)
    }

    /// The last member of `[from, to)`.
    pub(crate) fn last_member(&self, from: u64, to: u64) -> Option<u64> {
        self.last(from, to, |word| word)
    }

    fn last(&self, from: u64, to: u64, view: impl Fn(u64) -> u64) -> Option<u64> {
        let mut end = to;
        while end > from {
            let seq = end - 1;
            let word = view(self.word(seq / BITS)) << (BITS - 1 - seq % BITS);
            if word != 0 {
                let found = seq.checked_sub(u64::from(word.leading_zeros()))?;
                return (found >= from).then_some(found);
            }
            end = seq / BITS * BITS;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The obviously correct twin is a set of numbers.
        #[test]
        fn agrees_with_a_set(
            capacity in 1u64..300,
            steps in prop::collection::vec((0u8..4, 0u64..300, 0u64..300), 1..200),
        ) {
            let (mut bitmap, mut twin, mut low) = (Bitmap::new(capacity), BTreeSet::new(), 0);
            for (kind, a, b) in steps {
                let from = low + a % capacity;
                let to = (from + b % 150).min(low + capacity);
                match kind {
                    0 | 1 => {
                        let added = (from..to).filter(|&seq| twin.insert(seq)).count() as u64;
                        prop_assert_eq!(bitmap.insert(from, to), added);
                    }
                    2 => {
                        let removed = (from..to).filter(|seq| twin.remove(seq)).count() as u64;
                        prop_assert_eq!(bitmap.remove(from, to), removed);
                    }
                    _ => {
                        bitmap.remove(low, from);
                        twin.retain(|&seq| seq >= from);
                        low = from;
                        continue;
                    }
                }
                let members = |x: u64, y: u64| (x..y).filter(|seq| twin.contains(seq));
                prop_assert_eq!(bitmap.count(from, to), members(from, to).count() as u64);
                prop_assert_eq!(bitmap.last_member(from, to), members(from, to).next_back());
                let absent = |x: u64, y: u64| (x..y).filter(|seq| !twin.contains(seq));
                let first = absent(from, to).next().unwrap_or(to);
                prop_assert_eq!(bitmap.first_absent(from, to), first);
                let start = absent(from, to).next_back().map_or(from, |seq| seq + 1);
                prop_assert_eq!(bitmap.run_start(from, to), start);
                prop_assert_eq!(bitmap.contains(from), twin.contains(&from));
            }
        }
    }
}
