//! Which of a sequence of units (packets or bursts) are lost.

use burstlab_units::Probability;
use serde::{Deserialize, Serialize};

/// A loss process over units numbered 1, 2, 3, ...
///
/// It owns no generator: whoever asks hands it the uniform numbers of the unit, so that the fate of
/// unit n depends on nothing but n (and, for Gilbert–Elliott, on the units before it).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LossProcess {
    /// Nothing is lost.
    None,
    /// Each unit is lost with this probability, independently.
    Bernoulli(Probability),
    /// Of every `period` units the last `size` are lost; `size` 1 is "every n-th".
    Periodic {
        /// Units lost in a row, at least 1 and at most `period`.
        size: u64,
        /// Units from the start of one run of losses to the start of the next, at least 1.
        period: u64,
    },
    /// Losses come in spells.
    GilbertElliott(GilbertElliott),
    /// Exactly these units, in rising order.
    Listed(Vec<u64>),
}

/// The two-state loss model of Gilbert (1960) and Elliott (1963): before each unit the state moves,
/// then the unit is lost with the state's probability. It starts in the good state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GilbertElliott {
    /// Chance to move from good to bad before a unit.
    pub good_to_bad: Probability,
    /// Chance to move from bad to good before a unit.
    pub bad_to_good: Probability,
    /// Chance that a unit is lost in the good state.
    pub loss_good: Probability,
    /// Chance that a unit is lost in the bad state.
    pub loss_bad: Probability,
    bad: bool,
}

impl GilbertElliott {
    /// The process with these probabilities, in the good state.
    #[must_use]
    pub fn new(
        good_to_bad: Probability,
        bad_to_good: Probability,
        loss_good: Probability,
        loss_bad: Probability,
    ) -> Self {
        Self { good_to_bad, bad_to_good, loss_good, loss_bad, bad: false }
    }

    fn hits(&mut self, [moves, dies]: [f64; 2]) -> bool {
        let leave = if self.bad { self.bad_to_good } else { self.good_to_bad };
        self.bad ^= moves < leave.get();
        dies < if self.bad { self.loss_bad } else { self.loss_good }.get()
    }
}

impl LossProcess {
    /// Whether unit `number` (from 1, asked in order) is lost; `uniforms` are two numbers in [0, 1)
    /// that belong to this unit alone.
    #[inline]
    pub fn hits(&mut self, number: u64, uniforms: impl FnOnce() -> [f64; 2]) -> bool {
        match self {
            Self::None => false,
            Self::Bernoulli(p) => uniforms()[0] < p.get(),
            Self::Periodic { size, period } => (number - 1) % *period >= *period - *size,
            Self::GilbertElliott(process) => process.hits(uniforms()),
            Self::Listed(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(value: f64) -> Probability {
        Probability::new(value).expect("a probability")
    }

    fn lost(mut process: LossProcess, units: u64) -> Vec<u64> {
        (1..=units).filter(|&n| process.hits(n, || [0.5, 0.5])).collect()
    }

    #[test]
    fn periodic_losses_close_each_period() {
        assert_eq!(lost(LossProcess::Periodic { size: 1, period: 3 }, 9), [3, 6, 9]);
        assert_eq!(lost(LossProcess::Periodic { size: 2, period: 4 }, 9), [3, 4, 7, 8]);
        assert_eq!(lost(LossProcess::Periodic { size: 1, period: 1 }, 2), [1, 2]);
    }

    #[test]
    fn listed_and_none() {
        assert_eq!(lost(LossProcess::Listed(vec![2, 5]), 9), [2, 5]);
        assert!(lost(LossProcess::None, 9).is_empty());
    }

    #[test]
    fn certain_and_impossible() {
        assert!(lost(LossProcess::Bernoulli(p(0.0)), 9).is_empty());
        assert_eq!(lost(LossProcess::Bernoulli(p(1.0)), 3), [1, 2, 3]);
    }

    #[test]
    fn gilbert_elliott_alternates_where_moves_are_certain() {
        let process = GilbertElliott::new(p(1.0), p(1.0), p(0.0), p(1.0));
        assert_eq!(lost(LossProcess::GilbertElliott(process), 6), [1, 3, 5]);
    }
}
