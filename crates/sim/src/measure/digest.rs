//! A fingerprint of everything that happened.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

/// A running 64-bit hash over events: equal runs have equal digests, and a single event that
/// differs in time, kind or content changes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Digest {
    /// Adds an event.
    #[inline]
    pub(crate) fn add(&mut self, now: Time, kind: u8, value: u64) {
        let mut hash = self.0;
        for word in [now.as_ps(), value ^ u64::from(kind) << 56] {
            hash = (hash ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
            hash ^= hash >> 32;
        }
        self.0 = hash;
    }

    /// For what happens to one of many: flow `id`. That of the first is that of a whole run.
    pub(crate) fn of_flow(id: u32) -> Self {
        Self(Self::default().0 ^ u64::from(id).wrapping_mul(0x9e6c_63d0_876a_9a63))
    }

    /// For the sum of many, so far of none.
    pub(crate) fn of_none() -> Self {
        Self(0)
    }

    /// Adds all of another digest, in any order with others.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// The sum of this digest and the `others`. If there is one other and nothing was added to this
    /// one, it is the other.
    pub(crate) fn with(&self, others: &Self) -> Self {
        Self(self.0.wrapping_sub(Self::default().0).wrapping_add(others.0))
    }

    /// Sixteen hexadecimal digits.
    pub(crate) fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_kind_value_and_order_all_count() {
        let of = |events: &[(u64, u8, u64)]| {
            let mut digest = Digest::default();
            for &(ps, kind, value) in events {
                digest.add(Time::from_ps(ps), kind, value);
            }
            digest.hex()
        };
        let base = of(&[(1, 2, 3), (4, 5, 6)]);
        assert_eq!(base, of(&[(1, 2, 3), (4, 5, 6)]));
        for other in [[(0, 2, 3), (4, 5, 6)], [(1, 1, 3), (4, 5, 6)], [(1, 2, 0), (4, 5, 6)]] {
            assert_ne!(base, of(&other));
        }
        assert_ne!(base, of(&[(4, 5, 6), (1, 2, 3)]));
        assert_eq!(base.len(), 16);
    }
}
