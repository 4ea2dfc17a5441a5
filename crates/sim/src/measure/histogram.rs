//! Counts by value, without a trace.

use serde::{Deserialize, Serialize};

/// A histogram of whole numbers: exact below 4096, and from there on with 64 classes from each
/// power of two to the next, so that a class is never wider than 1.6 % of its values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    sum: u128,
}

const EXACT: u64 = 4096;
const CLASSES: u64 = 64;

#[inline]
fn place(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let octave = u64::from(63 - value.leading_zeros());
    let class = (value >> (octave - 6)) & (CLASSES - 1);
    (EXACT + (octave - 12) * CLASSES + class) as usize
}

/// The least value of a class.
fn floor(place: usize) -> u64 {
    let place = place as u64;
    if place < EXACT {
        return place;
    }
    let (octave, class) = ((place - EXACT) / CLASSES + 12, (place - EXACT) % CLASSES);
    (CLASSES + class) << (octave - 6)
}

impl Histogram {
    /// Counts a value.
    #[inline]
    pub(crate) fn add(&mut self, value: u64) {
        self.sum += u128::from(value);
        match self.counts.get_mut(place(value)) {
            Some(count) => *count += 1,
            None => self.open(place(value)),
        }
    }

    /// Counts a zero.
    #[inline]
    pub(crate) fn add_zero(&mut self) {
        match self.counts.first_mut() {
            Some(count) => *count += 1,
            None => self.open(0),
        }
    }

    /// Counts the first value of a class behind all those that had one.
    #[cold]
    fn open(&mut self, place: usize) {
        self.counts.resize(place, 0);
        self.counts.push(1);
    }

    /// Adds the values of another one.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.sum += other.sum;
    }

    /// Mean of the values, exact; 0 without any.
    pub(crate) fn mean(&self) -> f64 {
        let total: u64 = self.counts.iter().sum();
        if total == 0 { 0.0 } else { self.sum as f64 / total as f64 }
    }

    /// The classes that are not empty, rising: the least value of each, and its count.
    pub(crate) fn classes(&self) -> impl Iterator<Item = (u64, u64)> {
        let classes = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        classes.map(|(place, &count)| (floor(place), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_class_holds_its_values(value in any::<u64>()) {
            let (low, high) = (floor(place(value)), floor(place(value) + 1));
            prop_assert!(low <= value);
            prop_assert!(high > value || high == 0, "the last class has no end");
            prop_assert!((value - low) as f64 <= value as f64 / 64.0);
        }
    }

    #[test]
    fn small_values_are_exact_and_so_is_the_mean() {
        let mut histogram = Histogram::default();
        [3, 3, 4095, 5].into_iter().for_each(|value| histogram.add(value));
        assert_eq!(histogram.classes().collect::<Vec<_>>(), [(3, 2), (5, 1), (4095, 1)]);
        assert!((histogram.mean() - 1026.5).abs() < 1e-12);
    }
}
