//! The stage of a connection: whether it is in order, has to repair losses, or has repaired them.
//! Names in brackets are functions of `tcp_input.c` and `tcp_recovery.c`, Linux 6.12.
//!
//! `on_dubious` follows `tcp_fastretrans_alert`. The caller has already applied the ACK to the
//! queue, so all counts here include it. In the open stage, an ACK of new data comes here only if
//! it also has SACK blocks or a mark. Such an ACK without either leaves the stage open. `high` is
//! `high_seq` of the kernel: one past the last segment sent when a repair or reduction began. The
//! window is reduced at most once for one window of data: a reduction that a mark began goes on
//! when a repair begins.

use super::{ReducedBy, Repair, Rexmit, Site, Stage};
use crate::linux::ack_facts::AckFacts;
use crate::linux::law::Cause;
use crate::linux::queue::{LOST, SACKED};

impl Repair {
    /// An ACK that is not in order: a duplicate, a report, a mark, or any while the stage is not
    /// open (`tcp_fastretrans_alert`). `before` is the cumulative ACK before it. Returns what may
    /// be sent besides new data.
    pub(crate) fn on_dubious(
        &mut self,
        site: &mut Site,
        before: u64,
        duplicates: u32,
        heard: &mut AckFacts,
    ) -> Rexmit {
        let mut force = duplicates > 0
            || (heard.sacked && site.queue.is_reported_beyond(self.reordering.segments()));
        if site.queue.is_empty() {
            site.queue.forget_duplicates();
        }
        // A mark is of congestion, so that nothing is taken back (RFC 3168 section 6.1.2).
        if heard.ece {
            site.path.forget_threshold();
        }
        if heard.reneged && heard.advanced {
            site.await_reneged();
            heard.set_timer = false;
            return Rexmit::None;
        }
        if self.stage == Stage::Open {
            self.undo.forget_repairs();
        } else if site.queue.acked() >= self.high && self.leave(site) {
            return Rexmit::None;
        }
        let first = self.stage != Stage::Recovery;
        match self.stage {
            Stage::Recovery => {
                // `tcp_add_reno_sack`, else `tcp_try_undo_partial` (RFC 6582 section 3.2 step 3).
                if !heard.advanced {
                    if !site.options.sack {
                        self.add_duplicates(site, duplicates, heard.ece);
                    }
                } else if self.undo_partial(site, before, &mut force) {
                    return Rexmit::None;
                }
                if self.undo_by_duplicates(site) {
                    self.try_to_open(site, heard);
                }
                self.find_losses(site, heard);
                if self.stage != Stage::Recovery {
                    if !self.has_to_recover(site) {
                        return Rexmit::None;
                    }
                    self.enter_recovery(site, heard.ece);
                }
            }
            Stage::Loss => {
                // `tcp_process_loss`; one lost again begins a repair (RFC 8985 section 6.2).
                let rexmit = self.on_ack_after_timeout(site, duplicates, heard);
                self.find_losses(site, heard);
                let goes_on = self.stage == Stage::Open || heard.lost_again;
                if !goes_on || !self.go_on(site, duplicates, heard) {
                    return rexmit;
                }
            }
            _ => {
                if !self.go_on(site, duplicates, heard) {
                    return Rexmit::None;
                }
            }
        }
        // `tcp_update_scoreboard` (RFC 6675 section 5).
        if !site.options.rack && force {
            self.mark_by_count(site, first);
        }
        Rexmit::Lost
    }

    /// All of the window that had a loss or a mark is acknowledged; returns whether nothing else is
    /// to be done. (RFC 5681 section 3.2 step 6, RFC 6937 section 3.)
    fn leave(&mut self, site: &mut Site) -> bool {
        match self.stage {
            // `tcp_end_cwnd_reduction`, once data beyond the mark are acknowledged.
            Stage::Cwr if site.queue.acked() != self.high => {
                self.end_reduction(site);
                self.set_stage(site, Stage::Open);
            }
            Stage::Recovery => {
                if !site.options.sack {
                    site.queue.forget_duplicates();
                }
                // `tcp_try_undo_recovery`, else `tcp_end_cwnd_reduction`.
                if self.undo_recovery(site) {
                    return true;
                }
                self.end_reduction(site);
            }
            _ => {}
        }
        false
    }

