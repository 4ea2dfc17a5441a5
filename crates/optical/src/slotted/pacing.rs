//! Constant-rate emission: one slot every 1/R slots.

use serde::{Deserialize, Serialize};

/// Parts of a slot in which the time between two slots is counted.
const PARTS: f64 = (1u64 << 20) as f64;

/// When a buffer may send its next slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pacer {
    /// Both in 2^-20 slots.
    period: u64,
    due: u64,
}

impl Pacer {
    /// At `rate` slots a slot, from slot 0 on.
    ///
    /// # Panics
    /// Where `rate` is not positive.
    #[must_use]
    pub fn new(rate: f64) -> Self {
        Self { period: period(rate), due: 0 }
    }

    /// Sends at `rate` from now on: the next slot is due a new period behind the last one.
    ///
    /// # Panics
    /// Where `rate` is not positive.
    pub fn set_rate(&mut self, rate: f64) {
        let last = self.due.saturating_sub(self.period);
        self.period = period(rate);
        self.due = last + self.period;
    }

    /// Something waits again, from `slot` on: unused slots before are gone.
    #[inline]
    pub fn wakes(&mut self, slot: u64) {
        self.due = self.due.max(slot << 20);
    }

    /// The first slot in which the next one may leave.
    #[inline]
    #[must_use]
    pub fn due(&self) -> u64 {
        self.due >> 20
    }

    /// One packet leaves in `slot`. A packet that waited for its output lets at most one later
    /// packet leave early.
    #[inline]
    pub fn sends(&mut self, slot: u64) {
        self.due = self.due.max((slot << 20).saturating_sub(self.period)) + self.period;
    }
}

fn period(rate: f64) -> u64 {
    assert!(rate > 0.0, "a rate is positive");
    (PARTS / rate).round().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pacer: &mut Pacer, slots: std::ops::Range<u64>) -> Vec<u64> {
        let due = |&slot: &u64| {
            let due = pacer.due() <= slot;
            if due {
                pacer.sends(slot);
            }
            due
        };
        slots.filter(due).collect()
    }

    #[test]
    fn slots_leave_evenly_at_the_rate() {
        let mut pacer = Pacer::new(0.4);
        assert_eq!(sent(&mut pacer, 0..11), [0, 2, 5, 7, 10], "one every two and a half");
        let third = sent(&mut Pacer::new(0.3), 0..30_000).len();
        assert!((9000..=9001).contains(&third), "{third}: to a 2^20th of a slot");
        assert_eq!(sent(&mut Pacer::new(1.0), 0..100).len(), 100);
    }

    #[test]
    fn nothing_is_saved_up() {
        let mut pacer = Pacer::new(0.1);
        pacer.wakes(1000);
        assert_eq!(sent(&mut pacer, 1000..1021), [1000, 1010, 1020]);
        assert_eq!(pacer.due(), 1030);
        pacer.sends(1095);
        assert_eq!(pacer.due(), 1095, "one is made up for");
        pacer.sends(1096);
        assert_eq!(pacer.due(), 1105);
    }

    #[test]
    fn a_new_rate_counts_from_the_last_slot() {
        let mut pacer = Pacer::new(0.01);
        pacer.sends(0);
        assert_eq!(pacer.due(), 100);
        pacer.set_rate(0.5);
        assert_eq!(pacer.due(), 2);
    }
}
