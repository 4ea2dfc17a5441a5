//! Reductions of the window: how many there were and for what, and one that a detector of lost
//! bursts excuses. Then the losses are repaired as ever, but the window, the threshold and the law
//! are what they were before, and no time-out is longer for it (Yu et al. 2004, section IV, where a
//! sender finds losses by time-outs).

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::path::Earlier;
use super::timer::Purpose;
use super::{Linux, Stage};
use crate::segment::Transmission;

/// Why the window was reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ReducedBy {
    /// A repair began, or a probe made one.
    Loss,
    Timeout,
    Mark,
}

/// Reductions so far: all, and by marks; the last one; and what was before it, where it may be
/// excused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReductionLog {
    pub(crate) all: u64,
    pub(crate) by_marks: u64,
    pub(crate) last: Option<ReducedBy>,
    before: Option<Box<(Earlier, u32)>>,
    /// Whether the losses that are being repaired are excused.
    pub(crate) excused: bool,
}

impl ReductionLog {
    pub(crate) fn note(&mut self, by: ReducedBy) {
        self.all += 1;
        self.by_marks += u64::from(by == ReducedBy::Mark);
        self.last = Some(by);
    }
}

impl Linux {
    /// Notes what a reduction that follows would change.
    pub(crate) fn remember(&mut self) {
        let before = (self.path.earlier(), self.timeouts);
        match &mut self.reductions.before {
            Some(place) => **place = before,
            None => self.reductions.before = Some(Box::new(before)),
        }
    }

    /// The reduction that was just made is excused: all is as before it but for the repair.
    pub(crate) fn excuse(&mut self, now: Time, out: &mut Vec<Transmission>) {
        let Some(before) = self.reductions.before.take() else { return };
        let now = self.clock.read(now);
        let (earlier, timeouts) = *before;
        self.path.go_back(earlier);
        self.timeouts = timeouts;
        self.undo_marker = None;
        self.frto = false;
        if self.stage >= Stage::Recovery {
            self.stage = Stage::Recovery;
            self.reductions.excused = true;
        }
        self.path.update_pacing_rate(self.queue.outstanding());
        self.send_lost(now, out);
        self.push(now, out);
        if !self.queue.is_empty() {
            self.timer.set(now, Purpose::Timeout, self.path.rto());
        }
    }

    /// A burst that held `segments`, which rise, is known to be lost: what is outstanding of them
    /// goes out again, and costs no window.
    pub(crate) fn repair_burst(
        &mut self,
        now: Time,
        segments: &[u64],
        out: &mut Vec<Transmission>,
    ) {
        self.remember();
        let calm = self.stage < Stage::Recovery;
        for &seq in segments {
            if self.queue.all().contains(&seq) {
                self.mark_lost(seq);
                self.queue.unlist(seq);
            }
        }
        if calm {
            self.high = self.queue.next();
            self.probed = None;
            self.stage = Stage::Recovery;
        }
        self.excuse(now, out);
    }
}
