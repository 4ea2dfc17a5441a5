//! The numbers of ACK pacing.

use schemars::JsonSchema;
use serde::Serialize;

/// ACKs that edge nodes held back, over the whole run. An ACK counts as it comes to the edge node
/// of its sender.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct AckPacingSummary {
    /// ACKs that were held back.
    pub acks_delayed: u64,
    /// Mean time for which they were held back, in s; 0 if none was.
    pub delay_mean_s: f64,
    /// The longest time, in s.
    pub delay_max_s: f64,
}
