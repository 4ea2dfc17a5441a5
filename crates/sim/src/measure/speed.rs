//! How much of a run its hosts took packet by packet.

use schemars::JsonSchema;
use serde::Serialize;

/// A run is fast where hosts take packets together, and ahead of the clock. This says how often
/// they did not, and because of which fields they could not.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct SpeedSummary {
    /// Share of the delivered data packets that receivers took at events of their own, from 0 to 1;
    /// of one packet where none was delivered.
    pub one_by_one: f64,
    /// The fields because of which hosts keep to the clock: those of the whole run, and those of
    /// flows and demands, with the flow or demand, or with how many there are.
    pub because: Vec<String>,
}
