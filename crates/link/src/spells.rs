//! Spells on a clock: up and down in turn, whoever asks and whether anything is sent.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Set in the ordinals of the draws of spells, and in no number of a burst or a packet.
const SPELL: u64 = 1 << 63;
/// The draws of the state at time 0 and of what is left of it, and of the down spell after it.
const FIRST: [u64; 2] = [SPELL, SPELL | 1];

/// Up spells and down spells in turn (an alternating renewal process), in equilibrium from time 0
/// on. The state at a time is a function of that time and of the draws alone: whoever asks, in
/// whatever order, has the same answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spells {
    /// Mean lengths of up spells and of down spells.
    up: Span,
    down: Span,
    lengths: Lengths,
    /// The pair of spells that the last answer was of, from which the next one is looked for.
    last: Option<Pair>,
}

/// How long spells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lengths {
    /// Exponentially distributed.
    Exponential,
    /// All alike. The first down spell begins at this time; `None`: where in its period time 0 is
    /// is drawn.
    Periodic(Option<Span>),
}

/// An up spell and the down spell behind it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pair {
    /// From 0: the one that time 0 lies in.
    number: u64,
    begins: Time,
    down: Time,
    ends: Time,
}

impl Spells {
    /// Spells of these mean lengths, both above zero.
    #[must_use]
    pub fn new(up: Span, down: Span, lengths: Lengths) -> Self {
        Self { up, down, lengths, last: None }
    }

    /// Whether `at` lies in a down spell, which has its first instant and not that after it;
    /// `draws` are two numbers in [0, 1) by ordinal.
    pub fn are_down(&mut self, at: Time, draws: impl Fn(u64) -> [f64; 2]) -> bool {
        self.up_until(at, draws).is_none()
    }

    /// When the up spell ends that `at` lies in; `None`: it lies in a down spell.
    pub fn up_until(&mut self, at: Time, draws: impl Fn(u64) -> [f64; 2]) -> Option<Time> {
        match self.lengths {
            Lengths::Exponential => Some(self.pair(at, draws).down).filter(|&turns| at < turns),
            Lengths::Periodic(phase) => self.period_up_until(at, phase, draws),
        }
    }

    fn period_up_until(
        &self,
        at: Time,
        phase: Option<Span>,
        draws: impl Fn(u64) -> [f64; 2],
    ) -> Option<Time> {
        let (down, period) = (self.down.as_ps(), self.up.as_ps() + self.down.as_ps());
        let into = match phase {
            Some(phase) if at < Time::ZERO + phase => return Some(Time::ZERO + phase),
            Some(phase) => at.as_ps() - phase.as_ps(),
            None => {
                let phase = (draws(FIRST[0])[0] * period as f64) as u64;
                at.as_ps() + (period - phase.min(period))
            }
        };
        let into = into % period;
        (into >= down).then(|| at.saturating_add(Span::from_ps(period - into)))
    }

    /// The pair that `at` lies in.
    fn pair(&mut self, at: Time, draws: impl Fn(u64) -> [f64; 2]) -> Pair {
        let mut pair = self.last.unwrap_or_else(|| self.first(&draws));
        while pair.ends <= at {
            let number = pair.number + 1;
            let [up, down] = self.lengths(number, &draws);
            let begins = pair.ends;
            let turns = begins.saturating_add(up);
            pair = Pair { number, begins, down: turns, ends: turns.saturating_add(down) };
        }
        while at < pair.begins {
            pair = match pair.number - 1 {
                0 => self.first(&draws),
                number => {
                    let [up, down] = self.lengths(number, &draws);
                    let [ends, up, down] = [pair.begins.as_ps(), up.as_ps(), down.as_ps()];
                    let [begins, turns] = [ends - down - up, ends - down].map(Time::from_ps);
                    Pair { number, begins, down: turns, ends: pair.begins }
                }
            };
        }
        self.last = Some(pair);
        pair
    }

    /// The pair of time 0. The rest of an exponential spell has the law of a whole one.
    fn first(&self, draws: impl Fn(u64) -> [f64; 2]) -> Pair {
        let [state, left] = draws(FIRST[0]);
        let (up, down) = (self.up.as_ps() as f64, self.down.as_ps() as f64);
        let (turns, ends) = if state < down / (up + down) {
            (Time::ZERO, Time::ZERO.saturating_add(exponential(self.down, left)))
        } else {
            let turns = Time::ZERO.saturating_add(exponential(self.up, left));
            (turns, turns.saturating_add(exponential(self.down, draws(FIRST[1])[0])))
        };
        Pair { number: 0, begins: Time::ZERO, down: turns, ends }
    }

    /// How long the spells of a later pair are, up and down.
    fn lengths(&self, number: u64, draws: impl Fn(u64) -> [f64; 2]) -> [Span; 2] {
        let [up, down] = draws(SPELL | (number + 1));
        [exponential(self.up, up), exponential(self.down, down)]
    }
}

