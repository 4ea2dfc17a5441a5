//! Rows in chunks: those that can change no more are handed over while the run goes on.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::columns::{Piece, Rows};

/// Rows of a chunk, unless a run sets another number: a row group of a file.
const CHUNK: u32 = 1 << 18;

/// Full chunks that are held whole, though a row of them or of one before may change.
const WHOLE: usize = 2;

/// A chunk is handed over early if at most this share of its rows, one in so many, may change.
const FEW: usize = 8;

/// Low bits of a row's number: what names a row while it is held.
pub(crate) const NAMES: u64 = (1 << 30) - 1;

/// Some rows of a table, and what says whether they are final.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Chunk<T, M> {
    pub(crate) rows: T,
    pub(crate) mark: M,
    length: usize,
    /// Of a chunk that was handed over early: the places of the rows that are still held.
    kept: Option<Vec<u32>>,
}

/// The rows of a table from the first chunk on that was not handed over.
///
/// Rows are numbered from 0, without bound. A row that is changed later is named by the low 30 bits
/// of its number, which are unique among the rows that are held.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Chunks<T, M = ()> {
    held: VecDeque<Chunk<T, M>>,
    /// Rows of a chunk: two to the power of this.
    bits: u32,
    /// Chunks that were handed over early; the first of those held.
    early: usize,
    /// Rows that were handed over, and rows that were ever added.
    gone: u64,
    added: u64,
}

impl<T, M> Default for Chunks<T, M> {
    fn default() -> Self {
        Self { held: VecDeque::new(), bits: CHUNK.trailing_zeros(), early: 0, gone: 0, added: 0 }
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
        let rows = |chunk: &Chunk<T, M>| chunk.kept.as_ref().map_or(chunk.length, Vec::len);
        self.held.iter().map(|chunk| rows(chunk) as u64).sum()
    }

    /// Counts one more row; returns the chunk whose columns it goes to.
    #[inline]
    pub(crate) fn add(&mut self) -> &mut Chunk<T, M> {
        self.with_room().length += 1;
        self.added += 1;
        self.held.back_mut().expect("there is one with room")
    }

    /// Adds so many rows: `append` adds the rows of a range of them to the columns of a chunk.
    pub(crate) fn extend(
        &mut self,
        count: usize,
        mut append: impl FnMut(&mut Chunk<T, M>, Range<usize>),
    ) {
        let (full, mut done) = (1 << self.bits, 0);
        while done < count {
            let chunk = self.with_room();
            let next = count.min(done + full - chunk.length);
            append(chunk, done..next);
            chunk.length += next - done;
            self.added += (next - done) as u64;
            done = next;
        }
    }

    /// The last chunk, in which there is room for a row.
    #[inline]
    fn with_room(&mut self) -> &mut Chunk<T, M> {
        let full = 1 << self.bits;
        if self.held.back().is_none_or(|chunk| chunk.length == full) {
            // The first chunk may remain the only one, with a few rows.
            let rows = if self.added == 0 { T::default() } else { T::with_capacity(full) };
            self.held.push_back(Chunk { rows, mark: M::default(), length: 0, kept: None });
        }
        self.held.back_mut().expect("there is one with room")
    }

    /// The name of the last row, by which [`at`](Self::at) finds it.
    #[inline]
    pub(crate) fn last(&self) -> u32 {
        assert!(self.added - self.gone <= NAMES, "fewer than 2^30 rows wait to be final");
        ((self.added - 1) & NAMES) as u32
    }

    /// The chunk of a row that is held, and its place there.
    #[inline]
    pub(crate) fn at(&mut self, name: u32) -> (&mut Chunk<T, M>, usize) {
        let place = (u64::from(name).wrapping_sub(self.gone) & NAMES) as usize;
        let chunk = self.held.get_mut(place >> self.bits).expect("a final row is not changed");
        let place = place & ((1 << self.bits) - 1);
        let place = match &chunk.kept {
            None => place,
            Some(kept) => kept.binary_search(&(place as u32)).expect("a final row is not changed"),
        };
        (chunk, place)
    }

    /// Whether the row with this name, which was added, is held no more.
    pub(crate) fn has_gone(&self, name: u32) -> bool {
        u64::from(name).wrapping_sub(self.gone) & NAMES >= self.added - self.gone
    }

