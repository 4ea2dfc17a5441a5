//! The verdict of a detector.

use serde::{Deserialize, Serialize};

/// The kind that a time-out is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// Congestion: slow start from one segment.
    True,
    /// One lost burst: half the window, no slow start, no back-off.
    False,
}
