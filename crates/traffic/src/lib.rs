//! Sizes and times of traffic. A size or a gap is drawn by inversion of a distribution, as a pure
//! function of one uniform number, which the caller brings. Batches draw keyed numbers in turn.

mod batches;
mod logarithm;
mod noise;
mod normal;
mod pareto;
mod sampler;
mod table;

use burstlab_units::Span;

pub use batches::{BATCH_MAX, Batch, BatchLaw, BatchSource, BatchSources};
pub use noise::HURST_MAX;
pub use pareto::{SHAPE_MAX, bounded_mean, bounded_shape};
pub use sampler::{Law, SIZE_MAX, Sampler};
pub use table::Table;

/// An exponentially distributed time of this mean, by inversion of `uniform` in [0, 1): rounded to
/// the nearest picosecond, and [`Span::MAX`] where it does not fit.
#[must_use]
pub fn exponential(mean: Span, uniform: f64) -> Span {
    // `as` saturates.
    Span::from_ps((mean.as_ps() as f64 * standard_exponential(uniform)).round() as u64)
}

/// A mean time of `seconds` in picoseconds: whole ones, where a [`Span`] holds it.
#[must_use]
pub fn mean_ps(seconds: f64) -> f64 {
    let ps = seconds * 1e12;
    if ps < u64::MAX as f64 { Span::from_secs_f64(seconds).as_ps() as f64 } else { ps }
}

/// As [`exponential`], of a mean in picoseconds, which may be longer than a [`Span`] holds.
#[must_use]
pub fn exponential_of(mean_ps: f64, uniform: f64) -> Span {
    // `as` saturates.
    Span::from_ps((mean_ps * standard_exponential(uniform)).round() as u64)
}

/// The quantile of the exponential distribution of mean 1.
fn standard_exponential(uniform: f64) -> f64 {
    assert!((0.0..1.0).contains(&uniform), "a uniform number lies in [0, 1), not {uniform}");
    -(-uniform).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_kernel::RandomSource;

    #[test]
    fn exponential_times_have_their_quantiles() {
        let mean = Span::from_ms(20);
        assert_eq!(exponential(mean, 0.0), Span::ZERO);
        let median = exponential(mean, 0.5).as_secs_f64();
        assert!((median - 0.020 * 2f64.ln()).abs() < 1e-12, "{median}");
        // The last of the 2^53 uniform numbers: 53 ln 2 means.
        let last = exponential(mean, 1.0 - 2f64.powi(-53)).as_secs_f64();
        assert!((last - 0.020 * 53.0 * 2f64.ln()).abs() < 1e-9, "{last}");
        assert_eq!(exponential(Span::MAX, 0.99), Span::MAX);
        assert_eq!(exponential(Span::ZERO, 0.99), Span::ZERO);
    }

    #[test]
    fn what_comes_once_in_a_thousand_years_hardly_ever_comes() {
        let year = 3.2e7;
        assert_eq!(exponential_of(mean_ps(0.02), 0.3), exponential(Span::from_ms(20), 0.3));
        let early = exponential_of(mean_ps(1000.0 * year), 1e-6).as_secs_f64();
        assert!((early / (0.001 * year) - 1.0).abs() < 1e-3, "{early}");
        assert_eq!(exponential_of(mean_ps(1000.0 * year), 0.5), Span::MAX);
    }

    #[test]
    fn exponential_times_have_their_moments() {
        let stream = RandomSource::new(1, 0).stream("test");
        let n = 100_000u32;
        let draws = (0..n).map(|k| exponential(Span::from_us(5), stream.uniforms(k.into())[0]));
        let (sum, squares) = draws.fold((0.0, 0.0), |(sum, squares), span| {
            let x = span.as_secs_f64() / 5e-6;
            (sum + x, squares + x * x)
        });
        let n = f64::from(n);
        // Five standard deviations: 5/sqrt(n), and 5*sqrt(20/n) as E[X^4] - E[X^2]^2 = 24 - 4.
        assert!((sum / n - 1.0).abs() < 0.016, "{}", sum / n);
        assert!((squares / n - 2.0).abs() < 0.071, "{}", squares / n);
    }

    #[test]
    #[should_panic(expected = "a uniform number")]
    fn one_is_no_uniform_number() {
        let _ = exponential(Span::from_ms(1), 1.0);
    }
}
