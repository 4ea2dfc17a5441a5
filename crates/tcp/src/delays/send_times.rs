//! When each outstanding segment was last sent, and how often.

use burstlab_units::Time;

/// One slot for each segment of the receiver's window.
#[derive(Clone, Debug)]
pub(super) struct SendTimes {
    slots: Vec<Slot>,
    as_ns2: bool,
}

/// Empty while `transmissions` is zero.
#[derive(Clone, Copy, Debug)]
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
