//! The path to the other end, as a sender knows it: the window, the round trip, the rate of
//! delivery, pacing, and the law that decides on them. A sender over two networks would have two.

mod python_law;
mod reduction;

use serde::{Deserialize, Serialize};

use super::ack_facts::{AckFacts, Delivery};
use super::clock::Reading;
use super::context::{AckContext, Stage};
use super::hystart_plus_plus::HystartPlusPlus;
use super::law::{LawEvent, LinuxLaw};
use super::options::{GROUP_BYTES, LinuxOptions};
use super::pace::Pace;
use super::peer::Peer;
use super::queue::Queue;
use super::rate::{Rate, Sample, Stamp};
use super::round_trip::RoundTrip;
use super::window::{LinuxWindow, current_ssthresh};
use crate::config::SlowStart;

/// A group may wait only if another left within this, for an ACK that comes within this.
const SOON_NS: u64 = 1_000_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Path {
    window: LinuxWindow,
    law: LinuxLaw,
    start: Option<HystartPlusPlus>,
    round_trip: RoundTrip,
    rate: Rate,
    pace: Pace,
    /// When data were last sent, in ticks.
    last_sent: u64,
    payload: u64,
    initial_window: u32,
    restarts: bool,
    /// Segments of a group at least and at most.
    groups: (u32, u32),
}

/// The state before a reduction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Earlier {
    window: LinuxWindow,
    law: LinuxLaw,
    rto: (u64, u32),
}

impl Path {
    pub(super) fn new(options: &LinuxOptions) -> Self {
        Self {
            window: LinuxWindow::new(),
            law: LinuxLaw::new(options),
            start: (options.slow_start == SlowStart::HystartPlusPlus)
                .then(|| HystartPlusPlus::new(options.pacing)),
            round_trip: RoundTrip::new(options),
            rate: Rate::default(),
            pace: Pace::new(options),
            last_sent: 0,
            payload: options.payload,
            initial_window: options.initial_window,
            restarts: options.restart_after_idle,
            groups: (options.group_least, options.group_most),
        }
    }

    /// The connection is open.
    pub(super) fn open(&mut self, context: &AckContext) {
        (self.window.cwnd, self.window.stamp) = (self.initial_window, context.clock.tick);
        self.law.open(context);
        self.law.open_paced(&mut self.window, context);
        self.update_pacing_rate(0);
        self.open_for_class(context);
    }

    /// Congestion window in segments.
    #[inline]
    pub(crate) fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    /// Slow-start threshold in segments.
    #[inline]
    pub(crate) fn ssthresh(&self) -> u32 {
        self.window.ssthresh
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }

    /// The first threshold.
    pub(super) fn begin_with_threshold(&mut self, segments: u32) {
        self.window.ssthresh = segments;
    }

    /// The SYN was lost, so that the connection begins with one segment.
    pub(super) fn begin_with_one(&mut self) {
        self.window.cwnd = 1;
    }

    #[inline]
    pub(super) fn law(&self) -> &LinuxLaw {
        &self.law
    }

    #[inline]
    pub(crate) fn round_trip(&self) -> &RoundTrip {
        &self.round_trip
    }

    #[inline]
    pub(super) fn round_trip_mut(&mut self) -> &mut RoundTrip {
        &mut self.round_trip
    }

    #[inline]
    pub(super) fn rate_mut(&mut self) -> &mut Rate {
        &mut self.rate
    }

    #[inline]
    pub(super) fn pace(&self) -> &Pace {
        &self.pace
    }

    #[inline]
    pub(super) fn pace_mut(&mut self) -> &mut Pace {
        &mut self.pace
    }

    /// The state that window laws may read, in a stage, `repeated` after a time-out without
    /// progress.
    #[inline(always)]
    pub(super) fn context(
        &self,
        now: Reading,
        queue: &Queue,
        peer: &Peer,
        (stage, repeated): (Stage, bool),
    ) -> AckContext {
        let ((delivered, lost), (sent, again)) = (queue.totals(), queue.sent());
        AckContext {
            clock: now,
            stage,
            acked: queue.acked(),
            next: queue.next(),
            in_flight: queue.in_flight(),
            delivered,
            marked: queue.marked(),
            lost,
            sent,
            again,
            receiver_window: peer.window(),
            repeated,
            delivered_at: self.rate.delivered_at,
            last_sent: self.last_sent,
            srtt: self.round_trip.srtt_8() >> 3,
            shortest: self.round_trip.shortest(),
            next_group: self.pace.next(),
            payload: self.payload,
            initial_window: self.initial_window,
            group_most: self.groups.1,
        }
    }
}

/// The effects of an ACK.
impl Path {
    /// An ACK came that acknowledged or reported something; `rtt` is its round trip in
    /// microseconds if it has one.
    #[inline(always)]
    pub(super) fn measured(&mut self, rtt: Option<u64>, context: &AckContext) {
        self.law.measured(&mut self.window, rtt, context);
        if let (Some(start), Some(rtt)) = (&mut self.start, rtt) {
            start.measured(&mut self.window, rtt, context);
        }
    }

