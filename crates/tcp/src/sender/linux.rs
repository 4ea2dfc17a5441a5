//! The sender of Linux behind the face that all senders have: sizes of its segments, counts, and a
//! detector of lost bursts, which may excuse a reduction of its window.

use std::ops::Range;

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::state::Reductions;
use crate::config::Config;
use crate::counters::SenderCounters;
use crate::detection::Detection;
use crate::discriminator::{BurstReport, Discriminator, Verdict};
use crate::foreign::Classes;
use crate::linux::{Linux, Stage, moment, path_mut};
use crate::moment::Moment;
use crate::offered::Offered;
use crate::packet_run::PacketRun;
use crate::receive::linux::syn_options;
use crate::segment::{Ack, AckOptions, Transmission, Wires};

/// Its methods are those of [`Sender`](crate::Sender).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinuxSender {
    pub(super) linux: Linux,
    pub(super) offered: Offered,
    pub(super) detection: Detection,
    pub(super) counters: SenderCounters,
    started: bool,
    headers: Bytes,
    /// Bytes by which the header of the SYN is longer.
    syn_options: Bytes,
    /// Whether the detector excused its last reduction.
    last_excused: bool,
}

impl LinuxSender {
    pub(super) fn new(config: &Config, classes: Option<&dyn Classes>) -> Self {
        Self {
            linux: Linux::of(config, classes),
            offered: Offered::new(config),
            detection: Detection::new(config, classes),
            counters: SenderCounters::default(),
            started: false,
            headers: config.headers(),
            syn_options: syn_options(config.timestamps != Some(false)),
            last_excused: false,
        }
    }

    /// So many bytes in all, and whether the application closes behind them.
    pub(super) fn offer(
        &mut self,
        now: Time,
        bytes: u64,
        closes: bool,
        out: &mut Vec<Transmission>,
    ) {
        let next = self.linux.queue().next();
        self.linux.application_mut().prepare(bytes, closes, next);
        if self.linux.application().makes_parts() {
            let end = bytes.div_ceil(self.offered.lengths.full()).saturating_add(1);
            self.offered.limit = self.offered.limit.max(end);
        } else if !self.offered.extend(bytes, 0) {
            return;
        }
        self.act(out, |linux, out| {
            linux.offer(bytes);
            if closes && bytes < u64::MAX {
                linux.application_mut().close();
            }
            if linux.queue().acked() > 0 {
                linux.write_more(now, out);
            }
        });
    }

    pub(super) fn start(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if !self.started {
            self.started = true;
            self.act(out, |linux, out| linux.start(now, out));
        }
    }

