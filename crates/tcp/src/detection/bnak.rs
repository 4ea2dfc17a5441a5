//! Burst negative acknowledgements: the core node that drops a burst says so.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::config::{BnakPartial, Config};
use crate::discriminator::{BurstReport, Discriminator, Verdict, false_if};
use crate::moment::Moment;

/// Yu et al. 2004, section IV.C.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bnak {
    partial: BnakPartial,
    /// Unacknowledged segments of the last dropped burst, and its number.
    dropped: (u64, BTreeSet<u64>),
}

impl Bnak {
    pub(super) fn new(config: &Config) -> Self {
        Self { partial: config.bnak_partial, dropped: (0, BTreeSet::new()) }
    }
}

impl Discriminator for Bnak {
    /// Returns whether the burst held all that is outstanding.
    fn on_burst_nak(&mut self, report: &BurstReport, moment: &Moment) -> bool {
        self.dropped = (report.burst, report.segments.iter().copied().collect());
        report.covers(moment)
    }

    fn on_progress(&mut self, next: u64) {
        while self.dropped.1.first().is_some_and(|&seq| seq < next) {
            self.dropped.1.pop_first();
        }
    }

    /// A time-out comes where no notice did, or one that did not hold all.
    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        let one_burst = self.partial == BnakPartial::Recheck
            && !moment.suspects().is_empty()
            && moment.suspects().all(|seq| self.dropped.1.contains(&seq));
        false_if(one_burst)
    }
}
