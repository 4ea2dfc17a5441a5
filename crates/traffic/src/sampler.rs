//! Sizes drawn from a distribution.

use burstlab_units::Bytes;
use serde::{Deserialize, Serialize};

use super::table::Table;
use super::{normal, pareto, standard_exponential};

/// No drawn size is larger: 1,000,000 GB, about nine days at 10 Gb/s.
pub const SIZE_MAX: Bytes = Bytes::new(1_000_000_000_000_000);

/// Draws from a distribution of sizes. It holds no generator: a draw is a function of the uniform
/// number that it is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampler(Law);

/// A distribution with its numbers, in bytes where they are sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Law {
    /// All of this size.
    Fixed(f64),
    /// Exponential.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// Pareto.
    Pareto {
        /// The smallest size.
        min: f64,
        /// The exponent of the tail, above 1.
        shape: f64,
    },
    /// Pareto, cut at both ends.
    BoundedPareto {
        /// The smallest size.
        min: f64,
        /// The largest size.
        max: f64,
        /// The exponent, above 0, up to [`SHAPE_MAX`](crate::SHAPE_MAX).
        shape: f64,
    },
    /// Log-normal.
    LogNormal {
        /// The mean.
        mean: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Through given points.
    Table(Table),
    /// Several distributions, each with its share of all draws; the shares sum to 1.
    Mixture(Vec<(f64, Sampler)>),
}

impl Sampler {
    /// Draws from `law`.
    #[must_use]
    pub fn new(law: Law) -> Self {
        Self(law)
    }

    /// The mean, where the distribution is exponential.
    pub(crate) fn exponential_mean(&self) -> Option<f64> {
        match self.0 {
            Law::Exponential { mean } => Some(mean),
            _ => None,
        }
    }

    /// The size that a share `uniform` of all sizes lies below: inversion of the distribution,
    /// rounded to whole bytes, from 1 B to [`SIZE_MAX`]. It never falls as `uniform` rises.
    ///
    /// # Panics
    /// When `uniform` is outside [0, 1).
    #[must_use]
    pub fn draw(&self, uniform: f64) -> Bytes {
        assert!((0.0..1.0).contains(&uniform), "a uniform number lies in [0, 1), not {uniform}");
        // `as` saturates.
        let size = self.quantile(uniform).round() as u64;
        Bytes::new(size.clamp(1, SIZE_MAX.get()))
    }

    /// The mean size in bytes, before rounding to whole bytes and without the cap.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Law::Fixed(size) => *size,
            Law::Exponential { mean } | Law::LogNormal { mean, .. } => *mean,
            Law::Pareto { min, shape } => min * shape / (shape - 1.0),
            Law::BoundedPareto { min, max, shape } => pareto::bounded_mean(*min, *max, *shape),
            Law::Table(table) => table.mean(),
            Law::Mixture(parts) => parts.iter().map(|(share, part)| share * part.mean()).sum(),
        }
    }

    fn quantile(&self, uniform: f64) -> f64 {
        match &self.0 {
            Law::Fixed(size) => *size,
            Law::Exponential { mean } => mean * standard_exponential(uniform),
            Law::Pareto { min, shape } => min * (standard_exponential(uniform) / shape).exp(),
            Law::BoundedPareto { min, max, shape } => {
                pareto::bounded_quantile(*min, *max, *shape, uniform).clamp(*min, *max)
            }
            Law::LogNormal { mean, sigma } => {
                mean * (sigma * (normal::quantile(uniform) - 0.5 * sigma)).exp()
            }
            Law::Table(table) => table.quantile(uniform),
            Law::Mixture(parts) => mixed(parts, uniform),
        }
    }

    /// The share of sizes below `size`, before rounding to whole bytes.
    fn share_below(&self, size: f64) -> f64 {
        match &self.0 {
            Law::Fixed(only) => f64::from(u8::from(*only < size)),
            Law::Exponential { mean } => -(-size / mean).exp_m1(),
            Law::Pareto { min, .. } | Law::BoundedPareto { min, .. } if size <= *min => 0.0,
            Law::BoundedPareto { max, .. } if size >= *max => 1.0,
            Law::Pareto { min, shape } => 1.0 - (shape * (min / size).ln()).exp(),
            Law::BoundedPareto { min, max, shape } => {
                pareto::bounded_share(*min, *max, *shape, size)
            }
            Law::LogNormal { mean, sigma } => {
                normal::cumulative((size / mean).ln() / sigma + 0.5 * sigma)
            }
            Law::Table(table) => table.share_below(size),
            Law::Mixture(parts) => share_below(parts, size),
        }
    }
}

