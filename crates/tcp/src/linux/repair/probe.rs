//! The tail loss probe (RFC 8985 section 7): a segment that draws an ACK before the time-out comes.

use super::{Purpose, ReducedBy, Repair, Site, Stage};
use crate::linux::ack_facts::AckFacts;
use crate::linux::clock::ticks;
use crate::linux::law::Cause;

impl Repair {
    /// Sets the timer for a probe after two round trips, where one may be sent. `from_now`: the
    /// time-out counts from now, else from when the first segment was sent.
    pub(crate) fn schedule_probe(&self, site: &mut Site, from_now: bool) -> bool {
        let calm = matches!(self.stage, Stage::Open | Stage::Cwr);
        if !site.options.tlp || !site.options.sack || site.queue.is_empty() || !calm {
            return false;
        }
        let rto = match from_now {
            true => site.path.round_trip().rto() as i64 * 1000,
            false => site.path.round_trip().timeout_left(site.queue, site.now),
        };
        let most = site.path.round_trip().probe_wait(site.queue.outstanding());
        let wait = if rto > 0 { most.min(ticks(rto as u64)) } else { most };
        let wait = wait + site.path.pace().ticks(site.now.ns);
        site.timer.set(site.now, Purpose::Probe, wait);
        true
    }

    /// Whether a probe may go: one at a time.
    pub(crate) fn may_probe(&self) -> bool {
        self.probed.is_none()
    }

    /// A probe went behind all below `next`; `again`: a segment that was sent before.
    pub(crate) fn note_probe(&mut self, next: u64, again: bool) {
        (self.probed, self.probe_again) = (Some(next), again);
    }

    /// The answer of an ACK to a probe.
    pub(crate) fn take_probe_ack(&mut self, site: &mut Site, heard: &AckFacts) {
        let ack = site.queue.acked();
        let Some(probed) = self.probed.filter(|&probed| ack >= probed) else { return };
        if !self.probe_again || heard.duplicate_of_probe {
            self.probed = None;
        } else if ack > probed {
            // The probe repaired a loss, which has to cost as much as any loss.
            self.begin_reduction(site, ReducedBy::Loss, Cause::Loss);
            self.set_stage(site, Stage::Cwr);
            self.end_reduction(site);
            self.keep_open(site);
        } else if !heard.advanced && !heard.is_news() && !heard.sacked {
            self.probed = None;
        }
    }
}
