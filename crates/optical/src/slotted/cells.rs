//! Datagrams in fixed slots.

use std::collections::VecDeque;

use burstlab_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many datagrams a slot carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Packing {
    /// One, or a part of one; the rest is padding.
    #[default]
    One,
    /// As many as fit whole, behind a part of a longer one, if there is one.
    Several,
}

/// A datagram, or a part of one, in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece<D> {
    /// The datagram.
    pub datagram: D,
    /// Its number at its buffer.
    pub number: u64,
    /// In how many slots it travels; 0: a queue on its path has dropped it.
    pub parts: u32,
}

/// The contents of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell<D> {
    /// The first piece.
    pub first: Piece<D>,
    /// Those behind it.
    pub more: Vec<Piece<D>>,
    /// Bytes that carry nothing.
    pub padding: u32,
}

impl<D: Copy> Cell<D> {
    /// All pieces.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece<D>> {
        std::iter::once(&self.first).chain(&self.more)
    }
}

/// The electronic buffer for one egress: datagrams wait in order and leave in slots. One that is
/// longer than what a slot carries is cut into parts for several.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slotter<D> {
    /// Datagrams, their bytes, and when they came.
    queue: VecDeque<(D, u32, Time)>,
    /// Bytes that a slot carries.
    payload: u32,
    packing: Packing,
    /// Bytes of the first datagram that have left.
    gone: u32,
    /// Number of the first datagram.
    number: u64,
    /// Bytes that wait, and slots that they will fill, each datagram by itself.
    bytes: u64,
    slots: u64,
}

impl<D: Copy> Slotter<D> {
    /// An empty buffer for slots of `payload` bytes.
    ///
    /// # Panics
    /// Where a slot carries nothing.
    #[must_use]
    pub fn new(payload: u32, packing: Packing) -> Self {
        assert!(payload > 0, "a slot carries something");
        let queue = VecDeque::new();
        Self { queue, payload, packing, gone: 0, number: 0, bytes: 0, slots: 0 }
    }

    /// A datagram of `bytes` enters at `now`; returns how many slots it fills.
    ///
    /// # Panics
    /// When `now` is before the arrival of the datagram in front of it.
    #[inline]
    pub fn push(&mut self, now: Time, datagram: D, bytes: u32) -> f64 {
        let in_order = self.queue.back().is_none_or(|&(.., last)| last <= now);
        assert!(in_order, "datagrams enter a buffer in order of time");
        self.queue.push_back((datagram, bytes, now));
        self.bytes += u64::from(bytes);
        let slots = self.parts(bytes);
        self.slots += u64::from(slots);
        match self.packing {
            Packing::One => f64::from(slots),
            Packing::Several => f64::from(bytes) / f64::from(self.payload),
        }
    }

    /// Slots for a datagram of `bytes`.
    #[inline]
    fn parts(&self, bytes: u32) -> u32 {
        if bytes <= self.payload { 1 } else { bytes.div_ceil(self.payload) }
    }

    /// The next slot leaves, if anything waits.
    #[inline]
    pub fn fill(&mut self) -> Option<Cell<D>> {
        let &(_, bytes, _) = self.queue.front()?;
        let (first, length) = self.piece(bytes.saturating_sub(self.gone).min(self.payload))?;
        let mut cell = Cell { first, more: Vec::new(), padding: self.payload - length };
        while self.packing == Packing::Several
            && self.gone == 0
            && let Some(&(_, bytes, _)) = self.queue.front()
            && bytes <= cell.padding
            && let Some((piece, length)) = self.piece(bytes)
        {
            cell.more.push(piece);
            cell.padding -= length;
        }
        Some(cell)
    }

    /// The next `length` bytes of the first datagram.
    #[inline]
    fn piece(&mut self, length: u32) -> Option<(Piece<D>, u32)> {
        let &(datagram, bytes, _) = self.queue.front()?;
        let piece = Piece { datagram, number: self.number, parts: self.parts(bytes) };
        self.gone += length;
        self.bytes -= u64::from(length);
        self.slots -= 1;
        if self.gone == bytes {
            self.queue.pop_front();
            self.gone = 0;
            self.number += 1;
        }
        Some((piece, length))
    }

    /// When the first datagram that waits came, if any waits.
    #[inline]
    #[must_use]
    pub fn since(&self) -> Option<Time> {
        self.queue.front().map(|&(.., at)| at)
    }

