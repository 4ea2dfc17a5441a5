//! The bounds that losses set for the short and for the long term; `None`: anything.

use serde::{Deserialize, Serialize};

/// A gain of one.
pub(super) const ONE: u64 = 1_000;
/// BBR.Beta and BBR.Headroom in thousandths.
pub(super) const BETA: u64 = 700;
const HEADROOM: u64 = 150;
/// BBR.MinPipeCwnd.
pub(super) const WINDOW_LEAST: u64 = 4;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Bounds {
    rate_short: Option<u64>,
    pub(super) inflight_short: Option<u64>,
    pub(super) inflight_long: Option<u64>,
}

impl Bounds {
    /// A rate within the bounds.
    pub(super) fn rate(&self, most: u64) -> u64 {
        self.rate_short.map_or(most, |short| short.min(most))
    }

    /// A round had a loss: lowers the rate and the volume of the short term, in place of the usual
    /// ones, to what was delivered at least.
    pub(super) fn lower(&mut self, usual: (u64, u64), latest: (u64, u64)) {
        let rate = self.rate_short.unwrap_or(usual.0);
        let inflight = self.inflight_short.unwrap_or(usual.1);
        self.rate_short = Some(latest.0.max(part(rate, BETA)));
        self.inflight_short = Some(latest.1.max(part(inflight, BETA)));
    }

    /// ResetShortTermModel.
    pub(super) fn forget_short_term(&mut self) {
        (self.rate_short, self.inflight_short) = (None, None);
    }

    /// InflightWithHeadroom.
    pub(super) fn with_headroom(&self) -> Option<u64> {
        let long = self.inflight_long?;
        Some(long.saturating_sub(part(long, HEADROOM).max(1)).max(WINDOW_LEAST))
    }

    /// Each becomes what it was before, if that was more.
    pub(super) fn raise(&mut self, before: &Self) {
        // The larger of two bounds, of which none is infinite.
        let larger = |one: Option<u64>, two: Option<u64>| Some(one?.max(two?));
        self.rate_short = larger(self.rate_short, before.rate_short);
        self.inflight_short = larger(self.inflight_short, before.inflight_short);
        self.inflight_long = larger(self.inflight_long, before.inflight_long);
    }
}

/// A part in thousandths.
pub(super) fn part(value: u64, gain: u64) -> u64 {
    (u128::from(value) * u128::from(gain) / u128::from(ONE)) as u64
}
