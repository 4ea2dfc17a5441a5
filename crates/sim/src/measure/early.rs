//! Rows of packets that are sent ahead of the clock: they wait here until no earlier one can come.
//!
//! A row has a name from the moment it comes, by which it is changed. Names go up by one from row
//! to row as rows come. So a train of packets needs the name of its first row alone. Rows are
//! in the table by the time at which their packets are sent, and at one instant in the order of
//! events. Where a row is in the table is found by its name.

use std::collections::VecDeque;

use burstlab_units::Time;

use super::chunks::{Chunks, NAMES};
use super::columns::Rows;
use super::packet_rows::{PacketTable, SackTable};

/// Rows wait in groups of at least so many.
const LEAST: usize = 1 << 12;

/// Marks a place among the waiting rows; all others are names of rows that are in order.
const WAITING: u32 = 1 << 31;

/// A row of the trace, as it is changed: its columns, its place there, and how many rows of its
/// chunk are not final, where it is in a chunk.
pub(super) type Found<'a> = (&'a mut PacketTable, usize, Option<&'a mut u32>);

/// A SACK block of an ACK: the number of the row that came so, the flow, and both ends.
type Block = (u64, u32, (u64, u64));

/// The rows that wait, and where all rows are that may still change.
#[derive(Clone, Debug)]
pub(super) struct Early {
    waiting: PacketTable,
    /// The times, turns and numbers of the rows that wait. Numbers count rows as they come.
    keys: Vec<(u64, u32, u64)>,
    blocks: Vec<Block>,
    /// Where the rows are, from the row with the number `first` on.
    places: VecDeque<u32>,
    first: u64,
    /// As soon as so many wait, they are put in order.
    enough: usize,
    least: usize,
    /// Buffers, which are used again.
    spare: PacketTable,
    sorted: Vec<u128>,
    order: Vec<u32>,
}

impl Early {
    /// No rows yet, of a table with so many rows in a chunk.
    pub(super) fn new(chunk: usize) -> Self {
        let least = LEAST.min(chunk);
        Self {
            waiting: PacketTable::default(),
            keys: Vec::new(),
            blocks: Vec::new(),
            places: VecDeque::new(),
            first: 0,
            enough: least,
            least,
            spare: PacketTable::default(),
            sorted: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Sets the rows of a chunk.
    pub(super) fn set_chunk(&mut self, rows: u32) {
        *self = Self::new(rows as usize);
    }

    /// One more row, of a packet that is sent in this turn of an instant; returns its name, and the
    /// columns that it goes to.
    #[inline]
    pub(super) fn add(&mut self, at: Time, turn: u32) -> (u32, &mut PacketTable) {
        assert!(self.places.len() < NAMES as usize, "fewer rows may still change");
        let number = self.first + self.places.len() as u64;
        self.places.push_back(WAITING | self.keys.len() as u32);
        self.keys.push((at.as_ps(), turn, number));
        ((number & NAMES) as u32, &mut self.waiting)
    }

    /// The row that came last is of an ACK with this SACK block.
    pub(super) fn selects(&mut self, flow: u32, block: (u64, u64)) {
        let number = self.first + self.places.len() as u64 - 1;
        self.blocks.push((number, flow, block));
    }

    /// The row with this name.
    #[inline]
    pub(super) fn at<'a>(
        &'a mut self,
        name: u32,
        rows: &'a mut Chunks<PacketTable, u32>,
    ) -> Found<'a> {
        let index = u64::from(name).wrapping_sub(self.first) & NAMES;
        let place = self.places[index as usize];
        if place >= WAITING {
            return (&mut self.waiting, (place - WAITING) as usize, None);
        }
        let (chunk, place) = rows.at(place);
        (&mut chunk.rows, place, Some(&mut chunk.mark))
    }

    /// Rows that wait.
    pub(super) fn held(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Puts the rows from before `now` in order, if many wait. None from before comes any more.
    pub(super) fn drain(
        &mut self,
        now: Time,
        rows: &mut Chunks<PacketTable, u32>,
        sacks: &mut Chunks<SackTable>,
    ) {
        if self.keys.len() >= self.enough {
            self.settle(now.as_ps(), rows, sacks);
        }
    }

    /// The rows that were handed over change no more.
    pub(super) fn forget(&mut self, rows: &Chunks<PacketTable, u32>) {
        while self.places.front().is_some_and(|&place| place < WAITING && rows.has_gone(place)) {
            self.places.pop_front();
            self.first += 1;
        }
    }

    /// Puts the rows from before `until` in order, and leaves the others.
    pub(super) fn settle(
        &mut self,
        until: u64,
        rows: &mut Chunks<PacketTable, u32>,
        sacks: &mut Chunks<SackTable>,
    ) {
        let Self { waiting, keys, places, first, sorted, order, spare, .. } = self;
        let numbered = (0u32..).zip(keys.iter());
        let key = |(index, &(at, turn, _)): (u32, &(u64, u32, u64))| {
            u128::from(at) << 64 | u128::from(turn) << 32 | u128::from(index)
        };
        sorted.clear();
        sorted.extend(numbered.map(key));
        sorted.sort();
        order.clear();
        order.extend(sorted.iter().map(|&key| key as u32));
        let count = order.partition_point(|&row| keys[row as usize].0 < until);
        let (ready, rest) = order.split_at(count);
        let known = rows.added();
        for (number, &row) in (known..).zip(ready) {
            places[(keys[row as usize].2 - *first) as usize] = (number & NAMES) as u32;
        }
        for (index, &row) in (0..).zip(rest) {
            places[(keys[row as usize].2 - *first) as usize] = WAITING | index;
        }
        rows.extend(count, |chunk, range| {
            let places = &ready[range];
            chunk.rows.append(waiting, places);
            let open = |&&place: &&u32| !waiting.is_final(place as usize);
            chunk.mark += places.iter().filter(open).count() as u32;
        });
        spare.append(waiting, rest);
        *keys = rest.iter().map(|&row| keys[row as usize]).collect();
        std::mem::swap(waiting, spare);
        spare.clear();
        self.enough = 2 * self.keys.len() + self.least;
        self.put_blocks(known, sacks);
    }

    /// SACK blocks of rows that are in order from row `known` on go to their table.
    fn put_blocks(&mut self, known: u64, sacks: &mut Chunks<SackTable>) {
        let Self { blocks, places, first, .. } = self;
        let mut ready = Vec::new();
        blocks.retain(|&(number, flow, block)| {
            let place = places[(number - *first) as usize];
            if place < WAITING {
                let behind = u64::from(place).wrapping_sub(known) & NAMES;
                ready.push((known + behind, flow, block));
            }
            place >= WAITING
        });
        ready.sort_by_key(|&(row, ..)| row);
        for (row, flow, (left, right)) in ready {
            sacks.add().rows.push(row, flow, (left, right));
        }
    }
}
