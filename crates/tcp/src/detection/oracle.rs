//! Perfect knowledge: the bound that no detector can pass.

use serde::{Deserialize, Serialize};

use crate::discriminator::{BurstReport, Discriminator, Verdict};
use crate::moment::Moment;

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

impl Discriminator for Oracle {
    fn on_burst_nak(&mut self, report: &BurstReport, moment: &Moment) -> bool {
        report.covers(moment)
    }

    fn on_truth(&mut self, truth: Verdict) {
        self.truth = truth;
    }

    fn on_timeout(&mut self, _: &Moment) -> Verdict {
        self.truth
    }

    fn is_sure(&self) -> bool {
        true
    }
}
