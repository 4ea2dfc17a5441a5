//! Which wavelength a burst is given, and which it could be given.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calendar::Void;
use super::search::Search;

/// Which of the free wavelengths a burst takes. Intervals are half-open: a burst may start at the
/// instant at which the previous burst ends. A wavelength that has carried nothing counts as free
/// since the start of the run. If a rule finds several equal wavelengths, it takes the lowest
/// index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "SchedulerKind")]
pub enum Scheduler {
    /// The lowest wavelength whose last reservation is over when the burst arrives.
    FirstFit,
    /// LAUC, latest available unscheduled channel: of these wavelengths, the one whose last
    /// reservation ends latest (Turner 1999; Xiong, Vandenhoute and Cankaya 2000).
    #[serde(alias = "lauc")]
    Horizon,
    /// LAUC with void filling: of the wavelengths with a gap that holds the burst, the one whose
    /// reservation before it ends latest (Xiong, Vandenhoute and Cankaya 2000).
    #[default]
    LaucVf,
    /// The lowest wavelength with a gap that holds the burst.
    FfVf,
    /// Of the wavelengths with such a gap, the one whose next reservation starts soonest; none at
    /// all comes last (Xu, Qiao, Li and Xu 2003).
    MinEv,
    /// Of the wavelengths with such a gap, the one that leaves the least of it on both sides
    /// together; a gap without an end is longer than any other. Of equal gaps, the one that leaves
    /// less before the burst (Xu, Qiao, Li and Xu 2003).
    BestFit,
}

impl Scheduler {
    /// Whether bursts are put between others, or only behind the last.
    #[inline]
    #[must_use]
    pub fn fills_voids(self) -> bool {
        !matches!(self, Self::FirstFit | Self::Horizon)
    }

    /// Whether it takes the void that begins latest.
    #[must_use]
    pub(super) fn takes_the_latest(self) -> bool {
        matches!(self, Self::Horizon | Self::LaucVf)
    }

    /// The wavelength that is taken, of those on which there is room.
    #[inline]
    pub(super) fn choose(self, search: &Search<'_>) -> Option<u32> {
        let (start, end, between) = (search.start.as_ps(), search.end.as_ps(), self.fills_voids());
        // The gaps before the burst, and behind it.
        let before = |void: Void| start.wrapping_sub(void.since.as_ps());
        let behind = |void: Void| void.until.as_ps().wrapping_sub(end);
        let whole = |void: Void| void.until.as_ps().wrapping_sub(void.since.as_ps());
        match self {
            Self::FirstFit | Self::FfVf => search.lowest(between),
            Self::Horizon | Self::LaucVf => search.least(between, u64::MAX, before),
            Self::MinEv => search.least(between, u64::MAX, behind),
            // Without an end it is longer than any other, and the longer the earlier it began.
            Self::BestFit => {
                let none = (u64::MAX, u64::MAX);
                search.least(between, none, |void| (whole(void), before(void)))
            }
        }
    }
}

/// To which wavelengths a node can move a burst that comes in on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Conversion {
    /// To any.
    Full,
    /// To none: it leaves on the wavelength on which it came.
    None,
    /// To those whose index differs by at most this; the wavelengths at the edge of the band have
    /// fewer, since the band does not wrap around.
    Limited(u32),
}

impl Conversion {
    /// Lowest and highest wavelength, of `wavelengths`, on which a burst that comes on `incoming`
    /// may leave.
    ///
    /// # Panics
    /// When there is no wavelength `incoming`.
    #[inline]
    #[must_use]
    pub fn allowed(self, incoming: u32, wavelengths: u32) -> (u32, u32) {
        assert!(incoming < wavelengths, "wavelength {incoming} of {wavelengths}");
        let last = wavelengths - 1;
        match self {
            Self::Full => (0, last),
            Self::None => (incoming, incoming),
            Self::Limited(range) => {
                (incoming.saturating_sub(range), incoming.saturating_add(range).min(last))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversion_stops_at_the_edges_of_the_band() {
        assert_eq!(Conversion::Full.allowed(3, 8), (0, 7));
        assert_eq!(Conversion::None.allowed(3, 8), (3, 3));
        assert_eq!(Conversion::Limited(2).allowed(3, 8), (1, 5));
        assert_eq!(Conversion::Limited(2).allowed(1, 8), (0, 3));
        assert_eq!(Conversion::Limited(2).allowed(7, 8), (5, 7));
        assert_eq!(Conversion::Limited(u32::MAX).allowed(3, 8), (0, 7));
        assert_eq!(Conversion::Limited(0).allowed(3, 8), (3, 3));
    }
}
