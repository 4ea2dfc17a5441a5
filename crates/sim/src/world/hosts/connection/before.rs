//! The counts of a flow when measuring began.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

/// The state of a flow when measuring began.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Before {
    pub(super) segments: u64,
    /// Runs of segments beyond these that were there already.
    pub(super) early: Vec<(u64, u64)>,
    pub(super) bytes: u64,
    pub(super) round_trips: u64,
    /// Their sum.
    pub(super) round_trip: Span,
}
