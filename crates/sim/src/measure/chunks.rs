//! Rows in chunks: those that can change no more are handed over while the run goes on.

use std::collections::VecDeque;

use super::columns::{Rows, Table};

/// Rows of a chunk, unless a run is told otherwise: a row group of a file.
const CHUNK: u32 = 1 << 18;

/// Low bits of a row's number: what names a row while it is held.
const NAMES: u64 = (1 << 31) - 1;

/// Some rows of a table, and what says whether they are final.
#[derive(Clone, Debug)]
pub(crate) struct Chunk<T, M> {
    pub(crate) rows: T,
    pub(crate) mark: M,
    length: usize,
}

/// The rows of a table from the first chunk on that was not handed over.
///
/// Rows are numbered from 0, without bound. A row that is changed later is named by the low 31 bits
/// of its number, which are unique among the rows that are held.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T, M = ()> {
    held: VecDeque<Chunk<T, M>>,
    /// Rows of a chunk: two to the power of this.
    bits: u32,
    /// Rows that were handed over, and rows that were ever added.
    gone: u64,
    added: u64,
}

impl<T, M> Default for Chunks<T, M> {
    fn default() -> Self {
        Self { held: VecDeque::new(), bits: CHUNK.trailing_zeros(), gone: 0, added: 0 }
    }
}

impl<T: Rows, M: Default> Chunks<T, M> {
    /// Sets the rows of a chunk, a power of two, before there is any.
    pub(crate) fn set_chunk(&mut self, rows: u32) {
        assert!(rows.is_power_of_two(), "the rows of a chunk are a power of two");
        assert_eq!(self.added, 0, "all chunks have the same number of rows");
        self.bits = rows.trailing_zeros();
    }

    /// Rows that were ever added.
    pub(crate) fn added(&self) -> u64 {
        self.added
    }

    /// Rows that were added and not handed over.
    pub(crate) fn held(&self) -> u64 {
        self.added - self.gone
    }

    /// Counts one more row; answers the chunk whose columns it goes to.
    #[inline]
    pub(crate) fn add(&mut self) -> &mut Chunk<T, M> {
        let full = 1 << self.bits;
        if self.held.back().is_none_or(|chunk| chunk.length == full) {
            // The first chunk may remain the only one, with a few rows.
            let rows = if self.added == 0 { T::default() } else { T::with_capacity(full) };
            self.held.push_back(Chunk { rows, mark: M::default(), length: 0 });
        }
        self.added += 1;
        let chunk = self.held.back_mut().expect("there is one with room");
        chunk.length += 1;
        chunk
    }

    /// The name of the last row, by which [`at`](Self::at) finds it.
    #[inline]
    pub(crate) fn last(&self) -> u32 {
        assert!(self.held() <= NAMES, "fewer than 2^31 rows wait to be final");
        ((self.added - 1) & NAMES) as u32
    }

    /// The chunk of a row that is held, and its place there.
    #[inline]
    pub(crate) fn at(&mut self, name: u32) -> (&mut Chunk<T, M>, usize) {
        let place = (u64::from(name).wrapping_sub(self.gone) & NAMES) as usize;
        let chunk = self.held.get_mut(place >> self.bits).expect("a final row is not changed");
        (chunk, place & ((1 << self.bits) - 1))
    }

    /// The rows that are held, chunk by chunk.
    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.held.iter_mut().map(|chunk| &mut chunk.rows)
    }

    /// Hands over the chunks that are full and, by their marks, final; none that comes after one
    /// that is not.
    pub(crate) fn drain(&mut self, is_final: impl Fn(&M) -> bool) -> impl Iterator<Item = Table> {
        let full = 1 << self.bits;
        let done = |chunk: &&Chunk<T, M>| chunk.length == full && is_final(&chunk.mark);
        let count = self.held.iter().take_while(done).count();
        self.gone += (count as u64) << self.bits;
        self.held.drain(..count).map(|chunk| chunk.rows.into_table())
    }

    /// Hands over what is left; of a table without any row, a chunk without any.
    pub(crate) fn finish(mut self) -> impl Iterator<Item = Table> {
        if self.added == 0 {
            self.held.push_back(Chunk { rows: T::default(), mark: M::default(), length: 0 });
        }
        self.held.into_iter().map(|chunk| chunk.rows.into_table())
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

    fn numbers(table: &Table) -> &[u64] {
        match &table.columns[0].1 {
            Column::U64(values) => values,
            other => panic!("{other:?}"),
        }
    }

    fn in_chunks_of<M: Default>(rows: u32) -> Chunks<Numbers, M> {
        let mut chunks = Chunks::default();
        chunks.set_chunk(rows);
        chunks
    }

    /// Chunks of four whose mark says whether they are final.
    fn ten() -> Chunks<Numbers, bool> {
        let mut chunks = in_chunks_of(4);
        for number in 0..10 {
            chunks.add().rows.number.push(number);
        }
        chunks
    }

    #[test]
    fn chunks_are_handed_over_in_order_when_they_are_full_and_final() {
        let mut chunks = ten();
        chunks.at(4).0.mark = true;
        chunks.at(8).0.mark = true;
        assert_eq!(chunks.drain(|&mark| mark).count(), 0, "the first is not final");
        chunks.at(0).0.mark = true;
        let drained: Vec<_> = chunks.drain(|&mark| mark).collect();
        assert_eq!(drained.iter().map(numbers).collect::<Vec<_>>(), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!((chunks.added(), chunks.held()), (10, 2), "the third is not full");
        let (chunk, place) = chunks.at(9);
        chunk.rows.number[place] = 99;
        let rest: Vec<_> = chunks.finish().collect();
        assert_eq!(rest.iter().map(numbers).collect::<Vec<_>>(), [[8, 99]]);
    }

    #[test]
    #[should_panic(expected = "a final row is not changed")]
    fn a_row_that_was_handed_over_is_not_found() {
        let mut chunks = ten();
        assert_eq!(chunks.drain(|_| true).count(), 2);
        chunks.at(7);
    }

    #[test]
    fn names_of_rows_come_round() {
        let mut chunks = ten();
        // As after 2^33 rows, all of them final.
        let past = (1 << 33) - 4;
        (chunks.gone, chunks.added) = (past, past + 10);
        for number in 10..20 {
            chunks.add().rows.number.push(number);
            let name = chunks.last();
            let (chunk, place) = chunks.at(name);
            assert_eq!(chunk.rows.number[place], number);
            assert_ne!(name, u32::MAX, "that is no row");
        }
    }

    #[test]
    fn a_table_without_rows_is_handed_over_once_and_a_full_one_not_again() {
        assert_eq!(in_chunks_of::<()>(4).finish().map(|t| numbers(&t).len()).sum::<usize>(), 0);
        assert_eq!(in_chunks_of::<()>(4).finish().count(), 1);
        let mut chunks = in_chunks_of::<()>(2);
        (0..4).for_each(|number| chunks.add().rows.number.push(number));
        assert_eq!(chunks.drain(|()| true).count(), 2);
        assert_eq!(chunks.finish().count(), 0);
    }
}
