//! The Pareto distribution cut at both ends: density proportional to x^-(shape+1) from `min` to
//! `max`. With t = ln(x/min) it is an exponential distribution cut at t = ln(max/min), which is how
//! everything here is computed: no shape, 1 included, needs a case of its own.

/// Largest shape; with a larger one practically every value would be `min`.
pub const SHAPE_MAX: f64 = 100.0;

/// The mean for `shape`, which lies in [0, [`SHAPE_MAX`]]; 0 is the limit, uniform in ln x.
#[must_use]
pub fn bounded_mean(min: f64, max: f64, shape: f64) -> f64 {
    let reach = (max / min).ln();
    min * weight(shape - 1.0, reach) / weight(shape, reach)
}

/// The shape in (0, [`SHAPE_MAX`]] whose mean is `mean`; it has to lie between the means of the
/// two. By bisection down to neighbouring numbers, so that it depends on nothing but the arguments.
#[must_use]
pub fn bounded_shape(min: f64, max: f64, mean: f64) -> f64 {
    let (mut low, mut high) = (0.0, SHAPE_MAX);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        // The mean falls as the shape grows.
        if bounded_mean(min, max, middle) > mean {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The value that a share `uniform` of the distribution lies below.
pub(super) fn bounded_quantile(min: f64, max: f64, shape: f64, uniform: f64) -> f64 {
    let reach = (max / min).ln();
    min * (-(uniform * (-shape * reach).exp_m1()).ln_1p() / shape).exp()
}

/// The share of the distribution below `size`, which lies between `min` and `max`.
pub(super) fn bounded_share(min: f64, max: f64, shape: f64, size: f64) -> f64 {
    let below = |size: f64| (-shape * (size / min).ln()).exp_m1();
    below(size) / below(max)
}

/// The integral of exp(-rate t) from 0 to `reach`.
fn weight(rate: f64, reach: f64) -> f64 {
    if rate == 0.0 { reach } else { -(-rate * reach).exp_m1() / rate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 40 KB to 10 MB with mean 700 KB: the shape is 0.4552 and 80 % are at most 741 KB.
    #[test]
    fn a_file_size_profile_of_the_literature() {
        let (min, max) = (40e3, 10e6);
        let shape = bounded_shape(min, max, 700e3);
        assert!((shape - 0.4552).abs() < 5e-5, "{shape}");
        let p80 = bounded_quantile(min, max, shape, 0.8);
        assert!((p80 - 741e3).abs() < 1e3, "{p80}");
    }

    #[test]
    fn closed_forms() {
        let (min, max) = (2f64, 50f64);
        let textbook = |a: f64| {
            let cut = 1.0 - (min / max).powf(a);
            a * min.powf(a) * (min.powf(1.0 - a) - max.powf(1.0 - a)) / ((a - 1.0) * cut)
        };
        for shape in [0.2, 0.9, 1.1, 3.0, 40.0] {
            let mean = bounded_mean(min, max, shape);
            assert!((mean / textbook(shape) - 1.0).abs() < 1e-12, "{shape}: {mean}");
        }
        let one = min * max * (max / min).ln() / (max - min);
        assert!((bounded_mean(min, max, 1.0) / one - 1.0).abs() < 1e-14);
        let limit = (max - min) / (max / min).ln();
        assert!((bounded_mean(min, max, 0.0) / limit - 1.0).abs() < 1e-14);
        assert!((bounded_mean(min, max, 1e-9) / limit - 1.0).abs() < 1e-8);
    }

    proptest! {
        #[test]
        fn the_shape_gives_its_mean_back(shape in 1e-3..99.0, span in 1.01..1e6, min in 1.0..1e9) {
            let max = min * span;
            let mean = bounded_mean(min, max, shape);
            prop_assert!(min < mean && mean < max);
            let found = bounded_shape(min, max, mean);
            let again = bounded_mean(min, max, found);
            prop_assert!((again / mean - 1.0).abs() < 1e-12, "{shape} {found}");
        }

        #[test]
        fn quantiles_invert_the_distribution(
            shape in 1e-3..50.0, span in 1.01f64..1e6, uniform in 0.0..1.0f64,
        ) {
            let x = bounded_quantile(3.0, 3.0 * span, shape, uniform);
            prop_assert!(x >= 3.0 * (1.0 - 1e-12) && x <= 3.0 * span * (1.0 + 1e-12));
            let below = (1.0 - (3.0 / x).powf(shape)) / (1.0 - span.powf(-shape));
            prop_assert!((below - uniform).abs() < 1e-8, "{below}");
        }
    }
}
