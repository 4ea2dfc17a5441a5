//! A sender whose loss recovery, window law, slow start and time-out are axes that combine freely.

use std::ops::Range;

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::state::{Reductions, State};
use crate::config::Config;
use crate::detection::Detection;
use crate::discriminator::{BurstReport, Discriminator, Verdict};
use crate::flow::Flow;
use crate::foreign::Classes;
use crate::moment::Moment;
use crate::packet_run::PacketRun;
use crate::recovery::Recovery;
use crate::segment::{Ack, Transmission};

/// Its methods are those of [`Sender`](crate::Sender).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Classic {
    pub(super) flow: Flow,
    pub(super) recovery: Recovery,
    pub(super) detection: Detection,
    started: bool,
}

impl Classic {
    pub(super) fn new(config: &Config, classes: Option<&dyn Classes>) -> Self {
        Self {
            flow: Flow::new(config, classes),
            recovery: Recovery::new(config),
            detection: Detection::new(config, classes),
            started: false,
        }
    }

    /// So many bytes in all; whether the application closes behind them makes no difference.
    pub(super) fn offer(&mut self, now: Time, bytes: u64, _: bool, out: &mut Vec<Transmission>) {
        let flow = &mut self.flow;
        if flow.offered.extend(bytes, flow.sent) && flow.acked > 0 {
            flow.end_idleness(now);
            self.recovery.send(flow, now, out);
        }
    }

    pub(super) fn start(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if !self.started {
            self.started = true;
            self.recovery.send(&mut self.flow, now, out);
        }
    }

