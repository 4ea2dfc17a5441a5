//! BBR, version 3 (draft-ietf-ccwg-bbr-06): as version 1 a model of rate and delay, with bounds
//! that losses set to what may be in flight, for the long and for the short term.
//!
//! Rates are in 2^-24 segments a microsecond, gains in thousandths, as the draft states them.

mod bounds;
mod mode;
mod pipe;
mod probe_rtt;
mod probing;
mod saved;
mod undo;

use serde::{Deserialize, Serialize};

use super::super::context::{AckContext, Stage};
use super::super::rate::Sample;
use super::super::window::{INFINITE, LinuxWindow};
use super::bbr::RATE_SHIFT;
use super::windowed::WindowedMax;
use bounds::{BETA, Bounds, ONE, WINDOW_LEAST, part};
use mode::Bbr3Mode;
use pipe::Pipe;
use saved::Saved;

/// Pacing gains of the states (the draft's table of control behaviour).
const STARTUP_PACING: u64 = 2_770;
const DRAIN_PACING: u64 = 500;
const DOWN_PACING: u64 = 900;
const UP_PACING: u64 = 1_250;
/// Window gains: in general, in ProbeBW_UP, and in ProbeRTT.
const WINDOW_GAIN: u64 = 2_000;
const UP_WINDOW: u64 = 2_250;
const PROBE_RTT_WINDOW: u64 = 500;
/// BBR.LossThresh in percent.
const LOSS_PERCENT: u64 = 2;
/// BBRStartupFullLossCnt.
const STARTUP_LOSSES: u32 = 6;
/// Rounds after which Drain ends in any case, and over which ACKs that came at once are remembered.
const DRAIN_ROUNDS: u64 = 3;
const EXTRA_ROUNDS: u64 = 10;
/// BBR.PacingMarginPercent.
const MARGIN_PERCENT: u64 = 1;
/// Most of a group in bytes (64 KB), and how long it takes, in us.
const GROUP_BYTES: u64 = 64_000;
const GROUP_US: u64 = 1_000;

/// The stage of a probe for bandwidth that the next ACKs report on (BBR.ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Acks {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bbr3 {
    /// Bytes a second.
    pub(crate) pacing_rate: u64,
    /// Every random number is drawn from this and the time.
    phase: u64,
    /// Microseconds, at the last ACK or time-out.
    now: u64,
    /// Segments delivered by then.
    delivered_now: u64,
    mode: Bbr3Mode,
    sack: bool,
    /// The largest rate of the cycle before, and of this one.
    max_rates: [u64; 2],
    bounds: Bounds,
    min_rtt: Option<u64>,
    min_rtt_at: u64,
    probe_rtt_min: Option<u64>,
    probe_rtt_min_at: u64,
    probe_rtt_expired: bool,
    probe_until: Option<u64>,
    probe_round_done: bool,
    prior_cwnd: u64,
    prior_stage: Stage,
    saved: Saved,
    idle_restart: bool,
    extra: WindowedMax,
    extra_at: u64,
    extra_acked: u64,
    pipe: Pipe,
    acks: Acks,
    probe_sample: bool,
    loss_in_round: bool,
    loss_round_ends: u64,
    loss_round_begins: bool,
    /// Runs of lost segments in this round, and the last one lost.
    lost_runs: u32,
    lost_last: u64,
    rate_latest: u64,
    inflight_latest: u64,
    up_acked: u64,
    up_each: Option<u64>,
    up_rounds: u32,
    rounds_since_up: u64,
    wait: u64,
    cycle_at: u64,
    too_high: bool,
    precautionary: bool,
    rounds: u64,
    round_ends: u64,
    round_begins: bool,
    drain_round: u64,
    seen_rtt: bool,
}

