//! Perfect knowledge: the bound that no detector can pass.

use super::Verdict;

/// What whoever knows has told of the coming time-out.
#[derive(Clone, Debug)]
pub(super) struct Oracle {
    pub(super) truth: Verdict,
}

impl Default for Oracle {
    fn default() -> Self {
        Self { truth: Verdict::True }
    }
}
