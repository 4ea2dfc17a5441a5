//! Completion times of a cohort of transfers, some of which are not done when the run ends: those
//! are censored, and all that is known of their times is that they are longer.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use super::summary::SlowdownSummary;

/// The time that something took, or, where it was not done at the end, its age then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Took(u64);

/// No span in a run is as long: a value with this bit is not done.
const CENSORED: u64 = 1 << 63;

impl Took {
    /// It was done after `took`, or not in `age`.
    pub(crate) fn new(took: Option<Span>, age: Span) -> Self {
        Self(took.map_or_else(|| age.as_ps() | CENSORED, Span::as_ps))
    }

    /// In s, or the bound in s from below.
    fn seconds(self) -> Result<f64, f64> {
        let seconds = Span::from_ps(self.0 & !CENSORED).as_secs_f64();
        if self.0 < CENSORED { Ok(seconds) } else { Err(seconds) }
    }
}

/// A transfer of a cohort.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Transfer {
    pub(crate) bytes: u64,
    pub(crate) ideal: Span,
    pub(crate) received: Took,
    pub(crate) acknowledged: Took,
}

/// The distribution of a time, or of a ratio, over a cohort.
pub(crate) struct Spread {
    /// Those that are known, and bounds from below of the others, both rising.
    known: Vec<f64>,
    bounds: Vec<f64>,
}

impl Spread {
    fn new(values: impl Iterator<Item = Result<f64, f64>>) -> Self {
        let (mut known, mut bounds) = (Vec::new(), Vec::new());
        for value in values {
            match value {
                Ok(value) => known.push(value),
                Err(bound) => bounds.push(bound),
            }
        }
        known.sort_unstable_by(f64::total_cmp);
        bounds.sort_unstable_by(f64::total_cmp);
        Self { known, bounds }
    }

    /// Times until the last byte was received.
    pub(crate) fn of_received(cohort: &[Transfer]) -> Self {
        Self::new(cohort.iter().map(|transfer| transfer.received.seconds()))
    }

    /// Times until it was acknowledged.
    pub(crate) fn of_acknowledged(cohort: &[Transfer]) -> Self {
        Self::new(cohort.iter().map(|transfer| transfer.acknowledged.seconds()))
    }

    /// Times until the last byte was received over the ideal ones.
    pub(crate) fn of_slowdown<'a>(cohort: impl IntoIterator<Item = &'a Transfer>) -> Self {
        let ratio = |transfer: &Transfer| {
            let ideal = transfer.ideal.as_secs_f64();
            transfer.received.seconds().map(|took| took / ideal).map_err(|age| age / ideal)
        };
        Self::new(cohort.into_iter().map(ratio))
    }

    /// How many are censored.
    pub(crate) fn censored(&self) -> u64 {
        self.bounds.len() as u64
    }

    fn count(&self) -> usize {
        self.known.len() + self.bounds.len()
    }

    /// The mean, with each that is censored at its bound; none of nothing.
    pub(crate) fn mean_bound(&self) -> Option<f64> {
        let sum = self.known.iter().chain(&self.bounds).sum::<f64>();
        (self.count() > 0).then(|| sum / self.count() as f64)
    }

    /// The mean, if all are known.
    pub(crate) fn mean(&self) -> Option<f64> {
        if self.bounds.is_empty() { self.mean_bound() } else { None }
    }

    /// The least value that at least so many of a thousand do not exceed, if it is the same
    /// whatever those that are censored will be.
    pub(crate) fn quantile(&self, permille: usize) -> Option<f64> {
        let rank = (self.count() * permille).div_ceil(1000);
        // Were all that are censored longer than any that is known, it would be this one.
        let value = *self.known.get(rank.checked_sub(1)?)?;
        // One that is censored with a smaller bound might be shorter.
        let below = |values: &[f64]| values.partition_point(|&one| one < value);
        (below(&self.known) + below(&self.bounds) < rank).then_some(value)
    }
}

