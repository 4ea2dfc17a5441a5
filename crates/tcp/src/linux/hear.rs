//! What becomes of an ACK, from what it reports to what it lets go.

use super::clock::Reading;
use super::path::Delivery;
use super::{Arrival, Heard, Linux, Rexmit, Stage};
use crate::segment::Transmission;

impl Linux {
    /// Whether nothing is being repaired, probed or reported, and no class of Python decides.
    #[inline]
    pub(crate) fn is_fast(&self) -> bool {
        self.stage == Stage::Open
            && self.queue.acked() > 0
            && self.queue.counts() == [0; 3]
            && self.probed.is_none()
            && !self.reductions.excused
            && !self.path.is_for_class()
    }

    pub(super) fn take_ack(&mut self, now: Reading, ack: &Arrival, out: &mut Vec<Transmission>) {
        let before = self.queue.acked();
        self.begin_for_class();
        let ((delivered, lost), flight) = (self.queue.totals(), self.queue.in_flight());
        let high = if self.options.sack { self.queue.highest_sacked() } else { self.queue.acked() };
        let outstanding = !self.queue.is_empty();
        let advanced = ack.next > before;
        if advanced {
            self.timeouts = 0;
        }
        let wider = ack.window > self.peer.window() || ack.window == 0;
        let window = advanced || wider || ack.with_data;
        self.queue.acknowledge(ack.next);
        if window {
            self.take_window(ack.window);
        }
        let mut heard = self.take_reports(now, ack, before);
        (heard.advanced, heard.window) = (advanced, window);
        if !outstanding {
            self.path.arrives(&self.context(now));
            return self.on_idle_ack(now, before, &mut heard);
        }
        self.take_acked(now, ack, high, &mut heard);
        self.path.arrives(&self.context(now));
        if self.options.rack_adapts {
            self.rack.adapt(heard.newest.prior(), self.queue.totals().0);
        }
        self.take_probe_ack(now, ack.next, &heard);
        let mut rexmit = Rexmit::None;
        let calm = heard.is_news() && !heard.sacked && !heard.ece && !heard.duplicate;
        if !calm || self.stage != Stage::Open {
            let duplicate = !heard.advanced && !heard.is_news() && !heard.duplicate;
            rexmit = self.on_dubious(now, before, u32::from(duplicate), &mut heard);
        }
        if heard.set_timer && !self.schedule_probe(now, true) {
            self.rearm(now);
        }
        let (delivered_ever, lost_ever) = self.queue.totals();
        let (delivered, lost) = (delivered_ever - delivered, lost_ever - lost);
        let delivery = Delivery { delivered: delivered as u32, lost: lost as u32, advanced };
        if self.path.law().paces() {
            let (excused, context) = (self.reductions.excused, self.context(now));
            self.path.control_by_rate((&heard, delivery), flight, excused, context);
            self.path.update_pacing_rate(self.queue.outstanding());
        } else {
            if self.path.is_for_class() {
                let (excused, context) = (self.reductions.excused, self.context(now));
                self.path.note_for_class((&heard, delivery), flight, excused, &context);
            }
            self.control(now, &heard, delivery);
            if self.path.is_for_class() {
                self.path.settle_for_class(&self.context(now), self.queue.outstanding());
            }
        }
        self.send_repairs(now, rexmit, out);
    }

    /// What the blocks and flags of an ACK say.
    fn take_reports(&mut self, now: Reading, ack: &Arrival, before: u64) -> Heard {
        let mut heard = Heard { reordered: self.queue.next(), ..Heard::default() };
        if self.options.sack && !ack.blocks.is_empty() {
            heard = self.take_blocks(now.us, ack.blocks, before);
        }
        heard.ece = ack.ece && self.options.ecn;
        self.queue.count_delivered(heard.delivered, heard.ece);
        heard
    }

    /// Nothing was outstanding.
    fn on_idle_ack(&mut self, now: Reading, before: u64, heard: &mut Heard) {
        if heard.duplicate {
            self.on_dubious(now, before, 0, heard);
        }
        self.persist_on_ack(now);
        self.take_probe_ack(now, self.queue.acked(), heard);
    }

    /// An ACK that was overtaken: only what it reports counts.
    pub(super) fn on_old_ack(&mut self, now: Reading, ack: &Arrival, out: &mut Vec<Transmission>) {
        if ack.blocks.is_empty() || !self.options.sack {
            return;
        }
        let before = self.queue.acked();
        let mut heard = self.take_reports(now, &Arrival { ece: false, ..*ack }, before);
        let rexmit = self.on_dubious(now, before, 0, &mut heard);
        self.send_repairs(now, rexmit, out);
    }

    /// What an ACK makes of the window.
    fn control(&mut self, now: Reading, heard: &Heard, delivery: Delivery) {
        if self.reductions.excused {
            self.path.keep(now.tick);
        } else if self.stage.reduces() {
            self.path.reduce(delivery, self.queue.in_flight());
        } else {
            let reorders = self.reordering > self.options.reordering;
            if heard.acked || (reorders && heard.sacked) {
                self.path.grow(delivery.delivered, &self.context(now));
            }
        }
        self.path.update_pacing_rate(self.queue.outstanding());
    }
}
