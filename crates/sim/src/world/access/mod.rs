//! The part between hosts and the optical network: access links, wireless cells before them, and
//! the cross-traffic that loads them.

mod backward;
mod cross;
mod departures;
mod directions;
mod link_losses;
mod pacing;
mod source;
mod wlan;

use burstlab_kernel::{Lane, RandomSource};
use burstlab_link::{Room, Wire};
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use self::backward::Backward;
pub(super) use self::cross::Cross;
use self::departures::Departures;
pub(super) use self::link_losses::Hop;
use self::link_losses::LinkLosses;
use self::pacing::Pacing;
pub(super) use self::source::Source;
pub(super) use self::wlan::{AirEvent, AirLoss, Wireless};
use super::packet::{AckPacket, DataPacket};
use crate::measure::loss::LossCause;
use crate::scenario::{Resolved, Side};

/// One direction of an access link, and what is on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Link<P> {
    pub(super) wire: Wire,
    pub(super) lane: Lane<P>,
}

impl<P> Link<P> {
    fn several(count: usize, wire: &Wire) -> Vec<Self> {
        (0..count).map(|_| Self { wire: wire.clone(), lane: Lane::default() }).collect()
    }

    /// Whether nothing on it has an event of its own, and nothing is ever dropped.
    #[inline]
    pub(super) fn is_clear(&self) -> bool {
        self.lane.is_empty() && !self.wire.is_bounded()
    }
}

/// The access links, each in both directions, and what else is on them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Access {
    pub(super) data_up: Vec<Link<DataPacket>>,
    pub(super) data_down: Vec<Link<DataPacket>>,
    pub(super) ack_up: Vec<Link<AckPacket>>,
    pub(super) ack_down: Vec<Link<AckPacket>>,
    pub(super) cross: Cross,
    pub(super) wireless: Wireless,
    pub(super) pacing: Pacing,
    /// Links as they are before anything was sent: of ACKs and of data, each of senders and of
    /// receivers.
    wires: [Wire; 4],
    /// Data packets and ACKs that are lost as they leave their host.
    pub(super) departures: [Departures; 2],
    pub(super) losses: LinkLosses,
    /// Flows back of connections with data in both directions, by slot.
    backward: Vec<Option<Backward>>,
    /// Whether the flows of an edge node share its links.
    pub(super) shared: bool,
    /// Data packets of flows that a full queue dropped, on either side.
    pub(super) sender_drops: u64,
    pub(super) receiver_drops: u64,
    /// Those that the queue of a receiver's link dropped in place of a mark.
    pub(super) receiver_not_ect: u64,
}

impl Access {
    /// The links of a scenario with so many flows and nodes.
    pub(super) fn new(
        resolved: &Resolved,
        random: &RandomSource,
        (flows, nodes): (usize, usize),
    ) -> Self {
        let access = &resolved.scenario.access;
        let links = if access.shared { nodes } else { flows };
        let (rate, delay, room) = access.receiver_side();
        let near = Wire::new(access.rate, access.delay, access.room());
        let far = Wire::new(rate, delay, room.clone());
        let [marking, far_marking] = resolved.marks.clone();
        let near_room = Room { marking, ..access.room() };
        let near_data = Wire::new(access.rate, access.delay, near_room);
        let far_data = Wire::new(rate, delay, Room { marking: far_marking, ..room });
        let scripts = [&resolved.loss.data.script, &resolved.loss.ack.script];
        Self {
            data_up: Link::several(links, &near_data),
            data_down: Link::several(links, &far_data),
            ack_up: Link::several(links, &far),
            ack_down: Link::several(links, &near),
            cross: Cross::new(resolved, random),
            wireless: Wireless::new(resolved, random),
            pacing: Pacing::new(resolved),
            wires: [near, far, near_data, far_data],
            departures: scripts.map(Departures::new),
            losses: LinkLosses::new(resolved, random),
            backward: Vec::new(),
            shared: access.shared,
            sender_drops: 0,
            receiver_drops: 0,
            receiver_not_ect: 0,
        }
    }

    /// A connection takes a slot, and with it links of its own where these are not shared.
    pub(super) fn seat(&mut self, slot: u32) {
        if self.shared {
            return;
        }
        let (place, [near, far, near_data, far_data]) = (slot as usize, &self.wires);
        if place < self.data_up.len() {
            self.data_up[place].wire = near_data.clone();
            self.ack_down[place].wire = near.clone();
            self.data_down[place].wire = far_data.clone();
            self.ack_up[place].wire = far.clone();
        } else {
            self.data_up.extend(Link::several(1, near_data));
            self.ack_down.extend(Link::several(1, near));
            self.data_down.extend(Link::several(1, far_data));
            self.ack_up.extend(Link::several(1, far));
        }
    }

    /// A packet of a flow is handed to its link at a hop, which has this number where the flow goes
    /// in one direction; returns whether the link loses it. Links that flows share are those of a
    /// node; the others are those of a connection, of which `key` is known.
    #[cold]
    pub(super) fn loses(
        &mut self,
        now: Time,
        flow: u32,
        (hop, link): (Hop, u32),
        key: impl Fn(u32) -> u64,
    ) -> bool {
        let (side, link) = match (self.ends_back(flow), hop) {
            (None, Hop::Near) => (Side::Sender, link),
            (None, Hop::Far) => (Side::Receiver, link),
            // A flow back begins where the other one ends.
            (Some((_, far)), Hop::Near) => (Side::Receiver, far),
            (Some((near, _)), Hop::Far) => (Side::Sender, near),
        };
        let key = if self.shared { u64::from(link) } else { key(link) };
        self.losses.takes(now, (side, link), key)
    }

    /// A data packet of a flow is lost on an access link, or before one.
    pub(super) fn count_lost(&mut self, cause: LossCause) {
        match cause {
            LossCause::SenderAccess => self.sender_drops += 1,
            LossCause::ReceiverAccess => self.receiver_drops += 1,
            LossCause::SenderLink => self.losses.lost[Side::Sender as usize] += 1,
            LossCause::ReceiverLink => self.losses.lost[Side::Receiver as usize] += 1,
            _ => {}
        }
    }

    /// The link that cross-traffic between two nodes loads.
    pub(super) fn loaded(&mut self, side: Side, (from, to): (u32, u32)) -> &mut Wire {
        match side {
            Side::Sender => &mut self.data_up[from as usize].wire,
            Side::Receiver => &mut self.data_down[to as usize].wire,
        }
    }

    /// Losses of departures that were scripted and never came.
    pub(super) fn unmet(&self) -> Vec<String> {
        let tables = ["loss.data", "loss.ack"].iter().zip(&self.departures);
        let unmet = |(table, one): (&&str, &Departures)| {
            one.unmet().map(|what| format!("{table}.{what}")).collect::<Vec<_>>()
        };
        tables.flat_map(unmet).collect()
    }

    /// Data packets, and ACKs, on links, and ACKs that edge nodes hold back before them.
    pub(super) fn in_flight(&self) -> [u64; 2] {
        [
            on(&self.data_up) + on(&self.data_down),
            on(&self.ack_up) + on(&self.ack_down) + self.pacing.in_flight(),
        ]
    }

    /// Data packets on links to receivers.
    pub(super) fn going_down(&self) -> u64 {
        on(&self.data_down)
    }
}

fn on<P>(links: &[Link<P>]) -> u64 {
    links.iter().map(|link| link.lane.iter().count() as u64).sum()
}
