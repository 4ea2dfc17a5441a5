//! Batches of packets: when they come and how large they are.

use burstlab_kernel::{RandomSource, Stream};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::logarithm::ln;
use super::noise::{Kind, Noise};
use super::{Sampler, normal};
use crate::scenario::{Batches, Distribution, Resolved};

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

/// The sources of an entry of the scenario: what they have in common.
pub(crate) struct BatchSources<'a> {
    index: usize,
    batches: &'a Batches,
    sizes: Sampler,
    kinds: [Option<Kind>; 2],
    stop: Time,
}

impl<'a> BatchSources<'a> {
    /// Of the entry `index`, in a run that ends with `end`: what comes later is not drawn.
    ///
    /// # Panics
    /// When the entry was not checked.
    pub(crate) fn new(index: usize, batches: &'a Batches, end: Time) -> Self {
        let hursts = [batches.hurst_arrivals, batches.hurst_sizes];
        let stop = batches.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        Self {
            index,
            batches,
            sizes: batches.size.sampler(),
            kinds: hursts.map(|hurst| (hurst > 0.5).then(|| Kind::new(hurst))),
            stop: stop.min(end + Span::from_ps(1)),
        }
    }

    /// The source from one node to another.
    pub(crate) fn between(&self, (from, to): (u32, u32), random: &RandomSource) -> BatchSource {
        let batches = self.batches;
        let name = format!("batches/{}/{from}/{to}", self.index);
        let past = random.stream(&format!("{name}/past"));
        let noise = |which: usize| {
            let normal = |number| normal_of(past.uniforms(number)[which]);
            self.kinds[which].as_ref().map(|kind| Box::new(kind.begin(normal)))
        };
        BatchSource {
            stream: random.stream(&name),
            drawn: 0,
            mean: 1e12 / batches.batches_per_second,
            exponential: (batches.size.distribution == Distribution::Exponential)
                .then(|| self.sizes.mean()),
            sizes: self.sizes.clone(),
            noise: [noise(0), noise(1)],
            packet: batches.packet_size.get() as u32,
            last: Time::ZERO + batches.start,
            stop: self.stop,
        }
    }
}

impl BatchSource {
    /// Whether it has stopped.
    #[inline]
    pub(crate) fn ended(&self) -> bool {
        self.last >= self.stop
    }

    /// Draws the next `N` batches; those after the source has stopped are left out.
    #[inline]
    pub(crate) fn draw<const N: usize>(&mut self) -> impl Iterator<Item = Batch> {
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

/// The first `count` batches, or as many as there are, of an entry of a scenario's `batches`
/// between two nodes with hosts, as a run with this seed and replication has them.
///
/// # Errors
/// What is wrong with the entry or the nodes.
pub fn sequence(
    resolved: &Resolved,
    index: usize,
    (from, to): (&str, &str),
    (seed, replication): (u64, u64),
    count: usize,
) -> Result<Vec<Batch>, String> {
    let entries = &resolved.scenario.batches;
    let entry = entries.get(index).ok_or_else(|| {
        format!("there is no batches[{index}]: the scenario has {} entries", entries.len())
    })?;
    let pairs = resolved.pairs(entry.from.as_ref(), entry.to.as_ref());
    let graph = &resolved.mesh.as_ref().expect("a scenario with batches has a mesh").0;
    let ends =
        pairs.into_iter().find(|ends| graph.name(ends.0) == from && graph.name(ends.1) == to);
    let ends = ends.ok_or_else(|| format!("batches[{index}] does not go from {from} to {to}"))?;
    let random = RandomSource::new(seed, replication);
    // As many as are asked for, however long the scenario runs.
    let sources = BatchSources::new(index, entry, Time::NEVER);
    Ok(sources.between(ends, &random).take(count).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Size;
    use burstlab_units::Bytes;

    fn entry(hurst: (f64, f64)) -> Batches {
        Batches {
            batches_per_second: 10_000.0,
            size: Size {
                distribution: Distribution::Exponential,
                mean: Some(Bytes::new(5000)),
                ..Size::default()
            },
            hurst_arrivals: hurst.0,
            hurst_sizes: hurst.1,
            ..Batches::default()
        }
    }

    fn source(batches: &Batches, seed: u64) -> BatchSource {
        BatchSources::new(0, batches, Time::NEVER).between((0, 1), &RandomSource::new(seed, 0))
    }

    /// The marginal laws, by their means and by the share above the mean, whatever the exponents.
    #[test]
    fn times_and_sizes_are_exponential_for_all_exponents() {
        for (hurst, bands) in [((0.5, 0.5), (0.02, 0.02)), ((0.6, 0.8), (0.04, 0.15))] {
            let drawn: Vec<Batch> = source(&entry(hurst), 1).take(200_000).collect();
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
        let plain: Vec<Batch> = source(&entry((0.5, 0.5)), 3).take(1000).collect();
        let sizes: Vec<Batch> = source(&entry((0.5, 0.9)), 3).take(1000).collect();
        let times: Vec<Batch> = source(&entry((0.9, 0.5)), 3).take(1000).collect();
        assert!(plain.iter().zip(&sizes).all(|(a, b)| a.at == b.at));
        assert!(plain.iter().zip(&times).all(|(a, b)| a.bytes == b.bytes));
        assert!(plain.iter().zip(&sizes).any(|(a, b)| a.bytes != b.bytes));
        assert!(plain.iter().zip(&times).any(|(a, b)| a.at != b.at));
    }

    #[test]
    fn they_come_between_start_and_stop() {
        let batches =
            Batches { start: Span::from_ms(5), stop: Some(Span::from_ms(25)), ..entry((0.5, 0.5)) };
        let drawn: Vec<Batch> = source(&batches, 1).collect();
        assert!((100..300).contains(&drawn.len()), "{}", drawn.len());
        let within = Time::ZERO + Span::from_ms(5)..Time::ZERO + Span::from_ms(25);
        assert!(drawn.iter().all(|batch| within.contains(&batch.at)));
    }
}
