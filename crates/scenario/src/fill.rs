//! Defaults that hang on a choice or on the topology, written out: what a run then has, whoever
//! reads the scenario finds in it.
//!
//! A field stays absent where nothing holds (no bound, no end), and where it follows another field
//! that is there: `access.receiver` those of `access`, `signalling.rate` that of the fibres.

use super::demand::RATE;
use super::{DemandPattern, Direction, Marks, Pattern, Scenario, Traffic};

/// Writes out the defaults of a scenario that was checked; places of flows, traffic and cells are
/// there already.
pub(super) fn fill(scenario: &mut Scenario) {
    scenario.network.fill();
    for marks in marks(scenario) {
        marks.fill();
    }
    let access = &mut scenario.access;
    access.ack_pacing.iter_mut().for_each(super::AckPacing::fill);
    let far = access.receiver.as_mut().and_then(|own| own.loss.as_mut());
    access.loss.as_mut().into_iter().chain(far).for_each(super::LinkLoss::fill);
    let listed = !scenario.flows().is_empty();
    scenario.loss.data.fill(listed);
    scenario.loss.ack.fill(listed);
    for traffic in &mut scenario.traffic {
        traffic.fill();
    }
    for demand in &mut scenario.demand {
        if demand.pattern == DemandPattern::Poisson && demand.load.is_none() {
            demand.flows_per_second.get_or_insert(RATE);
        }
    }
    for wlan in &mut scenario.wlan {
        wlan.fill();
    }
    let path = scenario.kind().is_path();
    // With data in both directions bursts are numbered together, and no entry may name a direction.
    if path && !scenario.goes_both_ways() {
        for entry in &mut scenario.surgery {
            entry.direction.get_or_insert(Direction::Data);
        }
    }
}

/// The rules of all queues that mark.
fn marks(scenario: &mut Scenario) -> impl Iterator<Item = &mut Marks> {
    let access = &mut scenario.access;
    let receiver = access.receiver.as_mut().and_then(|own| own.marking.as_mut());
    let ops = scenario.ops.as_mut().and_then(|ops| ops.marking.as_mut());
    let edge = scenario.edge.marking.as_mut();
    access.marking.as_mut().into_iter().chain(receiver).chain(edge).chain(ops)
}

impl Traffic {
    fn fill(&mut self) {
        if self.pattern == Pattern::Periodic {
            self.on = Some(self.on());
            self.period = Some(self.period());
            self.period_jitter.get_or_insert_default();
        }
    }
}