    /// The segments that an ACK acknowledges are counted as delivered; `plain`: it has nothing but
    /// a new cumulative ACK.
    #[inline]
    pub(super) fn arrives(&mut self, plain: bool, context: &AckContext) {
        self.law.arrives(plain, context);
    }

    /// `acked` segments were delivered.
    #[inline(always)]
    pub(super) fn grow(&mut self, mut acked: u32, context: &AckContext) {
        if let Some(start) = &mut self.start {
            acked = start.allow(&self.window, acked);
        }
        match &mut self.law {
            LinuxLaw::Foreign(_) => self.grow_for_class(acked, context),
            law => law.grow(&mut self.window, acked, context),
        }
        self.window.stamp = context.clock.tick;
    }

    /// The window stays as it is, as if it had been in use.
    pub(super) fn keep(&mut self, tick: u64) {
        self.window.stamp = tick;
    }

    /// The rate of delivery that an ACK shows; `flight` was in flight before it. `excused`: what
    /// it made lost does not count.
    fn sample(
        &mut self,
        (heard, delivery): (&AckFacts, Delivery),
        flight: u32,
        excused: bool,
        context: &AckContext,
    ) -> Sample {
        let sample = Sample {
            acked: delivery.delivered,
            lost: if excused { 0 } else { delivery.lost },
            flight,
            rtt: heard.rtt,
            delayed: heard.delayed,
            ..Sample::default()
        };
        let (us, shortest) = (context.clock.us, self.round_trip.shortest());
        self.rate.sample(us, context.delivered, &heard.newest, shortest, sample)
    }

    /// The effects of an ACK on the window of a law that goes by the rate of delivery.
    pub(super) fn control_by_rate(
        &mut self,
        (heard, delivery): (&AckFacts, Delivery),
        flight: u32,
        excused: bool,
        mut context: AckContext,
    ) {
        let mut sample = self.sample((heard, delivery), flight, excused, &context);
        // The sample notes when this ACK delivered, by which laws count their cycles.
        context.delivered_at = self.rate.delivered_at;
        (sample.sent_in_flight, sample.lost_since) = heard.newest.losses(context.lost);
        if excused {
            (context.stage, sample.lost_since) = (Stage::Open, 0);
        }
        if self.law.control(&mut self.window, &sample, &context) {
            self.rate.idle(context.delivered + u64::from(context.in_flight));
        }
    }

    /// Segment `seq`, sent when `stamp` says, is taken for lost; `counts` are segments delivered
    /// and lost so far.
    pub(super) fn lose(&mut self, seq: u64, stamp: &Stamp, counts: (u64, u64)) {
        self.law.loses(&self.window, seq, stamp, counts);
    }

    /// The time has come to `us`.
    pub(super) fn note_time(&mut self, us: u64) {
        self.law.note_time(us);
    }

    /// The stage becomes `stage`.
    pub(super) fn enter(&mut self, stage: Stage, context: &AckContext) {
        self.law.enters(stage, &mut self.window, context);
        if stage == Stage::Loss {
            self.law.times_out(context);
        }
    }
}

/// Segments that go out.
impl Path {
    /// Data are sent with so many segments in flight, which is none if none is
    /// in flight; returns the state that is noted with them.
    #[inline(always)]
    pub(super) fn stamp(
        &mut self,
        now: Reading,
        flight: u32,
        (queue, peer): (&Queue, &Peer),
        standing: (Stage, bool),
    ) -> Stamp {
        if flight == 0 {
            self.start(&self.context(now, queue, peer, standing));
        }
        self.last_sent = now.tick;
        let (delivered, lost) = queue.totals();
        self.rate.stamp(now.us, queue.is_empty(), delivered, (flight + 1, lost))
    }

    /// Data are about to be sent while nothing is in flight.
    fn start(&mut self, context: &AckContext) {
        self.law.on_event(LawEvent::Start, &mut self.window, context);
        if self.rate.is_idle() && self.law.paces() {
            self.law.restarts(&mut self.window, context);
            self.update_pacing_rate(0);
        }
    }

    /// A group of so many segments and bytes has left.
    pub(super) fn pace_group(&mut self, ns: u64, (segments, bytes): (u32, u64)) {
        if segments > 0 {
            self.pace.sends(ns, u64::from(segments), bytes);
        }
    }

    /// The application has nothing more to send than what is in the queue: where the window does
    /// not limit the connection, the application does.
    pub(super) fn note_idleness(&mut self, queue: &Queue) {
        let flight = queue.in_flight();
        if flight < self.window.cwnd && !queue.has_unrepaired() {
            self.rate.idle(queue.totals().0 + u64::from(flight));
        }
    }

