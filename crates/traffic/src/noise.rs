//! Fractional Gaussian noise, drawn one by one with a state of fixed size.
//!
//! The autocovariance at lag k >= 1 is an integral of exp(-k s) with positive weights, so that a
//! sum of first-order autoregressions whose time constants rise geometrically comes near it at
//! every lag (B. B. Mandelbrot, A fast fractional Gaussian noise generator, Water Resources
//! Research 7(3), 1971). The rest, at lags 0 and 1, is a moving average. The sum has a rational
//! spectral density, and the filter here is its causal factor without zeros outside the unit
//! circle: it gives the same covariances from one normal draw a step, where the sum would need one
//! for each part.

use serde::{Deserialize, Serialize};

/// Poles of the filter, one for each autoregression.
const POLES: usize = 22;

/// From each time constant to the next, in its logarithm. The trapezoidal rule is that exact here
/// because the integrand is analytic in the logarithm of s.
const SPACING: f64 = 1.0;

/// Exponents from 0.5 up to here; above, the slowest part would be slower than any run.
pub const HURST_MAX: f64 = 0.98;

/// A stationary sequence of standard normal numbers with the autocovariances of fractional Gaussian
/// noise, to 0.002 and to 1 % of their value, at lags from 1 to 1,000,000.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Noise {
    poles: [f64; POLES],
    gains: [f64; POLES],
    /// Gains of the present draw and of the one before, in addition to those of the poles.
    direct: [f64; 2],
    state: [f64; POLES],
    before: f64,
}

/// The part that all noises of one Hurst exponent share.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    fresh: Noise,
    /// The weight of each past normal number in each part of the state.
    past: Vec<[f64; POLES]>,
}

impl Kind {
    /// Of a Hurst exponent above 0.5 and up to [`HURST_MAX`].
    ///
    /// # Panics
    /// When the exponent is out of range.
    pub(crate) fn new(hurst: f64) -> Self {
        assert!(hurst > 0.5 && hurst <= HURST_MAX, "no exponent of fractional noise: {hurst}");
        let sum = Sum::new(hurst);
        let (poles, gains, direct) = sum.factor();
        let fresh = Noise { poles, gains, direct, state: [0.0; POLES], before: 0.0 };
        Self { fresh, past: past(&sum.rates) }
    }

    /// Noise with a past of its own: `normal` gives independent standard normal numbers for it, by
    /// number from 0.
    pub(crate) fn begin(&self, normal: impl Fn(u64) -> f64) -> Noise {
        let mut noise = self.fresh.clone();
        for (number, weights) in (0..).zip(&self.past) {
            let draw = normal(number);
            if number == 0 {
                noise.before = draw;
            }
            for (state, weight) in noise.state.iter_mut().zip(weights) {
                *state += draw * weight;
            }
        }
        noise
    }
}

/// The state that an infinite past leaves, as the weight of each of its draws in it. They are taken
/// in blocks that grow with their age, by 5 % at a time; within a block the parts of the filter
/// hardly differ in how they forget, so that one normal number with the right variance stands for
/// all of it.
fn past(rates: &[f64; POLES]) -> Vec<[f64; POLES]> {
    let (mut age, mut weights) = (0.0, Vec::new());
    // The slowest part has forgotten values that are 40 of its time constants old.
    while age * rates[0] < 40.0 {
        let next = (age * 1.05_f64).floor().max(age + 1.0);
        weights.push(rates.map(|rate| {
            // The sum of exp(-2 rate k) over ages k of the block.
            let share = -(-2.0 * rate * (next - age)).exp_m1() / -(-2.0 * rate).exp_m1();
            ((-2.0 * rate * age).exp() * share).sqrt()
        }));
        age = next;
    }
    weights
}

impl Noise {
    /// The next number, from a standard normal draw that is independent of those before.
    #[inline]
    pub(crate) fn next(&mut self, draw: f64) -> f64 {
        let mut sum = [0.0; 2];
        for n in 0..POLES {
            self.state[n] = self.poles[n] * self.state[n] + draw;
            sum[n % 2] += self.gains[n] * self.state[n];
        }
        let [now, then] = self.direct;
        let moving = now * draw + then * self.before;
        self.before = draw;
        moving + (sum[0] + sum[1])
    }
}

/// A sum of autoregressions and a moving average.
struct Sum {
    /// Rates at which the autoregressions forget, per step, rising; exp(-rate) is the pole.
    rates: [f64; POLES],
    variances: [f64; POLES],
    /// Autocovariances of the moving average at lags 0 and 1.
    moving: [f64; 2],
}

