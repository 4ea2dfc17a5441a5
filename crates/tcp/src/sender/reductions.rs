//! Reductions of the window, of any sender; and the sender of Linux with a detector of lost bursts,
//! which may excuse one.

use burstlab_units::Time;

use super::Sender;
use crate::detection::{Notice, Outstanding};
use crate::linux::{Linux, Stage};
use crate::segment::Transmission;
use crate::verdict::Verdict;

/// Reductions of the window so far, and what the last one left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reductions {
    /// All: losses found before the time-out, time-outs, early repairs, marks.
    pub all: u64,
    /// Of these, those that a mark made.
    pub by_marks: u64,
    /// Of these, those that a detector excused. With the variant `"linux"` they cost nothing; the
    /// others halve the window, but do not begin again from one segment.
    pub excused: u64,
    /// Of these, those that were taken back, since what was lost was not.
    pub undone: u64,
}

impl Sender {
    /// Reductions of the window so far.
    #[inline]
    #[must_use]
    pub fn reductions(&self) -> Reductions {
        let counters = &self.flow.counters;
        let repairs = counters.early_repairs;
        match &self.linux {
            None => Reductions {
                all: counters.fast_retransmits + counters.timeouts + repairs,
                by_marks: 0,
                excused: counters.excused_timeouts + repairs,
                undone: 0,
            },
            Some(linux) => {
                let [all, by_marks, undone] = linux.reductions();
                let excused = counters.excused_reductions + repairs;
                Reductions { all: all + repairs, by_marks, excused, undone }
            }
        }
    }

    /// The window that the last reduction leads to, in segments. A repair that goes step by step,
    /// by proportional rate reduction, has its threshold for an aim.
    #[must_use]
    pub fn reduced_to(&self) -> f64 {
        match &self.linux {
            None => self.flow.window.cwnd,
            Some(linux) if self.last_excused => f64::from(linux.cwnd()),
            Some(linux) => f64::from(linux.reduced_to()),
        }
    }

    /// Has the sender of Linux do something, and asks the detector about a reduction that it makes.
    pub(super) fn by_linux_judged(
        &mut self,
        now: Time,
        out: &mut Vec<Transmission>,
        act: impl FnOnce(&mut Linux, &mut Vec<Transmission>),
    ) {
        if !self.detection.is_on() {
            return self.by_linux(out, act);
        }
        let Some(linux) = &mut self.linux else { return };
        linux.remember();
        let [before, marks, _] = linux.reductions();
        let (acked, window, from) = (linux.acked(), f64::from(linux.cwnd()), out.len());
        let timeouts = self.flow.counters.timeouts;
        self.by_linux(out, act);
        let Some(linux) = &self.linux else { return };
        let [after, marks_after, _] = linux.reductions();
        let (progress, next) = (linux.acked() > acked, linux.acked());
        self.last_excused &= after == before;
        if after > before && marks_after == marks {
            let lost = linux.lost_segments();
            let timed_out = self.flow.counters.timeouts > timeouts;
            self.judge_reduction(now, &Outstanding { window, segments: lost }, timed_out, out);
        }
        if progress {
            self.detection.on_progress(next);
        }
        self.note_retransmissions(&out[from..]);
    }

    /// What a detector takes for one lost burst costs no window; else it is told of the loss.
    fn judge_reduction(
        &mut self,
        now: Time,
        lost: &Outstanding,
        timed_out: bool,
        out: &mut Vec<Transmission>,
    ) {
        let excused = self.detection.on_timeout(lost) == Verdict::False;
        self.last_excused = excused;
        if excused {
            self.flow.counters.excused_reductions += 1;
            self.flow.counters.excused_timeouts += u64::from(timed_out);
            self.by_linux(out, |linux, out| linux.excuse(now, out));
        } else if !timed_out {
            self.detection.on_fast_retransmit(lost.window);
        }
    }

    /// A notice lets the sender of Linux repair a lost burst at once.
    pub(super) fn repair_by_linux(
        &mut self,
        now: Time,
        notice: (Notice, u64),
        segments: &[u64],
        out: &mut Vec<Transmission>,
    ) {
        let Some(linux) = &self.linux else { return };
        let held = |seq: &u64| (linux.acked()..linux.next()).contains(seq);
        let held: Vec<u64> = segments.iter().copied().filter(held).collect();
        let whole = held.first().zip(held.last()).map_or(0..0, |(&first, &last)| first..last + 1);
        let lost = Outstanding { window: f64::from(linux.cwnd()), segments: whole };
        let calm = linux.stage() < Stage::Recovery;
        let from = out.len();
        let repair = self.detection.on_notice(notice.0, notice.1, segments, &lost);
        // A burst that is lost while another loss is being repaired is no lone one.
        if repair && calm && self.detection.allows_repair(&lost) {
            self.flow.counters.early_repairs += 1;
            self.last_excused = true;
            self.by_linux(out, |linux, out| linux.repair_burst(now, &held, out));
            self.note_retransmissions(&out[from..]);
        }
    }
}