    /// In order, or with some disorder: whether a repair begins (`tcp_fastretrans_alert`, its
    /// `default`).
    fn go_on(&mut self, site: &mut Site, duplicates: u32, heard: &mut AckFacts) -> bool {
        // `tcp_reset_reno_sack` and `tcp_add_reno_sack`.
        if !site.options.sack {
            if heard.advanced {
                site.queue.forget_duplicates();
            }
            self.add_duplicates(site, duplicates, heard.ece);
        }
        if self.stage <= Stage::Disorder {
            self.undo_by_duplicates(site);
        }
        self.find_losses(site, heard);
        if !self.has_to_recover(site) {
            self.try_to_open(site, heard);
            return false;
        }
        self.enter_recovery(site, heard.ece);
        true
    }

    /// `tcp_try_to_open`.
    fn try_to_open(&mut self, site: &mut Site, heard: &AckFacts) {
        self.forget_repairs(site);
        // RFC 3168 section 6.1.2 (`tcp_enter_cwr`).
        if heard.ece && self.stage < Stage::Cwr {
            self.undo.give_up();
            self.begin_reduction(site, ReducedBy::Mark, Cause::Mark);
            self.set_stage(site, Stage::Cwr);
        }
        if self.stage != Stage::Cwr {
            self.keep_open(site);
        }
    }