impl Sum {
    fn new(hurst: f64) -> Self {
        // With a faster part the covariance at lag 2 would be nearer, but that at lag 0 above 1.
        let fastest = match hurst {
            low if low <= 0.75 => 3.0,
            middle if middle <= 0.93 => 2.0,
            _ => 1.5,
        };
        let rates = std::array::from_fn(|n| {
            let below = (POLES - 1 - n) as f64 + 0.5;
            fastest * (-SPACING * below).exp()
        });
        // The second difference of k^2H / 2 as an integral over exp(-k s), s = rate.
        let scale = hurst * (2.0 * hurst - 1.0) / gamma(2.0 - 2.0 * hurst);
        let mut variances = rates.map(|rate: f64| {
            let half = rate / 2.0;
            scale * rate.powf(2.0 - 2.0 * hurst) * (half.sinh() / half).powi(2) * SPACING
        });
        // The parts slower than the slowest are added to it.
        let end = rates[0] * (-SPACING / 2.0).exp();
        variances[0] += scale * end.powf(2.0 - 2.0 * hurst) / (2.0 - 2.0 * hurst);
        let parts = || rates.iter().zip(&variances);
        let at_zero: f64 = variances.iter().sum();
        let at_one: f64 = parts().map(|(rate, variance)| variance * (-rate).exp()).sum();
        let moving = [1.0 - at_zero, (2f64.powf(2.0 * hurst) / 2.0 - 1.0) - at_one];
        Self { rates, variances, moving }
    }

    /// The spectral density, as a function of cos(frequency) - 1, continued to all real numbers. It
    /// rises between its poles, which lie at cosh(rate) - 1: between two of them there is one zero.
    fn spectrum(&self, y: f64) -> f64 {
        let parts = self.rates.iter().zip(&self.variances);
        let rest = self.moving[0] + 2.0 * self.moving[1] * (1.0 + y);
        rest + parts
            .map(|(rate, variance)| variance * rate.sinh() / (versed(*rate) - y))
            .sum::<f64>()
    }

    /// Poles, their gains, and the gains of the present draw and of the one before.
    fn factor(&self) -> ([f64; POLES], [f64; POLES], [f64; 2]) {
        let last = versed(self.rates[POLES - 1]);
        // Zeros by their rates: one between each two poles, one beyond the last.
        let zeros: [f64; POLES] = std::array::from_fn(|n| {
            let low = versed(self.rates[n]).ln();
            let high = match self.rates.get(n + 1) {
                Some(&next) => versed(next).ln(),
                None => root(|high| self.spectrum(high.exp()) > 0.0, last.ln() + 1.0, 200.0).1,
            };
            // y = cosh(rate) - 1 = 2 sinh(rate / 2)^2.
            let y = root(|y| self.spectrum(y.exp()) > 0.0, low, high).0.exp();
            2.0 * (y / 2.0).sqrt().asinh()
        });
        // And one on the other side of the unit circle: at cos = -1 the density is still positive.
        let far = root(|x: f64| self.spectrum(-x.exp() - 1.0) < 0.0, 0.0, 200.0).0.exp();
        let negative = -1.0 / (far + (far * far - 1.0).sqrt());
        let poles = self.rates.map(|rate| (-rate).exp());
        let scale = {
            let over: f64 = poles.iter().map(|pole| 1.0 + pole * pole).product();
            let under = zeros.iter().map(|rate| 1.0 + (-2.0 * rate).exp()).product::<f64>();
            (self.spectrum(-1.0) * over / (under * (1.0 + negative * negative))).sqrt()
        };
        let gains = std::array::from_fn(|n| {
            let rate = self.rates[n];
            let apart = |other: f64| -(rate - other).exp_m1();
            let above: f64 = zeros.iter().map(|&zero| apart(zero)).product();
            let others = self.rates.iter().enumerate().filter(|&(other, _)| other != n);
            let below: f64 = others.map(|(_, &other)| apart(other)).product();
            scale * above * (1.0 - negative * rate.exp()) / below
        });
        let faster: f64 = zeros.iter().zip(&self.rates).map(|(zero, pole)| pole - zero).sum();
        let then = -scale * negative * faster.exp();
        (poles, gains, [scale - gains.iter().sum::<f64>(), then])
    }
}

/// cosh(rate) - 1, without cancellation.
fn versed(rate: f64) -> f64 {
    2.0 * (rate / 2.0).sinh().powi(2)
}

/// Where `above` turns true between `low` and `high`: the last number before and the first behind.
fn root(above: impl Fn(f64) -> bool, mut low: f64, mut high: f64) -> (f64, f64) {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return (low, high);
        }
        if above(middle) { high = middle } else { low = middle }
    }
}

