//! Burst acknowledgements: the edge nodes tell which segments a burst carries.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::config::{BackMode, Config, EgressUnknown};
use crate::discriminator::{BurstReport, Discriminator, Notice, Verdict, false_if};
use crate::moment::Moment;

/// Yu et al. 2004, section IV.B.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Back {
    mode: BackMode,
    egress_unknown: EgressUnknown,
    /// The last burst that took each unacknowledged segment out of the ingress.
    left: BTreeMap<u64, u64>,
    /// Unacknowledged segments that have reached the egress.
    arrived: BTreeSet<u64>,
}

impl Back {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            mode: config.back_mode,
            egress_unknown: config.back_egress_unknown,
            left: BTreeMap::new(),
            arrived: BTreeSet::new(),
        }
    }

    /// Whether one and the same burst took all outstanding segments out of the ingress. A segment
    /// of which nothing was heard is still in the access network, or was lost there.
    fn one_burst(&self, moment: &Moment) -> bool {
        let mut bursts = moment.suspects().map(|seq| self.left.get(&seq));
        match bursts.next().flatten() {
            Some(first) => bursts.all(|burst| burst == Some(first)),
            None => false,
        }
    }

    fn all_arrived(&self, moment: &Moment) -> bool {
        !moment.suspects().is_empty() && moment.suspects().all(|seq| self.arrived.contains(&seq))
    }
}

impl Discriminator for Back {
    fn on_burst_ack(&mut self, report: &BurstReport, _: &Moment) {
        if report.notice == Notice::Left {
            self.left.extend(report.segments.iter().map(|&seq| (seq, report.burst)));
        } else {
            self.arrived.extend(report.segments);
        }
    }

    fn on_retransmission(&mut self, seq: u64) {
        self.left.remove(&seq);
        self.arrived.remove(&seq);
    }

    fn on_progress(&mut self, next: u64) {
        while self.left.first_key_value().is_some_and(|(&seq, _)| seq < next) {
            self.left.pop_first();
        }
        while self.arrived.first().is_some_and(|&seq| seq < next) {
            self.arrived.pop_first();
        }
    }

    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        match self.mode {
            BackMode::Ingress => false_if(self.one_burst(moment)),
            BackMode::Egress if self.all_arrived(moment) => Verdict::True,
            BackMode::Egress => match self.egress_unknown {
                EgressUnknown::FalseTimeout => Verdict::False,
                EgressUnknown::TrueTimeout => Verdict::True,
            },
            BackMode::Both => {
                let any_arrived = moment.suspects().any(|seq| self.arrived.contains(&seq));
                false_if(self.one_burst(moment) && !any_arrived)
            }
        }
    }
}
