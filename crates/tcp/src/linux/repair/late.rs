//! Segments that RACK (RFC 8985) takes for lost after an ACK and when its timer runs out.

use super::{Purpose, Repair, Site, Stage};
use crate::linux::ack_facts::Delivery;
use crate::linux::clock::ticks;
use crate::linux::queue::{AGAIN, LOST};
use crate::linux::round_trip::TIMEOUT_LEAST_US;

impl Repair {
    fn reordering_window(&self, site: &Site) -> u64 {
        let counted =
            site.options.rack_counts && site.queue.counts()[0] >= self.reordering.segments();
        let certain = self.stage >= Stage::Recovery || counted;
        if !self.reordering.was_seen() && certain {
            return 0;
        }
        let window = (site.path.round_trip().shortest() >> 2) * self.rack.steps;
        window.min(site.path.round_trip().srtt_8() >> 3)
    }

    /// Marks segments that are lost by now; returns how long to wait for those that may be, in
    /// microseconds.
    fn rack_detect(&mut self, site: &mut Site) -> u64 {
        site.path.note_time(site.now.us);
        let window = self.reordering_window(site);
        let mut wait = 0;
        let mut at = site.queue.oldest();
        while let Some(seq) = at {
            at = site.queue.newer(seq);
            let sent = site.queue.get(seq);
            if sent.is(LOST) && !sent.is(AGAIN) {
                continue;
            }
            if self.rack.sent <= (sent.at(), seq + 1) {
                break;
            }
            let left = self.rack.left(site.now.us, sent.at(), window);
            if left <= 0 {
                self.mark_lost(site, seq);
                site.queue.unlist(seq);
            } else {
                wait = wait.max(left as u64);
            }
        }
        wait
    }

    /// Looks for losses after an ACK; returns whether the timer waits for reordering.
    pub(super) fn rack_mark(&mut self, site: &mut Site) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let wait = self.rack_detect(site);
        if wait > 0 {
            let wait = ticks(wait + TIMEOUT_LEAST_US).min(site.path.round_trip().rto());
            site.timer.set(site.now, Purpose::Reordering, wait);
        }
        wait > 0
    }

    /// A segment that may have been reordered counts as late now; returns whether one is lost.
    pub(crate) fn take_late(&mut self, site: &mut Site) -> bool {
        let (flight, lost) = (site.queue.in_flight(), site.queue.totals().1);
        self.rack_detect(site);
        if flight == site.queue.in_flight() {
            return false;
        }
        if self.stage != Stage::Recovery {
            self.enter_recovery(site, false);
            if !site.path.law().paces() && !self.reductions.excused {
                let lost = (site.queue.totals().1 - lost) as u32;
                let delivery = Delivery { delivered: 1, lost, advanced: false };
                site.path.reduce(delivery, site.queue.in_flight());
            }
        }
        true
    }
}
