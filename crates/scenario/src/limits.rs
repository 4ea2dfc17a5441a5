//! How long, and how slow, anything in a scenario may be.

use burstlab_units::{Rate, Span};

use super::ScenarioError;
use super::error::Check;

/// The longest run: instants are u64 picoseconds, and an event may lie ahead of the end.
pub(super) const DURATION_MAX: Span = Span::from_secs(2_000_000);
/// No single delay or timer may be longer, so that sums of instants stay in range.
pub(super) const SPAN_MAX: Span = Span::from_secs(100_000);
/// No more samples in a run: they are kept until its end.
pub(super) const SAMPLES_MAX: u64 = 10_000_000;
/// Slower links would let one packet take longer than a run.
const RATE_MIN: Rate = Rate::from_bps(100);

pub(super) fn within(path: &str, value: Span, max: Span) -> Check {
    if value <= max {
        return Ok(());
    }
    let fix = format!("write at most {max}");
    Err(ScenarioError::new(path, value.to_string(), "it is too long", fix))
}

pub(super) fn fast_enough(path: &str, rate: Rate) -> Check {
    if rate >= RATE_MIN {
        return Ok(());
    }
    let fix = format!("write at least {RATE_MIN}");
    Err(ScenarioError::new(path, rate.to_string(), "it is too slow", fix))
}
