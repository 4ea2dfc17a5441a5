//! Batches of packets: when they come and how large they are.

use burstlab_kernel::{RandomSource, Stream};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::logarithm::ln;
use super::noise::{Kind, Noise};
use super::{Sampler, normal};

/// No batch is larger; a larger draw is cut to this.
pub const BATCH_MAX: u32 = 1_000_000_000;

/// A batch, or what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// When it comes.
    pub at: Time,
    /// Its bytes, all packets together.
    pub bytes: u32,
    /// Bytes of each of its packets; the last one has the rest.
    pub packet: u32,
}

/// Batches from one edge node to another, in order of time. Times between batches and sizes are
/// quantiles of two independent sequences of uniform numbers: drawn one by one, or the chances
/// below fractional Gaussian noise (a Gaussian copula), so that the exponential law of the times
/// and the law of the sizes hold for every Hurst exponent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchSource {
    stream: Stream,
    drawn: u64,
    /// Mean time between two batches, in ps.
    mean: f64,
    sizes: Sampler,
    /// Mean size, if sizes are exponential: these are drawn without a call.
    exponential: Option<f64>,
    /// Of times and of sizes, where they are correlated.
    noise: [Option<Box<Noise>>; 2],
    packet: u32,
    last: Time,
    stop: Time,
}

/// The law of the batches between two nodes.
#[derive(Clone, Debug)]
pub struct BatchLaw {
    /// Mean number of batches a second; the times between them are exponentially distributed.
    pub per_second: f64,
    /// Sizes of batches.
    pub sizes: Sampler,
    /// Hurst exponent of the times between batches, from 0.5, independent, to
    /// [`HURST_MAX`](crate::HURST_MAX).
    pub hurst_arrivals: f64,
    /// Hurst exponent of the sizes, in the same range.
    pub hurst_sizes: f64,
    /// Bytes of each packet of a batch but the last, which has the rest.
    pub packet: u32,
    /// When batches begin.
    pub start: Span,
    /// When they end; none: with the run.
    pub stop: Option<Span>,
}

/// The part that the sources of one law share.
#[derive(Clone, Debug)]
pub struct BatchSources {
    key: String,
    law: BatchLaw,
    kinds: [Option<Kind>; 2],
    stop: Time,
}

impl BatchSources {
    /// Of a law whose draws have this key, in a run up to `end`: what would come then or later is
    /// not drawn.
    ///
    /// # Panics
    /// When an exponent is out of range.
    #[must_use]
    pub fn new(key: &str, law: BatchLaw, end: Time) -> Self {
        let hursts = [law.hurst_arrivals, law.hurst_sizes];
        let stop = law.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        Self {
            key: key.to_string(),
            law,
            kinds: hursts.map(|hurst| (hurst > 0.5).then(|| Kind::new(hurst))),
            stop: stop.min(end),
        }
    }

    /// The source from one node to another.
    #[must_use]
    pub fn between(&self, (from, to): (u32, u32), random: &RandomSource) -> BatchSource {
        let law = &self.law;
        let name = format!("batches/{}/{from}/{to}", self.key);
        let past = random.stream(&format!("{name}/past"));
        let noise = |which: usize| {
            let normal = |number| normal_of(past.uniforms(number)[which]);
            self.kinds[which].as_ref().map(|kind| Box::new(kind.begin(normal)))
        };
        BatchSource {
            stream: random.stream(&name),
            drawn: 0,
            mean: 1e12 / law.per_second,
            exponential: law.sizes.exponential_mean(),
            sizes: law.sizes.clone(),
            noise: [noise(0), noise(1)],
            packet: law.packet,
            last: Time::ZERO + law.start,
            stop: self.stop,
        }
    }
}

impl BatchSource {
    /// Whether it has stopped.
    #[inline]
    pub fn ended(&self) -> bool {
        self.last >= self.stop
    }

    /// Draws the next `N` batches; those after the source has stopped are left out.
    #[inline]
    pub fn draw<const N: usize>(&mut self) -> impl Iterator<Item = Batch> {
        let [mut waits, mut sizes] = self.stream.uniforms_from::<N>(self.drawn);
        self.drawn += N as u64;
        match &mut self.noise[0] {
            None => waits = waits.map(standard_exponential),
            // The chance to be above z is that to be below -z, which keeps its digits.
            Some(noise) => {
                waits = waits.map(|wait| -ln(normal::cumulative(-noise.next(normal_of(wait)))));
            }
        }
        if let Some(noise) = &mut self.noise[1] {
            let below = |size| normal::cumulative(noise.next(normal_of(size))).min(UNIFORM_MAX);
            sizes = sizes.map(below);
        }
        if let Some(mean) = self.exponential {
            sizes = sizes.map(|size| mean * standard_exponential(size) + 0.5);
        }
        waits.into_iter().zip(sizes).map_while(|(wait, size)| {
            // `as` saturates.
            let wait = Span::from_ps((self.mean * wait + 0.5) as u64);
            let at = self.last.saturating_add(wait);
            self.last = at;
            let bytes = match self.exponential {
                Some(_) => (size as u32).clamp(1, BATCH_MAX),
                None => self.sizes.draw(size).get().min(u64::from(BATCH_MAX)) as u32,
            };
            (at < self.stop).then_some(Batch { at, bytes, packet: self.packet })
        })
    }
}