impl Bbr3 {
    pub(super) fn new(phase: u64, sack: bool) -> Self {
        Self {
            pacing_rate: 0,
            phase,
            now: 0,
            delivered_now: 0,
            mode: Bbr3Mode::Startup,
            sack,
            max_rates: [0; 2],
            bounds: Bounds::default(),
            min_rtt: None,
            min_rtt_at: 0,
            probe_rtt_min: None,
            probe_rtt_min_at: 0,
            probe_rtt_expired: false,
            probe_until: None,
            probe_round_done: false,
            prior_cwnd: 0,
            prior_stage: Stage::Open,
            saved: Saved::default(),
            idle_restart: false,
            extra: WindowedMax::default(),
            extra_at: 0,
            extra_acked: 0,
            pipe: Pipe::default(),
            acks: Acks::Init,
            probe_sample: false,
            loss_in_round: false,
            loss_round_ends: 0,
            loss_round_begins: false,
            lost_runs: 0,
            lost_last: 0,
            rate_latest: 0,
            inflight_latest: 0,
            up_acked: 0,
            up_each: None,
            up_rounds: 0,
            rounds_since_up: 0,
            wait: 0,
            cycle_at: 0,
            too_high: false,
            precautionary: false,
            rounds: 0,
            round_ends: 0,
            round_begins: false,
            drain_round: 0,
            seen_rtt: false,
        }
    }

    /// OnInit.
    pub(super) fn open(&mut self, window: &mut LinuxWindow, context: &AckContext) {
        *self = Self::new(self.phase, self.sack);
        window.ssthresh = INFINITE;
        (self.now, self.delivered_now) = (context.clock.us, context.delivered);
        self.round_ends = context.delivered;
        self.loss_round_ends = context.delivered;
        let measured = (context.shortest < u64::from(u32::MAX)).then_some(context.shortest);
        (self.min_rtt, self.min_rtt_at) = (measured, context.clock.us);
        (self.probe_rtt_min, self.probe_rtt_min_at) = (measured, context.clock.us);
        self.extra_at = context.clock.us;
        self.begin_rate(window.cwnd, context);
    }

    /// InitPacingRate: the window in a round trip, with the gain of Startup.
    fn begin_rate(&mut self, cwnd: u32, context: &AckContext) {
        self.seen_rtt = context.srtt > 0;
        let rtt = if self.seen_rtt { context.srtt } else { 1_000 };
        let rate = (u64::from(cwnd) << RATE_SHIFT) / rtt;
        self.pacing_rate = paced(rate, STARTUP_PACING, context.payload);
    }

    /// The time has come to `us`.
    pub(super) fn note_time(&mut self, us: u64) {
        self.now = us;
    }

    fn max_rate(&self) -> u64 {
        self.max_rates[0].max(self.max_rates[1])
    }

    /// BBR.bw.
    fn rate(&self) -> u64 {
        self.bounds.rate(self.max_rate())
    }

    fn pacing_gain(&self) -> u64 {
        match self.mode {
            Bbr3Mode::Startup => STARTUP_PACING,
            Bbr3Mode::Drain => DRAIN_PACING,
            Bbr3Mode::Down => DOWN_PACING,
            Bbr3Mode::Up => UP_PACING,
            Bbr3Mode::Cruise | Bbr3Mode::Refill | Bbr3Mode::ProbeRtt => ONE,
        }
    }

    fn window_gain(&self) -> u64 {
        match self.mode {
            Bbr3Mode::Up => UP_WINDOW,
            Bbr3Mode::ProbeRtt => PROBE_RTT_WINDOW,
            _ => WINDOW_GAIN,
        }
    }

    /// UpdateOnACK; returns whether samples from now on are not to be taken (ProbeRTT).
    pub(super) fn control(
        &mut self,
        window: &mut LinuxWindow,
        sample: &Sample,
        context: &AckContext,
    ) -> bool {
        (self.now, self.delivered_now) = (context.clock.us, context.delivered);
        self.follow_stage(window, context.stage);
        let rate = sample.rate.map_or(0, |(delivered, us)| (delivered << RATE_SHIFT) / us);
        self.update_latest(rate, sample, context);
        self.update_max_rate(rate, sample, context);
        self.adapt_short_term(window);
        self.update_aggregation(sample, window.cwnd);
        if self.round_begins && !sample.idle {
            self.pipe.look(rate);
        }
        self.look_whether_startup_is_over(sample, context);
        self.look_whether_drained(context);
        self.follow_cycle(window, rate, sample, context);
        self.update_min_rtt(sample);
        let probes = self.check_probe_rtt(window, sample, context);
        if self.loss_round_begins {
            self.rate_latest = rate;
            self.inflight_latest = sample.rate.map_or(0, |(delivered, _)| delivered);
        }
        self.set_pacing(window.cwnd, context);
        self.set_window(window, sample, context);
        self.saved.is_fresh = false;
        probes
    }

