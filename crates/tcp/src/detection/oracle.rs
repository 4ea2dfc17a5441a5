//! Perfect knowledge: the bound that no detector can pass.

use serde::{Deserialize, Serialize};

use super::detects::{Detects, Notice, Outstanding, covers};
use crate::verdict::Verdict;

/// The truth about the coming time-out, as reported by the world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Oracle {
    truth: Verdict,
}

impl Default for Oracle {
    fn default() -> Self {
        Self { truth: Verdict::True }
    }
}

impl Detects for Oracle {
    fn on_notice(&mut self, notice: Notice, _: u64, segments: &[u64], now: &Outstanding) -> bool {
        notice == Notice::Dropped && covers(segments, now)
    }

    fn tell(&mut self, truth: Verdict) {
        self.truth = truth;
    }

    fn on_timeout(&mut self, _: &Outstanding) -> Verdict {
        self.truth
    }

    fn is_sure(&self) -> bool {
        true
    }
}
