//! Connections at their hosts: they open, receive data and hear ACKs, and those of demands come and
//! go.

use serde::{Deserialize, Serialize};

use super::access::{AirEvent, Hop};
use super::core::Network;
use super::packet::{AckPacket, DataPacket, Packet};
use super::transit::Transit;

/// The ends of all connections, and how many of these keep the run going.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Endpoints {
    /// Flows that still have something to send; in the drain finite ones alone.
    pub(super) active: usize,
    /// Data packets that came to their receivers at events of their own.
    pub(super) one_by_one: u64,
}

impl Endpoints {
    /// A connection opens.
    pub(super) fn start(&mut self, index: u32, transit: &mut Transit) {
        if transit.hosts.has_stack(index) {
            return self.stack_starts(index, transit);
        }
        let now = transit.context.now;
        if transit.hosts.flows[index as usize].goes_back() {
            // Its SYN answers the other one's, and may have gone or be still to go. In a drain
            // nothing begins, replies neither.
            if !transit.context.phase.drains() {
                transit.hosts.schedule_write(now, index, &mut transit.context);
            }
            return;
        }
        let before = transit.hosts.start(now, index, &transit.context);
        transit.has_written(index, &before);
    }

    /// Endpoints of a demand arrive, one or several.
    pub(super) fn connect(&mut self, number: u32, transit: &mut Transit) {
        for slot in transit.hosts.settled() {
            transit.retire(slot);
        }
        let (demand, coming) = transit.hosts.come(number, &mut transit.context);
        for one in &coming {
            let slot = transit.hosts.arrive(transit.context.now, demand, one);
            transit.access.seat(slot);
            transit.register(slot);
            self.active += 1;
            self.start(slot, transit);
        }
        transit.hosts.came(coming);
    }

    /// A data packet is at its receiver.
    #[inline(always)]
    pub(super) fn receive(&mut self, packet: &DataPacket, transit: &mut Transit) {
        self.one_by_one += 1;
        if transit.hosts.has_stack(packet.flow()) {
            return self.stack_hears(&Packet::Data(*packet), transit);
        }
        if let Some(other) = transit.reverse_flow(packet.flow()) {
            return self.receive_two_way(packet, other, transit);
        }
        let ack = transit.hosts.receive(transit.context.now, packet, &mut transit.context);
        transit.emit_ack(ack);
    }

    /// A sender hears an ACK. A flow that is done leaves, if it is of a demand and nothing of it is
    /// in flight.
    #[inline(always)]
    pub(super) fn hear(&mut self, packet: &AckPacket, transit: &mut Transit) {
        if transit.hosts.has_stack(packet.flow) {
            return self.stack_hears(&Packet::Ack(*packet), transit);
        }
        let heard = transit.hosts.hear(transit.context.now, packet, &mut transit.context);
        if heard.by_edge {
            transit.core.repaired();
        }
        self.active -= usize::from(heard.completed);
        transit.transmit(packet.flow, &heard.before);
        if heard.completed && transit.hosts.complete(packet.flow, &transit.context) {
            transit.retire(packet.flow);
        }
    }

    /// Something may have become of packets of a wireless cell.
    #[inline(never)]
    pub(super) fn cell(&mut self, index: u32, transit: &mut Transit) {
        let now = transit.context.now;
        let mut crossed = transit.access.wireless.advance(now, index, &mut transit.context);
        for one in crossed.drain(..) {
            match one {
                AirEvent::ToHost(Packet::Data(packet)) => self.receive(&packet, transit),
                AirEvent::ToHost(Packet::Ack(packet)) => self.hear(&packet, transit),
                AirEvent::ToBase(Packet::Data(packet)) => {
                    let link = transit.link(packet.flow(), Hop::Near);
                    transit.send(now, link, packet);
                }
                AirEvent::ToBase(Packet::Ack(packet)) => transit.ack_on_wire(now, packet),
                AirEvent::Lost(lost) => transit.lost_on_air(&lost),
            }
        }
        transit.access.wireless.arm(index, crossed, &mut transit.context);
    }
}
