//! Which wavelength a burst is given, and which it could be given.

/// How a node chooses the wavelength of a burst among those on which it fits. Everything is
/// half-open: a burst may start at the very instant at which the one before it ends.
///
/// The *horizon* of a wavelength is the end of its last reservation. `FirstFit` and `Horizon` use a
/// wavelength from its horizon on; the others also fill the voids between reservations, where the
/// whole burst fits. A wavelength that has carried nothing counts as free since the start of the
/// run. Whatever is equal under a rule goes to the lowest index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The lowest index whose horizon has come.
    FirstFit,
    /// The latest horizon that has come, so that the unused stretch is the shortest: latest
    /// available unused channel, LAUC (Turner 1999; Xiong, Vandenhoute and Cankaya 2000).
    Horizon,
    /// LAUC with void filling: the wavelength whose reservation before the burst ends latest
    /// (Xiong, Vandenhoute and Cankaya 2000).
    LaucVf,
    /// The lowest index with a void.
    FfVf,
    /// Minimum ending void: the reservation after the burst starts soonest; none at all comes last
    /// (Xu, Qiao, Li and Xu 2003).
    MinEv,
    /// The shortest void, that is the least gap before and after the burst together; a void without
    /// an end is longer than any other. Of equal voids, the smaller gap before (Xu, Qiao, Li and Xu
    /// 2003).
    BestFit,
}

impl Scheduler {
    /// Whether bursts are put between others, or only behind the last.
    #[inline]
    #[must_use]
    pub fn fills_voids(self) -> bool {
        !matches!(self, Self::FirstFit | Self::Horizon)
    }
}

/// To which wavelengths a node can move a burst that comes in on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
