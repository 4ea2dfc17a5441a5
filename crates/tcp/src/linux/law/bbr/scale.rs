//! The fixed-point units of BBR.

/// Gains are in 1/256, rates in 2^-24 segments a microsecond.
pub(super) const UNIT: u64 = 256;
pub(in crate::linux::law) const RATE_SHIFT: u32 = 24;

/// A rate with a gain, less one percent, in bytes a second.
pub(super) fn bytes_a_second(rate: u64, gain: u64, payload: u64) -> u64 {
    let bytes = (u128::from(rate) * u128::from(payload) * u128::from(gain)) >> 8;
    ((bytes * 990_000) >> RATE_SHIFT) as u64
}
