//! `flows.reverse`: data in the other direction of a connection too.

use burstlab_traffic::SIZE_MAX;
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::DURATION_MAX;
use super::write::{WRITES_MAX, Write};

/// The data that the called host sends back over the same connection. Without `bytes` and `script`
/// it always has data to send.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reverse {
    /// Name of this direction in tables and figures. Absent: the label of the flow, followed by
    /// `(back)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Time at which the called host begins to write, counted from the start of the connection.
    /// With `reply` it counts from the arrival of the data of the other direction.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
    /// A finite transfer of this many bytes of application data.
    #[schemars(extend(
        "x-minimum" = "1 B",
        "x-maximum" = SIZE_MAX,
        "x-or" = "remove it for a direction without end"
    ))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Writes of the application at given times after `start`, in order; takes the place of
    /// `bytes`.
    #[schemars(length(max = WRITES_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Vec<Write>>,
    /// Whether the called host writes only after all data of the other direction have arrived.
    pub reply: bool,
}
