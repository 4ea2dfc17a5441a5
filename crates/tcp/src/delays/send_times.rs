//! When each outstanding segment was last sent, and how often.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

/// One slot for each segment of the receiver's window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SendTimes {
    slots: Vec<Slot>,
    as_ns2: bool,
}

/// Empty while `transmissions` is zero.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Slot {
    seq: u64,
    sent: Time,
    transmissions: u32,
}

const EMPTY: Slot = Slot { seq: 0, sent: Time::ZERO, transmissions: 0 };

impl SendTimes {
    /// For a sender that never has more than `window` segments outstanding.
    pub(super) fn new(window: u32, as_ns2: bool) -> Self {
        Self { slots: vec![EMPTY; window as usize], as_ns2 }
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(EMPTY);
    }

    pub(super) fn record(&mut self, now: Time, seq: u64) {
        let index = self.index(seq);
        let slot = &mut self.slots[index];
        // In ns-2 a slot does not know whose it is.
        if !self.as_ns2 && slot.seq != seq {
            slot.transmissions = 0;
        }
        slot.seq = seq;
        slot.sent = now;
        slot.transmissions = slot.transmissions.saturating_add(1);
    }

    /// When `seq` was last sent and how often.
    pub(super) fn of(&self, seq: u64) -> Option<(Time, u32)> {
        let slot = self.slots[self.index(seq)];
        let known = slot.transmissions > 0 && (self.as_ns2 || slot.seq == seq);
        known.then_some((slot.sent, slot.transmissions))
    }

    /// The segments of `[from, to)` have arrived. ns-2 empties no slot when the range goes around
    /// the end of its arrays, and then takes the next segment there for one sent again; otherwise a
    /// slot needs no emptying.
    pub(super) fn forget(&mut self, from: u64, to: u64) {
        if self.as_ns2 && from < to {
            let (first, last) = (self.index(from), self.index(to - 1));
            if first <= last {
                self.slots[first..=last].fill(EMPTY);
            }
        }
    }

    fn index(&self, seq: u64) -> usize {
        (seq % self.slots.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const WINDOW: u64 = 7;

    fn at(ms: u64) -> Time {
        Time::from_ps(ms * 1_000_000_000)
    }

    proptest! {
        /// The obviously correct twin knows every segment by its number.
        #[test]
        fn agrees_with_a_map(steps in prop::collection::vec((0u64..WINDOW, 0u64..4), 1..200)) {
            let mut times = SendTimes::new(WINDOW as u32, false);
            let (mut twin, mut acked) = (BTreeMap::<u64, (Time, u32)>::new(), 0);
            for (ms, (offset, progress)) in steps.into_iter().enumerate() {
                let seq = acked + offset;
                times.record(at(ms as u64), seq);
                let transmissions = twin.get(&seq).map_or(0, |&(_, sent)| sent) + 1;
                twin.insert(seq, (at(ms as u64), transmissions));
                times.forget(acked, acked + progress);
                acked += progress;
                for seq in acked..acked + WINDOW {
                    prop_assert_eq!(times.of(seq), twin.get(&seq).copied());
                }
            }
        }
    }

    #[test]
    fn ns2_forgets_nothing_around_the_end_of_its_arrays() {
        let mut times = SendTimes::new(WINDOW as u32, true);
        for seq in 0..WINDOW {
            times.record(at(seq), seq);
        }
        times.forget(0, 3);
        assert_eq!((times.of(2), times.of(3)), (None, Some((at(3), 1))));
        times.record(at(10), 7);
        times.record(at(11), 8);
        // From slot 3 to slot 1.
        times.forget(3, 9);
        assert_eq!(times.of(10), Some((at(3), 1)), "of segment 3, in the slot of 10");
        times.record(at(12), 10);
        assert_eq!(times.of(10), Some((at(12), 2)), "taken for one sent again");
    }
}
