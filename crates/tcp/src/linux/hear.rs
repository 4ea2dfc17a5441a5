//! What becomes of an ACK, from what it reports to what it lets go.

use super::clock::Reading;
use super::law::LinuxLaw;
use super::prr::Delivery;
use super::rate::Sample;
use super::{Arrival, Heard, Linux, Rexmit, Stage};
use crate::segment::Transmission;

impl Linux {
    /// Whether nothing is being repaired, probed or reported, and no class of Python decides.
    #[inline]
    pub(crate) fn is_fast(&self) -> bool {
        self.stage == Stage::Open
            && self.acked > 0
            && self.sacked | self.lost | self.again == 0
            && self.probed.is_none()
            && !self.reductions.excused
            && !matches!(self.law, LinuxLaw::Foreign(_))
    }

    pub(super) fn take_ack(&mut self, now: Reading, ack: &Arrival, out: &mut Vec<Transmission>) {
        let before = self.acked;
        self.begin_for_class();
        let (delivered, lost, flight) = (self.delivered, self.lost_ever, self.in_flight());
        let high = if self.options.sack { self.highest_sacked() } else { self.acked };
        let outstanding = !self.queue.is_empty();
        let advanced = ack.next > before;
        if advanced {
            self.timeouts = 0;
        }
        let wider = ack.window > self.peer.window() || ack.window == 0;
        let window = advanced || wider || ack.with_data;
        self.acked = ack.next;
        if window {
            self.take_window(ack.window);
        }
        let mut heard = self.take_reports(now, ack, before);
        (heard.advanced, heard.window) = (advanced, window);
        if !outstanding {
            self.law.arrives(&self.context(now));
            return self.on_idle_ack(now, before, &mut heard);
        }
        self.take_acked(now, ack, high, &mut heard);
        self.law.arrives(&self.context(now));
        if self.options.rack_adapts {
            self.rack.adapt(heard.newest.prior(), self.delivered);
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
        let delivered = (self.delivered - delivered) as u32;
        let lost = (self.lost_ever - lost) as u32;
        let delivery = Delivery { delivered, lost, advanced };
        if self.law.paces() {
            self.control_by_rate(now, &heard, delivery, flight);
        } else {
            self.note_for_class(now, &heard, delivery, flight);
            self.control(now, &heard, delivery);
            self.settle_for_class(now);
        }
        self.send_repairs(now, rexmit, out);
    }

    /// What the blocks and flags of an ACK say.
    fn take_reports(&mut self, now: Reading, ack: &Arrival, before: u64) -> Heard {
        let mut heard = Heard { reordered: self.next, ..Heard::default() };
        if self.options.sack && !ack.blocks.is_empty() {
            heard = self.take_blocks(now.us, ack.blocks, before);
        }
        heard.ece = ack.ece && self.options.ecn;
        self.count_delivered(heard.delivered, heard.ece);
        heard
    }

    /// Nothing was outstanding.
    fn on_idle_ack(&mut self, now: Reading, before: u64, heard: &mut Heard) {
        if heard.duplicate {
            self.on_dubious(now, before, 0, heard);
        }
        self.persist_on_ack(now);
        self.take_probe_ack(now, self.acked, heard);
    }

    /// An ACK that was overtaken: only what it reports counts.
    pub(super) fn on_old_ack(&mut self, now: Reading, ack: &Arrival, out: &mut Vec<Transmission>) {
        if ack.blocks.is_empty() || !self.options.sack {
            return;
        }
        let before = self.acked;
        let mut heard = self.take_reports(now, &Arrival { ece: false, ..*ack }, before);
        let rexmit = self.on_dubious(now, before, 0, &mut heard);
        self.send_repairs(now, rexmit, out);
    }

    /// What an ACK makes of the window.
    fn control(&mut self, now: Reading, heard: &Heard, delivery: Delivery) {
        if self.reductions.excused {
            self.window.stamp = now.tick;
        } else if self.stage.reduces() {
            self.reduce(delivery);
        } else {
            let reorders = self.reordering > self.options.reordering;
            if heard.acked || (reorders && heard.sacked) {
                let acked = match &mut self.start {
                    Some(start) => start.allow(&self.window, delivery.delivered),
                    None => delivery.delivered,
                };
                self.grow(now, acked);
                self.window.stamp = now.tick;
            }
        }
        self.update_pacing_rate();
    }

    /// What an ACK says of the rate of delivery; `flight` was in flight before it.
    pub(super) fn sample(
        &mut self,
        now: Reading,
        heard: &Heard,
        delivery: Delivery,
        flight: u32,
    ) -> Sample {
        let sample = Sample {
            acked: delivery.delivered,
            lost: if self.reductions.excused { 0 } else { delivery.lost },
            flight,
            rtt: heard.rtt,
            delayed: heard.delayed,
            ..Sample::default()
        };
        let (us, shortest) = (now.us, self.estimator.shortest());
        self.rate.sample(us, self.delivered, &heard.newest, shortest, sample)
    }

    /// As [`control`](Self::control) for a law that goes by the rate of delivery.
    fn control_by_rate(&mut self, now: Reading, heard: &Heard, delivery: Delivery, flight: u32) {
        let excused = self.reductions.excused;
        let mut sample = self.sample(now, heard, delivery, flight);
        (sample.sent_in_flight, sample.lost_since) = heard.newest.losses(self.lost_ever);
        let mut context = self.context(now);
        if excused {
            (context.stage, sample.lost_since) = (Stage::Open, 0);
        }
        if self.law.control(&mut self.window, &sample, &context) {
            self.rate.idle(self.delivered + u64::from(context.in_flight));
        }
        self.update_pacing_rate();
    }
}