    pub(super) fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        if !self.flow.counters.count(ack, self.flow.acked..self.flow.sent) {
            return;
        }
        if !self.detection.is_on() {
            self.recovery.on_ack(&mut self.flow, now, ack, out);
            return;
        }
        let (window, cuts) = (self.flow.window.plain(), self.flow.counters.fast_retransmits);
        let (before, from) = (self.flow.acked, out.len());
        let measured = self.round_trips().0;
        self.recovery.on_ack(&mut self.flow, now, ack, out);
        let acked = self.flow.acked - before;
        // Without progress: with it Vegas retransmits a segment whose loss was reported before.
        if self.flow.counters.fast_retransmits > cuts && acked == 0 {
            let moment = Moment { window, ..self.moment(now) };
            self.report(|one| one.on_loss(&moment));
        }
        if self.detection.heeds_acks() {
            let (count, last) = self.round_trips();
            let rtt = (count > measured).then_some(last);
            let news = self.flow.delays.as_ref().filter(|_| acked > 0).map(|all| all.news());
            let round = news.and_then(|news| news.round);
            let moment = Moment { acked, rtt, round, sack: ack.sack, ..self.moment(now) };
            self.report(|one| one.on_feedback(&moment, acked > 0));
        }
        if acked > 0 {
            let next = self.flow.acked;
            self.report(|one| one.on_progress(next));
        }
        self.detection.on_transmissions(&mut self.flow.window, &out[from..]);
    }

    /// Reports something to the detector, if there is one.
    fn report(&mut self, report: impl FnOnce(&mut dyn Discriminator)) {
        self.detection.report(&mut self.flow.window, report);
    }

    /// A burst ACK arrives.
    pub(super) fn on_burst_ack(&mut self, now: Time, report: &BurstReport) {
        let heeds = self.detection.heeds_acks();
        let moment = if heeds { self.moment(now) } else { Moment::default() };
        self.report(|one| one.on_burst_ack(report, &moment));
    }

    /// The simulator reports the truth about a time-out that would come now.
    pub(super) fn tell(&mut self, truth: Verdict) {
        self.report(|one| one.on_truth(truth));
    }

    /// See [`Sender::on_ack_with_data`](crate::Sender::on_ack_with_data).
    pub(super) fn on_ack_with_data(&mut self, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        if ack.next > self.flow.acked || self.recovery.learns_from(&self.flow, ack) {
            self.on_ack(now, ack, out);
            self.flow.counters.acks -= 1;
        }
    }

    /// How many ACKs of a run are taken at most, from the front.
    #[inline(always)]
    pub(super) fn takes_at_most(&self, run: &PacketRun, until: Time) -> u32 {
        if run.first <= self.flow.acked || !self.is_fast() {
            return 0;
        }
        // A second ACK for the same segment would be a duplicate.
        let rising = if run.step == 0 { 1 } else { run.count };
        // There is always something to follow an ACK for a segment below the limit.
        let news = run.up_to(self.flow.sent.min(self.flow.offered.limit - 1));
        run.by(until).min(news).min(rising)
    }

    /// As [`Sender::segment_size`](crate::Sender::segment_size).
    #[inline(always)]
    #[must_use]
    pub fn segment_size(&self, seq: u64) -> Bytes {
        self.flow.offered.size(seq)
    }

    /// An ACK on the fast path arrives: returns the segments that it lets go. Nothing is counted.
    #[inline(always)]
    pub(super) fn goes_on(&mut self, now: Time, next: u64) -> Range<u64> {
        debug_assert!(self.is_fast() && self.covers(next), "an ACK on the fast path");
        self.recovery.on_ack_fast(&mut self.flow, next);
        if self.flow.delays.is_some() {
            return self.flow.go_on_by_delay(now, next);
        }
        self.flow.accept_fast(now, next);
        self.flow.grow_by_acks();
        self.flow.release(now)
    }

    /// So many ACKs were taken one after the other.
    #[inline]
    pub(super) fn took(&mut self, acks: u32) {
        if acks > 0 {
            self.flow.counters.acks += u64::from(acks);
            self.flow.limited_transmissions = 0;
            let next = self.flow.acked;
            self.report(|one| one.on_progress(next));
        }
    }

    #[inline]
    pub(super) fn is_fast(&self) -> bool {
        let flow = &self.flow;
        flow.next == flow.sent
            && flow.duplicates == 0
            && flow.hold.is_off()
            && !self.detection.heeds_acks()
            && !self.recovery.is_repairing(flow)
    }

    #[inline]
    pub(super) fn covers(&self, next: u64) -> bool {
        self.flow.acked < next && next <= self.flow.sent && next < self.flow.offered.limit
    }

    /// The present state, for the detector.
    fn moment(&self, now: Time) -> Moment {
        let repairing = self.recovery.is_repairing(&self.flow);
        Moment { repairing, ..self.flow.moment(now) }
    }

    /// A burst NAK lets it repair a lost burst at once.
    pub(super) fn on_burst_nak(
        &mut self,
        now: Time,
        report: &BurstReport,
        out: &mut Vec<Transmission>,
    ) {
        let moment = self.moment(now);
        if self.detection.on_burst_nak(&mut self.flow.window, report, &moment) {
            self.flow.counters.early_repairs += 1;
            self.recover(now, Verdict::False, out);
        }
    }

    /// Begins again from the first segment that is not acknowledged.
    fn recover(&mut self, now: Time, verdict: Verdict, out: &mut Vec<Transmission>) {
        let from = out.len();
        self.recovery.on_timeout(&mut self.flow, now);
        match verdict {
            Verdict::True => self.flow.time_out(now),
            Verdict::False => self.flow.repair_burst(now, self.detection.is_law()),
        }
        self.recovery.send_late(&mut self.flow, now, out);
        self.detection.on_transmissions(&mut self.flow.window, &out[from..]);
    }

    pub(super) fn on_release(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if self.flow.hold.ends().is_some_and(|at| now >= at) {
            let from = out.len();
            self.flow.hold.open();
            self.recovery.send_late(&mut self.flow, now, out);
            self.flow.hold.close();
            self.detection.on_transmissions(&mut self.flow.window, &out[from..]);
        }
    }

    pub(super) fn on_timeout(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if self.flow.timer.deadline().is_some_and(|deadline| now >= deadline) {
            let moment = self.moment(now);
            let verdict = self.detection.judge(&mut self.flow.window, &moment, true);
            self.flow.counters.timeouts += 1;
            self.flow.counters.excused_timeouts += u64::from(verdict == Verdict::False);
            self.recover(now, verdict, out);
        }
    }

    pub(super) fn reductions(&self) -> Reductions {
        let counters = &self.flow.counters;
        let repairs = counters.early_repairs;
        Reductions {
            all: counters.fast_retransmits + counters.timeouts + repairs,
            by_marks: 0,
            excused: counters.excused_timeouts + repairs,
            undone: 0,
        }
    }

    pub(super) fn state(&self) -> State {
        if self.recovery.is_repairing(&self.flow) {
            State::Recovery
        } else if self.flow.window.cwnd < self.flow.window.ssthresh {
            State::SlowStart
        } else {
            State::CongestionAvoidance
        }
    }

    pub(super) fn round_trips(&self) -> (u64, Span) {
        let timed = self.flow.timer.round_trips();
        self.flow.delays.as_ref().map_or(timed, |delays| delays.measured())
    }
}
