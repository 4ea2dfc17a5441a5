//! Packets of flows whose hosts are a third-party stack, to and from their links.

use super::access::Hop;
use super::endpoints::Endpoints;
use super::hosts::{FAR, NEAR};
use super::packet::Packet;
use super::transit::Transit;

impl Endpoints {
    /// A flow with a stack begins: its receiver is there first. A flow back begins with the other
    /// one.
    pub(super) fn stack_starts(&mut self, index: u32, transit: &mut Transit) {
        if transit.hosts.flows[index as usize].goes_back() {
            return;
        }
        for side in [FAR, NEAR] {
            let end = transit.hosts.stack_at((index, side));
            let now = transit.context.now;
            let done = transit.hosts.stack_starts(now, end, &mut transit.context);
            self.stack_goes_on(end, done, transit);
        }
    }

    /// A packet is at a host of a flow with a stack.
    pub(super) fn stack_hears(&mut self, packet: &Packet, transit: &mut Transit) {
        let side = if packet.data().is_some() { FAR } else { NEAR };
        let now = transit.context.now;
        let done = transit.hosts.stack_hears(now, packet, &mut transit.context);
        self.stack_goes_on(transit.hosts.stack_at((packet.flow(), side)), done, transit);
    }

    /// The alarm of a host may be due.
    pub(super) fn stack_timer(&mut self, end: (u32, usize), transit: &mut Transit) {
        let done = transit.hosts.stack_timer(transit.context.now, end, &mut transit.context);
        self.stack_goes_on(end, done, transit);
    }

    /// A host has something to say of itself, now.
    pub(super) fn stack_called(&mut self, end: (u32, usize), transit: &mut Transit) {
        let done = transit.hosts.stack_called(transit.context.now, end, &mut transit.context);
        self.stack_goes_on(end, done, transit);
    }

    /// Puts what a host sends on its link; `done`: whether its flow is.
    fn stack_goes_on(&mut self, end: (u32, usize), done: bool, transit: &mut Transit) {
        let now = transit.context.now;
        while let Some(packet) = transit.hosts.stack_sends(now, end, &mut transit.context) {
            match packet {
                Packet::Ack(ack) => transit.emit_ack(Some(ack)),
                Packet::Data(data) => {
                    let link = transit.link(data.flow(), Hop::Near);
                    transit.leave(now, link, data);
                }
            }
        }
        // A run that has failed is over for all: an end may still say that it is done.
        let failed = transit.hosts.fault().is_some();
        self.active = if failed { 0 } else { self.active - usize::from(done) };
    }
}
