//! A law of the user decides here: it is given the state of the connection, and answers.

use burstlab_units::Time;

use super::Flow;
use crate::delays::News;
use crate::foreign::{Decision, ForeignLaw, HasLaw};
use crate::moment::Moment;
use crate::round::Round;

impl Flow {
    /// The present state, for a law or detector outside of this crate.
    pub(crate) fn moment(&self, now: Time) -> Moment {
        let rtt = self.timer.view();
        let tallied = self.delays.as_ref().and_then(|delays| delays.tallied());
        let payload = self.delays.as_ref().map_or(0, |delays| delays.payload());
        Moment {
            now,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            window: self.window.plain(),
            receiver_window: self.window.receiver,
            flight: self.flight(),
            first: self.acked,
            next: self.next,
            suspects: (self.acked, self.next),
            base_rtt: self.delays.as_ref().and_then(|delays| delays.base()),
            smoothed: (!rtt.smoothed.is_zero()).then_some((rtt.smoothed, rtt.variance)),
            rto: self.timer.rto(),
            tallied,
            delivery_rate: tallied
                .and_then(|tallied| tallied.delivery_rate())
                .map(|segments| segments * 8.0 * payload as f64),
            delivered: self.acked.saturating_sub(1),
            payload,
            ..Moment::default()
        }
    }

    /// An ACK of new data, which may have ended a round trip, opens the window.
    pub(super) fn grow_by_class(&mut self, now: Time, round: Option<Round>) {
        let News { acked, rtt, .. } =
            self.delays.as_ref().map_or(News::default(), |delays| delays.news());
        let moment = Moment { acked, rtt, round, ..self.moment(now) };
        let decision = self.decide(|law| law.on_ack(&moment));
        self.window.grow_to(decision);
    }

    /// Reduces the window after a loss found by duplicate ACKs.
    pub(crate) fn reduce_window(&mut self, now: Time) {
        if !self.window.is_foreign() {
            return self.window.reduce(self.flight(), self.acked);
        }
        let moment = self.moment_of_loss(now);
        let decision = self.decide(|law| law.on_loss(&moment));
        self.window.reduce_to(moment.window, decision);
    }

    /// Lowers the threshold and begins with one segment, though no time-out occurred (Tahoe).
    pub(crate) fn collapse_window(&mut self, now: Time) {
        if !self.window.is_foreign() {
            return self.window.restart((self.flight(), self.acked), false);
        }
        let moment = self.moment_of_loss(now);
        let decision = self.decide(|law| law.on_loss(&moment));
        self.window.collapse_with(moment.window, decision);
    }

    /// Lowers the threshold after a time-out and begins again. That of a SYN leaves the threshold,
    /// unless a class decides so.
    pub(super) fn restart_window(&mut self, now: Time, repeated: bool) {
        let threshold = self.window.ssthresh;
        if !self.window.is_foreign() {
            self.window.restart((self.flight(), self.acked), repeated);
            return self.keep_threshold_of_syn(threshold);
        }
        let moment = Moment { repeated, ..self.moment_of_loss(now) };
        let decision = self.decide(|law| law.on_timeout(&moment));
        self.window.restart_with(moment.window, repeated, decision);
        if !matches!(decision, Decision::Both { .. }) {
            self.keep_threshold_of_syn(threshold);
        }
    }

    /// One burst was lost, and that is all; whether the law says so.
    pub(super) fn excuse_window(&mut self, now: Time, by_law: bool) {
        let decision = match by_law {
            true if self.window.is_foreign() => {
                let moment = self.moment(now);
                self.decide(|law| law.on_excused(&moment))
            }
            true => Decision::Window(self.window.excused()),
            false => Decision::Usual,
        };
        self.window.excuse(decision);
    }

    fn moment_of_loss(&self, now: Time) -> Moment {
        Moment { window: self.window.reducible(self.flight()), ..self.moment(now) }
    }

    /// The answer of a law outside of this crate.
    fn decide(&mut self, ask: impl FnOnce(&mut dyn ForeignLaw) -> Decision) -> Decision {
        self.window.foreign().map_or(Decision::Usual, ask)
    }
}
