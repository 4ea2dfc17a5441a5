//! What an ACK makes of the stage of a connection: whether it is in order, has to repair losses, or
//! has repaired them. Names in brackets are functions of `net/ipv4/tcp_input.c`, Linux 6.12.

use super::clock::Reading;
use super::law::Cause;
use super::queue::LOST;
use super::timer::Purpose;
use super::{Heard, Linux, ReducedBy, Rexmit, Stage};

/// For how long a receiver that has dropped what it reported is waited for at least, in ticks.
const RENEGED_LEAST: u64 = 10;

impl Linux {
    /// An ACK that is not in order: a duplicate, a report, a mark, or any while the stage is not
    /// open (`tcp_fastretrans_alert`). `before` is the cumulative ACK before it. Returns what may
    /// be sent besides new data.
    pub(super) fn on_dubious(
        &mut self,
        now: Reading,
        before: u64,
        duplicates: u32,
        heard: &mut Heard,
    ) -> Rexmit {
        let mut force = duplicates > 0 || (heard.sacked && self.must_retransmit());
        if self.queue.is_empty() {
            self.queue.forget_duplicates();
        }
        if heard.ece {
            // A mark tells of congestion, so that nothing is taken back (RFC 3168 section 6.1.2).
            self.path.forget_threshold();
        }
        if heard.reneged && heard.advanced {
            self.await_reneged(now);
            heard.set_timer = false;
            return Rexmit::None;
        }
        if self.stage == Stage::Open {
            self.again_since = None;
        } else if self.queue.acked() >= self.high && self.leave(now) {
            return Rexmit::None;
        }
        let mut first = false;
        match self.stage {
            Stage::Recovery => {
                // `tcp_add_reno_sack`, else `tcp_try_undo_partial` (RFC 6582 section 3.2 step 3).
                if !heard.advanced {
                    if !self.options.sack {
                        self.add_duplicates(duplicates, heard.ece);
                    }
                } else if self.undo_partial(now, before, &mut force) {
                    return Rexmit::None;
                }
                if self.undo_by_duplicates(now) {
                    self.try_to_open(now, heard);
                }
                self.find_losses(now, heard);
                if self.stage != Stage::Recovery {
                    if !self.has_to_recover() {
                        return Rexmit::None;
                    }
                    self.enter_recovery(now, heard.ece);
                }
            }
            Stage::Loss => {
                // `tcp_process_loss`; one lost again begins a repair (RFC 8985 section 6.2).
                let rexmit = self.on_ack_after_timeout(now, duplicates, heard);
                self.find_losses(now, heard);
                if self.stage != Stage::Open && !heard.lost_again {
                    return rexmit;
                }
                match self.go_on(now, duplicates, heard) {
                    true => first = true,
                    false => return rexmit,
                }
            }
            _ => match self.go_on(now, duplicates, heard) {
                true => first = true,
                false => return Rexmit::None,
            },
        }
        // `tcp_update_scoreboard` (RFC 6675 section 5).
        if !self.options.rack && force {
            self.mark_by_count(first);
        }
        Rexmit::Lost
    }

    /// The receiver has dropped what it had reported: it gets half a round trip, at least 10 ms, to
    /// acknowledge it all the same. Then all is lost (`tcp_check_sack_reneging`).
    fn await_reneged(&mut self, now: Reading) {
        let wait = super::clock::ticks(self.path.estimator().srtt_8() >> 4).max(RENEGED_LEAST);
        self.timer.set(now, Purpose::Timeout, wait);
    }

    /// All of the window that had a loss or a mark is acknowledged; returns whether nothing else is
    /// to be done. (RFC 5681 section 3.2 step 6, RFC 6937 section 3.)
    fn leave(&mut self, now: Reading) -> bool {
        match self.stage {
            // `tcp_end_cwnd_reduction`, once data beyond the mark are acknowledged.
            Stage::Cwr if self.queue.acked() != self.high => {
                self.end_reduction(now.tick);
                self.set_stage(Stage::Open, now);
            }
            Stage::Recovery => {
                if !self.options.sack {
                    self.queue.forget_duplicates();
                }
                // `tcp_try_undo_recovery`, else `tcp_end_cwnd_reduction`.
                if self.undo_recovery(now) {
                    return true;
                }
                self.end_reduction(now.tick);
            }
            _ => {}
        }
        false
    }

    /// In order, or with some disorder: whether a repair begins (`tcp_fastretrans_alert`, its
    /// `default`).
    fn go_on(&mut self, now: Reading, duplicates: u32, heard: &mut Heard) -> bool {
        // `tcp_reset_reno_sack` and `tcp_add_reno_sack`.
        if !self.options.sack {
            if heard.advanced {
                self.queue.forget_duplicates();
            }
            self.add_duplicates(duplicates, heard.ece);
        }
        if self.stage <= Stage::Disorder {
            self.undo_by_duplicates(now);
        }
        self.find_losses(now, heard);
        if !self.has_to_recover() {
            self.try_to_open(now, heard);
            return false;
        }
        self.enter_recovery(now, heard.ece);
        true
    }

