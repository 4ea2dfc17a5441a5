//! The sending endpoint.

mod ack_clock;
mod options;
mod reductions;
mod with_data;

use std::ops::Range;

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::counters::SenderCounters;
use crate::detection::{Detection, Notice};
use crate::flow::Flow;
use crate::foreign::{Classes, Moment};
use crate::linux::Linux;
use crate::packet_run::PacketRun;
use crate::recovery::Recovery;
use crate::rto::RttView;
use crate::segment::{Ack, Transmission};
use crate::verdict::Verdict;
pub use ack_clock::AckClock;
pub use reductions::Reductions;

/// What a sender is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The window is below the slow-start threshold.
    SlowStart,
    /// The window is at or above the threshold.
    CongestionAvoidance,
    /// Losses found by duplicate ACKs are being repaired.
    Recovery,
    /// Of variant `"linux"`: something was reported out of order, or was sent again.
    Disorder,
    /// The window shrinks for a mark.
    Cwr,
    /// A time-out is being repaired.
    Loss,
}

/// The sending endpoint of one connection. See the crate documentation for the order of calls.
///
/// Every call that may send appends to `out`, in the order in which the segments go on the link,
/// and leaves what `out` held before. No call but `new` allocates, unless `out` must grow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sender {
    flow: Flow,
    recovery: Recovery,
    detection: Detection,
    started: bool,
    payload: u64,
    headers: Bytes,
    /// Does all in place of `recovery`, if there is one.
    linux: Option<Box<Linux>>,
    /// Whether the detector excused its last reduction.
    last_excused: bool,
}

