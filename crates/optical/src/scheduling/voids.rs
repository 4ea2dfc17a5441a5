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

/// Where a void stands: by its beginning; of equal ones the lowest wavelength comes last.
type Key = (Time, u32);

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
        let key = (start, u32::MAX);
        let count = self.blocks.partition_point(|block| block.first <= key);
        let blocks = self.blocks[..count].iter().rev();
        blocks.filter(|block| end <= block.latest).find_map(|block| block.last(key, end))
    }

    /// Enters a void, unless it is empty.
    pub(super) fn insert(&mut self, wavelength: u32, void: Void) {
        if void.until <= void.since {
            return;
        }
        let entry = Entry { key: key(wavelength, void), until: void.until };
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
        let key = key(wavelength, void);
        let at = self.block(key).expect("a void that is known");
        let block = &mut self.blocks[at];
        let place = block.entries.binary_search_by_key(&key, |entry| entry.key);
        let gone = block.entries.remove(place.expect("a void that is known"));
        let Some(first) = block.entries.first() else {
            self.blocks.remove(at);
            return;
        };
        block.first = first.key;
        // Most often another one ends as late: never.
        let latest = |entry: &Entry| entry.until == block.latest;
        if gone.until == block.latest && !block.entries.iter().rev().any(latest) {
            *block = Block::of(std::mem::take(&mut block.entries));
        }
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
        let void = |entry: &Entry| Void { since: entry.key.0, until: entry.until };
        entries.map(|entry| (wavelength(entry.key), void(entry))).collect()
    }
}

fn key(wavelength: u32, void: Void) -> Key {
    (void.since, u32::MAX - wavelength)
}

fn wavelength((_, behind): Key) -> u32 {
    u32::MAX - behind
}