/// The gamma function for arguments in (0, 1], by Stirling's series for an argument 12 higher.
fn gamma(x: f64) -> f64 {
    let y = x + 12.0;
    let series = 1.0 / (12.0 * y) - 1.0 / (360.0 * y.powi(3)) + 1.0 / (1260.0 * y.powi(5))
        - 1.0 / (1680.0 * y.powi(7));
    let log = (y - 0.5) * y.ln() - y + 0.5 * (2.0 * std::f64::consts::PI).ln() + series;
    log.exp() / (0..12).map(|n| x + f64::from(n)).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal;
    use burstlab_kernel::RandomSource;

    const HURST: [f64; 11] = [0.51, 0.55, 0.6, 0.7, 0.75, 0.76, 0.8, 0.9, 0.93, 0.94, HURST_MAX];

    /// The autocovariance of fractional Gaussian noise; far out by its series, where the difference
    /// would cancel.
    fn exact(hurst: f64, lag: f64) -> f64 {
        let power = 2.0 * hurst;
        if lag < 100.0 {
            return 0.5
                * ((lag + 1.0).powf(power) - 2.0 * lag.powf(power) + (lag - 1.0).powf(power));
        }
        let next = (power - 2.0) * (power - 3.0) / (12.0 * lag * lag);
        0.5 * power * (power - 1.0) * lag.powf(power - 2.0) * (1.0 + next)
    }

    /// The autocovariance of what the filter gives, from its own numbers.
    fn covariance(noise: &Noise, lag: u32) -> f64 {
        let parts = || noise.poles.iter().zip(&noise.gains);
        let [now, then] = noise.direct;
        let weighed = |pole: f64| {
            let sum: f64 = parts().map(|(other, gain)| gain / (1.0 - pole * other)).sum();
            now + then * pole + sum
        };
        let rest: f64 =
            parts().map(|(&pole, gain)| gain * pole.powi(lag as i32) * weighed(pole)).sum();
        let response = |at: i32| parts().map(|(pole, gain)| gain * pole.powi(at)).sum::<f64>();
        rest + match lag {
            0 => now * (response(0) + now) + then * (response(1) + then),
            1 => then * (response(0) + now),
            _ => 0.0,
        }
    }

    #[test]
    fn autocovariances_are_those_of_fractional_noise() {
        for hurst in HURST {
            let noise = Kind::new(hurst).begin(|_| 0.0);
            let whole = covariance(&noise, 0);
            assert!((whole - 1.0).abs() < 1e-7, "{hurst}: {whole}");
            let lags = (0..600).map(|n| 1e6f64.powf(f64::from(n) / 599.0).round());
            for lag in lags {
                let (is, should) = (covariance(&noise, lag as u32), exact(hurst, lag));
                let apart = (is - should).abs();
                assert!(
                    apart < 0.002 && apart < 0.01 * should,
                    "{hurst}, lag {lag}: {is} {should}"
                );
            }
        }
    }

    /// The first number already has the variance of all, and the right covariance with later ones.
    #[test]
    fn it_begins_as_it_goes_on() {
        for hurst in HURST {
            // The weights of all draws, of the past and of these steps, in each number.
            let kind = Kind::new(hurst);
            let past = |number: u64| kind.begin(|n| f64::from(u8::from(n == number)));
            let weights = |number: u64| {
                let mut noise = past(number);
                (0..200).map(|_| noise.next(0.0)).collect::<Vec<f64>>()
            };
            let mut covariances = vec![0.0; 200];
            for number in 0..1000 {
                let weights = weights(number);
                for (sum, weight) in covariances.iter_mut().zip(&weights) {
                    *sum += weights[0] * weight;
                }
            }
            let fresh: Vec<f64> = {
                let mut noise = Kind::new(hurst).begin(|_| 0.0);
                (0..200).map(|n| noise.next(f64::from(u8::from(n == 0)))).collect()
            };
            for lag in [0, 1, 2, 10, 199] {
                let is = covariances[lag] + fresh[0] * fresh[lag];
                let should = if lag == 0 { 1.0 } else { exact(hurst, lag as f64) };
                assert!((is - should).abs() < 0.003, "{hurst}, lag {lag}: {is} {should}");
            }
        }
    }

    #[test]
    fn numbers_vary_and_go_together_as_they_should() {
        let stream = RandomSource::new(1, 0).stream("test");
        let normal = |n: u64| normal::quantile(stream.uniforms(n)[0]);
        let mut noise = Kind::new(0.7).begin(|n| normal(1 << 40 | n));
        let drawn: Vec<f64> = (0..200_000).map(|n| noise.next(normal(n))).collect();
        for lag in [0, 1, 5] {
            let pairs = drawn.iter().zip(&drawn[lag..]);
            let mean = pairs.map(|(a, b)| a * b).sum::<f64>() / (drawn.len() - lag) as f64;
            let should = if lag == 0 { 1.0 } else { exact(0.7, lag as f64) };
            assert!((mean - should).abs() < 0.03, "lag {lag}: {mean} {should}");
        }
    }

    #[test]
    fn the_gamma_function() {
        let pi = std::f64::consts::PI;
        for (x, value) in [(1.0, 1.0), (0.5, pi.sqrt()), (0.2, 4.590_843_711_998_803)] {
            assert!((gamma(x) / value - 1.0).abs() < 1e-12, "{x}: {}", gamma(x));
        }
    }
}
