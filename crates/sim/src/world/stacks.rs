//! Packets of flows whose hosts are a third-party stack, on their way to and from their links; and
//! what goes on outside of a run beside it.

use super::World;
use super::hosts::{FAR, NEAR};
use super::packet::Packet;
use crate::scenario::{ExternalClock, Wakeup};

impl World {
    /// A flow with a stack begins: its receiver is there first. A flow back begins with the other
    /// one.
    pub(super) fn stack_starts(&mut self, index: u32) {
        if self.hosts.flows[index as usize].goes_back() {
            return;
        }
        for side in [FAR, NEAR] {
            let end = self.hosts.stack_at((index, side));
            let done = self.hosts.stack_starts(self.now, end, &mut self.context);
            self.stack_goes_on(end, done);
        }
    }

    /// A packet is at a host of a flow with a stack.
    pub(super) fn stack_hears(&mut self, packet: &Packet) {
        let side = if packet.data().is_some() { FAR } else { NEAR };
        let done = self.hosts.stack_hears(self.now, packet, &mut self.context);
        self.stack_goes_on(self.hosts.stack_at((packet.flow(), side)), done);
    }

    /// The alarm of a host may be due.
    pub(super) fn stack_timer(&mut self, end: (u32, usize)) {
        let done = self.hosts.stack_timer(self.now, end, &mut self.context);
        self.stack_goes_on(end, done);
    }

    /// As [`advance`](Self::advance), beside what goes on outside: no event happens before its time
    /// there, and what hosts send of themselves comes between.
    pub(super) fn advance_with(&mut self, outside: &dyn ExternalClock, count: u32) -> bool {
        for _ in 0..count {
            let next = self.context.queue.next_at().map_or(self.end, |at| at.min(self.end));
            match outside.wait(self.now, next.max(self.now)) {
                Wakeup::Due if !self.advance_by_itself(1) => return false,
                Wakeup::Due => {}
                Wakeup::Host { at, flow, far } => {
                    (self.now, self.context.clock) = (at, at);
                    let end = (flow, if far { FAR } else { NEAR });
                    let done = self.hosts.stack_called(at, end, &mut self.context);
                    self.stack_goes_on(end, done);
                    self.events += 1;
                }
                Wakeup::End { at } => {
                    self.now = at.max(self.now);
                    return false;
                }
            }
        }
        true
    }

    /// Puts what a host sends on its link.
    fn stack_goes_on(&mut self, end: (u32, usize), done: bool) {
        while let Some(packet) = self.hosts.stack_sends(self.now, end, &mut self.context) {
            match packet {
                Packet::Ack(ack) => self.emit_ack(Some(ack)),
                Packet::Data(data) if self.access.wireless.has(data.flow, NEAR) => {
                    self.on_air((Packet::Data(data), NEAR), false);
                }
                Packet::Data(data) => {
                    let link = self.near_link(data.flow);
                    self.send(self.now, link, data);
                }
            }
        }
        // A run that has failed is over for all: an end may still say that it is done.
        self.active = if self.has_failed() { 0 } else { self.active - usize::from(done) };
    }
}
