//! Looks at a world from time to time: at its connections, and at the occupancy of its queues,
//! ports and wavelengths.

use burstlab_kernel::Rank;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::core::{Core, Network};
use super::events::Event;
use super::hosts::Hosts;
use crate::measure::{Occupancy, Piece};
use crate::scenario::Scenario;

/// When to look, and what the looks at the network found; the hosts keep what is theirs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Looks {
    /// Zero: never.
    sample_every: Span,
    occupancy_every: Span,
    occupancy: Occupancy,
}

impl Looks {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            sample_every: scenario.run.sample.unwrap_or_default(),
            occupancy_every: scenario.run.occupancy.unwrap_or_default(),
            occupancy: Occupancy::default(),
        }
    }

    /// Queues the next count of connections, if the scenario asks for any.
    pub(super) fn schedule_sample(&self, context: &mut Context) {
        schedule(self.sample_every, Event::Sample, context);
    }

    /// Queues the next look at the network, if the scenario asks for any.
    pub(super) fn schedule_occupancy(&self, context: &mut Context) {
        schedule(self.occupancy_every, Event::Occupancy, context);
    }

    /// Notes how many connections are under way.
    pub(super) fn sample(&self, hosts: &mut Hosts, core: &Core, context: &mut Context) {
        hosts.demands.sample(context.now, &core.graph().edges());
        self.schedule_sample(context);
    }

    /// Notes the occupancy.
    pub(super) fn note_occupancy(&mut self, core: &mut Core, context: &mut Context) {
        core.look(context.now, &mut self.occupancy);
        self.schedule_occupancy(context);
    }

    /// The run is over, and with it the last span between two looks, where one ends there.
    pub(super) fn look_at_the_end(&mut self, end: Time, hosts: &mut Hosts, core: &mut Core) {
        let ends = |every: Span| !every.is_zero() && end.as_ps().is_multiple_of(every.as_ps());
        if ends(self.sample_every) {
            hosts.demands.sample(end, &core.graph().edges());
        }
        if ends(self.occupancy_every) {
            core.look(end, &mut self.occupancy);
        }
    }

    /// Sets the rows of a chunk of the tables.
    pub(super) fn set_chunk(&mut self, rows: u32) {
        self.occupancy.set_chunk(rows);
    }

    /// Rows that were not handed over.
    pub(super) fn held(&self) -> u64 {
        self.occupancy.held()
    }

    /// Hands over the chunks that are full.
    pub(super) fn drain(&mut self, core: &Core) -> Vec<Piece> {
        self.occupancy.drain(core.graph())
    }

    /// Hands over all that is left of the tables, those of the demands first.
    pub(super) fn take_tables(&mut self, hosts: &mut Hosts, core: &Core) -> Vec<Piece> {
        let sampled = !self.sample_every.is_zero();
        let mut tables: Vec<_> = hosts.demands.take_tables(core.graph(), sampled);
        let occupancy = std::mem::take(&mut self.occupancy);
        if !self.occupancy_every.is_zero() {
            tables.extend(occupancy.finish(core.graph()));
        }
        tables
    }
}

fn schedule(every: Span, event: Event, context: &mut Context) {
    if !every.is_zero() {
        context.queue.push(context.now + every, Rank::Timer, event);
    }
}
