//! Segments that reports of lost bursts named.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::discriminator::BurstReport;
use crate::moment::Moment;

/// The segments that burst NAKs named, and that were neither acknowledged nor sent again since.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Named(BTreeSet<u64>);

impl Named {
    pub(crate) fn add(&mut self, report: &BurstReport, moment: &Moment) {
        self.0.extend(report.segments.iter().filter(|&&seq| seq >= moment.first));
    }

    /// Whether the first segment that a loss may be about is one.
    pub(crate) fn holds(&self, first: u64) -> bool {
        self.0.contains(&first)
    }

    /// All below `next` have arrived.
    pub(crate) fn forget(&mut self, next: u64) {
        if self.0.first().is_some_and(|&first| first < next) {
            self.0 = self.0.split_off(&next);
        }
    }

    pub(crate) fn remove(&mut self, seq: u64) {
        self.0.remove(&seq);
    }
}
