//! The voids of all wavelengths of a fibre, in the order in which they begin.
//!
//! Of the voids that hold a burst, LAUC and LAUC-VF take the one that begins latest. It is found
//! backward from the start of the burst. Voids lie in blocks, and each block knows the latest end
//! of its voids, so that a block whose voids all end too early is passed over at once. A search
//! looks at the voids of two blocks at most, and at one number of each block before them.
//!
//! Every change of a calendar is entered here, so that the index has each void exactly once. Voids
//! that are past go with the reservations before them; they can hold no burst any more.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::calendar::Void;

/// Voids of a block before it is divided.
const BLOCK: usize = 64;

/// Where a void stands: by its beginning; of equal ones the lowest wavelength comes last. Time is
/// above the lowest 32 bits, and what is left to the highest wavelength is in these: one comparison
/// settles both.
type Key = u128;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    key: Key,
    until: Time,
}

/// Voids that follow one another. A block is never empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Block {
    /// Where the first of them stands: here, a search for a block looks at no other memory.
    first: Key,
    /// The latest end of them.
    latest: Time,
    entries: Vec<Entry>,
}

impl Block {
    fn of(entries: Vec<Entry>) -> Self {
        let latest = entries.iter().map(|entry| entry.until).max().unwrap_or_default();
        Self { first: entries[0].key, latest, entries }
    }

    /// A void that ended at `until` is gone, or ends earlier.
    fn ended(&mut self, until: Time) {
        // Most often another one ends as late: never.
        let latest = self.latest;
        if until == latest && !self.entries.iter().rev().any(|entry| entry.until == latest) {
            let latest = self.entries.iter().map(|entry| entry.until).max();
            self.latest = latest.unwrap_or_default();
        }
    }

    /// The last void that begins at `key` or before, and does not end before `end`.
    fn last(&self, key: Key, end: Time) -> Option<u32> {
        let count = self.entries.partition_point(|entry| entry.key <= key);
        let fits = self.entries[..count].iter().rev().find(|entry| end <= entry.until);
        fits.map(|entry| wavelength(entry.key))
    }
}

/// All voids of a fibre.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Voids {
    blocks: Vec<Block>,
}

impl Voids {
    /// Those of so many wavelengths that are all free.
    pub(super) fn of(wavelengths: u32) -> Self {
        let mut voids = Self::default();
        let whole = Void { since: Time::ZERO, until: Time::MAX };
        (0..wavelengths).for_each(|wavelength| voids.insert(wavelength, whole));
        voids
    }

    /// The wavelength of the void that begins latest, of those that hold all from `start` to `end`;
    /// of equal ones the lowest. With `end` at [`Time::MAX`] only the voids behind the last
    /// reservations count.
    pub(super) fn latest(&self, start: Time, end: Time) -> Option<u32> {
        let key = key(0, start);
        let count = self.blocks.partition_point(|block| block.first <= key);
        let blocks = self.blocks[..count].iter().rev();
        blocks.filter(|block| end <= block.latest).find_map(|block| block.last(key, end))
    }

    /// Enters a void, unless it is empty.
    pub(super) fn insert(&mut self, wavelength: u32, void: Void) {
        if void.until <= void.since {
            return;
        }
        let entry = Entry { key: key(wavelength, void.since), until: void.until };
        let Some(at) = self.block(entry.key) else {
            self.blocks.insert(0, Block::of(vec![entry]));
            return;
        };
        let block = &mut self.blocks[at];
        let place = block.entries.partition_point(|other| other.key < entry.key);
        block.entries.insert(place, entry);
        block.first = block.entries[0].key;
        block.latest = block.latest.max(entry.until);
        if block.entries.len() > BLOCK {
            let behind = block.entries.split_off(BLOCK / 2);
            *block = Block::of(std::mem::take(&mut block.entries));
            self.blocks.insert(at + 1, Block::of(behind));
        }
    }

    /// Takes a void out, unless it is empty.
    ///
    /// # Panics
    /// When it is not there.
    pub(super) fn remove(&mut self, wavelength: u32, void: Void) {
        if void.until <= void.since {
            return;
        }
        let (at, place) = self.place(key(wavelength, void.since));
        let block = &mut self.blocks[at];
        let gone = block.entries.remove(place);
        let Some(first) = block.entries.first() else {
            self.blocks.remove(at);
            return;
        };
        block.first = first.key;
        block.ended(gone.until);
    }

    /// A void ends earlier now, at `until`, or is empty.
    ///
    /// # Panics
    /// When it is not there.
    pub(super) fn shorten(&mut self, wavelength: u32, void: Void, until: Time) {
        if until <= void.since {
            self.remove(wavelength, void);
            return;
        }
        let (at, place) = self.place(key(wavelength, void.since));
        let block = &mut self.blocks[at];
        let before = std::mem::replace(&mut block.entries[place].until, until);
        block.ended(before);
    }

    /// The block of a void, and its place there.
    ///
    /// # Panics
    /// When it is not there.
    fn place(&self, key: Key) -> (usize, usize) {
        let at = self.block(key).expect("a void that is known");
        let place = self.blocks[at].entries.binary_search_by_key(&key, |entry| entry.key);
        (at, place.expect("a void that is known"))
    }

    /// The block in which a void stands, or would: the last that does not begin behind it. `None`:
    /// it stands before all.
    fn block(&self, key: Key) -> Option<usize> {
        self.blocks.partition_point(|block| block.first <= key).checked_sub(1)
    }

    /// All of them, with their wavelengths, in order.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<(u32, Void)> {
        let entries = self.blocks.iter().flat_map(|block| &block.entries);
        let since = |key: Key| Time::from_ps((key >> 32) as u64);
        let void = |entry: &Entry| Void { since: since(entry.key), until: entry.until };
        entries.map(|entry| (wavelength(entry.key), void(entry))).collect()
    }
}

fn key(wavelength: u32, since: Time) -> Key {
    u128::from(since.as_ps()) << 32 | u128::from(u32::MAX - wavelength)
}

fn wavelength(key: Key) -> u32 {
    u32::MAX - key as u32
}
