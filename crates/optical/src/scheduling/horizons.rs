//! The horizons of all wavelengths of a fibre, in blocks.
//!
//! First fit takes the lowest wavelength whose last reservation is over. A block knows the earliest
//! horizon of its wavelengths, so that a block in which all end too late is passed over at once.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::calendar::Tail;

/// Wavelengths of a block.
const BLOCK: usize = 32;

/// The earliest horizon of each block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Horizons(Vec<Time>);

impl Horizons {
    /// The horizons of so many wavelengths that are all free.
    pub(super) fn of(wavelengths: u32) -> Self {
        Self(vec![Time::ZERO; (wavelengths as usize).div_ceil(BLOCK)])
    }

    /// The horizon of `wavelength` has changed; `tails` has the horizons of all.
    #[inline]
    pub(super) fn changes(&mut self, wavelength: u32, tails: &[Tail]) {
        let block = wavelength as usize / BLOCK;
        let tails = tails[block * BLOCK..].iter().take(BLOCK);
        self.0[block] = tails.map(|tail| tail.end).min().unwrap_or(Time::MAX);
    }

    /// The lowest wavelength, of those from `low` to `high`, whose horizon is not after `start`.
    #[inline]
    pub(super) fn lowest(
        &self,
        start: Time,
        (low, high): (usize, usize),
        tails: &[Tail],
    ) -> Option<u32> {
        (low / BLOCK..=high / BLOCK).filter(|&block| self.0[block] <= start).find_map(|block| {
            let first = low.max(block * BLOCK);
            let last = high.min(block * BLOCK + BLOCK - 1);
            let place = tails[first..=last].iter().position(|tail| tail.end <= start)?;
            Some((first + place) as u32)
        })
    }
}
