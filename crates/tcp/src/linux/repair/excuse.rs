//! Reductions of the window: how many there were and for what, and one that a detector of lost
//! bursts excuses. Then the losses are repaired as ever, but the window, the threshold and the law
//! are what they were before, and no time-out is longer for it (Yu et al. 2004, section IV, where a
//! sender finds losses by time-outs).

use super::{Repair, Site, Stage};
use crate::linux::path::Path;

impl Repair {
    /// Notes what a reduction that follows would change.
    pub(crate) fn remember(&mut self, path: &Path) {
        let before = (path.earlier(), self.timeouts);
        match &mut self.reductions.before {
            Some(place) => **place = before,
            None => self.reductions.before = Some(Box::new(before)),
        }
    }

    /// The reduction that was just made is excused: all is as before it, except that what is lost
    /// is to be repaired. Returns whether one was.
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
