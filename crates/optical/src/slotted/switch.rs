//! A synchronous switch: a packet that arrives in a slot leaves in it, waits in the one buffer, or
//! is lost.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// A switch in which all outputs share one buffer of so many slots, fed forward: of the optical
/// packets for an output one a wavelength leaves in each slot, first those that wait, in order;
/// what arrives beyond that takes a position of the buffer, whichever output it is for, and is
/// dropped where none is free (Lu and Hunter 2009, section VII).
///
/// In each slot, first [`begin`](Self::begin), then [`offer`](Self::offer) for what arrives, in the
/// order that decides who leaves and who is dropped, then [`insert`](Self::insert) for what the
/// node adds itself, then [`end`](Self::end). Slots in which nothing waits and nothing arrives may
/// be left out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Switch<T> {
    ports: Vec<Output<T>>,
    size: u32,
    occupied: u32,
    slot: u64,
    /// Positions taken, summed over slots, and the most at once.
    taken: u64,
    most: u32,
    arrived: u64,
    left: u64,
    dropped: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Output<T> {
    wavelengths: u32,
    queue: VecDeque<T>,
    /// Packets that have left in the slot `at`.
    left: u32,
    at: u64,
}

impl<T> Output<T> {
    /// Whether it can take one more in `slot`; if so, it is taken.
    #[inline]
    fn takes(&mut self, slot: u64) -> bool {
        if self.at != slot {
            (self.at, self.left) = (slot, 0);
        }
        let free = self.left < self.wavelengths;
        self.left += u32::from(free);
        free
    }
}

/// The outcome of an optical packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer<T> {
    /// It leaves in this slot.
    Leaves(T),
    /// It takes a position of the buffer.
    Waits,
    /// No position is free.
    Dropped(T),
}

impl<T> Switch<T> {
    /// A switch whose outputs have so many `wavelengths` each, with a buffer of `size` slots for
    /// all of them.
    #[must_use]
    pub fn new(wavelengths: impl IntoIterator<Item = u32>, size: u32) -> Self {
        let output = |wavelengths| {
            let queue = VecDeque::new();
            Output { wavelengths, queue, left: 0, at: u64::MAX }
        };
        Self {
            ports: wavelengths.into_iter().map(output).collect(),
            size,
            occupied: 0,
            slot: u64::MAX,
            taken: 0,
            most: 0,
            arrived: 0,
            left: 0,
            dropped: 0,
        }
    }

    /// Slot `slot` begins: of the packets that wait for an output, as many leave as it has
    /// wavelengths.
    #[inline]
    pub fn begin(&mut self, slot: u64, mut leaves: impl FnMut(usize, T)) {
        self.slot = slot;
        if self.occupied == 0 {
            return;
        }
        for (port, output) in self.ports.iter_mut().enumerate() {
            while !output.queue.is_empty() && output.takes(slot) {
                if let Some(item) = output.queue.pop_front() {
                    self.occupied -= 1;
                    self.left += 1;
                    leaves(port, item);
                }
            }
        }
    }

    /// `item` arrives for output `port`.
    #[inline]
    pub fn offer(&mut self, port: usize, item: T) -> Offer<T> {
        self.arrived += 1;
        let output = &mut self.ports[port];
        if output.queue.is_empty() && output.takes(self.slot) {
            self.left += 1;
            Offer::Leaves(item)
        } else if self.occupied < self.size {
            self.occupied += 1;
            self.most = self.most.max(self.occupied);
            output.queue.push_back(item);
            Offer::Waits
        } else {
            self.dropped += 1;
            Offer::Dropped(item)
        }
    }

    /// A packet that was dropped in this slot leaves all the same, in addition to the others.
    pub fn leaves_beside(&mut self) {
        self.dropped -= 1;
        self.left += 1;
    }

    /// Whether the node may add a packet of its own at output `port` in this slot: nothing waits
    /// there, and a wavelength is free. If so, the packet leaves.
    #[inline]
    pub fn insert(&mut self, port: usize) -> bool {
        let output = &mut self.ports[port];
        let free = output.queue.is_empty() && output.takes(self.slot);
        self.arrived += u64::from(free);
        self.left += u64::from(free);
        free
    }

    /// The slot ends.
    ///
    /// # Panics
    /// When a packet is unaccounted for, or more wait than there are positions.
    #[inline]
    pub fn end(&mut self) {
        self.taken += u64::from(self.occupied);
        assert!(self.occupied <= self.size, "the buffer has its size");
        let known = self.left + self.dropped + u64::from(self.occupied);
        assert!(self.arrived == known, "what arrives leaves, waits or is dropped");
    }

    /// Positions taken.
    #[inline]
    #[must_use]
    pub fn occupied(&self) -> u32 {
        self.occupied
    }

    /// The packets that wait for all outputs.
    pub fn waiting(&self) -> impl Iterator<Item = &T> {
        self.ports.iter().flat_map(|output| &output.queue)
    }

