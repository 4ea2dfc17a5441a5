//! Hosts that share an access link, and are ahead of the clock together.
//!
//! Packets of several flows meet on such a link, and it needs them in the order of time. All
//! packets for its hosts come over the link of the other direction, in that order. So the hosts
//! take these packets in turn ahead of the clock, as long as no host sends by itself. A host does
//! so when a timer runs out or its application writes. Before the bound none does. A timer that is
//! set lowers the bound. To raise it, all hosts are looked at, once for several packets.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

/// So many hosts are looked at for a packet, at most.
const LOOKS: usize = 4;

/// The hosts at one end of the path.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Meeting {
    /// No host sends by itself before.
    bound: Time,
    /// Packets that came since all hosts were looked at.
    packets: usize,
}

impl Meeting {
    /// A host sets a timer that is due then.
    #[inline]
    pub(super) fn lower(&mut self, due: Time) {
        self.bound = self.bound.min(due);
    }

    /// Whether a packet comes to a host before any of so many hosts sends by itself, as far as is
    /// known; `look` finds when the first of them would.
    #[inline]
    pub(super) fn admits(&mut self, at: Time, hosts: usize, look: impl FnOnce() -> Time) -> bool {
        self.packets = self.packets.saturating_add(1);
        if at >= self.bound && self.packets.saturating_mul(LOOKS) >= hosts {
            (self.bound, self.packets) = (look(), 0);
        }
        at < self.bound
    }
}
