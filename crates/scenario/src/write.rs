//! The data that an application hands to TCP, and their times.

use burstlab_traffic::SIZE_MAX;
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::DURATION_MAX;

/// Most writes of a flow.
pub(super) const WRITES_MAX: u32 = 9000;

/// The application hands data to TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// Time of the write, counted from the start of the flow.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub at: Span,
    /// Size of the write, in application data.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = SIZE_MAX))]
    pub bytes: Bytes,
}