    /// A repair has ended: the window that was is good again.
    fn follow_stage(&mut self, window: &mut LinuxWindow, stage: Stage) {
        let before = std::mem::replace(&mut self.prior_stage, stage);
        if before >= Stage::Recovery && stage < Stage::Recovery {
            self.restore(window);
        }
    }

    /// UpdateLatestDeliverySignals.
    fn update_latest(&mut self, rate: u64, sample: &Sample, context: &AckContext) {
        self.loss_round_begins = false;
        let Some((delivered, _)) = sample.rate else { return };
        self.rate_latest = self.rate_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(delivered);
        if sample.prior >= self.loss_round_ends {
            self.loss_round_ends = context.delivered;
            self.loss_round_begins = true;
        }
    }

    /// UpdateMaxBw, with UpdateRound.
    fn update_max_rate(&mut self, rate: u64, sample: &Sample, context: &AckContext) {
        self.round_begins = false;
        if sample.rate.is_none() {
            return;
        }
        if sample.prior >= self.round_ends {
            self.begin_round(context);
            self.rounds += 1;
            self.rounds_since_up += 1;
            self.round_begins = true;
        }
        if rate > 0 && (rate >= self.max_rate() || !sample.idle) {
            self.max_rates[1] = self.max_rates[1].max(rate);
        }
    }

    fn begin_round(&mut self, context: &AckContext) {
        self.round_ends = context.delivered;
    }

    /// AdaptLowerBoundsFromCongestion, once a round.
    fn adapt_short_term(&mut self, window: &LinuxWindow) {
        if !self.loss_round_begins {
            return;
        }
        let probes = matches!(self.mode, Bbr3Mode::Startup | Bbr3Mode::Refill | Bbr3Mode::Up);
        if self.loss_in_round && !probes {
            let usual = (self.max_rate(), u64::from(window.cwnd));
            self.bounds.lower(usual, (self.rate_latest, self.inflight_latest));
        }
        self.loss_in_round = false;
    }

    /// UpdateACKAggregation.
    fn update_aggregation(&mut self, sample: &Sample, cwnd: u32) {
        let time = self.now.saturating_sub(self.extra_at);
        let mut expected = over(self.rate(), time);
        if self.extra_acked <= expected {
            (self.extra_acked, self.extra_at, expected) = (0, self.now, 0);
        }
        self.extra_acked += u64::from(sample.acked);
        let extra = (self.extra_acked - expected).min(u64::from(cwnd));
        let length = if self.pipe.full { EXTRA_ROUNDS } else { 1 };
        self.extra.take(self.rounds, extra, length);
    }

    /// CheckStartupDone.
    fn look_whether_startup_is_over(&mut self, sample: &Sample, context: &AckContext) {
        if self.mode != Bbr3Mode::Startup {
            return;
        }
        let repairs = context.stage == Stage::Recovery && self.loss_round_begins;
        let many = !self.sack || self.lost_runs >= STARTUP_LOSSES;
        if repairs && many && self.is_too_high(sample.lost_since, sample.sent_in_flight) {
            self.saved.mode = Some(Bbr3Mode::Startup);
            self.pipe.fill();
            self.bounds.inflight_long = Some(self.bdp().max(self.inflight_latest));
        }
        if self.loss_round_begins {
            self.lost_runs = 0;
        }
        if self.pipe.full {
            self.mode = Bbr3Mode::Drain;
            self.drain_round = self.rounds;
        }
    }

    /// CheckDrainDone.
    fn look_whether_drained(&mut self, context: &AckContext) {
        let late = self.rounds > self.drain_round + DRAIN_ROUNDS;
        let drained = u64::from(context.in_flight) <= self.inflight(ONE, context);
        if self.mode == Bbr3Mode::Drain && (drained || late) {
            self.start_down();
        }
    }

    /// IsInflightTooHigh.
    fn is_too_high(&self, lost: u64, in_flight: u64) -> bool {
        100 * lost > LOSS_PERCENT * in_flight || (lost > 0 && !self.sack)
    }

