//! Values by number where most numbers have none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A list takes at most this memory, in bytes: that of all pairs of a network of 1,000 nodes.
const LIST_MAX: usize = 1 << 26;

/// Values by number. A number that was never changed has the default.
///
/// Few numbers are a list, which is fast. Of more numbers a map holds those that were changed: in a
/// network of 10,000 nodes a pair of nodes has a number, and one in a thousand has traffic.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ByNumber<T> {
    /// All values up to the last that was changed, or all.
    List(Vec<T>),
    /// Those that were changed, and the place of each by its number.
    Map(BTreeMap<usize, u32>, Vec<T>),
}

impl<T> Default for ByNumber<T> {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl<T: Clone + Default> ByNumber<T> {
    /// Defaults for the numbers below `count`.
    pub(crate) fn below(count: usize) -> Self {
        if is_list::<T>(count) {
            Self::List(vec![T::default(); count])
        } else {
            Self::Map(BTreeMap::new(), Vec::new())
        }
    }

    /// Whether no number has a place yet.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::List(list) => list.is_empty(),
            Self::Map(_, values) => values.is_empty(),
        }
    }

    /// The value of a number, to be changed.
    #[inline]
    pub(crate) fn at(&mut self, number: usize) -> &mut T {
        match self {
            Self::List(list) => {
                if list.len() <= number {
                    list.resize(number + 1, T::default());
                }
                &mut list[number]
            }
            Self::Map(places, values) => {
                let place = *places.entry(number).or_insert(values.len() as u32) as usize;
                if place == values.len() {
                    values.push(T::default());
                }
                &mut values[place]
            }
        }
    }

    /// The numbers that may have been changed and their values, by rising number.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = (usize, &T)> + '_> {
        match self {
            Self::List(list) => Box::new(list.iter().enumerate()),
            Self::Map(places, values) => {
                Box::new(places.iter().map(|(&number, &place)| (number, &values[place as usize])))
            }
        }
    }
}

/// Whether so many values are a list.
pub(crate) fn is_list<T>(count: usize) -> bool {
    count.saturating_mul(size_of::<T>()) <= LIST_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_what_a_list_has() {
        let mut list = ByNumber::<u64>::below(1000);
        let mut map = ByNumber::<u64>::below(usize::MAX);
        assert!(matches!(list, ByNumber::List(_)) && matches!(map, ByNumber::Map(..)));
        for number in [7, 999, 3, 7, 500] {
            for one in [&mut list, &mut map] {
                *one.at(number) += number as u64;
            }
        }
        let changed = |one: &ByNumber<u64>| -> Vec<(usize, u64)> {
            one.iter().map(|(number, &value)| (number, value)).filter(|one| one.1 > 0).collect()
        };
        assert_eq!(changed(&map), [(3, 3), (7, 14), (500, 500), (999, 999)]);
        assert_eq!(changed(&list), changed(&map));
    }
}
