//! The tail loss probe (RFC 8985 section 7): a segment that draws an ACK before the time-out comes.

use super::clock::{Reading, ticks};
use super::law::Cause;
use super::send::Push;
use super::timer::Purpose;
use super::{Heard, Linux, ReducedBy, Stage, TIMEOUT_LEAST_US};
use crate::segment::Transmission;

impl Linux {
    /// Sets the timer for a probe after two round trips, where one may be sent. `from_now`: the
    /// time-out counts from now, else from when the first segment was sent.
    pub(super) fn schedule_probe(&mut self, now: Reading, from_now: bool) -> bool {
        let calm = matches!(self.stage, Stage::Open | Stage::Cwr);
        if !self.options.tlp || !self.options.sack || self.queue.is_empty() || !calm {
            return false;
        }
        let rto = if from_now { self.path.rto() as i64 * 1000 } else { self.timeout_in(now) };
        let most = self.probe_wait(self.queue.outstanding());
        let wait = if rto > 0 { most.min(ticks(rto as u64)) } else { most };
        let wait = wait + self.path.pace().ticks(now.ns);
        self.timer.set(now, Purpose::Probe, wait);
        true
    }

    /// Ticks until a probe without pacing, where so many segments are outstanding and no time-out
    /// comes before.
    #[inline]
    pub(super) fn probe_wait(&self, outstanding: u32) -> u64 {
        match self.path.estimator().srtt_8() {
            0 => self.options.rto_initial,
            // A lone segment's ACK may be delayed.
            srtt_8 if outstanding == 1 => ticks((srtt_8 >> 2) + self.path.estimator().floor()),
            srtt_8 => ticks((srtt_8 >> 2) + TIMEOUT_LEAST_US),
        }
    }

    /// Microseconds until the time-out of the first segment, counted from when it was sent.
    pub(super) fn timeout_in(&self, now: Reading) -> i64 {
        self.timeout_left(now.us)
    }

    #[inline]
    pub(super) fn timeout_left(&self, us: u64) -> i64 {
        let rto = self.path.rto() as i64 * 1000;
        self.queue.head_at().map_or(rto, |at| (at as i64 + rto) - us as i64)
    }

    /// Sends a new segment if there is one, else the last again.
    pub(super) fn send_probe(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        if self.queue.is_empty() {
            self.timer.clear();
            return;
        }
        // One at a time.
        if self.probed.is_none() {
            self.probe_again = false;
            let before = self.queue.next();
            let sent = if self.can_send_next() {
                self.write(now, Push::Probe, out);
                self.queue.next() > before
            } else {
                let last = self.queue.next() - 1;
                self.probe_again = self.send_again(now, last, out);
                let again = u32::from(self.probe_again);
                self.path.pace_group(now.ns, (again, self.application.lengths().of(last)));
                self.probe_again
            };
            if sent {
                self.probed = Some(self.queue.next());
                self.timer.clear();
            }
        }
        self.rearm(now);
    }

    /// What an ACK says about a probe.
    pub(super) fn take_probe_ack(&mut self, now: Reading, ack: u64, heard: &Heard) {
        let Some(probed) = self.probed.filter(|&probed| ack >= probed) else { return };
        if !self.probe_again || heard.duplicate_of_probe {
            self.probed = None;
        } else if ack > probed {
            // The probe repaired a loss, which has to cost what any loss does.
            self.begin_reduction(now, ReducedBy::Loss, Cause::Loss);
            self.set_stage(Stage::Cwr, now);
            self.end_reduction(now.tick);
            self.keep_open(now);
        } else if !heard.advanced && !heard.is_news() && !heard.sacked {
            self.probed = None;
        }
    }
}
