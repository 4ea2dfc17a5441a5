//! A reduction that was for nothing is taken back: by the time stamp that an ACK echoes (Eifel,
//! RFC 3522 and 4015), by D-SACK (RFC 3708), or by F-RTO (RFC 5682).

use super::clock::Reading;
use super::rack::PERSIST;
use super::{Linux, Stage};

impl Linux {
    /// What is sent again from now on may turn out to have been sent again for nothing.
    pub(super) fn begin_undo(&mut self) {
        self.undo_marker = Some(self.queue.acked());
        let probe = u32::from(self.probed.is_some() && self.probe_again);
        let again = self.queue.counts()[2] + probe;
        // None sent again yet is not the same as none left.
        self.undo_left = (again > 0).then_some(again);
    }

    /// Whether the ACK is of a segment from before anything was sent again.
    fn was_delayed(&self) -> bool {
        match self.again_since {
            Some(ms) => self.peer.echoes_before(ms),
            None => self.options.sack || self.queue.acked() < self.high,
        }
    }

    pub(super) fn may_undo(&self) -> bool {
        self.undo_marker.is_some() && (self.undo_left == Some(0) || self.was_delayed())
    }

    fn undo(&mut self, now: Reading, unmark: bool) {
        if unmark {
            self.queue.unmark_lost();
        }
        let context = self.context(now);
        let (undone, raised) = self.path.undo(&context);
        self.undone += u64::from(undone);
        self.tells_reduction &= !raised;
        self.undo_marker = None;
        self.rack.advanced = true;
    }

    pub(super) fn forget_again_since(&mut self) {
        if !self.queue.any_again() {
            self.again_since = None;
        }
    }

    /// Without SACK a recovery is over only when more than its end is acknowledged.
    fn holds_on(&mut self) -> bool {
        if self.options.sack || self.queue.acked() != self.high {
            return false;
        }
        self.forget_again_since();
        true
    }

    /// All of the window that had a loss is acknowledged; returns whether to wait for more.
    pub(super) fn undo_recovery(&mut self, now: Reading) -> bool {
        if self.may_undo() {
            self.undo(now, false);
        } else {
            self.rack.persist = self.rack.persist.saturating_sub(1);
        }
        if self.holds_on() {
            return true;
        }
        self.set_stage(Stage::Open, now);
        false
    }

    /// Every segment that was sent again arrived twice (RFC 3708, `tcp_try_undo_dsack`).
    pub(super) fn undo_by_duplicates(&mut self, now: Reading) -> bool {
        if self.undo_marker.is_none() || self.undo_left != Some(0) {
            return false;
        }
        self.rack.persist = (self.rack.persist + 1).min(PERSIST);
        self.undo(now, false);
        true
    }

    /// A partial ACK in recovery; returns whether nothing else is to be done about it.
    pub(super) fn undo_partial(&mut self, now: Reading, before: u64, force: &mut bool) -> bool {
        if self.undo_marker.is_some() && self.was_delayed() {
            // A delayed segment, not one that was sent again, filled the hole.
            self.check_reordering_by_ack(before);
            if self.queue.counts()[2] > 0 {
                return true;
            }
            self.forget_again_since();
            self.undo(now, true);
            self.keep_open(now);
        } else {
            *force = self.must_retransmit();
        }
        false
    }

    fn check_reordering_by_ack(&mut self, before: u64) {
        self.check_reordering(before);
    }

    /// After a time-out; returns whether it was taken back.
    pub(super) fn undo_loss(&mut self, now: Reading, by_frto: bool) -> bool {
        if !by_frto && !self.may_undo() {
            return false;
        }
        self.undo(now, true);
        self.timeouts = 0;
        if self.holds_on() {
            return true;
        }
        if by_frto || self.options.sack {
            self.set_stage(Stage::Open, now);
        }
        true
    }
}