    pub(super) fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        if self.counts(ack) {
            let act = |linux: &mut Linux, out: &mut Vec<_>| {
                linux.on_wire_ack(now, (ack, false), None, out);
            };
            self.act_judged(now, Some(ack), out, act);
        }
    }

    /// See [`Sender::on_ack_with_data`](crate::Sender::on_ack_with_data).
    pub(super) fn on_ack_with_data(&mut self, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        if ack.next > self.linux.queue().acked() {
            self.on_ack(now, ack, out);
            self.counters.acks -= 1;
        }
    }

    pub(super) fn on_full_ack_with_data(
        &mut self,
        now: Time,
        (ack, options): (&Ack, &AckOptions),
        out: &mut Vec<Transmission>,
    ) {
        if ack.next > 0 && ack.next <= self.linux.queue().next() {
            let options = Some(options);
            let act = |linux: &mut Linux, out: &mut Vec<_>| {
                linux.on_wire_ack(now, (ack, true), options, out);
            };
            self.act_judged(now, Some(ack), out, act);
        }
    }

    pub(super) fn takes_full_fast(&self, now: Time, next: u64) -> bool {
        let linux = &self.linux;
        let news = linux.queue().acked() < next
            && next <= linux.queue().next()
            && next < self.offered.limit;
        news && linux.is_fast()
            && linux.poll_timeout().is_none_or(|due| due > now)
            && !self.detection.heeds_acks()
    }

    #[inline]
    pub(super) fn paced_alone(&self) -> Option<Time> {
        self.linux.paced_alone().filter(|_| !self.detection.heeds_acks())
    }

    pub(super) fn on_full_ack(
        &mut self,
        now: Time,
        (ack, options): (&Ack, &AckOptions),
        out: &mut Vec<Transmission>,
    ) {
        if !self.counts(ack) {
            return;
        }
        let simple = ack.sack.is_empty() && !options.marked;
        let act = |linux: &mut Linux, out: &mut Vec<Transmission>| {
            linux.on_wire_ack(now, (ack, false), Some(options), out);
        };
        if simple && self.takes_full_fast(now, ack.next) {
            // Nothing is reduced that a detector might excuse.
            self.act(out, act);
            self.report(|one| one.on_progress(ack.next));
        } else {
            self.act_judged(now, Some(ack), out, act);
        }
    }

    #[inline]
    pub(super) fn on_full_acks_fast(
        &mut self,
        run: &PacketRun,
        until: Time,
        wires: &mut impl Wires,
    ) -> u32 {
        if self.detection.heeds_acks() {
            return 0;
        }
        let taken = self.linux.on_acks_fast(run, (until, self.offered.limit), wires);
        self.counters.acks += u64::from(taken);
        self.counters.segments_sent = self.linux.queue().sent().0;
        if taken > 0 {
            let next = self.linux.queue().acked();
            self.report(|one| one.on_progress(next));
        }
        taken
    }

    /// Counts an ACK; returns whether it may be of what was sent.
    fn counts(&mut self, ack: &Ack) -> bool {
        self.counters.count(ack, self.linux.queue().acked()..self.linux.queue().next())
    }

    pub(super) fn on_timeout(&mut self, now: Time, out: &mut Vec<Transmission>) {
        self.act_judged(now, None, out, |linux, out| linux.on_timeout(now, out));
    }

    /// Reports something to the detector, if there is one.
    fn report(&mut self, report: impl FnOnce(&mut dyn Discriminator)) {
        self.detection.report(path_mut(&mut self.linux), report);
    }

    /// A burst ACK arrives.
    pub(super) fn on_burst_ack(&mut self, now: Time, report: &BurstReport) {
        let heeds = self.detection.heeds_acks();
        let moment = if heeds { moment(&self.linux, now) } else { Moment::default() };
        self.report(|one| one.on_burst_ack(report, &moment));
    }

    /// The simulator reports the truth about a reduction that would come now.
    pub(super) fn tell(&mut self, truth: Verdict) {
        self.report(|one| one.on_truth(truth));
    }

    /// Does something, and takes account of what that sends.
    fn act(
        &mut self,
        out: &mut Vec<Transmission>,
        act: impl FnOnce(&mut Linux, &mut Vec<Transmission>),
    ) {
        let from = out.len();
        let linux = &mut self.linux;
        act(linux, out);
        let parts = linux.application().makes_parts();
        for sent in &mut out[from..] {
            sent.size = match sent.seq {
                seq if seq > 0 && parts => sent.size,
                0 if linux.queue().acked() > 0 => self.headers,
                0 => self.offered.size(0) + self.syn_options,
                seq if linux.application().is_fin(seq) => self.headers,
                seq => self.offered.size(seq),
            };
        }
        let counters = &mut self.counters;
        (counters.segments_sent, counters.retransmissions) = linux.queue().sent();
        [_, counters.timeouts, counters.fast_retransmits] = linux.repair().totals();
    }

    /// The same for an ACK or a time-out, and asks the detector about a reduction that it makes.
    fn act_judged(
        &mut self,
        now: Time,
        ack: Option<&Ack>,
        out: &mut Vec<Transmission>,
        act: impl FnOnce(&mut Linux, &mut Vec<Transmission>),
    ) {
        if !self.detection.is_on() {
            return self.act(out, act);
        }
        let before =
            self.detection.heeds_acks().then(|| (moment(&self.linux, now), self.round_trips().0));
        let linux = &mut self.linux;
        linux.remember();
        let [reductions, marks, _] = linux.repair().reductions().counts();
        let (acked, window, from) =
            (linux.queue().acked(), f64::from(linux.path().cwnd()), out.len());
        let timeouts = self.counters.timeouts;
        self.act(out, act);
        let [after, marks_after, _] = self.linux.repair().reductions().counts();
        self.last_excused &= after == reductions;
        if after > reductions && marks_after == marks {
            let lost = self.linux.queue().lost_segments();
            let suspects = (lost.start, lost.end);
            let moment = Moment { window, suspects, ..moment(&self.linux, now) };
            self.judge_reduction(&moment, self.counters.timeouts > timeouts, out);
        }
        if let Some((before, measured)) = before {
            self.report_ack(now, ack, &before, measured);
        }
        let next = self.linux.queue().acked();
        if next > acked {
            self.report(|one| one.on_progress(next));
        }
        self.detection.on_transmissions(path_mut(&mut self.linux), &out[from..]);
    }

    /// A loss that the detector takes for one lost burst costs no window. Any other is reported to
    /// it.
    fn judge_reduction(&mut self, moment: &Moment, timed_out: bool, out: &mut Vec<Transmission>) {
        let verdict = self.detection.judge(path_mut(&mut self.linux), moment, timed_out);
        self.last_excused = verdict == Verdict::False;
        if self.last_excused {
            self.counters.excused_reductions += 1;
            self.counters.excused_timeouts += u64::from(timed_out);
            self.act(out, |linux, out| linux.excuse(moment.now, out));
        } else if !timed_out {
            self.report(|one| one.on_loss(moment));
        }
    }

    /// Reports an ACK to a class, before which the state and the count of round trips were these.
    fn report_ack(&mut self, now: Time, ack: Option<&Ack>, before: &Moment, measured: u64) {
        let Some(ack) = ack else { return };
        let (count, last) = self.round_trips();
        let after = moment(&self.linux, now);
        let moment = Moment {
            sack: ack.sack,
            acked: after.delivered - before.delivered,
            marked: after.delivered_marked - before.delivered_marked,
            rtt: (count > measured).then_some(last),
            ..after
        };
        if moment.marked > 0 {
            self.report(|one| one.on_mark(&moment));
        }
        let new = moment.acked > 0 || moment.first > before.first;
        self.report(|one| one.on_feedback(&moment, new));
    }

    /// A burst NAK lets it repair a lost burst at once.
    pub(super) fn on_burst_nak(
        &mut self,
        now: Time,
        report: &BurstReport,
        out: &mut Vec<Transmission>,
    ) {
        let outstanding = self.outstanding();
        let held: Vec<u64> =
            report.segments.iter().copied().filter(|seq| outstanding.contains(seq)).collect();
        let suspects = (held.first().map_or(0, |&seq| seq), held.last().map_or(0, |&seq| seq + 1));
        let window = f64::from(self.linux.path().cwnd());
        let moment = Moment { window, suspects, ..moment(&self.linux, now) };
        let calm = self.linux.repair().stage() < Stage::Recovery;
        let from = out.len();
        let repair = self.detection.on_burst_nak(path_mut(&mut self.linux), report, &moment);
        // A burst that is lost while another loss is being repaired is no lone one.
        if repair && calm && self.detection.allows_repair(path_mut(&mut self.linux), &moment) {
            self.counters.early_repairs += 1;
            self.last_excused = true;
            self.act(out, |linux, out| linux.repair_burst(now, &held, out));
            self.detection.on_transmissions(path_mut(&mut self.linux), &out[from..]);
        }
    }

    pub(super) fn reductions(&self) -> Reductions {
        let repairs = self.counters.early_repairs;
        let [all, by_marks, undone] = self.linux.repair().reductions().counts();
        let excused = self.counters.excused_reductions + repairs;
        Reductions { all: all + repairs, by_marks, excused, undone }
    }

    pub(super) fn reduced_to(&self) -> f64 {
        let linux = &self.linux;
        f64::from(if self.last_excused {
            linux.path().cwnd()
        } else {
            linux.path().reduced_to(linux.repair().reductions().last_is_timeout())
        })
    }

    pub(super) fn known_round_trip(&self) -> Option<(u64, u64)> {
        let trip = self.linux.path().round_trip();
        (self.linux.queue().acked() > 0).then(|| (trip.srtt_8() >> 3, trip.rto()))
    }

    /// It never goes back, so that these are all that it has sent.
    pub(super) fn outstanding(&self) -> Range<u64> {
        self.linux.queue().acked()..self.linux.queue().next()
    }

    pub(super) fn round_trips(&self) -> (u64, Span) {
        let view = self.linux.path().round_trip().view();
        (view.samples, view.sample)
    }

    pub(super) fn limit(&self) -> u64 {
        if self.linux.application().makes_parts() {
            self.linux.application().end(self.linux.queue().next())
        } else {
            self.offered.limit
        }
    }
}
