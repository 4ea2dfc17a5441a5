//! Where an event happens, as a number: how ties are broken where the order of queueing must not.

use burstlab_kernel::{Rank, Ticket};
use serde::{Deserialize, Serialize};

/// A kind of place, and then one of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct TieKey(u32);

impl TieKey {
    /// Before all others.
    pub(super) const FIRST: Self = Self(0);
    /// Arrivals, at the far end of a link.
    pub(super) const DATA_UP: Self = Self(0);
    pub(super) const DATA_DOWN: Self = Self(1 << 30);
    pub(super) const ACK_UP: Self = Self(2 << 30);
    pub(super) const ACK_DOWN: Self = Self(3 << 30);
    /// Timers.
    pub(super) const ASSEMBLY: Self = Self(0);
    pub(super) const SENDER: Self = Self(1 << 30);
    pub(super) const RECEIVER: Self = Self(2 << 30);
    pub(super) const RELEASE: Self = Self(3 << 30);

    /// The place `number` of this kind.
    #[inline]
    pub(super) fn of(self, number: u32) -> Self {
        Self(self.0 | number)
    }

    /// The place behind this one.
    #[inline]
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// As a number.
    #[inline]
    pub(super) fn number(self) -> u32 {
        self.0
    }

    /// The turn of an event at this place among the events of an instant that send packets, as a
    /// number. Events without a place come before, each rank by itself.
    pub(super) fn turn(self, rank: Rank) -> u32 {
        let (kind, number) = (self.0 >> 30, self.0 & ((1 << 30) - 1));
        assert!(kind > 0 && number < 1 << 29, "hosts are fewer");
        u32::from(rank == Rank::Arrival) << 31 | kind << 29 | number
    }

    /// The turn of an event without a place.
    pub(super) fn turn_of_any(rank: Rank) -> u32 {
        u32::from(rank == Rank::Arrival) << 31
    }

    /// Its place in the order of an instant.
    #[inline]
    pub(super) fn ticket(self, rank: Rank) -> Ticket {
        Ticket::fixed(rank, self.0)
    }
}
