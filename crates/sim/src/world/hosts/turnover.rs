//! Connections that come and go: they arrive, take a slot, and leave a row.

use burstlab_kernel::Rank;
use burstlab_units::Time;

use super::arrivals::Arriving;
use super::ideal::Ideal;
use super::{Flow, Hosts};
use crate::measure::{ConnectionRow, Took, Transfer};
use crate::world::context::Context;
use crate::world::events::Event;

impl Hosts {
    /// Connections of a demand come, one or several; returns them, and of which demand they are.
    pub(in crate::world) fn come(
        &mut self,
        number: u32,
        context: &mut Context,
    ) -> (u32, Vec<Arriving>) {
        let demands = &mut self.demands;
        let arrivals = &mut demands.arrivals[number as usize];
        let demand = arrivals.demand;
        let mut coming = std::mem::take(&mut demands.coming);
        context.works(arrivals.draw(&demands.samplers[demand as usize], &mut coming));
        if arrivals.next < arrivals.stop {
            context.queue.push(arrivals.next, Rank::Arrival, Event::Demand(number));
        }
        (demand, coming)
    }

    /// The buffer of those that came is used again.
    pub(in crate::world) fn came(&mut self, mut coming: Vec<Arriving>) {
        coming.clear();
        self.demands.coming = coming;
    }

    /// A connection takes a slot; returns that.
    pub(in crate::world) fn arrive(&mut self, now: Time, demand: u32, coming: &Arriving) -> u32 {
        let demands = &mut self.demands;
        let writes = Some(vec![(now, coming.bytes)]);
        let kind = &demands.kinds[demand as usize];
        let outcome = &mut demands.outcomes[demand as usize];
        let key = kind.keys.key(outcome.started, demands.unnamed);
        demands.unnamed += u64::from(!kind.keys.are_named());
        let ends = (coming.from, coming.to);
        let mut flow = Flow::new((demands.ids, key), kind, ends, now, writes);
        flow.demand = Some(demand);
        demands.ids += 1;
        demands.active[coming.from as usize] += 1;
        outcome.count_to(now);
        outcome.started += 1;
        outcome.active += 1;
        match demands.free.pop() {
            Some(slot) => {
                self.flows[slot as usize] = flow;
                slot
            }
            None => {
                self.flows.push(flow);
                self.flows.len() as u32 - 1
            }
        }
    }

    /// The slots of connections that are done, of which no packet is in transit any more.
    pub(in crate::world) fn settled(&mut self) -> Vec<u32> {
        let flows = &self.flows;
        self.demands.lingering.extract_if(.., |slot| flows[*slot as usize].settled()).collect()
    }

    /// A connection of a demand is done; returns whether nothing of it is in flight. It counts
    /// among those that were done in the measured time, if it is.
    pub(in crate::world) fn complete(&mut self, slot: u32, context: &Context) -> bool {
        let now = context.now;
        let flow = &self.flows[slot as usize];
        let Some(demand) = flow.demand else { return false };
        let outcome = &mut self.demands.outcomes[demand as usize];
        outcome.count_to(now);
        outcome.active -= 1;
        outcome.completed += 1;
        self.demands.active[flow.from as usize] -= 1;
        if context.phase.is_measured() {
            outcome.done(now.since(flow.near.start()), flow.near.written());
        }
        let settled = flow.settled();
        if !settled {
            self.demands.lingering.push(slot);
        }
        settled
    }

    /// A connection frees its slot.
    pub(in crate::world) fn vacate(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        self.demands.gone.add(&flow.tally());
        self.demands.digest.absorb(flow.near.digest());
        flow.vacate();
        self.demands.free.push(slot);
    }

    /// A connection leaves its row, with the bursts that carried it and those of them that were
    /// lost, and is one of its cohort if it began in the measured time; a flow that is listed does
    /// not.
    pub(in crate::world) fn leave_row(&mut self, slot: u32, bursts: (u64, u64), context: &Context) {
        let (now, since) = (context.now, context.phase.since());
        let flow = &self.flows[slot as usize];
        let Some(demand) = flow.demand else { return };
        let row = row(flow, demand, &self.demands.ideal, bursts);
        if since.is_some_and(|since| row.started >= since) {
            let age = now.since(row.started);
            let took = |at: Option<Time>| Took::new(at.map(|at| at.since(row.started)), age);
            self.demands.outcomes[demand as usize].cohort.push(Transfer {
                bytes: row.bytes,
                ideal: row.ideal,
                received: took(row.received),
                acknowledged: took(row.completed),
            });
        }
        self.demands.connections.add(&row);
    }
}

/// The row of a connection of a demand.
fn row(
    flow: &Flow,
    demand: u32,
    ideal: &Ideal,
    (bursts, bursts_lost): (u64, u64),
) -> ConnectionRow {
    let counters = flow.near.sender().counters();
    let bytes = flow.bytes.unwrap_or_default();
    ConnectionRow {
        id: flow.id,
        demand,
        from: flow.from,
        to: flow.to,
        class: flow.kind.class,
        started: flow.near.start(),
        received: flow.far.received(),
        completed: flow.near.completed(),
        bytes,
        ideal: ideal.of(&flow.kind, (flow.from, flow.to), bytes),
        packets_sent: flow.tally().sent,
        packets_lost: flow.counted.lost,
        retransmissions: counters.retransmissions,
        timeouts: counters.timeouts,
        false_timeouts: flow.false_timeouts(),
        fast_retransmits: counters.fast_retransmits,
        bursts,
        bursts_lost,
    }
}
