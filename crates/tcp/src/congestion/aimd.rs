//! Additive increase by a segment each round trip, multiplicative decrease to one half.

use serde::{Deserialize, Serialize};

/// RFC 5681 sections 3.1 (3) and (4); ns-2 `windowOption_ 1`, `increase_num_ 1`,
/// `decrease_num_ 0.5`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Aimd;

impl Aimd {
    pub(crate) fn grown(&self, cwnd: f64) -> f64 {
        cwnd + 1.0 / cwnd.max(1.0)
    }

    pub(crate) fn reduced(&self, window: f64) -> f64 {
        window / 2.0
    }
}