    /// Open, or disorder where something is reported, lost or was sent again
    /// (`tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self, site: &mut Site) {
        let order = site.queue.counts()[..2] == [0; 2] && !site.queue.any_again();
        let stage = if order { Stage::Open } else { Stage::Disorder };
        if stage != self.stage {
            self.set_stage(site, stage);
            self.high = site.queue.next();
        }
    }

    /// `tcp_time_to_recover`: something is lost, or `DupThresh` are reported (RFC 6675 section 5).
    fn has_to_recover(&self, site: &Site) -> bool {
        let [sacked, lost, _] = site.queue.counts();
        lost > 0 || (!site.options.rack && sacked + 1 > self.reordering.segments())
    }

    /// `tcp_enter_recovery` (RFC 6675 section 5 step 4, RFC 8985 section 6.2 step 5).
    pub(super) fn enter_recovery(&mut self, site: &mut Site, ece: bool) {
        self.forget_repairs(site);
        site.path.forget_threshold();
        self.begin_undo(site);
        // A reduction for a mark goes on; no two for one window of data (RFC 3168 section 6.1.2).
        if !self.stage.reduces() {
            if !ece {
                site.path.remember_threshold(self.stage);
            }
            let by = if ece { ReducedBy::Mark } else { ReducedBy::Loss };
            self.begin_reduction(site, by, Cause::Loss);
        }
        self.recoveries += 1;
        self.set_stage(site, Stage::Recovery);
    }

    /// `tcp_identify_packet_loss`: New-Reno, or RACK (RFC 8985 section 6.2).
    fn find_losses(&mut self, site: &mut Site, heard: &mut AckFacts) {
        if site.queue.is_empty() {
            return;
        }
        if !site.options.sack {
            // The first segment, by duplicate ACKs or by a partial one (RFC 6582 section 3.2,
            // `tcp_newreno_mark_lost`).
            let duplicates = site.queue.counts()[0] >= self.reordering.segments();
            let begins = self.stage < Stage::Recovery && duplicates;
            let goes_on = self.stage == Stage::Recovery && heard.advanced;
            let first = site.queue.all().start;
            if (begins || goes_on) && !site.queue.get(first).is(LOST) {
                self.mark_lost(site, first);
            }
        } else if site.options.rack {
            let [.., again] = site.queue.counts();
            if self.rack_mark(site) {
                heard.set_timer = false;
            }
            heard.lost_again |= again > site.queue.counts()[2];
        }
    }

    /// Without RACK: what has enough reported segments above it (RFC 6675 section 4, IsLost), else
    /// the first segment where a repair begins (`tcp_mark_head_lost`).
    fn mark_by_count(&mut self, site: &mut Site, first: bool) {
        let above = site.queue.counts()[0].checked_sub(self.reordering.segments());
        if !site.options.sack || (above.is_none() && !first) {
            return;
        }
        let mut passed = 0;
        for seq in site.queue.all() {
            let sent = site.queue.get(seq);
            passed += u32::from(sent.is(SACKED));
            if passed > above.unwrap_or(0) {
                break;
            }
            if !sent.is(LOST) {
                self.mark_lost(site, seq);
            }
            if above.is_none() {
                break;
            }
        }
    }

    /// An ACK during the repair after a time-out (`tcp_process_loss`), with F-RTO. The steps are
    /// those of RFC 5682 section 3.1.
    fn on_ack_after_timeout(
        &mut self,
        site: &mut Site,
        duplicates: u32,
        heard: &AckFacts,
    ) -> Rexmit {
        let recovered = site.queue.acked() >= self.high;
        // Eifel (RFC 4015) or D-SACK (RFC 3708), by `tcp_try_undo_loss`.
        if heard.advanced && self.undo_loss(site, false) {
            return Rexmit::None;
        }
        if self.frto {
            // Step 3.b: something that was sent once has arrived, so that not all was lost.
            if heard.original && self.undo_loss(site, true) {
                return Rexmit::None;
            }
            // Step 3.a: the loss was real. Step 2.b: new data go. Else as without F-RTO.
            if site.queue.next() > self.high {
                if heard.sacked || duplicates > 0 {
                    self.frto = false;
                }
            } else if heard.advanced && !recovered {
                self.high = site.queue.next();
                if site.application.can_send(site.queue, site.peer) {
                    return Rexmit::New;
                }
                self.frto = false;
            }
        }
        // Step 2.a, and the first part of 3.a: all is acknowledged (`tcp_try_undo_recovery`).
        if recovered {
            self.undo_recovery(site);
            return Rexmit::None;
        }
        // A duplicate ACK after step 2.b: new data have arrived (`tcp_add_reno_sack`).
        if !site.options.sack {
            if site.queue.next() > self.high && duplicates > 0 {
                self.add_duplicates(site, duplicates, heard.ece);
            } else if heard.advanced {
                site.queue.forget_duplicates();
            }
        }
        Rexmit::Lost
    }

    /// The retransmission timer ran out (`tcp_enter_loss`; RFC 5681 section 3.1).
    pub(crate) fn on_loss(&mut self, site: &mut Site) {
        let begins = self.stage < Stage::Recovery;
        // Everything counts as lost; with RACK, segments sent less than a round trip ago do not
        // (RFC 8985 section 6.3; `tcp_timeout_mark_lost`).
        let reneged = site.queue.head().is_some_and(|head| head.is(SACKED));
        if reneged {
            site.queue.unmark_reported();
        } else if !site.options.sack {
            site.queue.forget_duplicates();
        }
        let first = site.queue.all().start;
        for seq in site.queue.all() {
            let waits = !reneged && seq != first && site.options.rack;
            if waits && self.rack.left(site.now.us, site.queue.get(seq).at(), 0) > 0 {
                continue;
            }
            self.mark_lost(site, seq);
        }
        let again = self.stage == Stage::Loss && self.timeouts == 0;
        // Not yet for this window of data, or the first time-out since progress.
        if self.stage <= Stage::Disorder || self.high <= site.queue.acked() || again {
            site.path.time_out(&self.context(site));
            self.begin_undo(site);
        }
        self.reductions.note(ReducedBy::Timeout);
        site.path.collapse(site.queue.in_flight(), site.now.tick);
        // So many reported segments show that the learnt degree of reordering is too high.
        if self.stage <= Stage::Disorder {
            self.reordering.unlearn(site.queue.counts()[0]);
        }
        self.set_stage(site, Stage::Loss);
        self.high = site.queue.next();
        self.probed = None;
        self.tells_reduction = site.options.ecn;
        // RFC 5682 section 3.1 step 1: not within another repair.
        self.frto = site.options.frto && (begins || self.timeouts > 0);
        self.timeouts += 1;
        self.timeouts_ever += 1;
    }

    /// Begins to shrink the window to the size that the law decides.
    pub(super) fn begin_reduction(&mut self, site: &mut Site, by: ReducedBy, cause: Cause) {
        self.reductions.note(by);
        self.high = site.queue.next();
        self.probed = None;
        self.tells_reduction = site.options.ecn;
        site.path.begin_reduction(cause, &self.context(site));
    }

    /// The window has shrunk, or a repair is over.
    pub(super) fn end_reduction(&self, site: &mut Site) {
        let shrinks = self.stage == Stage::Cwr || self.undo.marker().is_some();
        site.path.end_reduction(shrinks.then_some(site.now.tick));
    }

    /// A lost segment was sent again.
    pub(crate) fn note_repair(&mut self, site: &mut Site, seq: u64) {
        site.queue.repair(seq);
        self.undo.count(site.now.us / 1000);
    }

    /// New data went first; returns whether lost segments go next, since no new data did (F-RTO).
    pub(crate) fn goes_back(&mut self, next: u64) -> bool {
        let back = next <= self.high;
        self.frto &= !back;
        back
    }
}
