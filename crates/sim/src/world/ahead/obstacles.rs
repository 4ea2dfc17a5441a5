//! The fields because of which nothing in a run may be ahead of the clock. The numbers of the
//! reasons are those of `policy`.

use super::traced::keeps_to_the_clock;
use crate::measure::Trace;
use crate::scenario::{Resolved, TieBreak};

/// The fields of the scenario, as it writes them; and the recorded tables, if they are a reason.
/// `others`: hosts of some listed flows have more than data on one link and ACKs on the other.
pub(super) fn obstacles(resolved: &Resolved, trace: Trace, others: bool) -> Vec<&'static str> {
    let scenario = &resolved.scenario;
    let in_turn = scenario.kind().is_path()
        && scenario.demand.is_empty()
        && scenario.traffic.is_empty()
        && !others
        && !resolved.listens();
    let [near, far] = resolved.link_loss.each_ref().map(Option::is_some);
    let stays = resolved.needs_classes() || resolved.needs_stacks();
    let outside = resolved.stacks.as_ref().is_some_and(|stacks| stacks.outside().is_some());
    [
        (keeps_to_the_clock(resolved, trace), "the recorded tables"), // 1
        (scenario.run.tie_break == TieBreak::Random, "run.tie_break"), // 2
        (scenario.access.shared && !in_turn, "access.shared"),        // 3
        (near, "access.loss"),                                        // 4
        (far, "access.receiver.loss"),                                // 4
        (outside, "a program outside the run"),                       // 5
        (scenario.run.bursts.is_some() && stays, "run.bursts"),       // 8
    ]
    .into_iter()
    .filter_map(|(holds, field)| holds.then_some(field))
    .collect()
}
