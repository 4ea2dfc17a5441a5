//! Randomness that is looked up by name and number, so that no draw depends on another.
//!
//! The generator is Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
//! as 1, 2, 3", SC 2011): a keyed bijection of 128-bit counters. A decision is a function of (seed,
//! replication, name of the entity, ordinal of the decision).

use serde::{Deserialize, Serialize};

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The Philox 4x32-10 block: 128 random bits for a counter under a key.
#[must_use]
pub fn philox_4x32_10(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key[0] = key[0].wrapping_add(KEY_STEPS[0]);
            key[1] = key[1].wrapping_add(KEY_STEPS[1]);
        }
        let low = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
        let high = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [
            (high >> 32) as u32 ^ counter[1] ^ key[0],
            high as u32,
            (low >> 32) as u32 ^ counter[3] ^ key[1],
            low as u32,
        ];
    }
    counter
}

/// All the randomness of one replication of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomSource {
    seed: u64,
    replication: u64,
}

impl RandomSource {
    /// The randomness of replication `replication` (from 0) under `seed`.
    #[must_use]
    pub fn new(seed: u64, replication: u64) -> Self {
        Self { seed, replication }
    }

    /// The stream of the entity called `name`, such as `"loss/data"`.
    #[must_use]
    pub fn stream(&self, name: &str) -> Stream {
        let bytes = name.bytes().chain(self.replication.to_le_bytes());
        Stream { seed: self.seed, entity: hash(bytes) }
    }
}

/// A number for `name`, from which ordinals of what has that name may be counted on.
#[must_use]
pub fn named(name: &str) -> u64 {
    hash(name.bytes())
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The random numbers of one entity, by ordinal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    seed: u64,
    entity: u64,
}

impl Stream {
    /// The stream of one of several alike, by its number.
    #[must_use]
    pub fn of(self, number: u64) -> Self {
        Self { entity: self.entity ^ number, ..self }
    }

    /// Two independent uniform numbers in [0, 1), 53 bits each, of decision `ordinal`.
    #[must_use]
    pub fn uniforms(&self, ordinal: u64) -> [f64; 2] {
        let split = |word: u64| [word as u32, (word >> 32) as u32];
        let ([c0, c1], [c2, c3]) = (split(ordinal), split(self.entity));
        let [a, b, c, d] = philox_4x32_10([c0, c1, c2, c3], split(self.seed));
        [unit(a, b), unit(c, d)]
    }

    /// [`uniforms`](Self::uniforms) of the `N` decisions from `first` on: the first numbers of all
    /// of them, then the second ones. The rounds of several blocks are worked on side by side.
    #[must_use]
    pub fn uniforms_from<const N: usize>(&self, first: u64) -> [[f64; N]; 2] {
        let ordinals: [u64; N] = std::array::from_fn(|lane| first.wrapping_add(lane as u64));
        let mut c0 = ordinals.map(|ordinal| ordinal as u32);
        let mut c1 = ordinals.map(|ordinal| (ordinal >> 32) as u32);
        let mut c2 = [self.entity as u32; N];
        let mut c3 = [(self.entity >> 32) as u32; N];
        let mut key = [self.seed as u32, (self.seed >> 32) as u32];
        for _ in 0..10 {
            for lane in 0..N {
                let low = u64::from(MULTIPLIERS[0]) * u64::from(c0[lane]);
                let high = u64::from(MULTIPLIERS[1]) * u64::from(c2[lane]);
                c0[lane] = (high >> 32) as u32 ^ c1[lane] ^ key[0];
                c1[lane] = high as u32;
                c2[lane] = (low >> 32) as u32 ^ c3[lane] ^ key[1];
                c3[lane] = low as u32;
            }
            key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
        }
        let units = |high: &[u32; N], low: &[u32; N]| {
            std::array::from_fn(|lane| unit(high[lane], low[lane]))
        };
        [units(&c0, &c1), units(&c2, &c3)]
    }
}

/// The leading 53 of 64 bits as a number in [0, 1).
#[inline]
fn unit(high: u32, low: u32) -> f64 {
    // Fewer than 2^53, so that it is exact as a signed number too, which is converted faster.
    let bits = ((u64::from(high) << 32 | u64::from(low)) >> 11) as i64;
    bits as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers published with the Random123 library (file `kat_vectors`).
    #[test]
    fn philox_gives_the_published_answers() {
        let cases: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, expected) in cases {
            assert_eq!(philox_4x32_10(counter, key), expected);
        }
    }

    #[test]
    fn names_seeds_replications_and_ordinals_separate() {
        let base = RandomSource::new(1, 0).stream("loss/data").uniforms(0);
        assert_ne!(base, RandomSource::new(2, 0).stream("loss/data").uniforms(0));
        assert_ne!(base, RandomSource::new(1, 1).stream("loss/data").uniforms(0));
        assert_ne!(base, RandomSource::new(1, 0).stream("loss/ack").uniforms(0));
        assert_ne!(base, RandomSource::new(1, 0).stream("loss/data").uniforms(1));
        assert_eq!(base, RandomSource::new(1, 0).stream("loss/data").uniforms(0));
    }

    #[test]
    fn several_at_once_are_those_one_by_one() {
        let stream = RandomSource::new(u64::MAX - 3, 2).stream("test");
        for first in [0, 77, u64::from(u32::MAX) - 2] {
            let [left, right] = stream.uniforms_from::<5>(first);
            for lane in 0..5 {
                let one = stream.uniforms(first + lane as u64);
                assert_eq!([left[lane], right[lane]], one, "{first} + {lane}");
            }
        }
    }

    #[test]
    fn uniforms_are_uniform() {
        let stream = RandomSource::new(7, 0).stream("test");
        let n = 100_000;
        let (mut mean, mut tenth) = (0.0, 0u32);
        for ordinal in 0..n {
            let [a, b] = stream.uniforms(ordinal);
            assert!((0.0..1.0).contains(&a) && (0.0..1.0).contains(&b));
            mean += (a + b) / (2 * n) as f64;
            tenth += u32::from(a < 0.1);
        }
        // Five standard deviations: 5/sqrt(12*2n) and 5*sqrt(0.09 n).
        assert!((mean - 0.5).abs() < 0.0033, "{mean}");
        assert!((f64::from(tenth) - 10_000.0).abs() < 475.0, "{tenth}");
    }
}
