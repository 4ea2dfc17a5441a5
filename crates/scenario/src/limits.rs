//! How long, how slow and how many anything in a scenario may be, where that is of more than one
//! field.

use burstlab_units::{Rate, Span};

use super::ScenarioError;
use super::error::{Check, refuse};

/// The longest run: instants are u64 picoseconds, and an event may lie ahead of the end.
pub(super) const DURATION_MAX: Span = Span::from_secs(2_000_000);
/// No single delay or timer may be longer, so that sums of instants stay in range.
pub(super) const SPAN_MAX: Span = Span::from_secs(100_000);
/// No time of the control plane is longer, so that sums over all nodes stay in range.
pub(super) const CONTROL_MAX: Span = Span::from_secs(1000);
/// Slower links would let one packet take longer than a run.
pub(super) const RATE_MIN: Rate = Rate::from_bps(100);
/// Most channels, processors and the like of a node; more would be as good as no limit.
pub(super) const PARALLEL_MAX: u32 = 1000;
/// The highest class of packets.
pub(super) const CLASS_MAX: u32 = 999;

pub(super) fn within(path: &str, value: Span, max: Span) -> Check {
    if value <= max {
        return Ok(());
    }
    let fix = format!("write at most {max}");
    Err(ScenarioError::new(path, value.to_string(), "it is too long", fix))
}

/// Refuses a `stop` of the table at `at` that is not after its `start`.
pub(super) fn span_of(at: &str, start: Span, stop: Option<Span>) -> Check {
    match stop {
        Some(stop) if stop <= start => {
            let problem = format!("it is not after start = {start}");
            refuse(format!("{at}.stop"), stop.to_string(), problem, "write a later time")
        }
        _ => Ok(()),
    }
}