    /// Twice the window a round trip in slow start, 1.2 times else, with so many segments
    /// outstanding; or what the law decides.
    pub(super) fn update_pacing_rate(&mut self, outstanding: u32) {
        match self.law.pacing_rate() {
            Some(rate) => self.pace.set_rate(rate),
            None => self.pace_by_window(outstanding),
        }
    }

    /// The same for a law that does not decide on it.
    pub(super) fn pace_by_window(&mut self, outstanding: u32) {
        let srtt_8 = self.round_trip.srtt_8();
        let ratio = if self.window.cwnd < self.window.ssthresh / 2 { 200 } else { 120 };
        let segments = u64::from(self.window.cwnd.max(outstanding));
        let rate = self.payload * 80_000 * ratio * segments;
        self.pace.set_rate(rate.checked_div(srtt_8).unwrap_or(rate));
    }

    /// Segments that may go at once with `flight` in flight, so that two groups at least are.
    pub(super) fn quota(&self, flight: u32) -> u32 {
        let cwnd = self.window.cwnd;
        if flight >= cwnd { 0 } else { (cwnd >> 1).max(1).min(cwnd - flight) }
    }

    /// Whether a group that may become larger waits for an ACK: another left lately, and it is
    /// expected soon.
    pub(super) fn expects_ack(&self, now: Reading, queue: &Queue) -> bool {
        let (srtt, recent) = (self.round_trip.srtt_8() * 125, now.ns <= self.pace.next() + SOON_NS);
        let soon = now.ns + (srtt >> 1).min(SOON_NS);
        recent && queue.head().is_some_and(|first| first.ns + srtt <= soon)
    }

    /// Most segments of a group, of `full` bytes each: what goes at the pacing rate in a
    /// millisecond, and more where the round trip is short.
    pub(super) fn group_size(&self, full: u64) -> u32 {
        let (least, most) = self.groups;
        if most <= 1 {
            return 1;
        }
        let mut bytes = self.pace.rate() >> 10;
        let shift = self.round_trip.shortest() >> 9;
        if shift < 32 {
            bytes += GROUP_BYTES >> shift;
        }
        let segments = bytes.min(GROUP_BYTES) / full;
        (segments.max(self.law.least_group(least)) as u32).min(most)
    }
}

/// Whether the window is in use (RFC 2861; `tcp_cwnd_validate`, `tcp_cwnd_restart`).
impl Path {
    /// So many segments are `outstanding` in all; `limited`: the window keeps others back. Returns
    /// whether less than the window was used for a time-out, which is to shrink it.
    #[inline(always)]
    pub(super) fn validate(
        &mut self,
        tick: u64,
        (acked, next): (u64, u64),
        outstanding: u32,
        limited: bool,
    ) -> bool {
        let window = &mut self.window;
        if acked >= window.round || limited || (!window.is_limit && outstanding > window.most) {
            window.is_limit = limited;
            window.most = outstanding;
            window.round = next;
        }
        if window.may_grow() {
            window.used = 0;
            window.stamp = tick;
            return false;
        }
        window.used = window.used.max(outstanding);
        let late = tick - window.stamp >= self.round_trip.rto();
        late && self.restarts && !self.law.keeps_unused_window()
    }

    /// The window was not fully used during a time-out; `free`: nothing else limits the connection.
    pub(super) fn shrink_unused(&mut self, tick: u64, free: bool) {
        let window = &mut self.window;
        if free {
            let used = window.used.max(self.initial_window);
            if used < window.cwnd {
                window.ssthresh = current_ssthresh(window, Stage::Open);
                window.cwnd = (window.cwnd + used) >> 1;
            }
            window.used = 0;
        }
        window.stamp = tick;
    }

    /// The application writes. Where nothing is outstanding and nothing was sent for a time-out,
    /// the window halves for each, to what a connection begins with (RFC 5681 section 4.1, RFC
    /// 2861).
    pub(super) fn restart_after_idle(
        &mut self,
        now: Reading,
        (queue, peer): (&Queue, &Peer),
        standing: (Stage, bool),
    ) {
        let rests = self.last_sent > 0 && !self.law.keeps_unused_window() && queue.is_empty();
        let idle = now.tick.saturating_sub(self.last_sent);
        if self.restarts && rests && idle > self.round_trip.rto() {
            self.restart(&self.context(now, queue, peer, standing));
        }
    }

    fn restart(&mut self, context: &AckContext) {
        self.law.on_event(LawEvent::Restart, &mut self.window, context);
        let (window, tick) = (&mut self.window, context.clock.tick);
        window.ssthresh = current_ssthresh(window, context.stage);
        let least = self.initial_window.min(window.cwnd);
        let mut left = tick - self.last_sent;
        while left > self.round_trip.rto() && window.cwnd > least {
            left -= self.round_trip.rto();
            window.cwnd >>= 1;
        }
        window.cwnd = window.cwnd.max(least);
        (window.stamp, window.used) = (tick, 0);
    }
}
