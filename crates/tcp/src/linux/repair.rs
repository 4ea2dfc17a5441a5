//! How losses are found and repaired: the stage of the connection, RACK and the probe of the tail,
//! reductions of the window and whether one was for nothing.

mod acked;
mod excuse;
mod late;
mod log;
mod probe;
mod rack;
mod reordering;
mod sack;
mod stage;
mod undo;
mod undo_marks;

use serde::{Deserialize, Serialize};

use super::ack_facts::AckFacts;
use super::application::Application;
use super::clock::{Reading, ticks};
use super::context::{AckContext, Stage};
use super::options::LinuxOptions;
use super::path::Path;
use super::peer::Peer;
use super::queue::{Plain, Queue};
use super::timer::{LinuxTimer, Purpose};
use log::{ReducedBy, ReductionLog};
use rack::Rack;
use reordering::Reordering;
use undo_marks::UndoMarks;

/// For how long a receiver that has dropped what it reported is waited for at least, in ticks.
const RENEGED_LEAST: u64 = 10;

/// The segments that may be sent besides new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rexmit {
    None,
    Lost,
    /// New data first (F-RTO).
    New,
}

/// The values that a repair works on, at one instant.
pub(crate) struct Site<'a> {
    pub(super) now: Reading,
    pub(super) timer: &'a mut LinuxTimer,
    pub(super) path: &'a mut Path,
    pub(super) queue: &'a mut Queue,
    pub(super) application: &'a Application,
    pub(super) peer: &'a Peer,
    pub(super) options: &'a LinuxOptions,
}