/// An exponentially distributed time of this mean, at least a picosecond.
fn exponential(mean: Span, uniform: f64) -> Span {
    // `as` saturates.
    Span::from_ps(((mean.as_ps() as f64 * -(-uniform).ln_1p()).round() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look drawn, by ordinal (SplitMix64; Steele, Lea and Flood 2014).
    fn draws(ordinal: u64) -> [f64; 2] {
        [1, 2].map(|which| {
            let mut z = ordinal.wrapping_mul(2).wrapping_add(which);
            z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        })
    }

    const PHASED: Lengths = Lengths::Periodic(Some(Span::from_ms(25)));

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    fn spells(lengths: Lengths) -> Spells {
        Spells::new(Span::from_ms(9), Span::from_ms(1), lengths)
    }

    /// Lengths of all whole spells in `ms`, up and down, to a microsecond.
    fn found(spells: &mut Spells, ms: u64) -> [Vec<f64>; 2] {
        let (mut all, mut state, mut since) = ([vec![], vec![]], None, 0);
        for at in 0..1000 * ms {
            let now = spells.are_down(us(at), draws);
            if state.is_some_and(|before| before != now) {
                if since > 0 {
                    all[usize::from(!now)].push((at - since) as f64);
                }
                since = at;
            }
            state = Some(now);
        }
        all
    }

    #[test]
    fn the_share_down_and_the_lengths_are_those_asked_for() {
        let [up, down] = found(&mut spells(Lengths::Exponential), 20_000);
        let share = down.iter().sum::<f64>() / 20_000_000.0;
        // 2000 pairs: the standard error of each mean is 2.2 %.
        assert!((share - 0.1).abs() < 0.008, "{share}");
        for (lengths, mean) in [(up, 9000.0), (down, 1000.0)] {
            let n = lengths.len() as f64;
            let found = lengths.iter().sum::<f64>() / n;
            assert!((found / mean - 1.0).abs() < 0.07, "{found} of {mean}");
            // Exponential: a share exp(-x) is longer than x means (Kolmogorov, at 0.1 %).
            for x in [0.1, 0.5, 1.0, 2.0, 3.0] {
                let longer = lengths.iter().filter(|&&one| one > x * mean).count() as f64 / n;
                assert!((longer - (-x).exp()).abs() < 1.95 / n.sqrt() + 0.001, "{x}: {longer}");
            }
        }
    }

    #[test]
    fn the_state_at_a_time_does_not_hang_on_who_asked_before() {
        for lengths in [Lengths::Exponential, Lengths::Periodic(None)] {
            let times: Vec<Time> = (0..4000).map(|n| us(n * 37)).collect();
            let mut forward = spells(lengths);
            let right: Vec<bool> = times.iter().map(|&at| forward.are_down(at, draws)).collect();
            assert!(right.contains(&true) && right.contains(&false));
            let mut back = spells(lengths);
            let mut odd = spells(lengths);
            for (n, (&at, &down)) in times.iter().zip(&right).enumerate().rev() {
                assert_eq!(back.are_down(at, draws), down, "backwards");
                assert_eq!(spells(lengths).are_down(at, draws), down, "by itself");
                let other = n * 2654435761 % times.len();
                assert_eq!(odd.are_down(times[other], draws), right[other], "out of order");
            }
        }
    }

    #[test]
    fn periodic_spells_begin_where_they_are_told_to() {
        let mut spells = spells(PHASED);
        let down = [0, 5, 24_999, 25_000, 25_999, 26_000, 34_999, 35_000, 36_000]
            .map(|at| spells.are_down(us(at), draws));
        assert_eq!(down, [false, false, false, true, true, false, false, true, false]);
    }

    #[test]
    fn an_up_spell_ends_where_the_next_one_is_down() {
        for lengths in [Lengths::Exponential, Lengths::Periodic(None), PHASED] {
            let mut spells = spells(lengths);
            for n in 0..500 {
                let at = us(n * 401);
                if let Some(ends) = spells.up_until(at, draws) {
                    assert!(at < ends && spells.are_down(ends, draws), "{at} {ends}");
                    assert_eq!(spells.up_until(ends.before(), draws), Some(ends));
                }
            }
        }
    }

    #[test]
    fn periodic_spells_that_are_drawn_are_as_long() {
        let [up, down] = found(&mut spells(Lengths::Periodic(None)), 200);
        assert!(up.len() > 15 && up.iter().all(|&one| (one - 9000.0).abs() <= 1.0));
        assert!(down.len() > 15 && down.iter().all(|&one| (one - 1000.0).abs() <= 1.0));
    }

    #[test]
    fn time_zero_is_down_as_often_as_any_other() {
        let down = (0..4000_u64).filter(|&seed| {
            let draws = |ordinal: u64| draws(ordinal ^ (seed << 20));
            spells(Lengths::Exponential).are_down(Time::ZERO, draws)
        });
        let share = down.count() as f64 / 4000.0;
        assert!((share - 0.1).abs() < 0.02, "{share}");
    }
}
