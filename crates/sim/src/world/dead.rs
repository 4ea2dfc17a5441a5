//! Dead connections: data wait, nothing is in flight, and no timer is set. No sender and no
//! receiver may ever do that, whatever is lost: it is a fault of theirs, or of ours.

use burstlab_units::Time;

use super::hosts::{Flow, Hosts, is_dead};
use crate::measure::DemandSummary;
use crate::scenario::Ending;

/// So many are named at most.
const NAMED: usize = 5;

/// The connections that are dead, and those that ended before their time.
pub(super) struct Dead<'a> {
    hosts: &'a Hosts,
    /// None where a program outside the run acts: nobody knows then.
    dead: Vec<&'a Flow>,
}

impl<'a> Dead<'a> {
    /// The connections that are dead now, if nothing but the run acts.
    pub(super) fn of(hosts: &'a Hosts, alone: bool) -> Self {
        let dead = hosts.live().filter(|flow| alone && is_dead(hosts, flow)).collect();
        Self { hosts, dead }
    }

    /// Names the connections that are dead at the end of the run.
    pub(super) fn flows(&self) -> Option<String> {
        let dead = &self.dead;
        let first = dead.first()?;
        let names: Vec<String> = dead.iter().take(NAMED).map(|flow| flow.id.to_string()).collect();
        let more = dead.len() - names.len();
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let whose = match first.is_third_party() {
            true => "the stack",
            false => "Burstlab, and not of the scenario: report it with the scenario",
        };
        let flows = if dead.len() == 1 { "flow" } else { "flows" };
        Some(format!(
            "{flows} {}{rest}: data wait at the end, nothing is under way, and no timer is set, so \
             that nothing would ever happen again; this is a fault of {whose}",
            names.join(", ")
        ))
    }

    /// Names the flows whose connections ended before all was acknowledged, and says why.
    pub(super) fn ended(&self) -> Vec<String> {
        let ended = || self.hosts.live().filter_map(|flow| Some((flow, flow.ended()?)));
        let one = |(flow, (at, why)): (&Flow, (Time, Ending))| {
            format!(
                "flow {} ({}): its connection ended at {:.3} s, before all was acknowledged: {}",
                flow.id,
                flow.kind.label,
                at.as_secs_f64(),
                why.reason()
            )
        };
        let mut warnings: Vec<String> = ended().take(NAMED).map(one).collect();
        let more = ended().count() - warnings.len();
        if more > 0 {
            warnings.push(format!("so did those of {more} more flows: see flows[].ended"));
        }
        warnings
    }

    /// How many listed flows, of those with an end, are dead and not received.
    pub(super) fn transfers(&self) -> usize {
        let open = |flow: &&Flow| flow.bytes.is_some() && flow.far.received().is_none();
        let listed = |flow: &&Flow| flow.demand.is_none() && open(flow);
        let ended = self.hosts.live().filter(listed).filter(|flow| flow.ended().is_some()).count();
        ended + self.dead.iter().copied().filter(listed).count()
    }

    /// Whether all transfers of a demand that did not end are dead.
    pub(super) fn is_demand(&self, number: usize, demand: &DemandSummary) -> bool {
        let of_it =
            |flow: &&&Flow| flow.demand == Some(number as u32) && flow.far.received().is_none();
        self.dead.iter().filter(of_it).count() as u64 >= demand.censored
    }
}
