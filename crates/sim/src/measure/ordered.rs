//! Rows that may come before their turn: they wait until no earlier one can come.

use burstlab_units::Time;

use super::chunks::Chunks;
use super::columns::{Piece, Rows};

/// Rows wait in groups of at least so many.
const LEAST: usize = 1 << 12;

/// A table whose rows are in the order of time, and at one instant of place. They may come in
/// another order, as hosts are ahead of the clock; those of one place come in order.
#[derive(Clone, Debug)]
pub(super) struct Ordered<T> {
    /// The rows that are in order.
    done: Chunks<T>,
    waiting: T,
    /// The times and places of those that wait.
    keys: Vec<(u64, u32)>,
    /// As soon as so many wait, they are put in order.
    enough: usize,
    least: usize,
    /// Buffers, which are used again.
    spare: T,
    sorted: Vec<u128>,
    order: Vec<u32>,
}

impl<T: Default> Default for Ordered<T> {
    fn default() -> Self {
        Self {
            done: Chunks::default(),
            waiting: T::default(),
            keys: Vec::new(),
            enough: LEAST,
            least: LEAST,
            spare: T::default(),
            sorted: Vec::new(),
            order: Vec::new(),
        }
    }
}

impl<T: Rows> Ordered<T> {
    /// Sets the rows of a chunk, a power of two, before there is any.
    pub(super) fn set_chunk(&mut self, rows: u32) {
        self.done.set_chunk(rows);
        self.least = LEAST.min(rows as usize);
        self.enough = self.least;
    }

    /// One more row, of this time and place; returns the columns that it goes to.
    #[inline]
    pub(super) fn add(&mut self, at: Time, place: u32) -> &mut T {
        self.keys.push((at.as_ps(), place));
        &mut self.waiting
    }

    /// Rows that were not handed over.
    pub(super) fn held(&self) -> u64 {
        self.done.held() + self.keys.len() as u64
    }

    /// Hands over the chunks that are full. No row from before `now` comes any more.
    pub(super) fn drain(&mut self, now: Time) -> impl Iterator<Item = Piece> {
        if self.keys.len() >= self.enough {
            self.settle(Some(now.as_ps()));
        }
        self.done.drain(|()| true)
    }

    /// All rows, in order.
    pub(super) fn into_chunks(mut self) -> Chunks<T> {
        self.settle(None);
        self.done
    }

    /// Hands over what is left.
    pub(super) fn finish(mut self) -> impl Iterator<Item = Piece> {
        self.settle(None);
        self.done.finish()
    }

    /// Puts the rows from before `until` in order, or all, and leaves the others.
    fn settle(&mut self, until: Option<u64>) {
        let is_ready = |at: u64| until.is_none_or(|until| at < until);
        let Self { done, waiting, keys, spare, sorted, order, .. } = self;
        if keys.is_sorted() {
            let count = keys.partition_point(|&(at, _)| is_ready(at));
            done.extend(count, |chunk, places| chunk.rows.append_range(waiting, places));
            spare.append_range(waiting, count..keys.len());
            keys.drain(..count);
        } else {
            let numbered = (0u32..).zip(keys.iter());
            let key = |(number, &(at, place)): (u32, &(u64, u32))| {
                u128::from(at) << 64 | u128::from(place) << 32 | u128::from(number)
            };
            sorted.clear();
            sorted.extend(numbered.map(key));
            sorted.sort_unstable();
            order.clear();
            order.extend(sorted.iter().map(|&key| key as u32));
            let count = order.partition_point(|&row| is_ready(keys[row as usize].0));
            let (first, rest) = order.split_at(count);
            done.extend(count, |chunk, places| chunk.rows.append(waiting, &first[places]));
            spare.append(waiting, rest);
            *keys = rest.iter().map(|&row| keys[row as usize]).collect();
        }
        std::mem::swap(waiting, spare);
        spare.clear();
        self.enough = 2 * self.keys.len() + self.least;
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::{Column, table};
    use super::*;

    table! {
        /// One number a row.
        Numbers, "numbers" {
            number: u64 => Column::U64,
        }
    }

    fn numbers(pieces: impl Iterator<Item = Piece>) -> Vec<u64> {
        let tables = pieces.flat_map(|piece| piece.rows().columns);
        let columns = tables.map(|(_, column)| match column {
            Column::U64(values) => values,
            other => panic!("{other:?}"),
        });
        columns.flatten().collect()
    }

    #[test]
    fn rows_are_handed_over_by_time_and_place_once_no_earlier_one_comes() {
        let mut rows = Ordered::<Numbers>::default();
        rows.set_chunk(2);
        // Two hosts are ahead, each in order; of one instant and place the first row stays first.
        for (at, place, number) in [(5, 1, 2), (9, 1, 4), (9, 1, 5), (3, 0, 1), (9, 0, 3)] {
            rows.add(Time::from_ps(at), place).number.push(number);
        }
        assert!(numbers(rows.drain(Time::from_ps(5))).is_empty(), "one row is no chunk");
        assert_eq!(rows.held(), 5);
        rows.add(Time::from_ps(9), 2).number.push(6);
        rows.enough = 0;
        assert_eq!(numbers(rows.drain(Time::from_ps(9))), [1, 2], "at 9 more may come");
        // Those that come in order go on behind them.
        for number in 7..20 {
            rows.add(Time::from_ps(number + 5), 1).number.push(number);
        }
        rows.enough = 0;
        assert_eq!(numbers(rows.drain(Time::from_ps(20))), (3..15).collect::<Vec<_>>());
        assert_eq!(numbers(rows.finish()), [15, 16, 17, 18, 19]);
    }
}
