//! Where a law that is written elsewhere decides: it is told what is so, and answers with a window,
//! a threshold, a pacing rate and a timer. What is lost, and what goes when, is found and done here
//! as for any other law.

use burstlab_units::Time;

use super::clock::Reading;
use super::law::{Cause, Foreign, LinuxLaw};
use super::prr::Delivery;
use super::{Heard, Linux, LinuxOptions, Stage};
use crate::foreign::{Decision, ForeignLaw, Moment};
use crate::segment::Transmission;

impl Linux {
    /// A sender with a law that is written elsewhere, whatever `options` says of the law.
    #[must_use]
    pub fn with_law(options: &LinuxOptions, law: Box<dyn ForeignLaw>) -> Self {
        let mut new = Self::new(options);
        new.law = LinuxLaw::Foreign(Box::new(Foreign::new(law)));
        new
    }

    /// What is so now.
    fn moment(&self, now: Reading, law: &Foreign) -> Moment {
        let view = self.view();
        let cwnd = law.cwnd(&self.window);
        let receiver_window = self.peer.window() / self.options.payload;
        let moment = Moment {
            now: now.now,
            cwnd,
            ssthresh: f64::from(self.window.ssthresh),
            window: cwnd.min(receiver_window as f64),
            receiver_window,
            flight: u64::from(self.in_flight()),
            first: self.acked,
            next: self.next,
            acked: 0,
            rtt: None,
            base_rtt: self.base_rtt(),
            smoothed: (!view.smoothed.is_zero()).then_some((view.smoothed, view.variance)),
            rto: self.rto(),
            round: None,
            tallied: None,
            delivery_rate: None,
            app_limited: false,
            // Without the SYN.
            delivered: self.delivered.saturating_sub(1),
            marked: 0,
            delivered_marked: self.marked,
            payload: self.options.payload,
            repairing: self.stage >= Stage::Cwr,
            repeated: self.timeouts > 0,
        };
        law.fill(&self.context(now), moment)
    }

    /// Something happens of which a law may be told.
    pub(super) fn begin_for_class(&mut self) {
        if matches!(self.law, LinuxLaw::Foreign(_)) {
            let context = self.context(Reading::default());
            let LinuxLaw::Foreign(law) = &mut self.law else { return };
            law.begin(context);
        }
    }

    /// The connection is open.
    pub(super) fn open_for_class(&mut self, now: Reading) {
        let context = self.context(now);
        if let LinuxLaw::Foreign(law) = &mut self.law {
            law.open(context);
            self.settle_for_class(now);
        }
    }

    /// Counts what an ACK says of the rate of delivery and of the round trip.
    pub(super) fn note_for_class(
        &mut self,
        now: Reading,
        heard: &Heard,
        delivery: Delivery,
        flight: u32,
    ) {
        if !matches!(self.law, LinuxLaw::Foreign(_)) {
            return;
        }
        let sample = self.sample(now, heard, delivery, flight);
        let bits = 8e6 * self.options.payload as f64;
        let context = self.context(now);
        let LinuxLaw::Foreign(law) = &mut self.law else { return };
        if let Some((segments, us)) = sample.rate {
            law.note_rate(segments as f64 * bits / us as f64, sample.idle);
        }
        law.count(self.window.cwnd, context);
    }

    /// `acked` segments were delivered, and the window may grow. A law that does not pace is asked
    /// only where its window is what limits the connection, as Reno and CUBIC are.
    pub(super) fn grow(&mut self, now: Reading, acked: u32) {
        let context = self.context(now);
        let LinuxLaw::Foreign(law) = &self.law else {
            return self.law.grow(&mut self.window, acked, &context);
        };
        let (rules_slow_start, paces) = (law.law.rules_slow_start(), law.law.paces());
        let starts = self.window.in_slow_start() && !rules_slow_start;
        if !self.window.may_grow() && (starts || !paces) {
            return;
        }
        let left = if starts { self.window.slow_start(acked) } else { acked };
        if left == 0 {
            return;
        }
        let LinuxLaw::Foreign(law) = &self.law else { return };
        let moment = Moment { acked: u64::from(left), ..law.with_round(self.moment(now, law)) };
        let LinuxLaw::Foreign(law) = &mut self.law else { return };
        let decision = law.law.on_ack(&moment);
        law.told();
        if !law.apply(&mut self.window, decision) {
            self.window.reno(left);
        }
    }

    /// What the threshold becomes.
    pub(super) fn threshold(&mut self, now: Reading, cause: Cause) -> u32 {
        let LinuxLaw::Foreign(law) = &self.law else { return self.law.ssthresh(&self.window) };
        // The congestion window is what is reduced, whatever the receiver has room for.
        let moment = Moment { window: law.cwnd(&self.window), ..self.moment(now, law) };
        let LinuxLaw::Foreign(law) = &mut self.law else { return 2 };
        let decision = match cause {
            Cause::Loss => law.law.on_loss(&moment),
            Cause::Mark => law.law.on_mark(&moment),
            Cause::Timeout => law.law.on_timeout(&moment),
        };
        law.threshold(&self.window, decision)
    }

    /// After an ACK, a time-out, or a timer of its own: the law is asked at what rate to send, and
    /// when it wants to be asked again.
    pub(super) fn settle_for_class(&mut self, now: Reading) {
        let LinuxLaw::Foreign(law) = &self.law else { return };
        let (paces, timed) = (law.law.paces(), law.law.has_timer());
        if !paces && !timed {
            return;
        }
        let moment = law.with_round(self.moment(now, law));
        let LinuxLaw::Foreign(law) = &mut self.law else { return };
        if paces {
            let rate = law.law.pacing_rate(&moment);
            law.told();
            law.pacing_rate = rate.map(|bits| ((bits / 8.0).round() as u64).max(1));
            self.pace.turn(rate.is_some() || self.options.pacing);
        }
        if timed {
            let wait = law.law.next_timer(&moment);
            law.set_timer(wait.map(|wait| now.now + wait));
        }
        self.update_pacing_rate();
    }

    /// When the law's own timer is due; never once all is delivered that there will be.
    pub(super) fn class_deadline(&self) -> Option<Time> {
        let LinuxLaw::Foreign(law) = &self.law else { return None };
        let over = self.application.is_closed() && self.queue.is_empty() && !self.has_data();
        law.deadline().filter(|_| !over)
    }

    /// The law's own timer, if it is due.
    pub(super) fn on_class_timer(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        let LinuxLaw::Foreign(law) = &mut self.law else { return };
        if !law.take_timer(now.now) {
            return;
        }
        self.begin_for_class();
        let LinuxLaw::Foreign(law) = &self.law else { return };
        let moment = self.moment(now, law);
        let tick = now.tick;
        let LinuxLaw::Foreign(law) = &mut self.law else { return };
        let decision = law.law.on_timer(&moment);
        let holds = !self.stage.reduces() && !self.reductions.excused;
        if holds && decision != Decision::Usual {
            law.apply(&mut self.window, decision);
            self.window.stamp = tick;
        }
        self.settle_for_class(now);
        if self.lost > self.again && self.window.cwnd > self.in_flight() {
            self.send_lost(now, out);
        }
        self.push(now, out);
    }
}
