//! Packets that are handed to an access link with losses of its own.

use burstlab_units::Time;

use super::World;
use super::access::Hop;
use super::packet::{DataPacket, Parcel};
use crate::measure::PacketCause;
use crate::measure::loss::{Loss, LossCause};
use crate::scenario::Side;

impl World {
    /// Whether access links lose packets that their queues have room for.
    #[inline(always)]
    pub(super) fn is_lossy(&self) -> bool {
        !self.access.losses.are_none()
    }

    /// A packet is handed to a link of its flow; returns whether the link loses it.
    #[cold]
    pub(super) fn link_takes<P: Parcel>(&mut self, now: Time, packet: &P, hop: (Hop, u32)) -> bool {
        self.loses_at(now, packet.flow(), hop)
    }

    /// The same of what belongs to a flow, whose link there has this number.
    #[cold]
    pub(super) fn loses_at(&mut self, now: Time, flow: u32, (hop, link): (Hop, u32)) -> bool {
        // Links that flows share are those of a node; the others are those of a connection.
        let (side, link) = self.access.link_of(flow, hop, link);
        let key = match self.access.shared {
            true => u64::from(link),
            false => self.hosts.flows[link as usize].key,
        };
        self.access.losses.takes(now, (side, link), key)
    }

    /// A link has lost a data packet.
    #[cold]
    pub(super) fn lose_on_link(&mut self, now: Time, packet: &DataPacket, hop: Hop) {
        let (near, far) = (Side::Sender as usize, Side::Receiver as usize);
        let (cause, side) = match hop {
            Hop::Near => (LossCause::SenderLink, near),
            Hop::Far => (LossCause::ReceiverLink, far),
        };
        let loss = Loss::at_access(cause, now);
        self.hosts.flow(packet.flow).lose(packet.transmission(), loss);
        self.access.losses.lost[side] += 1;
        self.context.recorder.lost(packet.row, PacketCause::Link);
    }
}
