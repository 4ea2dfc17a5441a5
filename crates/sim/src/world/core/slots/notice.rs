//! What edges learn of congestion.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

/// A notification of a slot lost by congestion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CongestionNotice {
    /// The edge that sent the slot, and when it left.
    pub(super) edge: u32,
    pub(super) left: Time,
    /// The congested link and its loss rate.
    pub(super) link: u32,
    pub(super) loss: f64,
    /// Segments that were in the slot: slot of the flow, its number, the segment.
    pub(super) segments: Vec<(u32, u32, u64)>,
    /// The pair of edges whose slot it was, and the fibres that the slot had crossed.
    pub(super) pair: u32,
    pub(super) hops: u32,
    /// When it leaves by itself at the latest.
    pub(super) leaves: Time,
}