    /// SetPacingRateWithGain, and before a round trip was measured InitPacingRate.
    fn set_pacing(&mut self, cwnd: u32, context: &AckContext) {
        if !self.seen_rtt && context.srtt > 0 {
            self.begin_rate(cwnd, context);
        }
        let rate = self.paced(self.pacing_gain(), context);
        if rate > 0 && (self.pipe.full || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// The rate with a gain, less the margin.
    fn paced(&self, gain: u64, context: &AckContext) -> u64 {
        paced(self.rate(), gain, context.payload) * (100 - MARGIN_PERCENT) / 100
    }

    /// SetPacingRateWithGain(1).
    fn pace_at_rate(&mut self, context: &AckContext) {
        let rate = self.paced(ONE, context);
        if rate > 0 && (self.pipe.full || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// SetCwnd.
    fn set_window(&mut self, window: &mut LinuxWindow, sample: &Sample, context: &AckContext) {
        let (acked, mut cwnd) = (u64::from(sample.acked), u64::from(window.cwnd));
        let most = self.bdp_times(self.window_gain(), context) + self.extra.get();
        let most = self.with_budget(most, context);
        if self.pipe.full {
            cwnd = (cwnd + acked).min(most);
        } else if cwnd < most || context.delivered < u64::from(context.initial_window) {
            cwnd += acked;
        }
        cwnd = cwnd.max(WINDOW_LEAST);
        if self.mode == Bbr3Mode::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_window(context));
        }
        window.cwnd = cwnd.min(self.cap()).min(u64::from(INFINITE)) as u32;
    }

    /// BoundCwndForModel.
    fn cap(&self) -> u64 {
        let long = match self.mode {
            Bbr3Mode::Down | Bbr3Mode::Refill | Bbr3Mode::Up => self.bounds.inflight_long,
            Bbr3Mode::ProbeRtt | Bbr3Mode::Cruise => self.bounds.with_headroom(),
            Bbr3Mode::Startup | Bbr3Mode::Drain => None,
        };
        let bounds = [long, self.bounds.inflight_short];
        bounds.into_iter().flatten().min().unwrap_or(u64::MAX).max(WINDOW_LEAST)
    }

    /// BBR.bdp in segments, rounded up.
    fn bdp(&self) -> u64 {
        self.min_rtt.map_or(0, |rtt| times(self.rate(), rtt, ONE))
    }

    /// BDPMultiple.
    fn bdp_times(&self, gain: u64, context: &AckContext) -> u64 {
        self.min_rtt.map_or(u64::from(context.initial_window), |rtt| times(self.rate(), rtt, gain))
    }

    /// QuantizationBudget.
    fn with_budget(&self, segments: u64, context: &AckContext) -> u64 {
        let least = (3 * self.group(context)).max(WINDOW_LEAST);
        segments.max(least) + if self.mode == Bbr3Mode::Up { 2 } else { 0 }
    }

    /// Inflight.
    fn inflight(&self, gain: u64, context: &AckContext) -> u64 {
        self.with_budget(self.bdp_times(gain, context), context)
    }

    /// SetSendQuantum, in segments.
    fn group(&self, context: &AckContext) -> u64 {
        if context.group_most <= 1 {
            return 1;
        }
        let bytes = (self.pacing_rate / (1_000_000 / GROUP_US)).min(GROUP_BYTES);
        (bytes / context.payload).max(self.least_group())
    }

    pub(crate) fn least_group(&self) -> u64 {
        2
    }
}

/// Segments that a rate delivers in `us` microseconds.
fn over(rate: u64, us: u64) -> u64 {
    ((u128::from(rate) * u128::from(us)) >> RATE_SHIFT).min(u128::from(u32::MAX)) as u64
}

/// Rate times time times gain in segments, rounded up.
fn times(rate: u64, us: u64, gain: u64) -> u64 {
    let product = u128::from(rate) * u128::from(us) * u128::from(gain) / u128::from(ONE);
    product.div_ceil(1 << RATE_SHIFT).min(u128::from(u32::MAX)) as u64
}

/// A rate with a gain in bytes a second.
fn paced(rate: u64, gain: u64, payload: u64) -> u64 {
    let bytes = u128::from(rate) * u128::from(payload) * u128::from(gain) / u128::from(ONE);
    ((bytes * 1_000_000) >> RATE_SHIFT).min(u128::from(u64::MAX / 128)) as u64
}
