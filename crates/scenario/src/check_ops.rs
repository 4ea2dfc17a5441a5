//! Fields that a slotted network needs, and fields without effect there.

use burstlab_optical::slotted::SlotClock;

use super::core_network::is_default;
use super::ends::host;
use super::error::{Check, refuse};
use super::{Ops, RouteChoice, Scenario};
use crate::topology::{Graph, Routes};

/// Slots are numbered over the run, and counted in parts of a millionth.
const SLOTS_MAX: u64 = 1 << 42;

/// Refuses fields of bursts, or of a path.
pub(super) fn check(scenario: &Scenario) -> Check {
    let Some(ops) = &scenario.ops else { return Ok(()) };
    if scenario.kind().is_path() {
        let problem = "slots are switched by the nodes of a mesh";
        let fix = "choose one, such as network.topology = \"line\" or \"custom\"";
        return refuse("network.topology", "\"path\"", problem, fix);
    }
    if let Some(index) = scenario.network.node.iter().flatten().position(|node| node.core.is_some())
    {
        let problem = "a slotted network has no bursts";
        let fix = "remove it, or remove [ops]";
        return refuse(format!("network.node[{index}].core"), "", problem, fix);
    }
    let plain = Scenario::default();
    let burst = [
        ("edge", scenario.edge == plain.edge),
        ("core", scenario.core == plain.core),
        ("signalling", is_default(&scenario.signalling)),
        ("loss", scenario.loss == plain.loss),
        ("bursts", scenario.bursts.is_empty()),
        ("batches", scenario.batches.is_empty()),
        ("run.bursts", scenario.run.bursts.is_none()),
        ("run.occupancy", scenario.run.occupancy.is_none()),
        (
            "network.routes_per_pair",
            ops.reroute().is_some() || scenario.network.routes_per_pair.is_none_or(|n| n == 1),
        ),
        (
            "network.route_choice",
            scenario.network.route_choice() == RouteChoice::First
                || ops.reroute().is_none() && scenario.network.route_choice() != RouteChoice::Ecmp,
        ),
    ];
    if let Some((table, _)) = burst.iter().find(|(_, plain)| !plain) {
        let problem = "a slotted network has no bursts, and one route for each pair";
        let fix = match *table {
            "network.routes_per_pair" => "remove it, or add [ops.dlcc.reroute]",
            _ => "remove it, or remove [ops]",
        };
        return refuse(*table, "", problem, fix);
    }
    super::idle_tables::check_ops(ops)?;
    slots(scenario, ops)
}

fn slots(scenario: &Scenario, ops: &Ops) -> Check {
    if ops.slot_header >= ops.slot_size {
        let problem = format!("nothing is left of a slot of {}", ops.slot_size);
        let fix = "write a smaller one";
        return refuse("ops.slot_header", ops.slot_header.to_string(), problem, fix);
    }
    let slot = SlotClock::new(ops.slot_size, scenario.network.link_rate).slot();
    let duration = scenario.run.duration;
    if duration.as_ps() / slot.as_ps() > SLOTS_MAX {
        let problem = format!("a run of {duration} has too many slots of {slot}");
        let fix = "write a longer slot, a slower network.link_rate or a shorter run.duration";
        return refuse("ops.slot_size", ops.slot_size.to_string(), problem, fix);
    }
    for (field, span) in [
        ("ops.smoothing.unit", ops.smoothing.unit),
        ("ops.congestion.rtt_max", ops.congestion.rtt_max),
        ("ops.congestion.loss_window", ops.congestion.loss_window),
        ("ops.congestion.sustained", ops.congestion.sustained),
    ] {
        let none = span.is_zero() && field == "ops.congestion.sustained";
        if span < slot && !none {
            let problem = format!("it is shorter than a slot, {slot}");
            return refuse(field, span.to_string(), problem, "write a longer time");
        }
    }
    Ok(())
}

/// Refuses rerouting where there is nothing to reroute, or no other route for it; `ends` are those
/// of each entry of `[[traffic]]`.
#[cold]
pub(super) fn reroute(scenario: &Scenario, routes: &Routes, ends: &[(u32, u32)]) -> Check {
    let Some(reroute) = scenario.ops.as_ref().and_then(Ops::reroute) else { return Ok(()) };
    let table = "ops.dlcc.reroute";
    if ends.is_empty() {
        let fix = "remove it, or add [[traffic]]";
        return refuse(table, "", "only UDP is rerouted, and there is none", fix);
    }
    if !ends.iter().any(|&(from, to)| routes.of(from, to).len() > 1) {
        let fix = "write network.routes_per_pair = 2, or remove it; the topology needs a cycle";
        return refuse(table, "", "no entry of [[traffic]] has a second route", fix);
    }
    if reroute.after >= reroute.hold {
        let problem = format!("congestion is over after hold = {}", reroute.hold);
        let fix = "write a shorter time";
        return refuse(format!("{table}.after"), reroute.after.to_string(), problem, fix);
    }
    Ok(())
}

/// Refuses edge nodes to leave unsmoothed that there are not.
pub(super) fn unsmoothed(scenario: &Scenario, graph: &Graph) -> Check {
    let names = scenario.ops.iter().flat_map(|ops| &ops.unsmoothed).enumerate();
    for (index, name) in names {
        host(graph, &format!("ops.unsmoothed[{index}]"), name)?;
    }
    Ok(())
}