impl Sender {
    /// A sender that has nothing to send and has sent nothing, and no class of Python.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::with_classes(config, None)
    }

    /// The same, where `classes` makes the law or the detector that are classes of Python. There
    /// must be one if `config` [needs](Config::needs_classes) it.
    #[must_use]
    pub fn with_classes(config: &Config, classes: Option<&dyn Classes>) -> Self {
        Self {
            flow: Flow::new(config, classes),
            recovery: Recovery::new(config),
            detection: Detection::new(config, classes),
            started: false,
            payload: config.segment_size.get() - config.headers().get(),
            headers: config.headers(),
            linux: Linux::of(config, classes),
            last_excused: false,
        }
    }

    /// The application offers data up to `segments` full segments in total, counted since the
    /// beginning (`u64::MAX`: without end); sends what the window allows, once the SYN is
    /// acknowledged. Fewer than before changes nothing.
    pub fn supply(&mut self, now: Time, segments: u64, out: &mut Vec<Transmission>) {
        self.offer(now, segments.saturating_mul(self.payload), false, out);
    }

    /// As [`Sender::supply`], in bytes of data without headers. The last segment has what does not
    /// fill one; it takes more as long as it has not been sent. With variant `"linux"` it may wait
    /// for more (RFC 896), unless the application `closes` behind it.
    pub fn supply_bytes(
        &mut self,
        now: Time,
        bytes: Bytes,
        closes: bool,
        out: &mut Vec<Transmission>,
    ) {
        self.offer(now, bytes.get(), closes, out);
    }

    /// So many bytes in all.
    fn offer(&mut self, now: Time, bytes: u64, closes: bool, out: &mut Vec<Transmission>) {
        if let Some(linux) = &mut self.linux {
            linux.prepare(bytes, closes);
            if linux.makes_parts() {
                let end = bytes.div_ceil(self.payload).saturating_add(1);
                self.flow.limit = self.flow.limit.max(end);
            } else if !self.flow.offer(bytes) {
                return;
            }
            return self.by_linux(out, |linux, out| linux.supply(now, (bytes, closes), out));
        }
        if self.flow.offer(bytes) && self.flow.acked > 0 {
            self.flow.end_idleness(now);
            self.recovery.send(&mut self.flow, now, out);
        }
    }

    /// Opens the connection: sends the SYN. A second call does nothing.
    pub fn start(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if !self.started {
            self.started = true;
            if self.linux.is_some() {
                return self.by_linux(out, |linux, out| linux.start(now, out));
            }
            self.recovery.send(&mut self.flow, now, out);
        }
    }

    /// An ACK arrives. Any content is taken: what contradicts what was sent is ignored.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        if !self.counts(ack) {
            return;
        }
        if self.linux.is_some() {
            let act = |linux: &mut Linux, out: &mut Vec<_>| {
                linux.on_wire_ack(now, (ack, false), None, out);
            };
            return self.by_linux_judged(now, out, act);
        }
        if !self.detection.is_on() {
            self.recovery.on_ack(&mut self.flow, now, ack, out);
            return;
        }
        let (window, cuts) = (self.flow.window.plain(), self.flow.counters.fast_retransmits);
        let (acked, from) = (self.flow.acked, out.len());
        let measured = self.round_trips().0;
        self.recovery.on_ack(&mut self.flow, now, ack, out);
        // Without progress: what Vegas retransmits with it is of a loss already told of.
        let cut = self.flow.counters.fast_retransmits > cuts && self.flow.acked == acked;
        self.tell_foreign(now, cut.then_some(window), self.flow.acked - acked, measured);
        if cut {
            self.detection.on_fast_retransmit(window);
        }
        if self.flow.acked > acked {
            self.detection.on_progress(self.flow.acked);
        }
        self.note_retransmissions(&out[from..]);
    }

    /// How many ACKs of a run are taken at most, from the front.
    #[inline(always)]
    fn takes_at_most(&self, run: &PacketRun, until: Time) -> u32 {
        if run.first <= self.flow.acked || !self.is_fast() {
            return 0;
        }
        // A second ACK for the same segment would be a duplicate.
        let rising = if run.step == 0 { 1 } else { run.count };
        // There is always something to follow an ACK for a segment below the limit.
        let news = run.up_to(self.flow.sent.min(self.flow.limit - 1));
        run.by(until).min(news).min(rising)
    }

    /// As [`Sender::on_ack`], for an ACK without SACK blocks that comes on the fast path and covers
    /// new segments. Returns the segments that now go on the link, in order, all for the first
    /// time; each has its [`segment_size`](Self::segment_size).
    #[inline(always)]
    pub fn on_ack_fast(&mut self, now: Time, next: u64) -> Range<u64> {
        let segments = self.goes_on(now, next);
        self.took(1);
        segments
    }

    /// The same, and nothing is counted.
    #[inline(always)]
    fn goes_on(&mut self, now: Time, next: u64) -> Range<u64> {
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
    fn took(&mut self, acks: u32) {
        if acks > 0 {
            self.flow.counters.acks += u64::from(acks);
            self.flow.limited_transmissions = 0;
            self.detection.on_progress(self.flow.acked);
        }
    }

    /// Whether the sender goes straight on: nothing is being repaired, nothing was heard twice, and
    /// no detector of Python listens. Then an ACK without SACK blocks that [`covers`](Self::covers)
    /// new segments does nothing but let new ones go, and the sender goes straight on after it.
    #[inline]
    #[must_use]
    pub fn is_fast(&self) -> bool {
        let flow = &self.flow;
        self.linux.is_none()
            && flow.next == flow.sent
            && flow.duplicates == 0
            && flow.hold.is_off()
            && !self.detection.heeds_progress()
            && !self.recovery.is_repairing(flow)
    }

    /// Whether the cumulative ACK `next` is news, and more will follow it.
    #[inline]
    #[must_use]
    pub fn covers(&self, next: u64) -> bool {
        self.flow.acked < next && next <= self.flow.sent && next < self.flow.limit
    }

    /// One past the last segment that it was given to send, the SYN counted; of those not sent yet
    /// as if all but the last were whole.
    #[must_use]
    pub fn limit(&self) -> u64 {
        match &self.linux {
            Some(linux) if linux.makes_parts() => linux.end(),
            _ => self.flow.limit,
        }
    }

    /// Bytes of data in all segments below `seq`, the last of which may be short.
    #[inline]
    #[must_use]
    pub fn bytes_before(&self, seq: u64) -> u64 {
        match &self.linux {
            Some(linux) => linux.bytes_before(seq),
            None => self.flow.lengths.before(seq),
        }
    }

    /// Size of segment `seq` on the wire, headers included.
    #[inline]
    #[must_use]
    pub fn segment_size(&self, seq: u64) -> Bytes {
        self.flow.size(seq)
    }

    /// The segment that has another size than all others, and that size, where one alone may.
    #[inline]
    #[must_use]
    pub fn short_segment(&self) -> Option<(u64, Bytes)> {
        self.flow.short_segment()
    }

    /// Tells a detector that is written elsewhere of a loss, the window having been `cut` before,
    /// and of `acked` segments that were acknowledged, before which `measured` round trips were
    /// measured.
    fn tell_foreign(&mut self, now: Time, cut: Option<f64>, acked: u64, measured: u64) {
        let repairing = self.recovery.is_repairing(&self.flow);
        let (count, last) = self.round_trips();
        let rtt = (count > measured).then_some(last);
        let Some(detector) = self.detection.foreign() else { return };
        if let Some(window) = cut {
            detector.on_loss(&Moment { window, repairing, ..self.flow.moment(now) });
        }
        if acked > 0 {
            detector.on_ack(&Moment { acked, rtt, repairing, ..self.flow.moment(now) });
        }
    }

    /// What the detector takes a time-out for.
    fn judge(&mut self, now: Time) -> Verdict {
        let outstanding = self.flow.outstanding();
        let repairing = self.recovery.is_repairing(&self.flow);
        let Some(detector) = self.detection.foreign() else {
            return self.detection.on_timeout(&outstanding);
        };
        let verdict = detector.on_timeout(&Moment { repairing, ..self.flow.moment(now) });
        self.detection.judged(outstanding.window, verdict)
    }

    /// Tells the detector what has gone out again.
    fn note_retransmissions(&mut self, sent: &[Transmission]) {
        for again in sent.iter().filter(|sent| sent.retransmission) {
            self.detection.on_retransmission(again.seq);
        }
    }

    /// A node of the optical network tells of `burst`, which carries `segments` of this connection,
    /// rising. Any content is taken.
    pub fn on_notice(
        &mut self,
        now: Time,
        notice: Notice,
        burst: u64,
        segments: &[u64],
        out: &mut Vec<Transmission>,
    ) {
        if self.linux.is_some() {
            return self.repair_by_linux(now, (notice, burst), segments, out);
        }
        let outstanding = self.flow.outstanding();
        if self.detection.on_notice(notice, burst, segments, &outstanding) {
            self.flow.counters.early_repairs += 1;
            self.recover(now, Verdict::False, out);
        }
    }

    /// Whoever knows tells what a time-out that came now would be. Only the detector `"oracle"`
    /// listens.
    pub fn tell(&mut self, truth: Verdict) {
        self.detection.tell(truth);
    }

    /// Begins again from the first segment that is not acknowledged.
    fn recover(&mut self, now: Time, verdict: Verdict, out: &mut Vec<Transmission>) {
        let from = out.len();
        self.recovery.on_timeout(&mut self.flow, now);
        match verdict {
            Verdict::True => self.flow.time_out(now),
            Verdict::False => self.flow.repair_burst(now),
        }
        self.recovery.send_late(&mut self.flow, now, out);
        self.note_retransmissions(&out[from..]);
    }

    /// After any call: the sender has something to send and holds it back for a random time below
    /// this, which [`Sender::hold_until`] has to tell it. `None` always, unless `send_jitter` is
    /// above 0.
    #[inline]
    #[must_use]
    pub fn asks_for_delay(&self) -> Option<Span> {
        self.flow.hold.asks()
    }

    /// What is held back may go at `at`. Does nothing unless the sender has asked.
    pub fn hold_until(&mut self, at: Time) {
        self.flow.hold.until(at);
    }

    /// When [`Sender::on_release`] is due.
    #[must_use]
    pub fn poll_release(&self) -> Option<Time> {
        self.flow.hold.ends()
    }

    /// The delay is over: sends all that may go by now. Does nothing before its time.
    pub fn on_release(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if self.flow.hold.ends().is_some_and(|at| now >= at) {
            let from = out.len();
            self.flow.hold.open();
            self.recovery.send_late(&mut self.flow, now, out);
            self.flow.hold.close();
            self.note_retransmissions(&out[from..]);
        }
    }

    /// When [`Sender::on_timeout`] is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.linux.as_ref().map_or_else(|| self.flow.timer.deadline(), |linux| linux.poll_timeout())
    }

    /// The retransmission timer runs out. Does nothing before the deadline.
    pub fn on_timeout(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if self.linux.is_some() {
            let act = |linux: &mut Linux, out: &mut Vec<_>| linux.on_timeout(now, out);
            return self.by_linux_judged(now, out, act);
        }
        if self.flow.timer.deadline().is_some_and(|deadline| now >= deadline) {
            let verdict = self.judge(now);
            self.flow.counters.timeouts += 1;
            self.flow.counters.excused_timeouts += u64::from(verdict == Verdict::False);
            self.recover(now, verdict, out);
        }
    }

    /// Segments sent since the last time-out or repair and not acknowledged: what the timer now
    /// waits for. The sender of Linux never goes back, so that these are all that it has sent.
    #[must_use]
    pub fn outstanding(&self) -> Range<u64> {
        match &self.linux {
            None => self.flow.outstanding().segments,
            Some(linux) => linux.acked()..linux.next(),
        }
    }

    /// What was done so far.
    #[must_use]
    pub fn counters(&self) -> &SenderCounters {
        &self.flow.counters
    }

    /// Congestion window in segments, without the inflation of fast recovery.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.linux.as_ref().map_or(self.flow.window.cwnd, |linux| f64::from(linux.cwnd()))
    }

    /// Slow-start threshold in segments.
    #[must_use]
    pub fn ssthresh(&self) -> f64 {
        self.linux.as_ref().map_or(self.flow.window.ssthresh, |linux| f64::from(linux.ssthresh()))
    }

    /// Segments sent and not covered by the cumulative ACK, lost ones included.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.sent() - self.acked()
    }

    /// The last segment that the cumulative ACK covers; `None` before the SYN is acknowledged.
    #[must_use]
    pub fn highest_acked(&self) -> Option<u64> {
        self.acked().checked_sub(1)
    }

    /// What the sender is doing.
    #[must_use]
    pub fn state(&self) -> State {
        if let Some(linux) = &self.linux {
            linux.state()
        } else if self.recovery.is_repairing(&self.flow) {
            State::Recovery
        } else if self.flow.window.cwnd < self.flow.window.ssthresh {
            State::SlowStart
        } else {
            State::CongestionAvoidance
        }
    }

    /// What was learnt of the round-trip time.
    #[must_use]
    pub fn rtt(&self) -> RttView {
        self.linux.as_ref().map_or_else(|| self.flow.timer.view(), |linux| linux.view())
    }

    /// The shortest round trip so far, where `variant` or `window_law` goes by it.
    #[must_use]
    pub fn base_rtt(&self) -> Option<Span> {
        match &self.linux {
            None => self.flow.delays.as_ref().and_then(|delays| delays.base()),
            Some(linux) => linux.base_rtt(),
        }
    }

    /// How many round trips were measured, and the last of them: of every ACK of a segment that was
    /// sent once, where `variant` or `window_law` goes by delay; else by the retransmission timer,
    /// one segment at a time.
    #[must_use]
    pub fn round_trips(&self) -> (u64, Span) {
        let view = self.rtt();
        let timed = (view.samples, view.sample);
        self.flow.delays.as_ref().map_or(timed, |delays| delays.measured())
    }

    /// Segments that waited in queues in the last whole round trip, as `variant` or `window_law`
    /// takes them from its delay: Diff of Brakmo and Peterson (1995), the window times
    /// (1 - shortest round trip / mean round trip).
    #[must_use]
    pub fn queued(&self) -> Option<f64> {
        self.flow.delays.as_ref().and_then(|delays| delays.queued())
    }

    /// The time-out that the timer would be set to now, back-off included.
    #[must_use]
    pub fn rto(&self) -> Span {
        self.linux.as_ref().map_or_else(|| self.flow.timer.rto(), |linux| linux.rto())
    }

    /// Whether all data offered so far are acknowledged, the SYN too.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.acked() >= self.limit()
    }

    /// All below are acknowledged.
    fn acked(&self) -> u64 {
        self.linux.as_ref().map_or(self.flow.acked, |linux| linux.acked())
    }

    /// One past the highest segment sent.
    fn sent(&self) -> u64 {
        self.linux.as_ref().map_or(self.flow.sent, |linux| linux.next())
    }

    /// Has the sender of Linux do something, and takes account of what that sends.
    fn by_linux(
        &mut self,
        out: &mut Vec<Transmission>,
        act: impl FnOnce(&mut Linux, &mut Vec<Transmission>),
    ) {
        let Some(linux) = &mut self.linux else { return };
        let from = out.len();
        act(linux, out);
        let parts = linux.makes_parts();
        for sent in &mut out[from..] {
            sent.size = match sent.seq {
                seq if seq > 0 && parts => sent.size,
                0 if linux.acked() > 0 => self.headers,
                0 => self.flow.size(0) + linux.syn_options(),
                seq if linux.is_fin(seq) => self.headers,
                seq => self.flow.size(seq),
            };
        }
        let counters = &mut self.flow.counters;
        [
            counters.segments_sent,
            counters.retransmissions,
            counters.timeouts,
            counters.fast_retransmits,
        ] = linux.totals();
    }
}