impl Site<'_> {
    /// Takes the round trip that an ACK measures, by what was acknowledged, else reported, else by
    /// its time stamp; returns the one that the law hears of.
    pub(super) fn take_round_trip(
        &mut self,
        sent_at: Option<(u64, u64)>,
        heard: &AckFacts,
    ) -> Option<u64> {
        let sent_at = sent_at.filter(|_| !heard.again_acked);
        let mut measured = sent_at.map(|(first, _)| self.now.us - first);
        let mut last = sent_at.map(|(_, last)| self.now.us - last);
        if let (Some(first), Some(sacked)) = (heard.first_sent, heard.last_sent) {
            last = Some(self.now.us - sacked);
            measured = measured.or(Some(self.now.us - first));
        }
        if measured.is_none() && heard.acked {
            measured = self.peer.echoed_round_trip(self.now.us);
            last = measured;
        }
        let measured = measured?;
        self.path.round_trip_mut().measure(
            measured,
            last.unwrap_or(measured),
            self.queue.acked(),
            self.queue.next(),
        );
        last
    }

    /// Restarts the timer for the time-out (RFC 6298 section 5.3; `tcp_rearm_rto`).
    pub(super) fn rearm(&mut self) {
        if self.queue.is_empty() {
            self.timer.clear();
            return;
        }
        let counted = matches!(self.timer.purpose(), Some(Purpose::Probe | Purpose::Reordering));
        // After a probe or RACK's timer it counts from when the first segment was sent.
        let wait = match counted {
            true => ticks(self.path.round_trip().timeout_left(self.queue, self.now).max(1) as u64),
            false => self.path.round_trip().rto(),
        };
        self.set_timer(Purpose::Timeout, wait);
    }

    /// The receiver has dropped what it had reported: it gets half a round trip to acknowledge it
    /// all the same; then all is lost (`tcp_check_sack_reneging`).
    fn await_reneged(&mut self) {
        let wait = ticks(self.path.round_trip().srtt_8() >> 4).max(RENEGED_LEAST);
        self.timer.set(self.now, Purpose::Timeout, wait);
    }

    /// After what may go has gone: where nothing is outstanding though there are data, the
    /// receiver's window is to be probed.
    #[inline]
    pub(super) fn check_persist(&mut self) {
        let waits = self.queue.is_empty() && self.application.has_more(self.queue.next());
        if waits && self.timer.purpose().is_none() {
            self.set_timer(Purpose::Persist, self.path.round_trip().first_persist());
        }
    }

    /// An ACK comes while nothing is outstanding: it opens the window, or the next probe of it
    /// waits for longer.
    pub(super) fn check_window(&mut self) {
        if self.application.can_send(self.queue, self.peer) {
            self.path.round_trip_mut().forget_backoff();
            self.timer.clear();
        } else if self.application.has_more(self.queue.next()) {
            let wait = self.path.round_trip().next_persist();
            self.timer.set(self.now, Purpose::Persist, wait);
        }
    }

    /// After an ACK that let segments go behind `others` that were outstanding: sets the timer for
    /// a probe, as the ACK does, then for the time-out, as the first segment does, and for a
    /// probe again. There are probes, and there is no pacing.
    #[inline(always)]
    pub(super) fn schedule_probe_after(&mut self, others: u32) {
        let trip = self.path.round_trip();
        let left = trip.timeout_left(self.queue, self.now);
        let most = trip.probe_wait(self.queue.outstanding());
        if left > most as i64 * 1_000 && self.options.rto_max > most {
            // The time-out is later than the probe.
            return self.timer.set_anew(self.now, Purpose::Probe, most);
        }
        let before = if others == 1 { trip.probe_wait(1) } else { most };
        let wait = ticks(left.max(1) as u64);
        let timeout = wait.min(self.options.rto_max);
        let probe = if left > 0 { most.min(wait) } else { most };
        // Set for the same tick thrice it stays where it is in the wheel.
        match timeout == probe && timeout == before.min(trip.rto()) {
            true => self.timer.set(self.now, Purpose::Probe, probe),
            false => self.timer.set_anew(self.now, Purpose::Probe, probe),
        }
    }

    /// Sets the timer so many ticks ahead, and behind what the pace lets go next.
    pub(super) fn set_timer(&mut self, purpose: Purpose, ticks: u64) {
        let wait = ticks + self.path.pace().ticks(self.now.ns);
        self.timer.set(self.now, purpose, wait.min(self.options.rto_max));
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Repair {
    stage: Stage,
    /// The next segment to be sent when the stage last changed for the worse.
    high: u64,
    rack: Rack,
    reordering: Reordering,
    undo: UndoMarks,
    /// The next segment to be sent at the last probe, and whether that sent a segment again.
    probed: Option<u64>,
    probe_again: bool,
    frto: bool,
    /// Whether the next new segment says that the window was reduced.
    tells_reduction: bool,
    /// Time-outs since the last progress, and ever.
    timeouts: u32,
    timeouts_ever: u64,
    duplicates_heard: u64,
    recoveries: u64,
    reductions: ReductionLog,
}

impl Repair {
    pub(super) fn new(options: &LinuxOptions) -> Self {
        Self {
            stage: Stage::Open,
            high: 0,
            rack: Rack::new(),
            reordering: Reordering::new(options),
            undo: UndoMarks::default(),
            probed: None,
            probe_again: false,
            frto: false,
            tells_reduction: false,
            timeouts: 0,
            timeouts_ever: 0,
            duplicates_heard: 0,
            recoveries: 0,
            reductions: ReductionLog::default(),
        }
    }

    #[inline]
    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// How often the timer ran out since the last progress, and ever; and how many repairs began
    /// before it did.
    pub(crate) fn totals(&self) -> [u64; 3] {
        [u64::from(self.timeouts), self.timeouts_ever, self.recoveries]
    }

    pub(crate) fn reductions(&self) -> &ReductionLog {
        &self.reductions
    }

    /// Whether nothing is being repaired or probed.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.stage == Stage::Open && self.probed.is_none() && !self.reductions.excused
    }

    /// Whether ACKs besides leave nothing to be done but that the last of them is noted.
    #[inline]
    pub(super) fn is_at_rest(&self) -> bool {
        !self.tells_reduction && self.rack.is_at_rest()
    }

    /// New data are acknowledged.
    #[inline]
    pub(super) fn note_progress(&mut self) {
        self.timeouts = 0;
    }

    /// Segments are acknowledged that went once, of which these are the last; all below `end` are.
    #[inline]
    pub(super) fn take_plain(&mut self, us: u64, plain: &Plain, end: u64) {
        self.rack.advance((plain.last_at, end), us.saturating_sub(plain.last_at));
    }

    /// By how many segments the network reorders.
    pub(super) fn reordering(&self) -> &Reordering {
        &self.reordering
    }

    /// Whether a segment that goes now says that the window was reduced.
    #[inline]
    pub(super) fn tell_reduction(&mut self) -> bool {
        std::mem::take(&mut self.tells_reduction)
    }

    /// The SYN goes at `ms`, again where it was lost.
    pub(super) fn call(&mut self, ms: u64, again: bool) {
        self.undo.note_repair(ms);
        self.timeouts_ever += u64::from(again);
    }

    /// Whether the SYN was retransmitted needlessly, since the ACK echoes the first one.
    pub(super) fn take_call(&mut self, echo: Option<u64>) -> bool {
        echo.is_some() && echo == self.undo.forget_repairs()
    }

    /// The state that window laws may read.
    #[inline(always)]
    pub(super) fn context(&self, site: &Site) -> AckContext {
        site.path.context(site.now, site.queue, site.peer, self.standing())
    }

    /// The stage, and whether there was a time-out since the last progress.
    #[inline(always)]
    pub(super) fn standing(&self) -> (Stage, bool) {
        (self.stage, self.timeouts > 0)
    }

    fn set_stage(&mut self, site: &mut Site, stage: Stage) {
        site.path.enter(stage, &self.context(site));
        self.stage = stage;
        self.reductions.excused &= stage == Stage::Recovery;
    }

    /// Takes a segment for lost, or for lost again.
    fn mark_lost(&mut self, site: &mut Site, seq: u64) {
        let Some(stamp) = site.queue.mark_lost(seq) else { return };
        if !self.reductions.excused {
            site.path.lose(seq, &stamp, site.queue.totals());
        }
    }
}
