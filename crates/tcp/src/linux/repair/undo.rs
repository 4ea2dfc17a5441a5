//! A reduction that was for nothing is taken back: by the time stamp that an ACK echoes (Eifel,
//! RFC 3522 and 4015), by D-SACK (RFC 3708), or by F-RTO (RFC 5682).

use super::rack::PERSIST;
use super::{Repair, Site, Stage};

impl Repair {
    /// Any retransmission from now on may turn out to be needless.
    pub(super) fn begin_undo(&mut self, site: &Site) {
        self.undo.marker = Some(site.queue.acked());
        let probe = u32::from(self.probed.is_some() && self.probe_again);
        let again = site.queue.counts()[2] + probe;
        // None sent again yet is not the same as none left.
        self.undo.left = (again > 0).then_some(again);
    }

    /// Whether there is something to take back, and the ACK is of a segment from before anything
    /// was sent again.
    fn was_delayed(&self, site: &Site) -> bool {
        let delayed = match self.undo.again_since {
            Some(ms) => site.peer.echoes_before(ms),
            None => site.options.sack || site.queue.acked() < self.high,
        };
        self.undo.marker.is_some() && delayed
    }

    fn may_undo(&self, site: &Site) -> bool {
        self.undo.is_by_duplicates() || self.was_delayed(site)
    }

    fn undo(&mut self, site: &mut Site, unmark: bool) {
        if unmark {
            site.queue.unmark_lost();
        }
        let (undone, raised) = site.path.undo(&self.context(site));
        self.reductions.undone += u64::from(undone);
        self.tells_reduction &= !raised;
        self.undo.give_up();
        self.rack.find_losses_again();
    }

    pub(super) fn forget_repairs(&mut self, site: &Site) {
        if !site.queue.any_again() {
            self.undo.forget_repairs();
        }
    }

    /// Without SACK a recovery is over only when more than its end is acknowledged.
    fn holds_on(&mut self, site: &Site) -> bool {
        if site.options.sack || site.queue.acked() != self.high {
            return false;
        }
        self.forget_repairs(site);
        true
    }

    /// All of the window that had a loss is acknowledged; returns whether to wait for more.
    pub(super) fn undo_recovery(&mut self, site: &mut Site) -> bool {
        if self.may_undo(site) {
            self.undo(site, false);
        } else {
            self.rack.persist = self.rack.persist.saturating_sub(1);
        }
        if self.holds_on(site) {
            return true;
        }
        self.set_stage(site, Stage::Open);
        false
    }

    /// Every segment that was sent again arrived twice (RFC 3708, `tcp_try_undo_dsack`).
    pub(super) fn undo_by_duplicates(&mut self, site: &mut Site) -> bool {
        let undoes = self.undo.is_by_duplicates();
        if undoes {
            self.rack.persist = (self.rack.persist + 1).min(PERSIST);
            self.undo(site, false);
        }
        undoes
    }

    /// A partial ACK in recovery; returns whether nothing else is to be done about it.
    pub(super) fn undo_partial(&mut self, site: &mut Site, before: u64, force: &mut bool) -> bool {
        if self.was_delayed(site) {
            // A delayed segment, not one that was sent again, filled the hole.
            self.reordering.note(before, site.queue);
            if site.queue.counts()[2] > 0 {
                return true;
            }
            self.forget_repairs(site);
            self.undo(site, true);
            self.keep_open(site);
        } else {
            *force = site.queue.is_reported_beyond(self.reordering.segments());
        }
        false
    }

    /// After a time-out; returns whether it was taken back.
    pub(super) fn undo_loss(&mut self, site: &mut Site, by_frto: bool) -> bool {
        if !by_frto && !self.may_undo(site) {
            return false;
        }
        self.undo(site, true);
        self.timeouts = 0;
        if self.holds_on(site) {
            return true;
        }
        if by_frto || site.options.sack {
            self.set_stage(site, Stage::Open);
        }
        true
    }
}