    /// `tcp_try_to_open`.
    fn try_to_open(&mut self, now: Reading, heard: &Heard) {
        self.forget_again_since();
        // RFC 3168 section 6.1.2 (`tcp_enter_cwr`).
        if heard.ece {
            self.enter_cwr(now);
        }
        if self.stage != Stage::Cwr {
            self.keep_open(now);
        }
    }

    /// Open, or disorder where something is reported, lost or was sent again
    /// (`tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self, now: Reading) {
        let order = self.queue.counts()[..2] == [0; 2] && !self.queue.any_again();
        let stage = if order { Stage::Open } else { Stage::Disorder };
        if stage != self.stage {
            self.set_stage(stage, now);
            self.high = self.queue.next();
        }
    }

    /// `tcp_time_to_recover`: something is lost, or `DupThresh` are reported (RFC 6675 section 5).
    fn has_to_recover(&self) -> bool {
        let [sacked, lost, _] = self.queue.counts();
        lost > 0 || (!self.options.rack && sacked + 1 > self.reordering)
    }

    /// Whether what is reported is so far above the cumulative ACK that something is lost
    /// (`tcp_force_fast_retransmit`).
    pub(super) fn must_retransmit(&self) -> bool {
        self.queue.highest_sacked() > self.queue.acked() + u64::from(self.reordering)
    }

    /// `tcp_enter_recovery` (RFC 6675 section 5 step 4, RFC 8985 section 6.2 step 5).
    pub(super) fn enter_recovery(&mut self, now: Reading, ece: bool) {
        self.forget_again_since();
        self.path.forget_threshold();
        self.begin_undo();
        // A reduction for a mark goes on; no two for one window of data (RFC 3168 section 6.1.2).
        if !self.stage.reduces() {
            if !ece {
                self.path.remember_threshold(self.stage);
            }
            let by = if ece { ReducedBy::Mark } else { ReducedBy::Loss };
            self.begin_reduction(now, by, Cause::Loss);
        }
        self.recoveries += 1;
        self.set_stage(Stage::Recovery, now);
    }

    /// `tcp_identify_packet_loss`: New-Reno, or RACK (RFC 8985 section 6.2).
    fn find_losses(&mut self, now: Reading, heard: &mut Heard) {
        if self.queue.is_empty() {
            return;
        }
        if !self.options.sack {
            self.mark_first(heard.advanced);
        } else if self.options.rack {
            let [.., again] = self.queue.counts();
            if self.rack_mark(now) {
                heard.set_timer = false;
            }
            heard.lost_again |= again > self.queue.counts()[2];
        }
    }

    /// New-Reno: the first segment, by duplicate ACKs or by a partial one (RFC 6582 section 3.2,
    /// `tcp_newreno_mark_lost`).
    fn mark_first(&mut self, advanced: bool) {
        let begins = self.stage < Stage::Recovery && self.queue.counts()[0] >= self.reordering;
        let goes_on = self.stage == Stage::Recovery && advanced;
        let first = self.queue.all().start;
        if (begins || goes_on) && !self.queue.get(first).is(LOST) {
            self.mark_lost(first);
        }
    }

    /// Without RACK: what has enough reported segments above it (RFC 6675 section 4, IsLost;
    /// `tcp_mark_head_lost`).
    fn mark_by_count(&mut self, first: bool) {
        if !self.options.sack {
            return;
        }
        match self.queue.counts()[0].checked_sub(self.reordering) {
            Some(above) => self.mark_below(above),
            None if first => self.mark_head(),
            None => {}
        }
    }

    fn mark_head(&mut self) {
        let first = self.queue.all().start;
        if !self.queue.is_empty() && !self.queue.get(first).is(LOST | super::queue::SACKED) {
            self.mark_lost(first);
        }
    }

    fn mark_below(&mut self, above: u32) {
        let mut passed = 0;
        for seq in self.queue.all() {
            let sent = self.queue.get(seq);
            passed += u32::from(sent.is(super::queue::SACKED));
            if passed > above {
                break;
            }
            if !sent.is(LOST) {
                self.mark_lost(seq);
            }
        }
    }

    /// An ACK while what a time-out took for lost is repaired (`tcp_process_loss`), with F-RTO (RFC
    /// 5682 section 3.1, of which the steps are).
    fn on_ack_after_timeout(&mut self, now: Reading, duplicates: u32, heard: &Heard) -> Rexmit {
        let recovered = self.queue.acked() >= self.high;
        // Eifel (RFC 4015) or D-SACK (RFC 3708), by `tcp_try_undo_loss`.
        if heard.advanced && self.undo_loss(now, false) {
            return Rexmit::None;
        }
        if self.frto {
            // Step 3.b: something that was sent once has arrived, so that not all was lost.
            if heard.original && self.undo_loss(now, true) {
                return Rexmit::None;
            }
            // Step 3.a: the loss was real. Step 2.b: new data go. Else as without F-RTO.
            if self.queue.next() > self.high {
                if heard.sacked || duplicates > 0 {
                    self.frto = false;
                }
            } else if heard.advanced && !recovered {
                self.high = self.queue.next();
                if self.can_send_next() {
                    return Rexmit::New;
                }
                self.frto = false;
            }
        }
        // Step 2.a, with all acknowledged (`tcp_try_undo_recovery`).
        if recovered {
            self.undo_recovery(now);
            return Rexmit::None;
        }
        // A duplicate ACK after step 2.b: new data have arrived (`tcp_add_reno_sack`).
        if !self.options.sack {
            if self.queue.next() > self.high && duplicates > 0 {
                self.add_duplicates(duplicates, heard.ece);
            } else if heard.advanced {
                self.queue.forget_duplicates();
            }
        }
        Rexmit::Lost
    }

    /// The retransmission timer ran out (`tcp_enter_loss`; RFC 5681 section 3.1).
    pub(super) fn on_loss(&mut self, now: Reading) {
        let begins = self.stage < Stage::Recovery;
        self.mark_timed_out(now);
        let again = self.stage == Stage::Loss && self.timeouts == 0;
        // Not yet for this window of data, or the first time-out since progress.
        if self.stage <= Stage::Disorder || self.high <= self.queue.acked() || again {
            let context = self.context(now);
            self.path.time_out(&context);
            self.begin_undo();
        }
        self.reductions.note(ReducedBy::Timeout);
        self.path.collapse(self.queue.in_flight(), now.tick);
        // So many reported say that what was learnt of reordering was too much.
        if self.stage <= Stage::Disorder && self.queue.counts()[0] >= self.options.reordering {
            self.reordering = self.reordering.min(self.options.reordering);
        }
        self.set_stage(Stage::Loss, now);
        self.high = self.queue.next();
        self.probed = None;
        self.tells_reduction = self.options.ecn;
        // RFC 5682 section 3.1 step 1: not within another repair.
        self.frto = self.options.frto && (begins || self.timeouts > 0);
    }

    /// Everything is lost but, with RACK, what was sent less than a round trip ago (RFC 8985
    /// section 6.3; `tcp_timeout_mark_lost`).
    fn mark_timed_out(&mut self, now: Reading) {
        let us = now.us;
        let reneged = self.queue.head().is_some_and(|head| head.is(super::queue::SACKED));
        if reneged {
            self.queue.unmark_reported();
        } else if !self.options.sack {
            self.queue.forget_duplicates();
        }
        let first = self.queue.all().start;
        for seq in self.queue.all() {
            let waits = !reneged && seq != first && self.options.rack;
            if waits && self.rack_left(us, seq, 0) > 0 {
                continue;
            }
            self.mark_lost(seq);
        }
    }

    /// Restarts the timer for the time-out (RFC 6298 section 5.3; `tcp_rearm_rto`).
    pub(super) fn rearm(&mut self, now: Reading) {
        if self.queue.is_empty() {
            self.timer.clear();
            return;
        }
        let counted = matches!(self.timer.purpose(), Some(Purpose::Probe | Purpose::Reordering));
        // After a probe or RACK's timer it counts from when the first segment was sent.
        let wait = match counted {
            true => super::clock::ticks(self.timeout_in(now).max(1) as u64),
            false => self.path.rto(),
        };
        let wait = wait + self.path.pace().ticks(now.ns);
        self.timer.set(now, Purpose::Timeout, wait.min(self.options.rto_max));
    }

    /// Begins to shrink the window to what the law says.
    pub(super) fn begin_reduction(&mut self, now: Reading, by: ReducedBy, cause: Cause) {
        self.reductions.note(by);
        self.high = self.queue.next();
        self.probed = None;
        self.tells_reduction = self.options.ecn;
        let context = self.context(now);
        self.path.begin_reduction(cause, &context);
    }

    /// The window has shrunk, or a repair is over.
    pub(super) fn end_reduction(&mut self, tick: u64) {
        if self.stage == Stage::Cwr || self.undo_marker.is_some() {
            self.path.end_reduction(tick);
        }
    }

    /// A mark, or a probe that repaired a loss, shrinks the window without a repair.
    fn enter_cwr(&mut self, now: Reading) {
        self.path.forget_threshold();
        if self.stage < Stage::Cwr {
            self.undo_marker = None;
            self.begin_reduction(now, ReducedBy::Mark, Cause::Mark);
            self.set_stage(Stage::Cwr, now);
        }
    }
}
