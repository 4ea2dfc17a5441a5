//! Which of a sequence of units (packets or bursts) are lost.

use burstlab_units::{Probability, Time};
use serde::{Deserialize, Serialize};

use crate::spells::Spells;

/// A loss process over units numbered 1, 2, 3, ...
///
/// It owns no generator: whoever asks hands it uniform numbers by ordinal, so that the fate of unit
/// n depends on nothing but n; with spells on a clock, on when it is sent too; and for
/// Gilbert–Elliott without a clock, on the units before it.
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
    /// Losses come in spells of units.
    GilbertElliott(GilbertElliott),
    /// Exactly these units, in rising order.
    Listed(Vec<u64>),
    /// Units that are sent in a down spell.
    Outages(Spells),
    /// Losses come in spells of time: of what is sent in a good one, and in a bad one, each unit is
    /// lost with a chance of its own.
    Clocked {
        /// Good ones are up, bad ones down.
        spells: Spells,
        /// Chance that a unit is lost in the good state.
        loss_good: Probability,
        /// Chance that a unit is lost in the bad state.
        loss_bad: Probability,
    },
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
    /// Whether for certain nothing is lost that is sent from the first of two times to the last,
    /// whatever it is.
    #[inline]
    pub fn spares(
        &mut self,
        times: impl FnOnce() -> (Time, Time),
        draws: impl Fn(u64) -> [f64; 2],
    ) -> bool {
        match self {
            Self::None => true,
            Self::Outages(spells) => {
                let (first, last) = times();
                spells.up_until(first, draws).is_some_and(|end| last < end)
            }
            _ => false,
        }
    }

    /// Whether unit `number` (from 1, asked in order where nothing has a clock), which is sent at
    /// `at`, is lost; `draws` are two numbers in [0, 1) by ordinal. Those of a unit's number belong
    /// to this unit alone.
    #[inline]
    pub fn hits(&mut self, number: u64, at: Time, draws: impl Fn(u64) -> [f64; 2]) -> bool {
        match self {
            Self::None => false,
            Self::Bernoulli(p) => draws(number)[0] < p.get(),
            Self::Periodic { size, period } => (number - 1) % *period >= *period - *size,
            Self::GilbertElliott(process) => process.hits(draws(number)),
            Self::Listed(numbers) => numbers.binary_search(&number).is_ok(),
            Self::Outages(spells) => spells.are_down(at, draws),
            Self::Clocked { spells, loss_good, loss_bad } => {
                let bad = spells.are_down(at, &draws);
                draws(number)[1] < if bad { loss_bad } else { loss_good }.get()
            }
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
        (1..=units).filter(|&n| process.hits(n, Time::ZERO, |_| [0.5, 0.5])).collect()
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
    fn a_spell_on_a_clock_ends_though_nothing_is_sent() {
        use crate::Lengths::Periodic;
        use burstlab_units::Span;
        let ms = |n| Time::ZERO + Span::from_ms(n);
        let lengths = Periodic(Some(Span::from_ms(10)));
        let spells = || crate::Spells::new(Span::from_ms(90), Span::from_ms(10), lengths);
        let clocked =
            LossProcess::Clocked { spells: spells(), loss_good: p(0.0), loss_bad: p(1.0) };
        for mut process in [LossProcess::Outages(spells()), clocked] {
            let hits = [(1, 9), (2, 10), (3, 20), (4, 115), (5, 5)]
                .map(|(number, at)| process.hits(number, ms(at), |_| [0.5, 0.5]));
            assert_eq!(hits, [false, true, false, true, false]);
        }
        let mut half =
            LossProcess::Clocked { spells: spells(), loss_good: p(0.2), loss_bad: p(0.8) };
        let lost = |at: u64, half: &mut LossProcess| {
            let draw = |number: u64| [0.0, (number % 100) as f64 / 100.0];
            (1..=100).filter(|&number| half.hits(number, ms(at), draw)).count()
        };
        assert_eq!([lost(9, &mut half), lost(10, &mut half)], [20, 80]);
    }

    #[test]
    fn gilbert_elliott_alternates_where_moves_are_certain() {
        let process = GilbertElliott::new(p(1.0), p(1.0), p(0.0), p(1.0));
        assert_eq!(lost(LossProcess::GilbertElliott(process), 6), [1, 3, 5]);
    }
}