/// The slow-downs of a cohort by size, in powers of ten of bytes.
pub(crate) fn slowdowns(cohort: &[Transfer]) -> Vec<SlowdownSummary> {
    let mut classes: Vec<Vec<&Transfer>> = Vec::new();
    for transfer in cohort {
        let class = transfer.bytes.checked_ilog10().unwrap_or(0) as usize;
        if classes.len() <= class {
            classes.resize(class + 1, Vec::new());
        }
        classes[class].push(transfer);
    }
    let filled = (0u32..).zip(&classes).filter(|(_, class)| !class.is_empty());
    let summary = |(power, class): (u32, &Vec<&Transfer>)| {
        let spread = Spread::of_slowdown(class.iter().copied());
        SlowdownSummary {
            label: label(power),
            from_bytes: if power == 0 { 0 } else { 10u64.pow(power) },
            below_bytes: 10u64.checked_pow(power + 1).unwrap_or(u64::MAX),
            connections: spread.count() as u64,
            censored: spread.censored(),
            mean: spread.mean(),
            p50: spread.quantile(500),
            p99: spread.quantile(990),
        }
    };
    filled.map(summary).collect()
}

/// The name of the class of sizes from a power of ten of bytes on.
fn label(power: u32) -> String {
    let unit = ["B", "KB", "MB", "GB", "TB", "PB", "EB"][power as usize / 3];
    format!("{}{unit}", 10u32.pow(power % 3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spread(values: &[Result<f64, f64>]) -> Spread {
        Spread::new(values.iter().copied())
    }

    #[test]
    fn a_quantile_is_told_where_the_censored_cannot_change_it() {
        // Two of four are known; one that is censored may be shorter than the second.
        let four = spread(&[Ok(1.0), Ok(5.0), Err(4.0), Err(6.0)]);
        assert_eq!(four.quantile(250), Some(1.0));
        assert_eq!(four.quantile(500), None);
        assert_eq!(four.quantile(750), None);
        assert_eq!((four.mean(), four.mean_bound()), (None, Some(4.0)));
        // Here it is not: it is longer than its bound.
        let four = spread(&[Ok(1.0), Ok(5.0), Err(5.0), Err(6.0)]);
        assert_eq!(four.quantile(500), Some(5.0));
        assert_eq!(four.quantile(510), None);
        assert_eq!(spread(&[]).quantile(500), None);
        assert_eq!(spread(&[]).mean(), None);
        assert_eq!(spread(&[Ok(2.0), Ok(1.0)]).quantile(999), Some(2.0));
        assert_eq!(spread(&[Ok(2.0), Ok(1.0)]).mean(), Some(1.5));
    }

    proptest! {
        /// The definition itself: a quantile is reported if and only if it is the same with all
        /// censored ones done just after their bounds, and never.
        #[test]
        fn quantiles_are_those_that_every_end_would_give(
            known in prop::collection::vec(0u32..9, 0..12),
            bounds in prop::collection::vec(0u32..9, 0..6),
            permille in 1usize..=1000,
        ) {
            let values = known.iter().map(|&one| Ok(f64::from(one)));
            let values = values.chain(bounds.iter().map(|&one| Err(f64::from(one))));
            let found = Spread::new(values).quantile(permille);
            let n = known.len() + bounds.len();
            let rank = (n * permille).div_ceil(1000);
            let ended = |end: &dyn Fn(u32) -> f64| {
                let done = known.iter().map(|&one| f64::from(one));
                let mut all: Vec<f64> = done.chain(bounds.iter().map(|&one| end(one))).collect();
                all.sort_by(f64::total_cmp);
                all.get(rank.wrapping_sub(1)).copied()
            };
            let soon = ended(&|bound| f64::from(bound) + 0.5);
            let never = ended(&|_| f64::INFINITY);
            prop_assert_eq!(found, if soon == never { soon.filter(|one| one.is_finite()) } else {
                None
            });
        }
    }

    #[test]
    fn classes_are_powers_of_ten() {
        let one = |bytes| Transfer {
            bytes,
            ideal: Span::from_secs(2),
            received: Took::new(Some(Span::from_secs(3)), Span::ZERO),
            acknowledged: Took::new(None, Span::from_secs(9)),
        };
        let found = slowdowns(&[one(0), one(9), one(10), one(99_999), one(100_000), one(u64::MAX)]);
        let summary = |one: &SlowdownSummary| (one.label.clone(), one.from_bytes, one.connections);
        let summaries: Vec<_> = found.iter().map(summary).collect();
        let expected = [
            ("1B", 0, 2),
            ("10B", 10, 1),
            ("10KB", 10_000, 1),
            ("100KB", 100_000, 1),
            ("10EB", 10_000_000_000_000_000_000, 1),
        ];
        assert_eq!(summaries, expected.map(|(label, from, n)| (label.to_string(), from, n)));
        assert!(found.iter().all(|one| one.p50 == Some(1.5) && one.mean == Some(1.5)));
    }
}