/// The share of a mixture below `size`.
fn share_below(parts: &[(f64, Sampler)], size: f64) -> f64 {
    parts.iter().map(|(share, part)| share * part.share_below(size)).sum()
}

/// The quantile of a mixture in whole bytes: the least size of which more than `uniform` of all
/// draws are at most that large. It lies between the least and the greatest quantile of the parts,
/// and is found there by bisection, so that it depends on nothing but the arguments.
fn mixed(parts: &[(f64, Sampler)], uniform: f64) -> f64 {
    let sizes = parts.iter().map(|(_, part)| part.draw(uniform).get());
    let (mut low, mut high) =
        sizes.fold((u64::MAX, 1), |(low, high), size| (low.min(size), high.max(size)));
    while low < high {
        let middle = low + (high - low) / 2;
        // All up to half a byte above are rounded to it.
        if share_below(parts, middle as f64 + 0.5) > uniform {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_kernel::RandomSource;
    use proptest::prelude::*;

    fn mixture(parts: &[(f64, Law)]) -> Law {
        let part = |(share, law): &(f64, Law)| (*share, Sampler::new(law.clone()));
        Law::Mixture(parts.iter().map(part).collect())
    }

    fn laws() -> Vec<Law> {
        vec![
            Law::Fixed(700e3),
            Law::Exponential { mean: 700e3 },
            Law::Pareto { min: 40e3, shape: 2.5 },
            Law::BoundedPareto { min: 40e3, max: 10e6, shape: 0.4552 },
            Law::LogNormal { mean: 700e3, sigma: 1.5 },
            Law::Table(Table::web_search()),
            Law::Table(Table::data_mining()),
            mixture(&[(0.9, Law::Fixed(10e3)), (0.1, Law::Fixed(1e6))]),
            mixture(&[
                (0.5, Law::Table(Table::web_search())),
                (0.3, Law::Pareto { min: 40e3, shape: 2.5 }),
                (0.2, Law::LogNormal { mean: 700e3, sigma: 1.5 }),
            ]),
            mixture(&[
                (0.6, Law::Exponential { mean: 9e3 }),
                (0.4, Law::BoundedPareto { min: 40e3, max: 10e6, shape: 0.4552 }),
            ]),
        ]
    }

    fn drawn(law: Law, uniform: f64) -> u64 {
        Sampler::new(law).draw(uniform).get()
    }

    #[test]
    fn quantiles_of_the_closed_forms() {
        assert_eq!(drawn(Law::Fixed(1500.0), 0.9), 1500);
        // ln 2 means, and min / (1-u)^(1/shape).
        assert_eq!(drawn(Law::Exponential { mean: 1e6 }, 0.5), 693_147);
        assert_eq!(drawn(Law::Pareto { min: 40e3, shape: 2.0 }, 0.75), 80_000);
        let pareto = Law::BoundedPareto { min: 40e3, max: 10e6, shape: 1.0 };
        // 1/x is uniform from 1/min down to 1/max.
        assert_eq!(drawn(pareto.clone(), 0.5), 79_681);
        assert_eq!(drawn(pareto.clone(), 0.0), 40_000);
        assert_eq!(drawn(pareto, 1.0 - 2f64.powi(-53)), 10_000_000);
        // The median of a log-normal is its mean over exp(sigma^2/2); one sigma above at 0.8413.
        let median = 1e6 * (-0.5f64).exp();
        assert_eq!(drawn(Law::LogNormal { mean: 1e6, sigma: 1.0 }, 0.5), median.round() as u64);
        let above = drawn(Law::LogNormal { mean: 1e6, sigma: 1.0 }, 0.841_344_746_068_543) as f64;
        assert!((above / (1e6 * 0.5f64.exp()) - 1.0).abs() < 1e-6, "{above}");
    }

    #[test]
    fn sizes_stay_from_a_byte_to_the_cap() {
        for law in laws() {
            assert!(drawn(law, 0.0) >= 1);
        }
        assert_eq!(drawn(Law::LogNormal { mean: 1.0, sigma: 5.0 }, 0.0), 1);
        let heavy = Law::Pareto { min: 1e9, shape: 1.001 };
        assert_eq!(drawn(heavy, 1.0 - 2f64.powi(-53)), SIZE_MAX.get());
    }

    /// The mean over strata of equal chance, which for a smooth quantile is nearly its integral.
    #[test]
    fn means_are_those_of_the_draws() {
        let n = 200_000u32;
        for law in laws() {
            let sampler = Sampler::new(law);
            let middle = |k: u32| (f64::from(k) + 0.5) / f64::from(n);
            let sum: f64 = (0..n).map(|k| sampler.draw(middle(k)).get() as f64).sum();
            let ratio = sum / f64::from(n) / sampler.mean();
            assert!((ratio - 1.0).abs() < 0.001, "{sampler:?}: {ratio}");
        }
    }

    #[test]
    fn keyed_draws_have_the_mean() {
        let stream = RandomSource::new(3, 0).stream("test");
        let sampler = Sampler::new(Law::BoundedPareto { min: 40e3, max: 10e6, shape: 0.4552 });
        let n = 100_000u32;
        let sizes = (0..n).map(|k| sampler.draw(stream.uniforms(k.into())[0]).get() as f64);
        let mean = sizes.sum::<f64>() / f64::from(n);
        // The standard deviation of a size is 1.5 MB; five of those of the mean.
        assert!((mean - sampler.mean()).abs() < 5.0 * 1.5e6 / f64::from(n).sqrt(), "{mean}");
    }

    proptest! {
        #[test]
        fn draws_never_fall(a in 0.0..1.0, b in 0.0..1.0) {
            for law in laws() {
                let (low, high) = if a < b { (a, b) } else { (b, a) };
                prop_assert!(drawn(law.clone(), low) <= drawn(law, high));
            }
        }
    }

    /// Each law has the share that its quantile says, so that a mixture has that of its parts.
    #[test]
    fn the_share_below_inverts_the_quantile() {
        let continuous = |law: &Law| !matches!(law, Law::Fixed(_) | Law::Mixture(_));
        for law in laws().into_iter().filter(continuous) {
            let sampler = Sampler::new(law);
            for uniform in [0.001, 0.03, 0.31, 0.5, 0.77, 0.99, 0.9999] {
                // Of a jump, as many are at most that large.
                let size = sampler.quantile(uniform);
                let low = sampler.share_below(size * (1.0 - 1e-9));
                let high = sampler.share_below(size * (1.0 + 1e-9));
                let within = low - 1e-7 <= uniform && uniform <= high + 1e-7;
                assert!(within, "{sampler:?}: {low} {uniform} {high}");
            }
        }
    }

    /// The same sizes as where one draw chooses the part and another one the size.
    #[test]
    fn a_mixture_has_the_shares_of_its_parts() {
        let two = Sampler::new(mixture(&[(0.9, Law::Fixed(10e3)), (0.1, Law::Fixed(1e6))]));
        for (uniform, size) in [(0.0, 10_000), (0.899, 10_000), (0.901, 1_000_000)] {
            assert_eq!(two.draw(uniform).get(), size, "{uniform}");
        }
        assert!((two.mean() - 109e3).abs() < 1e-6);
        let laws = [Law::Exponential { mean: 9e3 }, Law::Pareto { min: 40e3, shape: 2.5 }];
        let both = mixture(&[(0.75, laws[0].clone()), (0.25, laws[1].clone())]);
        let (both, [mice, elephants]) = (Sampler::new(both), laws.map(Sampler::new));
        let stream = RandomSource::new(7, 0).stream("mixture");
        let n = 20_000u32;
        let (mut chosen, mut drawn) = (Vec::new(), Vec::new());
        for k in 0..n {
            let [which, uniform] = stream.uniforms(k.into());
            let part = if which < 0.75 { &mice } else { &elephants };
            chosen.push(part.draw(uniform).get());
            drawn.push(both.draw((f64::from(k) + 0.5) / f64::from(n)).get());
        }
        assert!(drawn.is_sorted());
        // Kolmogorov and Smirnov: 1.95 / sqrt(n) at a level of 0.1 %.
        chosen.sort_unstable();
        let bound = 1.95 / f64::from(n).sqrt();
        for size in chosen.iter().step_by(97) {
            let share = |of: &[u64]| of.partition_point(|one| one <= size) as f64 / f64::from(n);
            let (expected, found) = (share(&chosen), share(&drawn));
            assert!((expected - found).abs() < bound, "{size}: {found}, not {expected}");
        }
    }
}
