//! The path to the other end, as a sender knows it: the window, the round trip, the rate of
//! delivery, pacing, and the law that decides on them. A sender over two networks would have two.

mod by_class;
mod reduction;

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use super::Heard;
use super::clock::{Reading, ticks};
use super::context::{AckContext, Stage};
use super::estimator::MdevEstimator;
use super::hystart_plus_plus::HystartPlusPlus;
use super::law::{Event, LinuxLaw};
use super::options::{GROUP_BYTES, LinuxOptions};
use super::pace::Pace;
use super::peer::Peer;
use super::queue::Queue;
use super::rate::{Newest, Rate, Sample, Stamp};
use super::window::{LinuxWindow, current_ssthresh};
use crate::config::SlowStart;
use crate::rto::RttView;
pub(super) use reduction::{Delivery, Earlier};

/// What a timer of RACK or of a probe waits for beyond what was computed: two ticks.
pub(super) const TIMEOUT_LEAST_US: u64 = 2_000;
/// `TCP_TIMEOUT_FALLBACK` in ticks.
const RTO_UNKNOWN: u64 = 3_000;
/// A probe of the receiver's window waits for so many ticks at least: `TCP_RTO_MIN`.
const PERSIST_LEAST: u64 = 200;
/// That wait doubles at most so often: `ilog2(TCP_RTO_MAX / TCP_RTO_MIN) + 1`.
const PERSIST_DOUBLINGS: u32 = 10;
/// Probes after which the count of doublings stays as it is: `tcp_retries2`.
const PERSIST_RETRIES: u32 = 15;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Path {
    window: LinuxWindow,
    law: LinuxLaw,
    start: Option<HystartPlusPlus>,
    estimator: MdevEstimator,
    /// The time-out in ticks, with back-off, and its doublings.
    rto: u64,
    backoff: u32,
    rto_initial: u64,
    rto_max: u64,
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

impl Path {
    pub(super) fn new(options: &LinuxOptions) -> Self {
        Self {
            window: LinuxWindow::new(),
            law: LinuxLaw::new(options),
            start: (options.slow_start == SlowStart::HystartPlusPlus)
                .then(|| HystartPlusPlus::new(options.pacing)),
            estimator: MdevEstimator::new(options.rto_min_us),
            rto: options.rto_initial,
            backoff: 0,
            rto_initial: options.rto_initial,
            rto_max: options.rto_max,
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

    pub(super) fn in_slow_start(&self) -> bool {
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
    pub(super) fn estimator(&self) -> &MdevEstimator {
        &self.estimator
    }

    #[inline]
    pub(super) fn pace(&self) -> &Pace {
        &self.pace
    }

    #[inline]
    pub(super) fn pace_mut(&mut self) -> &mut Pace {
        &mut self.pace
    }

    /// What window laws may read, in a stage, `repeated` after a time-out without progress.
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
            srtt: self.estimator.srtt_8() >> 3,
            shortest: self.estimator.shortest(),
            next_group: self.pace.next(),
            payload: self.payload,
            initial_window: self.initial_window,
            group_most: self.groups.1,
        }
    }
}

/// The round trip and the time-out.
impl Path {
    /// A round trip was measured, of the first and of the last segment that an ACK is about, in
    /// microseconds.
    #[inline]
    pub(super) fn measure(&mut self, rtt: u64, last: u64, acked: u64, next: u64) {
        self.estimator.note(last);
        self.estimator.measure(rtt, acked, next);
        self.rto = ticks(self.estimator.rto()).min(self.rto_max);
        self.backoff = 0;
    }

    /// Ticks until a probe without pacing, where so many segments are outstanding and no time-out
    /// comes before.
    #[inline]
    pub(super) fn probe_wait(&self, outstanding: u32) -> u64 {
        match self.estimator.srtt_8() {
            0 => self.rto_initial,
            // A lone segment's ACK may be delayed.
            srtt_8 if outstanding == 1 => ticks((srtt_8 >> 2) + self.estimator.floor()),
            srtt_8 => ticks((srtt_8 >> 2) + TIMEOUT_LEAST_US),
        }
    }

    /// Microseconds until the time-out of the first segment, counted from when it was sent.
    #[inline]
    pub(super) fn timeout_left(&self, queue: &Queue, now: Reading) -> i64 {
        let rto = self.rto as i64 * 1000;
        queue.head_at().map_or(rto, |at| (at as i64 + rto) - now.us as i64)
    }

    /// The handshake has shown no round trip (RFC 6298 section 5.7).
    pub(super) fn measure_nothing(&mut self) {
        self.rto = RTO_UNKNOWN.min(self.rto_max);
    }

    /// The time-out in ticks, with back-off.
    #[inline]
    pub(crate) fn rto(&self) -> u64 {
        self.rto
    }

    /// The time-out doubles.
    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
        self.rto = (self.rto << 1).min(self.rto_max);
    }

    /// An ACK of new data came, or the receiver's window opened.
    #[inline]
    pub(super) fn forget_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Ticks until the receiver's window is probed for the first time.
    pub(super) fn first_persist(&self, ns: u64) -> u64 {
        (self.rto.max(PERSIST_LEAST) + self.pace.ticks(ns)).min(self.rto_max)
    }

    /// The same after a probe.
    pub(super) fn next_persist(&self) -> u64 {
        let wait = self.rto.max(PERSIST_LEAST) << self.backoff.min(PERSIST_DOUBLINGS);
        wait.min(self.rto_max)
    }

    /// A probe of the receiver's window went.
    pub(super) fn count_persist(&mut self) {
        self.backoff += u32::from(self.backoff < PERSIST_RETRIES);
    }

    pub(super) fn backoff(&self) -> u32 {
        self.backoff
    }

    pub(crate) fn view(&self) -> RttView {
        let (samples, total, sample) = self.estimator.measured();
        RttView {
            sample: Span::from_us(sample),
            smoothed: Span::from_us(self.estimator.srtt_8() >> 3),
            variance: Span::from_us(self.estimator.deviation()),
            backoff: 1 << self.backoff.min(31),
            samples,
            total: Span::from_us(total),
        }
    }

    /// The shortest round trip in microseconds, if one was measured.
    pub(crate) fn shortest(&self) -> Option<u64> {
        (self.estimator.measured().0 > 0).then(|| self.estimator.shortest())
    }
}

/// What an ACK makes of it.
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

    /// What an ACK acknowledges is counted as delivered.
    #[inline]
    pub(super) fn arrives(&mut self, context: &AckContext) {
        self.law.arrives(context);
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

    /// The segment with `stamp` that was last sent at `at`, and the last of which is below `end`,
    /// is delivered.
    pub(super) fn deliver(&mut self, newest: &mut Newest, at: u64, end: u64, stamp: Stamp) {
        self.rate.take(newest, at, end, stamp);
    }

    /// The same of one that was sent once, with all that were before it.
    #[inline]
    pub(super) fn deliver_plain(&mut self, at: u64) {
        self.rate.take_plain(at);
    }

    /// What an ACK says of the rate of delivery; `flight` was in flight before it. `excused`: what
    /// it made lost does not count.
    fn sample(
        &mut self,
        (heard, delivery): (&Heard, Delivery),
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
        let (us, shortest) = (context.clock.us, self.estimator.shortest());
        self.rate.sample(us, context.delivered, &heard.newest, shortest, sample)
    }

    /// What an ACK makes of the window of a law that goes by the rate of delivery.
    pub(super) fn control_by_rate(
        &mut self,
        (heard, delivery): (&Heard, Delivery),
        flight: u32,
        excused: bool,
        mut context: AckContext,
    ) {
        let mut sample = self.sample((heard, delivery), flight, excused, &context);
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

/// What goes out.
impl Path {
    /// Data are about to be sent while nothing is in flight.
    pub(super) fn start(&mut self, context: &AckContext) {
        self.law.on_event(Event::Start, &mut self.window, context);
        if self.rate.is_idle() && self.law.paces() {
            self.law.restarts(&mut self.window, context);
            self.update_pacing_rate(0);
        }
    }

    /// Data are sent with so many segments in flight, the first outstanding if `alone`; `counts`
    /// are segments delivered and lost so far. Returns what is noted with them.
    #[inline(always)]
    pub(super) fn stamp(
        &mut self,
        now: Reading,
        alone: bool,
        flight: u32,
        (delivered, lost): (u64, u64),
    ) -> Stamp {
        self.last_sent = now.tick;
        self.rate.stamp(now.us, alone, delivered, (flight + 1, lost))
    }

    /// A group of so many segments and bytes has left.
    pub(super) fn pace_group(&mut self, ns: u64, (segments, bytes): (u32, u64)) {
        if segments > 0 {
            self.pace.sends(ns, u64::from(segments), bytes);
        }
    }

    /// The application has nothing more to send until so much is delivered.
    pub(super) fn idle(&mut self, until: u64) {
        self.rate.idle(until);
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
        let srtt_8 = self.estimator.srtt_8();
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

    /// Most segments of a group, of `full` bytes each: what goes at the pacing rate in a
    /// millisecond, and more where the round trip is short.
    pub(super) fn group_size(&self, full: u64) -> u32 {
        let (least, most) = self.groups;
        if most <= 1 {
            return 1;
        }
        let mut bytes = self.pace.rate() >> 10;
        let shift = self.estimator.shortest() >> 9;
        if shift < 32 {
            bytes += GROUP_BYTES >> shift;
        }
        let segments = bytes.min(GROUP_BYTES) / full;
        (segments.max(self.law.least_group(least)) as u32).min(most)
    }
}

/// Whether the window is in use (RFC 7661 in the way of Linux).
impl Path {
    /// So many segments are `outstanding` in all; `limited`: the window is what keeps others.
    /// Returns whether less than the window was used for a time-out, which is to shrink it.
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
        let late = tick - window.stamp >= self.rto;
        late && self.restarts && !self.law.keeps_unused_window()
    }

    /// For a time-out less than the window was used; `free`: nothing else is what limits it.
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

    /// Whether nothing was sent for a time-out, where the window shrinks for that.
    pub(super) fn has_rested(&self, tick: u64) -> bool {
        let rests = self.last_sent > 0 && !self.law.keeps_unused_window();
        self.restarts && rests && tick.saturating_sub(self.last_sent) > self.rto
    }

    /// After that: the window halves for each time-out, to what a connection begins with (RFC 5681
    /// section 4.1, RFC 2861).
    pub(super) fn restart(&mut self, context: &AckContext) {
        self.law.on_event(Event::Restart, &mut self.window, context);
        let (window, tick) = (&mut self.window, context.clock.tick);
        window.ssthresh = current_ssthresh(window, context.stage);
        let least = self.initial_window.min(window.cwnd);
        let mut left = tick - self.last_sent;
        while left > self.rto && window.cwnd > least {
            left -= self.rto;
            window.cwnd >>= 1;
        }
        window.cwnd = window.cwnd.max(least);
        (window.stamp, window.used) = (tick, 0);
    }
}
