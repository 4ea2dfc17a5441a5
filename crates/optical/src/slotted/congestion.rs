//! Congestion as opposed to contention, by the recent load of an output.

use serde::{Deserialize, Serialize};

/// A window of at most so many slots is counted slot by slot.
const EXACT: u64 = 128;

/// A longer one is counted in so many parts.
const PARTS: u64 = 32;

/// How many of something there were in the last slots: exactly so many as asked for, up to `EXACT`
/// of them. A longer window is rounded up to a multiple of 32 slots; its oldest part falls out
/// whole, so that it is up to a 32nd shorter than that.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Window {
    parts: Vec<u32>,
    /// Slots of a part; the part being filled; the first slot behind it.
    length: u64,
    part: usize,
    until: u64,
    total: u64,
}

impl Window {
    fn new(slots: u64) -> Self {
        let slots = slots.max(1);
        let (parts, length) =
            if slots <= EXACT { (slots, 1) } else { (PARTS, slots.div_ceil(PARTS)) };
        Self { parts: vec![0; parts as usize], length, part: 0, until: length, total: 0 }
    }

    /// Forgets counts that are too old in `slot`.
    #[inline]
    fn roll(&mut self, slot: u64) {
        while slot >= self.until {
            if self.total == 0 {
                // Nothing is left to forget.
                let parts = (slot - self.until) / self.length + 1;
                let count = self.parts.len();
                self.part = (self.part + (parts % count as u64) as usize) % count;
                self.until += parts * self.length;
                return;
            }
            self.part = (self.part + 1) % self.parts.len();
            self.until += self.length;
            self.total -= u64::from(std::mem::take(&mut self.parts[self.part]));
        }
    }

    #[inline]
    fn add(&mut self, slot: u64) {
        self.roll(slot);
        self.parts[self.part] += 1;
        self.total += 1;
    }

    /// How many a slot, up to and with `slot`. Before slot 0 there was nothing.
    fn rate(&mut self, slot: u64) -> f64 {
        self.rate_without(slot, 0)
    }

    /// The same, as if `some` of those in `slot` had not been counted.
    fn rate_without(&mut self, slot: u64, some: u32) -> f64 {
        self.roll(slot);
        let before = (self.parts.len() as u64 - 1) * self.length;
        let full = before + (slot + self.length - self.until) + 1;
        (self.total - u64::from(some)) as f64 / full as f64
    }
}

/// Why an optical packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DropCause {
    /// Too many came at once for an output that is not congested.
    Contention,
    /// The output is congested.
    Congestion,
}

/// A switch's record of one of its outputs: the rate of arrivals over the last slots, and of losses
/// by congestion (Lu and Hunter 2009, section III).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Descriptor {
    arrivals: Window,
    losses: Window,
    /// Arrivals a slot from which on the output is congested.
    threshold: f64,
    /// For more than so many slots they must have been as many, unless it is 0.
    sustained: u64,
    /// The slot since which they have been, looked at with each arrival.
    since: Option<u64>,
    wavelengths: f64,
    /// The slot of the last arrival, and the arrivals in it.
    newest: (u64, u32),
}

impl Descriptor {
    /// Of an output with so many `wavelengths`, which is congested where the arrivals of the last
    /// `window` slots are `threshold` (0 to 1) of what it can carry, or more; the rate of losses is
    /// that of the last `loss_window` slots.
    #[must_use]
    pub fn new(wavelengths: u32, threshold: f64, window: u64, loss_window: u64) -> Self {
        let wavelengths = f64::from(wavelengths);
        Self {
            arrivals: Window::new(window),
            losses: Window::new(loss_window),
            threshold: threshold * wavelengths,
            sustained: 0,
            since: None,
            wavelengths,
            newest: (0, 0),
        }
    }

    /// The same, but that the output is congested only where the arrivals have been as many for
    /// more than so many slots, without a break; with 0, at once. They are looked at with each
    /// arrival.
    #[must_use]
    pub fn sustained(self, slots: u64) -> Self {
        Self { sustained: slots, ..self }
    }

    /// A packet arrives for the output in `slot`, whatever becomes of it.
    #[inline]
    pub fn arrives(&mut self, slot: u64) {
        self.arrivals.add(slot);
        if self.newest.0 != slot {
            self.newest = (slot, 0);
        }
        self.newest.1 += 1;
        if self.sustained > 0 {
            let above = self.arrivals.rate(slot) >= self.threshold;
            self.since = above.then(|| self.since.unwrap_or(slot));
        }
    }

    /// The arrivals of the last slots before `slot`, as a share of what the output can carry; no
    /// arrival may be later than `slot`. Arrivals in `slot` do not count, so that their order and
    /// that of the reader does not matter.
    pub fn load(&mut self, slot: u64) -> f64 {
        let here = if self.newest.0 == slot { self.newest.1 } else { 0 };
        self.arrivals.rate_without(slot, here) / self.wavelengths
    }

    /// Whether a packet that is dropped in this slot, or a later one, is lost by congestion.
    pub fn is_congested(&mut self, slot: u64) -> bool {
        let above = self.arrivals.rate(slot) >= self.threshold;
        let lasts = || self.since.is_some_and(|since| slot - since > self.sustained);
        above && (self.sustained == 0 || lasts())
    }

