//! Packets of flows whose hosts are a stack of others, on their way to and from their links.

use super::World;
use super::hosts::{FAR, NEAR};
use super::packet::Packet;

impl World {
    /// A flow with a stack begins: its receiver is there first.
    pub(super) fn stack_starts(&mut self, index: u32) {
        for side in [FAR, NEAR] {
            let done = self.hosts.stack_starts(self.now, (index, side), &mut self.context);
            self.stack_goes_on((index, side), done);
        }
    }

    /// A packet is at a host of a flow with a stack.
    pub(super) fn stack_hears(&mut self, packet: &Packet) {
        let side = if packet.data().is_some() { FAR } else { NEAR };
        let done = self.hosts.stack_hears(self.now, packet, &mut self.context);
        self.stack_goes_on((packet.flow(), side), done);
    }

    /// The alarm of a host may be due.
    pub(super) fn stack_timer(&mut self, index: u32, far: bool) {
        let end = (index, if far { FAR } else { NEAR });
        let done = self.hosts.stack_timer(self.now, end, &mut self.context);
        self.stack_goes_on(end, done);
    }

    /// Puts what a host sends on its link.
    fn stack_goes_on(&mut self, end: (u32, usize), done: bool) {
        while let Some(packet) = self.hosts.stack_sends(self.now, end, &mut self.context) {
            match packet {
                Packet::Ack(ack) => self.answer(Some(ack)),
                Packet::Data(data) if self.access.wireless.has(data.flow, NEAR) => {
                    self.on_air((Packet::Data(data), NEAR), false);
                }
                Packet::Data(data) => {
                    let link = self.near_link(data.flow);
                    self.send(self.now, link, data);
                }
            }
        }
        self.active -= usize::from(done);
        if self.has_failed() {
            self.active = 0;
        }
    }
}