impl Iterator for BatchSource {
    type Item = Batch;

    /// The next batch, unless the source has stopped by then.
    fn next(&mut self) -> Option<Batch> {
        self.draw::<1>().next()
    }
}

/// The quantile of the exponential distribution of mean 1. Of a multiple of 2^-53 the distance to 1
/// is exact.
#[inline]
fn standard_exponential(uniform: f64) -> f64 {
    -ln(1.0 - uniform)
}

/// The last number below 1.
const UNIFORM_MAX: f64 = 1.0 - f64::EPSILON / 2.0;

/// A standard normal number from a uniform one in [0, 1).
#[inline]
fn normal_of(uniform: f64) -> f64 {
    // A uniform number is a multiple of 2^-53; zero becomes half of the least.
    normal::quantile(uniform.max(f64::EPSILON / 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Law;

    fn law(hurst: (f64, f64)) -> BatchLaw {
        BatchLaw {
            per_second: 10_000.0,
            sizes: Sampler::new(Law::Exponential { mean: 5000.0 }),
            hurst_arrivals: hurst.0,
            hurst_sizes: hurst.1,
            packet: 1500,
            start: Span::ZERO,
            stop: None,
        }
    }

    fn source(law: BatchLaw, seed: u64) -> BatchSource {
        BatchSources::new("0", law, Time::NEVER).between((0, 1), &RandomSource::new(seed, 0))
    }

    /// The marginal laws, by their means and by the share above the mean, whatever the exponents.
    #[test]
    fn times_and_sizes_are_exponential_for_all_exponents() {
        for (hurst, bands) in [((0.5, 0.5), (0.02, 0.02)), ((0.6, 0.8), (0.04, 0.15))] {
            let drawn: Vec<Batch> = source(law(hurst), 1).take(200_000).collect();
            let n = drawn.len() as f64;
            let mut last = Time::ZERO;
            let gaps: Vec<f64> = drawn
                .iter()
                .map(|batch| batch.at.since(std::mem::replace(&mut last, batch.at)).as_secs_f64())
                .collect();
            let sizes: Vec<f64> = drawn.iter().map(|batch| f64::from(batch.bytes)).collect();
            for (values, mean, band) in [(gaps, 1e-4, bands.0), (sizes, 5000.0, bands.1)] {
                let measured = values.iter().sum::<f64>() / n;
                assert!((measured / mean - 1.0).abs() < band, "{hurst:?}: {measured}");
                let above = values.iter().filter(|&&value| value > mean).count() as f64 / n;
                assert!((above - (-1f64).exp()).abs() < 0.5 * band, "{hurst:?}: {above}");
            }
        }
    }

    #[test]
    fn an_exponent_changes_no_draw_of_the_other_sequence() {
        let plain: Vec<Batch> = source(law((0.5, 0.5)), 3).take(1000).collect();
        let sizes: Vec<Batch> = source(law((0.5, 0.9)), 3).take(1000).collect();
        let times: Vec<Batch> = source(law((0.9, 0.5)), 3).take(1000).collect();
        assert!(plain.iter().zip(&sizes).all(|(a, b)| a.at == b.at));
        assert!(plain.iter().zip(&times).all(|(a, b)| a.bytes == b.bytes));
        assert!(plain.iter().zip(&sizes).any(|(a, b)| a.bytes != b.bytes));
        assert!(plain.iter().zip(&times).any(|(a, b)| a.at != b.at));
    }

    #[test]
    fn they_come_between_start_and_stop() {
        let (start, stop) = (Span::from_ms(5), Some(Span::from_ms(25)));
        let drawn: Vec<Batch> = source(BatchLaw { start, stop, ..law((0.5, 0.5)) }, 1).collect();
        assert!((100..300).contains(&drawn.len()), "{}", drawn.len());
        let within = Time::ZERO + Span::from_ms(5)..Time::ZERO + Span::from_ms(25);
        assert!(drawn.iter().all(|batch| within.contains(&batch.at)));
    }
}
