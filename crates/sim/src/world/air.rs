//! Packets on the air: cells of 802.11b between hosts and their access links.

use super::World;
use super::access::{AirEvent, AirLoss};
use super::packet::Packet;
use crate::measure::PacketCause;
use crate::measure::loss::{Loss, LossCause};

impl World {
    /// A packet for a station (`down`) has come to its base station, or one of its own leaves it.
    /// The station is the sender of the packet's flow (0), or its receiver (1).
    pub(super) fn on_air(&mut self, what: (Packet, usize), down: bool) {
        let offered = self.access.wireless.offer(self.now, what, down, &mut self.context);
        if let Err(lost) = offered {
            self.lost_on_air(&lost);
        }
    }

    /// Something may have become of packets of a cell.
    #[inline(never)]
    pub(super) fn cell(&mut self, index: u32) {
        let mut crossed = self.access.wireless.advance(self.now, index, &mut self.context);
        for one in crossed.drain(..) {
            match one {
                AirEvent::ToHost(Packet::Data(packet)) => self.receive(&packet),
                AirEvent::ToHost(Packet::Ack(packet)) => self.hear(&packet),
                AirEvent::ToBase(Packet::Data(packet)) => {
                    let link = self.near_link(packet.flow);
                    self.send(self.now, link, packet);
                }
                AirEvent::ToBase(Packet::Ack(packet)) => self.ack_on_wire(self.now, packet),
                AirEvent::Lost(lost) => self.lost_on_air(&lost),
            }
        }
        self.access.wireless.arm(index, crossed, &mut self.context);
    }

    fn lost_on_air(&mut self, lost: &AirLoss) {
        let now = self.now;
        let flow = self.hosts.flow(lost.packet.flow());
        match &lost.packet {
            Packet::Data(packet) => {
                flow.lose(packet.transmission(), Loss::at_access(lost.cause, now));
                flow.near.note(now, 6, packet.seq);
            }
            Packet::Ack(packet) => {
                flow.lose_acks(packet, 1);
                flow.near.note(now, 7, packet.next);
            }
        }
        let queue = lost.cause == LossCause::WirelessQueue;
        let cause = if queue { PacketCause::WirelessQueue } else { PacketCause::Wireless };
        self.context.recorder.lost(lost.packet.row(), cause);
    }
}