    /// The mean of the positions taken begins anew.
    pub fn measures(&mut self) {
        self.taken = 0;
    }

    /// Positions taken on average over the `slots` since it was last begun anew, and the most at
    /// once.
    #[must_use]
    pub fn occupancy(&self, slots: u64) -> (f64, u32) {
        (self.taken as f64 / slots.max(1) as f64, self.most)
    }

    /// Packets that arrived or were added, that left, and that were dropped.
    #[must_use]
    pub fn counts(&self) -> [u64; 3] {
        [self.arrived, self.left, self.dropped]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_buffer_is_shared_and_each_output_keeps_its_order() {
        let mut switch: Switch<u32> = Switch::new([1, 1], 2);
        switch.begin(0, |_, _| panic!("nothing waits"));
        assert_eq!(switch.offer(0, 1), Offer::Leaves(1));
        assert_eq!([switch.offer(0, 2), switch.offer(0, 3)], [Offer::Waits, Offer::Waits]);
        assert_eq!(switch.offer(1, 4), Offer::Leaves(4), "the other output is free");
        assert_eq!(switch.offer(1, 5), Offer::Dropped(5), "the first has taken all positions");
        switch.end();
        let mut left = Vec::new();
        switch.begin(1, |port, item| left.push((port, item)));
        assert_eq!(left, [(0, 2)]);
        assert_eq!(switch.offer(0, 6), Offer::Waits, "behind 3");
        assert!(!switch.insert(0) && switch.insert(1) && !switch.insert(1));
        switch.end();
        for slot in 2..5 {
            switch.begin(slot, |port, item| left.push((port, item)));
            switch.end();
        }
        assert_eq!(left, [(0, 2), (0, 3), (0, 6)]);
        assert_eq!((switch.occupied(), switch.counts()), (0, [7, 6, 1]));
        assert_eq!(switch.occupancy(5), (1.0, 2), "2, 2, 1 and twice none over five slots");
    }

    /// Uniform numbers that need no crate: splitmix64 (Steele, Lea and Flood 2014).
    fn uniform(state: &mut u64) -> f64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    #[test]
    fn without_a_buffer_the_loss_is_that_of_the_binomial_law() {
        // N inputs, each busy with probability p, each output as likely: one of the
        // Binomial(N, p/N) packets for an output leaves.
        for (n, p) in [(2usize, 0.5), (4, 0.8), (8, 1.0)] {
            let mut switch: Switch<()> = Switch::new(vec![1; n], 0);
            let (mut state, slots) = (7, 200_000);
            for slot in 0..slots {
                switch.begin(slot, |_, ()| ());
                for _ in 0..n {
                    if uniform(&mut state) < p {
                        let port = (uniform(&mut state) * n as f64) as usize;
                        switch.offer(port, ());
                    }
                }
                switch.end();
            }
            let [arrived, _, dropped] = switch.counts();
            let loss = dropped as f64 / arrived as f64;
            let busy = 1.0 - (1.0 - p / n as f64).powi(n as i32);
            let expected = 1.0 - busy / p;
            // Packets of one slot depend on each other; counted a slot they do not.
            let spread = (n as f64 * slots as f64).sqrt() / (n as f64 * slots as f64 * p);
            assert!((loss - expected).abs() < 3.0 * spread, "{n}: {loss} for {expected}");
        }
    }

    proptest! {
        /// Against a twin that holds what each output owes as plain lists.
        #[test]
        fn nothing_is_lost_or_overtaken_unseen(
            size in 0u32..5,
            widths in prop::collection::vec(1u32..3, 1..4),
            slots in prop::collection::vec(prop::collection::vec(0usize..4, 0..8), 1..60),
        ) {
            let mut switch: Switch<u64> = Switch::new(widths.clone(), size);
            let mut waits: Vec<Vec<u64>> = vec![Vec::new(); widths.len()];
            let mut number = 0;
            for (slot, arrivals) in (0..).zip(slots) {
                let mut free = widths.clone();
                let mut due = Vec::new();
                for (port, queue) in waits.iter_mut().enumerate() {
                    let count = queue.len().min(free[port] as usize);
                    free[port] -= count as u32;
                    due.extend(queue.drain(..count).map(|item| (port, item)));
                }
                let mut left = Vec::new();
                switch.begin(slot, |port, item| left.push((port, item)));
                prop_assert_eq!(left, due);
                for port in arrivals.into_iter().map(|port| port % widths.len()) {
                    number += 1;
                    let total: usize = waits.iter().map(Vec::len).sum();
                    let expected = if free[port] > 0 && waits[port].is_empty() {
                        free[port] -= 1;
                        Offer::Leaves(number)
                    } else if total < size as usize {
                        waits[port].push(number);
                        Offer::Waits
                    } else {
                        Offer::Dropped(number)
                    };
                    prop_assert_eq!(switch.offer(port, number), expected);
                }
                switch.end();
                prop_assert!(switch.occupied() <= size);
            }
        }
    }
}
