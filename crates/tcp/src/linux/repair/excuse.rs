//! Reductions of the window: how many there were and for what, and one that a detector of lost
//! bursts excuses. Then the losses are repaired as ever, but the window, the threshold and the law
//! are what they were before, and no time-out is longer for it (Yu et al. 2004, section IV, where a
//! sender finds losses by time-outs).

use serde::{Deserialize, Serialize};

use super::{Repair, Site, Stage};
use crate::linux::path::{Earlier, Path};

/// Why the window was reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ReducedBy {
    /// A repair began, or a probe made one.
    Loss,
    Timeout,
    Mark,
}

/// Reductions so far: all, those by marks, and those that were taken back; the last one; and what
/// was before it, with the time-outs since progress, where it may be excused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReductionLog {
    all: u64,
    by_marks: u64,
    pub(super) undone: u64,
    last: Option<ReducedBy>,
    before: Option<Box<(Earlier, u32)>>,
    /// Whether the losses that are being repaired are excused.
    pub(super) excused: bool,
}

impl ReductionLog {
    pub(super) fn note(&mut self, by: ReducedBy) {
        self.all += 1;
        self.by_marks += u64::from(by == ReducedBy::Mark);
        self.last = Some(by);
    }

    /// All, those by marks, and those that were taken back.
    pub(crate) fn counts(&self) -> [u64; 3] {
        [self.all, self.by_marks, self.undone]
    }

    /// Whether the losses that are being repaired are excused.
    pub(crate) fn excuses(&self) -> bool {
        self.excused
    }

    /// Whether the last one was for a time-out.
    pub(crate) fn last_is_timeout(&self) -> bool {
        self.last == Some(ReducedBy::Timeout)
    }
}

impl Repair {
    /// Notes what a reduction that follows would change.
    pub(crate) fn remember(&mut self, path: &Path) {
        let before = (path.earlier(), self.timeouts);
        match &mut self.reductions.before {
            Some(place) => **place = before,
            None => self.reductions.before = Some(Box::new(before)),
        }
    }

    /// The reduction that was just made is excused: all is as before it, but that what is lost is
    /// to be repaired. Returns whether one was.
    pub(crate) fn excuse(&mut self, site: &mut Site) -> bool {
        let Some(before) = self.reductions.before.take() else { return false };
        site.path.go_back(before.0);
        self.timeouts = before.1;
        self.undo.give_up();
        self.frto = false;
        if self.stage >= Stage::Recovery {
            self.stage = Stage::Recovery;
            self.reductions.excused = true;
        }
        true
    }

    /// A burst that held `segments`, which rise, is known to be lost: what is outstanding of them
    /// is to be sent again.
    pub(crate) fn take_lost_burst(&mut self, site: &mut Site, segments: &[u64]) {
        self.remember(site.path);
        let calm = self.stage < Stage::Recovery;
        for &seq in segments {
            if site.queue.all().contains(&seq) {
                self.mark_lost(site, seq);
                site.queue.unlist(seq);
            }
        }
        if calm {
            self.high = site.queue.next();
            self.probed = None;
            self.stage = Stage::Recovery;
        }
    }
}
