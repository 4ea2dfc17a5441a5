//! Slotted optical packet switching: the clock of the slots, datagrams in slots, the switch with
//! one shared buffer, smoothing at the edge, and dual-layer congestion control (DLCC).
//!
//! After Lu and Hunter, *Dual-Layer Congestion Control for Transmission Control Protocol Carried by
//! Optical Packet Switching With User Data Protocol Background Traffic*, J. Opt. Commun. Netw. 1
//! (2009), cited as "Lu and Hunter 2009" below. Rates of slots are fractions of the rate at which a
//! wavelength carries them.

mod acks;
mod cells;
mod congestion;
mod pacing;
mod reaction;
mod reassembly;
mod smoothing;
mod switch;

use burstlab_units::{Bytes, Rate, Serializer, Span, Time};
use serde::{Deserialize, Serialize};

pub use acks::{AckProxy, Filter, Guard, Passed, ProxyRules};
pub use cells::{Cell, Packing, Piece, Slotter};
pub use congestion::{Descriptor, DropCause};
pub use pacing::Pacer;
pub use reaction::{Negotiation, RateCut, Reading};
pub use reassembly::{Arrival, Reassembly};
pub use smoothing::{Admission, Refusal, Smoother};
pub use switch::{Offer, Switch};

/// The slots of a synchronous network: slot 0 begins at time zero, and each takes the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotClock(Span);

impl SlotClock {
    /// Slots that carry `size` each at `rate`, to the next picosecond.
    #[must_use]
    pub fn new(size: Bytes, rate: Rate) -> Self {
        let mut line = Serializer::new(rate);
        // The serialiser rounds down and carries the rest; a clock has no rest.
        let slot = line.whole(size).unwrap_or_else(|| line.next(size) + Span::from_ps(1));
        Self(slot.max(Span::from_ps(1)))
    }

    /// How long a slot takes.
    #[inline]
    #[must_use]
    pub fn slot(self) -> Span {
        self.0
    }

    /// When slot `number` begins.
    #[inline]
    #[must_use]
    pub fn start(self, number: u64) -> Time {
        Time::ZERO + self.0.saturating_mul(number)
    }

    /// The first slot that begins after `now`.
    #[inline]
    #[must_use]
    pub fn after(self, now: Time) -> u64 {
        now.as_ps() / self.0.as_ps() + 1
    }

    /// The first slot that begins at `now` or after.
    #[inline]
    #[must_use]
    pub fn from(self, now: Time) -> u64 {
        now.as_ps().div_ceil(self.0.as_ps())
    }

    /// The slot that begins, for who left in `slot`, once that is at the end of a fibre at
    /// `arrives`: the synchroniser there adds what is missing to a whole slot, one at least.
    #[inline]
    #[must_use]
    pub fn synchronised(self, slot: u64, arrives: Time) -> u64 {
        self.from(arrives).max(slot + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_knows_its_slots() {
        let clock = SlotClock::new(Bytes::new(576), Rate::from_bps(55_000_000));
        assert_eq!(clock.slot(), Span::from_ps(83_781_819), "4608 bits at 55 Mb/s, rounded up");
        let even = SlotClock::new(Bytes::new(125), Rate::from_bps(1_000_000));
        assert_eq!(even.slot(), Span::from_ms(1), "no rest, nothing added");
        assert_eq!(even.after(Time::ZERO + Span::from_ms(3)), 4);
        assert_eq!(even.after(Time::ZERO + Span::from_us(2999)), 3);
        let from = [2999, 3000, 3001].map(|us| even.from(Time::ZERO + Span::from_us(us)));
        assert_eq!(from, [3, 3, 4]);
        assert_eq!(even.synchronised(7, even.start(7)), 8);
        let at = |us| even.synchronised(7, even.start(7) + Span::from_us(us));
        assert_eq!([4000, 4001].map(at), [11, 12]);
        assert_eq!(even.start(7), Time::ZERO + Span::from_ms(7));
    }
}
