//! A law of the user decides here: it is given the state of the connection, and answers with a
//! window, a threshold, a pacing rate and a timer. Losses are found, and segments sent, as for any
//! other law.

use burstlab_units::{Span, Time};

use super::Path;
use crate::foreign::{Decision, ForeignLaw, HasLaw};
use crate::linux::ack_facts::{AckFacts, Delivery};
use crate::linux::context::{AckContext, Stage};
use crate::linux::law::{Cause, Foreign, LinuxLaw};
use crate::moment::Moment;

impl HasLaw for Path {
    fn foreign(&mut self) -> Option<&mut dyn ForeignLaw> {
        match &mut self.law {
            LinuxLaw::Foreign(law) => Some(&mut *law.law),
            _ => None,
        }
    }
}

impl Path {
    /// The law is one that is written elsewhere, which may judge its own losses.
    pub(crate) fn follow(&mut self, law: Box<dyn ForeignLaw>, judges: bool) {
        self.law = LinuxLaw::Foreign(Box::new(Foreign::new(law, judges)));
    }

    /// Whether it is.
    #[inline]
    pub(crate) fn is_for_class(&self) -> bool {
        matches!(self.law, LinuxLaw::Foreign(_))
    }

    /// The present state, for such a law and for detectors.
    pub(crate) fn moment(&self, context: &AckContext) -> Moment {
        let class = match &self.law {
            LinuxLaw::Foreign(law) => Some(law),
            _ => None,
        };
        let cwnd = class.map_or(f64::from(self.window.cwnd), |law| law.cwnd(&self.window));
        let view = self.round_trip.view();
        let receiver_window = context.receiver_window / self.payload;
        let moment = Moment {
            now: context.clock.now,
            cwnd,
            ssthresh: f64::from(self.window.ssthresh),
            window: cwnd.min(receiver_window as f64),
            receiver_window,
            flight: u64::from(context.in_flight),
            first: context.acked,
            next: context.next,
            suspects: (context.acked, context.next),
            base_rtt: self.round_trip.known_shortest().map(Span::from_us),
            smoothed: (!view.smoothed.is_zero()).then_some((view.smoothed, view.variance)),
            rto: Span::from_ms(self.round_trip.rto()),
            // Without the SYN.
            delivered: context.delivered.saturating_sub(1),
            delivered_marked: context.marked,
            payload: self.payload,
            repairing: context.stage >= Stage::Cwr,
            repeated: context.repeated,
            ..Moment::default()
        };
        class.map_or(moment, |law| law.fill(context, moment))
    }

    /// Something happens that concerns a law.
    pub(crate) fn begin_for_class(&mut self, context: AckContext) {
        if let LinuxLaw::Foreign(law) = &mut self.law {
            law.begin(context);
        }
    }

    /// The connection is open.
    pub(super) fn open_for_class(&mut self, context: &AckContext) {
        if let LinuxLaw::Foreign(law) = &mut self.law {
            law.open(*context);
            self.settle_for_class(context, 0);
        }
    }

    /// Counts what an ACK says of the rate of delivery and of the round trip.
    pub(crate) fn note_for_class(
        &mut self,
        (heard, delivery): (&AckFacts, Delivery),
        flight: u32,
        excused: bool,
        context: &AckContext,
    ) {
        if !self.is_for_class() {
            return;
        }
        let sample = self.sample((heard, delivery), flight, excused, context);
        let LinuxLaw::Foreign(law) = &mut self.law else { return };
        if let Some((segments, us)) = sample.rate {
            let bits = 8e6 * self.payload as f64;
            law.note_rate(segments as f64 * bits / us as f64, sample.idle);
        }
        law.count(self.window.cwnd, *context);
    }

    /// `acked` segments were delivered, and the window may grow. A law that does not pace is asked
    /// only where its window is what limits the connection, as Reno and CUBIC are.
    #[cold]
    pub(super) fn grow_for_class(&mut self, acked: u32, context: &AckContext) {
        let LinuxLaw::Foreign(law) = &self.law else { return };
        let (rules_slow_start, paces) = (law.law.rules_slow_start(), law.law.paces());
        let starts = self.window.in_slow_start() && !rules_slow_start;
        if !self.window.may_grow() && (starts || !paces) {
            return;
        }
        let left = if starts { self.window.slow_start(acked) } else { acked };
        if left == 0 {
            return;
        }
        let moment = self.moment(context);
        let LinuxLaw::Foreign(law) = &mut self.law else { return };
        let moment = Moment { acked: u64::from(left), ..law.with_round(moment) };
        let decision = law.law.on_ack(&moment);
        law.round_reported();
        if !law.apply(&mut self.window, decision) {
            self.window.reno(left);
        }
    }

    /// The new threshold.
    pub(super) fn threshold(&mut self, context: &AckContext, cause: Cause) -> u32 {
        let moment = self.is_for_class().then(|| self.moment(context));
        let (LinuxLaw::Foreign(law), Some(moment)) = (&mut self.law, moment) else {
            return self.law.ssthresh(&self.window, context.clock.tick);
        };
        // The congestion window is what is reduced, whatever the receiver has room for.
        let moment = Moment { window: moment.cwnd, ..moment };
        let decision = match cause {
            Cause::Loss => law.law.on_loss(&moment),
            Cause::Mark => law.law.on_mark(&moment),
            Cause::Timeout => law.law.on_timeout(&moment),
        };
        law.threshold(&self.window, decision)
    }

    /// After an ACK, a time-out, or a timer of its own: the law is asked at what rate to send, and
    /// when it wants to be asked again.
    pub(crate) fn settle_for_class(&mut self, context: &AckContext, outstanding: u32) {
        let moment = self.is_for_class().then(|| self.moment(context));
        let (LinuxLaw::Foreign(law), Some(moment)) = (&mut self.law, moment) else { return };
        let (paces, timed) = (law.law.paces(), law.law.has_timer());
        if !paces && !timed {
            return;
        }
        let moment = law.with_round(moment);
        if paces {
            let rate = law.law.pacing_rate(&moment);
            law.round_reported();
            law.pacing_rate = rate.map(|bits| ((bits / 8.0).round() as u64).max(1));
            self.pace.turn(rate.is_some());
        }
        if timed {
            let wait = law.law.next_timer(&moment);
            law.set_timer(wait.map(|wait| context.clock.now + wait));
        }
        self.update_pacing_rate(outstanding);
    }

    /// When the law's own timer is due.
    #[inline]
    pub(crate) fn class_deadline(&self) -> Option<Time> {
        match &self.law {
            LinuxLaw::Foreign(law) => law.deadline(),
            _ => None,
        }
    }

    /// Whether it is; then it does not run any more.
    pub(crate) fn take_class_timer(&mut self, now: Time) -> bool {
        match &mut self.law {
            LinuxLaw::Foreign(law) => law.take_timer(now),
            _ => false,
        }
    }

    /// That timer is due; `holds`: nothing is being repaired, so that what the law says counts.
    pub(crate) fn ask_after_timer(&mut self, context: &AckContext, holds: bool) {
        let moment = self.is_for_class().then(|| self.moment(context));
        let (LinuxLaw::Foreign(law), Some(moment)) = (&mut self.law, moment) else { return };
        let decision = law.law.on_timer(&moment);
        if holds && decision != Decision::Usual {
            law.apply(&mut self.window, decision);
            self.window.stamp = context.clock.tick;
        }
    }
}
