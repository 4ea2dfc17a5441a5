//! Links of connections with data in both directions. Both hosts have one link each, on which data
//! and ACKs follow one another, whichever flow they are of: data of the flow back go where the ACKs
//! of the other flow go, and its ACKs where the data of that go.

use burstlab_link::Wire;
use serde::{Deserialize, Serialize};

use super::{Access, Link};

/// Where packets of a flow back go.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Backward {
    /// The links of the other flow: of its sender, of its receiver.
    near: u32,
    far: u32,
    /// Packets in transit on it keep their order by themselves.
    lane: u32,
}

/// The wire of a direction: that of the flow's own links, or of a flow back another one.
macro_rules! wires {
    ($($(#[$doc:meta])* $name:ident: $own:ident, $others:ident[$end:ident];)*) => {
        $($(#[$doc])*
        #[inline(always)]
        pub(in crate::world) fn $name(&mut self, flow: u32, link: u32) -> &mut Wire {
            match self.backward(flow) {
                None => &mut self.$own[link as usize].wire,
                Some(one) => &mut self.$others[one.$end as usize].wire,
            }
        })*
    };
}

impl Access {
    /// The flow back in `slot` takes the links of the other flow.
    pub(in crate::world) fn seat_back(&mut self, slot: u32, (near, far): (u32, u32)) {
        let place = slot as usize;
        if self.backward.len() <= place {
            self.backward.resize(place + 1, None);
        }
        let lane = if self.shared { self.data_up.len() as u32 } else { slot };
        if self.shared {
            let [near, far, near_data, far_data] = &self.wires;
            self.data_up.extend(Link::several(1, near_data));
            self.ack_down.extend(Link::several(1, near));
            self.data_down.extend(Link::several(1, far_data));
            self.ack_up.extend(Link::several(1, far));
        }
        self.backward[place] = Some(Backward { near, far, lane });
    }

    /// Whether no connection has data in both directions.
    #[inline(always)]
    pub(in crate::world) fn goes_one_way(&self) -> bool {
        self.backward.is_empty()
    }

    #[inline(always)]
    fn backward(&self, flow: u32) -> Option<Backward> {
        if self.goes_one_way() {
            return None;
        }
        self.backward.get(flow as usize).copied().flatten()
    }

    /// The links of the other flow, where this one is a flow back.
    pub(super) fn ends_back(&self, flow: u32) -> Option<(u32, u32)> {
        self.backward(flow).map(|one| (one.near, one.far))
    }

    /// The packets in transit of a flow back, where others share its links.
    #[inline]
    pub(in crate::world) fn own_lane(&self, flow: u32) -> Option<u32> {
        self.backward(flow).map(|one| one.lane)
    }

    wires! {
        /// The link on which data of a flow leave their host.
        data_up_wire: data_up, ack_up[far];
        /// The link on which they come to their receiver.
        data_down_wire: data_down, ack_down[near];
        /// The link on which ACKs of a flow leave its receiver.
        ack_up_wire: ack_up, data_up[near];
        /// The link on which they come to its sender.
        ack_down_wire: ack_down, data_down[far];
    }
}