    /// The rows that are held, chunk by chunk.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &T> {
        self.held.iter().map(|chunk| &chunk.rows)
    }

    /// The same, to be changed.
    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.held.iter_mut().map(|chunk| &mut chunk.rows)
    }

    /// Hands over the chunks that are full and, by their marks, final; none that comes after one
    /// that is not.
    pub(crate) fn drain(&mut self, is_final: impl Fn(&M) -> bool) -> impl Iterator<Item = Piece> {
        let full = 1 << self.bits;
        let done = |chunk: &&Chunk<T, M>| chunk.length == full && is_final(&chunk.mark);
        let count = self.held.iter().take_while(done).count();
        self.gone += (count as u64) << self.bits;
        self.early -= count.min(self.early);
        self.held.drain(..count).map(Chunk::into_piece)
    }

    /// Hands over early the full chunks that wait for a row of their own or of one before, and
    /// keeps their rows that are not final: so one row never holds up all that come after it.
    pub(crate) fn thin(
        &mut self,
        open: impl Fn(&M) -> usize,
        is_final: impl Fn(&T, usize) -> bool,
    ) -> Vec<Piece> {
        let (full, mut pieces) = (1 << self.bits, Vec::new());
        let waiting = self.held.iter().filter(|chunk| chunk.length == full).count();
        while self.early + WHOLE < waiting {
            let chunk = &mut self.held[self.early];
            if open(&chunk.mark) * FEW > full {
                break;
            }
            let places = (0..full).filter(|&place| !is_final(&chunk.rows, place));
            let places: Vec<u32> = places.map(|place| place as u32).collect();
            let rest = chunk.rows.pick(&places);
            pieces.push(Piece::Early(std::mem::replace(&mut chunk.rows, rest).into_table()));
            chunk.kept = Some(places);
            self.early += 1;
        }
        pieces
    }

    /// Hands over what is left; of a table without any row, a chunk without any.
    pub(crate) fn finish(mut self) -> impl Iterator<Item = Piece> {
        if self.added == 0 {
            self.held.push_back(Chunk {
                rows: T::default(),
                mark: M::default(),
                length: 0,
                kept: None,
            });
        }
        self.held.into_iter().map(Chunk::into_piece)
    }
}

impl<T: Rows, M> Chunk<T, M> {
    fn into_piece(self) -> Piece {
        match self.kept {
            None => Piece::Rows(self.rows.into_table()),
            Some(places) => Piece::Late(places, self.rows.into_table()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::{Column, Table, table};
    use super::*;

    table! {
        /// One number a row.
        Numbers, "numbers" {
            number: u64 => Column::U64,
        }
    }

    fn numbers(piece: &Piece) -> &[u64] {
        let (Piece::Rows(table) | Piece::Early(table) | Piece::Late(_, table)) = piece;
        numbers_of(table)
    }

    fn numbers_of(table: &Table) -> &[u64] {
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
    fn one_row_does_not_hold_up_the_others() {
        let mut chunks = in_chunks_of::<()>(8);
        (0..50).for_each(|number| chunks.add().rows.number.push(number));
        // Numbers that are a multiple of 10 may change.
        let closed = |rows: &Numbers, place: usize| !rows.number[place].is_multiple_of(10);
        let early = chunks.thin(|()| 0, closed);
        assert_eq!(early.iter().map(|piece| numbers(piece)[0]).collect::<Vec<_>>(), [0, 8, 16, 24]);
        assert_eq!(chunks.held(), 4 + 16 + 2, "0, 10, 20, 30, two full chunks and the last");
        assert!(chunks.thin(|()| 0, closed).is_empty(), "each comes early once");
        let (chunk, place) = chunks.at(20);
        chunk.rows.number[place] = 99;
        let late: Vec<_> = chunks.drain(|()| true).collect();
        let Piece::Late(places, _) = &late[2] else { panic!("{late:?}") };
        assert_eq!((places.as_slice(), numbers(&late[2])), ([4].as_slice(), [99].as_slice()));
        assert_eq!(numbers(&late[4]), [32, 33, 34, 35, 36, 37, 38, 39]);
        assert_eq!((late.len(), chunks.held()), (6, 2));
    }

    #[test]
    #[should_panic(expected = "a final row is not changed")]
    fn a_final_row_of_a_chunk_that_came_early_is_not_found() {
        let mut chunks = in_chunks_of::<()>(2);
        (0..8).for_each(|number| chunks.add().rows.number.push(number));
        assert_eq!(chunks.thin(|()| 0, |_, _| true).len(), 2);
        chunks.at(1);
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