    /// Whether nothing waits.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Slots that the backlog fills; with several datagrams a slot, if none were wasted.
    #[must_use]
    pub fn backlog(&self) -> f64 {
        match self.packing {
            Packing::One => self.slots as f64,
            Packing::Several => self.bytes as f64 / f64::from(self.payload),
        }
    }

    /// Bytes that wait.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The datagram of which a part has left, and its number, if there is one.
    #[must_use]
    pub fn begun(&self) -> Option<(&D, u64)> {
        let first = self.queue.front().filter(|_| self.gone > 0);
        first.map(|(datagram, ..)| (datagram, self.number))
    }

    /// Datagrams of which nothing has left.
    pub fn waiting(&self) -> impl Iterator<Item = &D> {
        let begun = usize::from(self.gone > 0);
        self.queue.iter().skip(begun).map(|(datagram, ..)| datagram)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Datagrams and padding of every slot.
    fn slots(packing: Packing, payload: u32, datagrams: &[u32]) -> Vec<(Vec<usize>, u32)> {
        let mut slotter = Slotter::new(payload, packing);
        for (number, &bytes) in datagrams.iter().enumerate() {
            slotter.push(Time::ZERO, number, bytes);
        }
        let mut slots = Vec::new();
        while let Some(cell) = slotter.fill() {
            slots.push((cell.pieces().map(|piece| piece.datagram).collect(), cell.padding));
        }
        assert!(slotter.is_empty() && slotter.bytes() == 0 && slotter.backlog() == 0.0);
        slots
    }

    #[test]
    fn one_datagram_a_slot_or_several() {
        let datagrams = [40, 40, 100, 250, 30, 30];
        let one = slots(Packing::One, 100, &datagrams);
        let each: [(&[usize], u32); 8] = [
            (&[0], 60),
            (&[1], 60),
            (&[2], 0),
            (&[3], 0),
            (&[3], 0),
            (&[3], 50),
            (&[4], 70),
            (&[5], 70),
        ];
        assert_eq!(one, each.map(|(list, padding)| (list.to_vec(), padding)));
        let several = slots(Packing::Several, 100, &datagrams);
        let packed: [(&[usize], u32); 6] =
            [(&[0, 1], 20), (&[2], 0), (&[3], 0), (&[3], 0), (&[3, 4], 20), (&[5], 70)];
        assert_eq!(several, packed.map(|(list, padding)| (list.to_vec(), padding)));
    }

    proptest! {
        #[test]
        fn every_byte_is_in_a_slot_and_in_order(
            several in any::<bool>(),
            payload in 1u32..200,
            datagrams in prop::collection::vec(1u32..500, 1..40),
        ) {
            let packing = if several { Packing::Several } else { Packing::One };
            let mut slotter = Slotter::new(payload, packing);
            let mut worth = 0.0;
            for (number, &bytes) in datagrams.iter().enumerate() {
                worth += slotter.push(Time::ZERO, number, bytes);
            }
            prop_assert!((slotter.backlog() - worth).abs() < 1e-6);
            let all: Vec<_> = (0..datagrams.len()).collect();
            let (mut carried, mut seen, mut count) = (0, Vec::new(), 0);
            prop_assert_eq!(slotter.waiting().copied().collect::<Vec<_>>(), all.clone());
            while let Some(cell) = slotter.fill() {
                carried += u64::from(payload - cell.padding);
                count += 1;
                seen.extend(cell.pieces().map(|piece| (piece.datagram, piece.parts)));
                let last: usize = seen.last().map_or(0, |&(datagram, _)| datagram);
                prop_assert_eq!(slotter.waiting().copied().collect::<Vec<_>>(), &all[last + 1..]);
                let left = seen.iter().filter(|&&(datagram, _)| datagram == last).count();
                let begun = left < datagrams[last].div_ceil(payload) as usize;
                let expected = begun.then_some((&last, last as u64));
                prop_assert_eq!(slotter.begun(), expected);
            }
            prop_assert_eq!(carried, datagrams.iter().map(|&bytes| u64::from(bytes)).sum::<u64>());
            let expected: Vec<_> = datagrams
                .iter()
                .enumerate()
                .flat_map(|(number, bytes)| {
                    let parts = bytes.div_ceil(payload);
                    (0..parts).map(move |_| (number, parts))
                })
                .collect();
            prop_assert_eq!(&seen, &expected);
            prop_assert!(packing == Packing::Several || count == expected.len());
        }
    }
}
