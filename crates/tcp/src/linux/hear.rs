//! The course of an ACK, from its reports to the segments that it releases.

use super::ack_facts::{AckFacts, Arrival, Delivery};
use super::clock::Reading;
use super::repair::Rexmit;
use super::{Linux, Stage};
use crate::segment::Transmission;

impl Linux {
    /// Whether nothing is being repaired, probed or reported, and no class of Python decides.
    #[inline]
    pub(crate) fn is_fast(&self) -> bool {
        let calm = self.repair.is_calm() && self.queue.counts() == [0; 3];
        calm && self.queue.acked() > 0 && !self.path.is_for_class()
    }

    pub(super) fn take_ack(&mut self, now: Reading, ack: &Arrival, out: &mut Vec<Transmission>) {
        let before = self.queue.acked();
        self.begin_for_class();
        let ((delivered, lost), flight) = (self.queue.totals(), self.queue.in_flight());
        let high = if self.options.sack { self.queue.highest_sacked() } else { before };
        let outstanding = !self.queue.is_empty();
        let advanced = ack.next > before;
        if advanced {
            self.repair.note_progress();
        }
        let wider = ack.window > self.peer.window() || ack.window == 0;
        let window = advanced || wider || ack.with_data;
        let same = ack.window == self.peer.window() && !ack.ece;
        let plain = advanced && same && ack.blocks.is_empty();
        self.queue.acknowledge(ack.next);
        if window {
            self.application.take_window(&mut self.peer, ack.window, self.queue.next());
        }
        let (repair, mut site) = self.site(now);
        let mut heard = repair.take_reports(&mut site, ack, before);
        (heard.advanced, heard.window, heard.plain) = (advanced, window, plain);
        if !outstanding {
            site.path.arrives(heard.plain, &repair.context(&site));
            if heard.duplicate {
                repair.on_dubious(&mut site, before, 0, &mut heard);
            }
            site.check_window();
            return repair.take_probe_ack(&mut site, &heard);
        }
        repair.take_acked(&mut site, ack, high, &mut heard);
        repair.take_probe_ack(&mut site, &heard);
        let mut rexmit = Rexmit::None;
        let calm = heard.is_news() && !heard.sacked && !heard.ece && !heard.duplicate;
        if !calm || repair.stage() != Stage::Open {
            let duplicate = !heard.advanced && !heard.is_news() && !heard.duplicate;
            rexmit = repair.on_dubious(&mut site, before, u32::from(duplicate), &mut heard);
        }
        if heard.set_timer && !repair.schedule_probe(&mut site, true) {
            site.rearm();
        }
        let (delivered_ever, lost_ever) = self.queue.totals();
        let (delivered, lost) = (delivered_ever - delivered, lost_ever - lost);
        let delivery = Delivery { delivered: delivered as u32, lost: lost as u32, advanced };
        self.control(now, (&heard, delivery), flight);
        self.send_repairs(now, rexmit, out);
    }

    /// An ACK that was overtaken: only its SACK blocks count.
    pub(super) fn on_old_ack(&mut self, now: Reading, ack: &Arrival, out: &mut Vec<Transmission>) {
        if ack.blocks.is_empty() || !self.options.sack {
            return;
        }
        let before = self.queue.acked();
        let (repair, mut site) = self.site(now);
        let ack = Arrival { ece: false, ..*ack };
        let mut heard = repair.take_reports(&mut site, &ack, before);
        let rexmit = repair.on_dubious(&mut site, before, 0, &mut heard);
        self.send_repairs(now, rexmit, out);
    }

    /// The effects of an ACK on the window and the pace; `flight` was in flight before it.
    fn control(&mut self, now: Reading, said: (&AckFacts, Delivery), flight: u32) {
        let (context, excused) = (self.context(now), self.repair.reductions().excuses());
        let (heard, delivery) = said;
        if self.path.law().paces() {
            self.path.control_by_rate(said, flight, excused, context);
        } else {
            self.path.note_for_class(said, flight, excused, &context);
            if excused {
                self.path.keep(now.tick);
            } else if self.repair.stage().reduces() {
                self.path.reduce(delivery, context.in_flight);
            } else if heard.acked || (heard.sacked && self.repair.reordering().is_unusual()) {
                self.path.grow(delivery.delivered, &context);
            }
        }
        let outstanding = self.queue.outstanding();
        self.path.update_pacing_rate(outstanding);
        self.path.settle_for_class(&context, outstanding);
    }
}