    /// A packet that has arrived is dropped; only a drop by congestion counts as a loss.
    pub fn drops(&mut self, slot: u64) -> DropCause {
        if !self.is_congested(slot) {
            return DropCause::Contention;
        }
        self.losses.add(slot);
        DropCause::Congestion
    }

    /// Packets lost by congestion, as a share of what the output can carry.
    pub fn loss_rate(&mut self, slot: u64) -> f64 {
        self.losses.rate(slot) / self.wavelengths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_congestion_from_the_threshold_on() {
        let mut half = Descriptor::new(1, 0.5, 320, 32);
        for slot in (0..1000).filter(|slot| slot % 2 == 0) {
            half.arrives(slot);
        }
        assert_eq!(half.drops(999), DropCause::Congestion, "every other slot");
        let mut third = Descriptor::new(1, 0.5, 320, 32);
        for slot in (0..999).filter(|slot| slot % 3 == 0) {
            third.arrives(slot);
        }
        assert_eq!(third.drops(999), DropCause::Contention);
        assert!(third.loss_rate(999) == 0.0, "contention is no loss to tell of");
        let mut two = Descriptor::new(2, 0.5, 320, 32);
        for slot in 0..1000 {
            two.arrives(slot);
        }
        assert_eq!(two.drops(999), DropCause::Congestion, "half of two wavelengths");
    }

    #[test]
    fn the_first_slots_of_a_run_are_no_other_than_those_behind_a_silence() {
        for start in [0, 320, 5000] {
            let mut port = Descriptor::new(1, 0.5, 320, 32);
            for slot in start..start + 150 {
                port.arrives(slot);
                assert_eq!(port.drops(slot), DropCause::Contention, "{start}: {slot}");
            }
            // Nine of ten parts of the window are behind it by then, and half of them were full.
            for slot in start + 150..start + 200 {
                port.arrives(slot);
            }
            assert_eq!(port.drops(start + 199), DropCause::Congestion, "{start}");
            assert_eq!(port.loss_rate(start + 199), 1.0 / 32.0);
        }
    }

    #[test]
    fn what_must_last_is_congestion_behind_that_time_and_starts_anew_with_each_break() {
        let mut port = Descriptor::new(1, 0.5, 100, 32).sustained(200);
        // From slot 49 on half of the window was full.
        let cause = |port: &mut Descriptor, slot| {
            port.arrives(slot);
            port.drops(slot)
        };
        for slot in 0..=249 {
            assert_eq!(cause(&mut port, slot), DropCause::Contention, "{slot}");
        }
        assert_eq!(cause(&mut port, 250), DropCause::Congestion, "201 slots");
        // A silence that takes them below the threshold.
        for slot in 320..=569 {
            assert_eq!(cause(&mut port, slot), DropCause::Contention, "{slot}");
        }
        assert_eq!(cause(&mut port, 570), DropCause::Congestion);
    }

    #[test]
    fn the_loss_rate_is_that_of_the_last_slots() {
        let mut port = Descriptor::new(1, 0.0, 320, 32);
        for slot in 0..64 {
            port.arrives(slot);
            if slot % 4 == 0 {
                port.drops(slot);
            }
        }
        assert_eq!(port.loss_rate(63), 0.25);
        assert_eq!(port.loss_rate(79), 4.0 / 32.0, "half of it is forgotten");
        assert_eq!(port.loss_rate(1_000_000), 0.0);
        port.arrives(1_000_000);
        port.drops(1_000_000);
        assert_eq!(port.loss_rate(1_000_000), 1.0 / 32.0);
    }

    #[test]
    fn a_short_window_has_the_slots_that_were_asked_for() {
        for asked in [1, 2, 7, 12, 31, 32, 33, 64, 100, 128] {
            let mut port = Descriptor::new(1, 0.0, 320, asked);
            for slot in 0..1000 {
                port.arrives(slot);
                port.drops(slot);
            }
            // All are lost until slot 999; then a slot falls out with each that passes.
            for passed in [0, asked.div_ceil(2), asked] {
                let left = (asked - passed.min(asked)) as f64 / asked as f64;
                assert_eq!(port.loss_rate(999 + passed), left, "{asked} slots, {passed} on");
            }
        }
    }

    #[test]
    fn the_window_gives_what_counting_gives() {
        let (mut window, mut seen) = (Window::new(640), Vec::new());
        let mut state = 1u64;
        for slot in 0..20_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            // Long silences, too.
            if state >> 62 == 0 && !(5_000..9_000).contains(&slot) {
                window.add(slot);
                seen.push(slot);
            }
            if slot % 97 == 0 {
                // A window that reaches back beyond the first slot is as long as any other.
                let first = (slot / 20) as i64 * 20 - 31 * 20;
                let count = seen.iter().filter(|&&at| at as i64 >= first).count();
                let rate = count as f64 / (slot as i64 + 1 - first) as f64;
                assert!((window.rate(slot) - rate).abs() < 1e-12, "slot {slot}");
            }
        }
    }
}
