//! What flows carry and when they come: draws by inversion of a distribution, each a pure function
//! of one uniform number, which the caller brings; and batches, which draw keyed numbers in turn.

mod batches;
mod logarithm;
mod noise;
mod normal;
mod pareto;
mod sampler;
mod table;

use burstlab_units::Span;

pub use batches::{BATCH_MAX, Batch, BatchSource, sequence};
pub use sampler::{SIZE_MAX, Sampler};

pub(crate) use noise::HURST_MAX;
pub(crate) use pareto::{SHAPE_MAX, bounded_mean, bounded_shape};
pub(crate) use sampler::Law;
pub(crate) use table::Table;

/// An exponentially distributed time of this mean, by inversion of `uniform` in [0, 1): rounded to
/// the nearest picosecond, and [`Span::MAX`] where it does not fit.
#[must_use]
pub fn exponential(mean: Span, uniform: f64) -> Span {
    // `as` saturates.
    Span::from_ps((mean.as_ps() as f64 * standard_exponential(uniform)).round() as u64)
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
