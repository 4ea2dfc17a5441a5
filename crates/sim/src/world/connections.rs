//! Connections of demands, which come and go, and the cross-traffic beside them.

use burstlab_kernel::Rank;

use super::World;
use super::core::{Address, Network};
use super::events::Event;

impl World {
    /// Tells the network of the flow in a slot.
    pub(super) fn register(&mut self, slot: u32) {
        let flow = &self.hosts.flows[slot as usize];
        let (class, listens) = (flow.kind.class, flow.kind.listens);
        let (id, key, from, to) = (flow.id, flow.key, flow.from, flow.to);
        let address = Address { id, key, from, to, class, listens, back: flow.goes_back() };
        self.core.flows().register(slot, address);
    }

    /// A connection opens.
    pub(super) fn start(&mut self, index: u32) {
        if self.hosts.has_stack(index) {
            return self.stack_starts(index);
        }
        if self.hosts.flows[index as usize].goes_back() {
            // Its SYN answers the other one's, and may have gone or be still to go. In a drain
            // nothing begins, replies neither.
            if self.measured.is_none() {
                self.hosts.schedule_write(self.now, index, &mut self.context);
            }
            return;
        }
        let before = self.hosts.start(self.now, index, &self.context);
        self.has_written(index);
        self.transmit(index, &before);
        self.hosts.schedule_write(self.now, index, &mut self.context);
    }

    /// The application of a flow writes.
    pub(super) fn write(&mut self, index: u32) {
        let before = self.hosts.write(self.now, index, &self.context);
        self.has_written(index);
        self.transmit(index, &before);
        self.hosts.schedule_write(self.now, index, &mut self.context);
    }

    /// The network learns how much there is of a flow.
    fn has_written(&mut self, index: u32) {
        let limit = self.hosts.flows[index as usize].near.sender().limit();
        self.core.flows().supply(index, limit);
    }

    /// Connections of a demand arrive, one or several.
    pub(super) fn connect(&mut self, number: u32) {
        for slot in self.hosts.settled() {
            self.retire(slot);
        }
        let (demand, coming) = self.hosts.come(number, &mut self.context);
        for one in &coming {
            let slot = self.hosts.arrive(self.now, demand, one);
            self.access.seat(slot);
            self.register(slot);
            self.active += 1;
            self.start(slot);
        }
        self.hosts.came(coming);
    }

    /// A flow is done; a connection of a demand leaves when nothing of it is on its way.
    pub(super) fn leave(&mut self, slot: u32) {
        let told = self.warm && self.measured.is_none();
        if self.hosts.complete(self.now, slot, told) {
            self.retire(slot);
        }
    }

    /// A connection leaves its row and frees its slot.
    fn retire(&mut self, slot: u32) {
        self.leave_row(slot);
        if self.warm {
            self.core.connection(self.core.bursts_of(slot));
        }
        self.hosts.vacate(slot);
        self.core.flows().vacate(slot);
    }

    /// A connection leaves its row.
    pub(super) fn leave_row(&mut self, slot: u32) {
        let carried = self.core.bursts_of(slot);
        let since = self.warm.then_some(self.measured_from);
        self.hosts.leave_row(self.now, slot, since, (carried.bursts, carried.lost));
    }

    /// Notes how many connections are under way.
    pub(super) fn sample(&mut self) {
        self.hosts.demands.sample(self.now, &self.core.graph().edges());
        self.context.queue.push(self.now + self.sample_every, Rank::Timer, Event::Sample);
    }

    /// A source of cross-traffic is due: its packet goes over the link it loads, or into the
    /// optical network.
    pub(super) fn cross_sends(&mut self, index: u32) {
        let Some(sent) = self.access.cross.fire(self.now, index, &mut self.context) else { return };
        if self.access.cross.across {
            let to = (sent.ends, sent.class, sent.key);
            self.core.cross_arrives(self.now, sent.packet, to, &mut self.context);
            self.apply();
            return;
        }
        let (from, to) = sent.ends;
        let link = [from, to][sent.side as usize];
        if self.access.losses.takes(self.now, (sent.side, link), u64::from(link)) {
            self.access.cross.loses(&sent, &mut self.context);
            return;
        }
        let at = self.access.loaded(sent.side, sent.ends).send(self.now, sent.packet.bytes());
        self.access.cross.loads(at, &sent, &mut self.context);
    }
}
