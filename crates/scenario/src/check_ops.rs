//! What a slotted network needs, and what it has no use for.

use burstlab_optical::slotted::SlotClock;
use burstlab_units::{Bytes, Span};

use super::core_network::is_default;
use super::error::Check;
use super::limits::{SPAN_MAX, within};
use super::{Ops, Scenario, ScenarioError, Topology};
use crate::topology::Graph;

/// Slots are numbered over the run, and counted in parts of a millionth.
const SLOTS_MAX: u64 = 1 << 42;
const SLOT_SIZE_MAX: Bytes = Bytes::new(1_000_000);
const BUFFER_MAX: u32 = 1_000_000;

fn error(
    path: impl Into<String>,
    value: impl Into<String>,
    problem: impl Into<String>,
    fix: impl Into<String>,
) -> Check {
    Err(ScenarioError::new(path, value, problem, fix))
}

/// Refuses what belongs to bursts, or to a path.
pub(super) fn check(scenario: &Scenario) -> Check {
    let Some(ops) = &scenario.ops else { return Ok(()) };
    if scenario.network.topology == Topology::Path {
        let problem = "slots are switched by the nodes of a mesh";
        let fix = "choose one, such as network.topology = \"line\" or \"custom\"";
        return error("network.topology", "\"path\"", problem, fix);
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
        ("network.routes_per_pair", scenario.network.routes_per_pair.is_none_or(|n| n == 1)),
    ];
    if let Some((table, _)) = burst.iter().find(|(_, plain)| !plain) {
        let problem = "a slotted network has no bursts, and one route for each pair";
        return error(*table, "", problem, "remove it, or remove [ops]");
    }
    slots(scenario, ops)?;
    smoothing(ops)?;
    congestion(ops)
}

fn slots(scenario: &Scenario, ops: &Ops) -> Check {
    if !(Bytes::new(1)..=SLOT_SIZE_MAX).contains(&ops.slot_size) {
        let fix = format!("write \"1 B\" to \"{SLOT_SIZE_MAX}\"");
        return error("ops.slot_size", ops.slot_size.to_string(), "no length of a slot", fix);
    }
    if ops.slot_header >= ops.slot_size {
        let problem = format!("nothing is left of a slot of {}", ops.slot_size);
        let fix = "write a smaller one";
        return error("ops.slot_header", ops.slot_header.to_string(), problem, fix);
    }
    let slot = SlotClock::new(ops.slot_size, scenario.network.link_rate).slot();
    let duration = scenario.run.duration;
    if duration.as_ps() / slot.as_ps() > SLOTS_MAX {
        let problem = format!("a run of {duration} has too many slots of {slot}");
        let fix = "write a longer slot, a slower network.link_rate or a shorter run.duration";
        return error("ops.slot_size", ops.slot_size.to_string(), problem, fix);
    }
    if ops.buffer > BUFFER_MAX {
        let fix = format!("write 0 to {BUFFER_MAX}");
        return error("ops.buffer", ops.buffer.to_string(), "out of range", fix);
    }
    within("ops.smoothing.unit", ops.smoothing.unit, SPAN_MAX)?;
    within("ops.congestion.rtt_max", ops.congestion.rtt_max, SPAN_MAX)?;
    within("ops.congestion.loss_window", ops.congestion.loss_window, SPAN_MAX)?;
    for (field, span) in [
        ("ops.smoothing.unit", ops.smoothing.unit),
        ("ops.congestion.rtt_max", ops.congestion.rtt_max),
        ("ops.congestion.loss_window", ops.congestion.loss_window),
    ] {
        if span < slot {
            let problem = format!("it is shorter than a slot, {slot}");
            return error(field, span.to_string(), problem, "write a longer time");
        }
    }
    Ok(())
}

fn smoothing(ops: &Ops) -> Check {
    let rule = &ops.smoothing;
    if !(0.0..1.0).contains(&rule.weight) {
        let fix = "write 0 or more, and less than 1";
        return error("ops.smoothing.weight", rule.weight.to_string(), "no weight", fix);
    }
    if !(1..=10_000).contains(&rule.units) {
        let (value, fix) = (rule.units.to_string(), "write 1 to 10000");
        return error("ops.smoothing.units", value, "out of range", fix);
    }
    if !(1e-6..=1.0).contains(&rule.min_rate) {
        let problem = "no share of the slots of a wavelength";
        let fix = "write a number from 0.000001 to 1";
        return error("ops.smoothing.min_rate", rule.min_rate.to_string(), problem, fix);
    }
    Ok(())
}

fn congestion(ops: &Ops) -> Check {
    let threshold = ops.congestion.threshold;
    if !(0.0..=1.0).contains(&threshold) {
        let problem = "no share of what an output carries";
        let (value, fix) = (threshold.to_string(), "write 0 to 1");
        return error("ops.congestion.threshold", value, problem, fix);
    }
    let Some(dlcc) = &ops.dlcc else { return Ok(()) };
    for (field, span) in [
        ("keep", dlcc.keep.unwrap_or_default()),
        ("notification_delay", dlcc.notification_delay.unwrap_or_default()),
        ("piggyback_wait", dlcc.piggyback_wait),
    ] {
        within(&format!("ops.dlcc.{field}"), span, SPAN_MAX)?;
    }
    if dlcc.keep.is_some_and(Span::is_zero) {
        let fix = "write a positive time, or remove it";
        return error("ops.dlcc.keep", "0 s", "nothing is remembered", fix);
    }
    Ok(())
}

/// Refuses edge nodes to leave unsmoothed that there are not.
pub(super) fn unsmoothed(scenario: &Scenario, graph: &Graph) -> Check {
    let names = scenario.ops.iter().flat_map(|ops| &ops.unsmoothed).enumerate();
    for (index, name) in names {
        super::check_mesh::host(graph, &format!("ops.unsmoothed[{index}]"), name)?;
    }
    Ok(())
}
