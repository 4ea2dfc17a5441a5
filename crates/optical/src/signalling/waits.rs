//! What waiting in a queue adds up to.

use burstlab_units::Span;

/// How many were served and how long they waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    served: u64,
    /// Picoseconds: the sum over an overloaded queue does not fit in 64 bits.
    total: u128,
    longest: Span,
}

impl Waits {
    /// One more was served, after it waited for `wait`.
    #[inline]
    pub(super) fn add(&mut self, wait: Span) {
        self.served += 1;
        self.total += u128::from(wait.as_ps());
        self.longest = self.longest.max(wait);
    }

    /// How many were served.
    #[must_use]
    pub fn served(&self) -> u64 {
        self.served
    }

    /// Time that all of them waited, together; [`Span::MAX`] where it is longer than that.
    #[must_use]
    pub fn total(&self) -> Span {
        u64::try_from(self.total).map_or(Span::MAX, Span::from_ps)
    }

    /// Mean wait, rounded down to a picosecond; zero where none was served.
    #[must_use]
    pub fn mean(&self) -> Span {
        let mean = self.total.checked_div(u128::from(self.served)).unwrap_or(0);
        u64::try_from(mean).map_or(Span::MAX, Span::from_ps)
    }

    /// The longest wait.
    #[must_use]
    pub fn longest(&self) -> Span {
        self.longest
    }
}
