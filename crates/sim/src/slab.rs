//! Values that come and go, in slots that are used again.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

/// The slot of a value in its [`Slab`].
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Slot<T>(u32, PhantomData<fn() -> T>);

impl<T> Slot<T> {
    /// The slot with this number, such as an event names.
    #[inline]
    pub(crate) const fn numbered(number: u32) -> Self {
        Self(number, PhantomData)
    }

    #[inline]
    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

impl<T> Clone for Slot<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slot<T> {}

impl<T> PartialEq for Slot<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for Slot<T> {}

impl<T> PartialOrd for Slot<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Slot<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Values by their slots. The slot that became free last is used first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Keeps a value; returns its slot.
    #[inline]
    pub(crate) fn keep(&mut self, value: T) -> Slot<T> {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(value);
            return Slot::numbered(slot);
        }
        self.slots.push(Some(value));
        Slot::numbered(self.slots.len() as u32 - 1)
    }

    /// The value in a slot.
    ///
    /// # Panics
    /// When the slot is free.
    #[inline]
    pub(crate) fn get(&self, slot: Slot<T>) -> &T {
        self.slots[slot.0 as usize].as_ref().expect("a value is in its slot until it is taken")
    }

    /// The value in a slot, to be changed.
    ///
    /// # Panics
    /// When the slot is free.
    #[inline]
    pub(crate) fn get_mut(&mut self, slot: Slot<T>) -> &mut T {
        self.slots[slot.0 as usize].as_mut().expect("a value is in its slot until it is taken")
    }

    /// Takes the value of a slot, which is free then.
    ///
    /// # Panics
    /// When the slot is free.
    #[inline]
    pub(crate) fn take(&mut self, slot: Slot<T>) -> T {
        self.free.push(slot.0);
        self.slots[slot.0 as usize].take().expect("a value is taken once")
    }

    /// All values, by slot.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_used_again_the_last_one_first() {
        let mut slab = Slab::default();
        let [a, b, c] = ["a", "b", "c"].map(|value| slab.keep(value));
        assert_eq!((slab.take(a), slab.take(c)), ("a", "c"));
        assert_eq!(slab.keep("d"), c);
        *slab.get_mut(b) = "e";
        assert_eq!((*slab.get(b), slab.keep("f"), slab.keep("g").number()), ("e", a, 3));
        assert_eq!(slab.values().copied().collect::<Vec<_>>(), ["f", "e", "d", "g"]);
    }

    #[test]
    #[should_panic(expected = "a value is taken once")]
    fn a_value_is_taken_once() {
        let mut slab = Slab::default();
        let slot = slab.keep(1);
        slab.take(slot);
        slab.take(slot);
    }

    #[test]
    fn a_slot_needs_the_room_of_its_number() {
        assert_eq!(size_of::<Slot<String>>(), 4);
    }
}
