//! BBR, version 1 (Cardwell, Cheng, Gunn, Yeganeh and Jacobson 2016; Linux 6.12): the window and
//! the pacing rate follow the largest delivery rate and the shortest round trip.

mod cycle;
mod policer;
mod scale;

use serde::{Deserialize, Serialize};

use super::super::context::{AckContext, Stage};
use super::super::rate::Sample;
use super::super::window::{INFINITE, LinuxWindow};
use super::windowed::WindowedMax;
use policer::{Change, Policer};
pub(super) use scale::RATE_SHIFT;
use scale::{UNIT, bytes_a_second};

/// 2/ln 2, and its inverse.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// The window is twice the product of rate and delay.
const WINDOW_GAIN: u64 = 2 * UNIT;
const WINDOW_LEAST: u32 = 4;
/// Round trips over which the largest rate is taken.
const RATE_ROUNDS: u64 = 10;
/// For how long a shortest round trip counts, and how long it is looked for, in ticks.
const RTT_TICKS: u64 = 10_000;
const PROBE_TICKS: u64 = 200;
/// A rate that does not grow by a quarter in three round trips is all there is.
const FULL_GAIN: u64 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// Round trips after which ACKs that came at once are forgotten, and how long they count, in us.
const EXTRA_ROUNDS: u32 = 5;
const EXTRA_US: u64 = 100_000;
const EXTRA_MOST: u64 = 1 << 20;
/// Below this, in bytes a second, a segment goes at a time.
const SLOW_RATE: u64 = 1_200_000 >> 3;
/// Bytes of a group at most.
const GROUP_BYTES: u64 = super::super::options::GROUP_BYTES;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bbr {
    mode: Mode,
    /// Bytes a second.
    pub(crate) pacing_rate: u64,
    pacing_gain: u64,
    window_gain: u64,
    /// The largest rate of the last rounds.
    rates: WindowedMax,
    rounds: u64,
    round_ends: u64,
    round_begins: bool,
    shortest: u64,
    shortest_at: u64,
    probe_until: Option<u64>,
    probe_round_done: bool,
    full_rate: u64,
    full_rounds: u32,
    full: bool,
    cycle: usize,
    cycle_at: u64,
    /// The random phase, 0 to 6, in which the gain cycle begins.
    phase: usize,
    prior_stage: Stage,
    conserves: bool,
    prior_cwnd: u32,
    seen_rtt: bool,
    policer: Policer,
    epoch_at: u64,
    epoch_acked: u64,
    extra: [u64; 2],
    extra_rounds: u32,
    extra_now: usize,
    /// Whether it restarts from idleness, until something that was sent since is delivered.
    idle_restart: bool,
}

impl Bbr {
    pub(super) fn new(phase: usize) -> Self {
        Self {
            mode: Mode::Startup,
            pacing_rate: 0,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            rates: WindowedMax::default(),
            rounds: 0,
            round_ends: 0,
            round_begins: false,
            shortest: u64::MAX,
            shortest_at: 0,
            probe_until: None,
            probe_round_done: false,
            full_rate: 0,
            full_rounds: 0,
            full: false,
            cycle: 0,
            cycle_at: 0,
            phase,
            prior_stage: Stage::Open,
            conserves: false,
            prior_cwnd: 0,
            seen_rtt: false,
            policer: Policer::default(),
            epoch_at: 0,
            epoch_acked: 0,
            extra: [0; 2],
            extra_rounds: 0,
            extra_now: 0,
            idle_restart: false,
        }
    }

    pub(crate) fn open(&mut self, window: &mut LinuxWindow, context: &AckContext) {
        *self = Self::new(self.phase);
        window.ssthresh = INFINITE;
        self.round_ends = context.delivered;
        (self.shortest, self.shortest_at) = (context.shortest, context.clock.tick);
        self.policer.begin(context);
        self.epoch_at = context.clock.us;
        self.begin_rate(window.cwnd, context);
    }

    /// The pacing rate before any delivery: the window in a round trip.
    fn begin_rate(&mut self, cwnd: u32, context: &AckContext) {
        self.seen_rtt = context.srtt > 0;
        let rtt = if self.seen_rtt { context.srtt } else { 1000 };
        let rate = (u64::from(cwnd) << RATE_SHIFT) / rtt;
        self.pacing_rate = bytes_a_second(rate, HIGH_GAIN, context.payload);
    }

    pub(super) fn ssthresh(&mut self, window: &LinuxWindow) -> u32 {
        self.save(window.cwnd);
        window.ssthresh
    }

    /// The window before a repair or a look for the shortest round trip.
    fn save(&mut self, cwnd: u32) {
        let calm = self.prior_stage < Stage::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if calm { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    pub(super) fn undone(&mut self, window: &LinuxWindow) -> u32 {
        (self.full_rate, self.full_rounds) = (0, 0);
        window.cwnd
    }

    pub(crate) fn undo(&mut self, context: &AckContext) {
        self.policer = Policer::default();
        self.policer.begin(context);
    }

    /// A time-out.
    pub(crate) fn times_out(&mut self, context: &AckContext) {
        self.prior_stage = Stage::Loss;
        self.full_rate = 0;
        self.round_begins = true;
        let sample = Sample { lost: 1, ..Sample::default() };
        self.sample_policer(&sample, context);
    }

    fn max_rate(&self) -> u64 {
        self.rates.get()
    }

    fn rate(&self) -> u64 {
        self.policer.rate().unwrap_or(self.max_rate())
    }

    /// An ACK: updates the model, then rate and window.
    pub(crate) fn control(
        &mut self,
        window: &mut LinuxWindow,
        sample: &Sample,
        context: &AckContext,
    ) -> bool {
        self.take_rate(sample, context);
        self.take_aggregation(sample, window.cwnd, context);
        self.follow_cycle(sample, context);
        self.look_whether_full(sample);
        self.drain(window, context);
        let idle = self.look_for_shortest(window, sample, context);
        self.set_gains();
        let rate = self.rate();
        self.set_pacing(window.cwnd, rate, context);
        self.set_window(window, sample, context, rate);
        idle
    }

    /// Looks for the rate of a policer, and goes by one or leaves it.
    fn sample_policer(&mut self, sample: &Sample, context: &AckContext) {
        let round = (self.round_begins, self.mode == Mode::ProbeBandwidth);
        match self.policer.take(sample, round, context) {
            Some(Change::Begins) => self.pacing_gain = UNIT,
            Some(Change::Ends) => self.begin_cycle(context),
            None => {}
        }
    }

    fn take_rate(&mut self, sample: &Sample, context: &AckContext) {
        self.round_begins = false;
        let Some((delivered, interval)) = sample.rate else { return };
        if sample.prior >= self.round_ends {
            self.round_ends = context.delivered;
            self.rounds += 1;
            self.round_begins = true;
            self.conserves = false;
        }
        self.sample_policer(sample, context);
        let rate = (delivered << RATE_SHIFT) / interval;
        if !sample.idle || rate >= self.max_rate() {
            self.rates.take(self.rounds, rate, RATE_ROUNDS);
        }
    }

    /// ACKs that come at once tell of more than was expected.
    fn take_aggregation(&mut self, sample: &Sample, cwnd: u32, context: &AckContext) {
        if sample.acked == 0 || sample.rate.is_none() {
            return;
        }
        if self.round_begins {
            self.extra_rounds += 1;
            if self.extra_rounds >= EXTRA_ROUNDS {
                self.extra_rounds = 0;
                self.extra_now = 1 - self.extra_now;
                self.extra[self.extra_now] = 0;
            }
        }
        let time = context.delivered_at.saturating_sub(self.epoch_at);
        let mut expected = product(self.rate(), time) >> RATE_SHIFT;
        let acked = u64::from(sample.acked);
        if self.epoch_acked <= expected || self.epoch_acked + acked >= EXTRA_MOST {
            self.epoch_acked = 0;
            self.epoch_at = context.delivered_at;
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(EXTRA_MOST - 1);
        let extra = (self.epoch_acked - expected.min(self.epoch_acked)).min(u64::from(cwnd));
        self.extra[self.extra_now] = self.extra[self.extra_now].max(extra);
    }

    fn look_whether_full(&mut self, sample: &Sample) {
        if self.full || !self.round_begins || sample.idle {
            return;
        }
        if self.max_rate() >= (self.full_rate * FULL_GAIN) >> 8 {
            (self.full_rate, self.full_rounds) = (self.max_rate(), 0);
        } else {
            self.full_rounds += 1;
            self.full = self.full_rounds >= FULL_ROUNDS;
        }
    }

    fn drain(&mut self, window: &mut LinuxWindow, context: &AckContext) {
        let target = |bbr: &Self| bbr.aim(bbr.max_rate(), UNIT, context);
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            window.ssthresh = target(self);
        }
        if self.mode == Mode::Drain && self.in_network(context.in_flight, context) <= target(self) {
            self.begin_cycle(context);
        }
    }

    /// The shortest round trip, which is looked for with a small window once in ten seconds;
    /// returns whether the rate is not to be taken.
    fn look_for_shortest(
        &mut self,
        window: &mut LinuxWindow,
        sample: &Sample,
        context: &AckContext,
    ) -> bool {
        let expired = context.clock.tick > self.shortest_at + RTT_TICKS;
        let counts = |&rtt: &u64| rtt < self.shortest || (expired && !sample.delayed);
        if let Some(rtt) = sample.rtt.filter(counts) {
            (self.shortest, self.shortest_at) = (rtt, context.clock.tick);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save(window.cwnd);
            self.probe_until = None;
        }
        if sample.acked > 0 {
            self.idle_restart = false;
        }
        if self.mode != Mode::ProbeRtt {
            return false;
        }
        match self.probe_until {
            None if context.in_flight <= WINDOW_LEAST => {
                self.probe_until = Some(context.clock.tick + PROBE_TICKS);
                self.probe_round_done = false;
                self.round_ends = context.delivered;
            }
            None => {}
            Some(until) => {
                self.probe_round_done |= self.round_begins;
                if self.probe_round_done {
                    self.end_probe(window, until, context);
                }
            }
        }
        true
    }

    /// The look for the shortest round trip is over, if it has lasted until after `until`.
    fn end_probe(&mut self, window: &mut LinuxWindow, until: u64, context: &AckContext) {
        if context.clock.tick <= until {
            return;
        }
        self.shortest_at = context.clock.tick;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        match self.full {
            true => self.begin_cycle(context),
            false => self.mode = Mode::Startup,
        }
    }

    /// Data go out while nothing is in flight and the application had nothing to send: it paces at
    /// the rate, and does not look for the shortest round trip, since the pause has drained the
    /// queue (`bbr_cwnd_event`).
    pub(super) fn restarts(&mut self, window: &mut LinuxWindow, context: &AckContext) {
        self.idle_restart = true;
        (self.epoch_at, self.epoch_acked) = (context.clock.us, 0);
        match (self.mode, self.probe_until) {
            (Mode::ProbeBandwidth, _) => {
                let (gain, rate) = (self.pacing_gain, self.rate());
                self.pacing_gain = UNIT;
                self.set_pacing(window.cwnd, rate, context);
                self.pacing_gain = gain;
            }
            (Mode::ProbeRtt, Some(until)) => self.end_probe(window, until, context),
            _ => {}
        }
    }

    fn set_pacing(&mut self, cwnd: u32, rate: u64, context: &AckContext) {
        let rate = bytes_a_second(rate, self.pacing_gain, context.payload);
        if !self.seen_rtt && context.srtt > 0 {
            self.begin_rate(cwnd, context);
        }
        if self.full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn set_window(
        &mut self,
        window: &mut LinuxWindow,
        sample: &Sample,
        context: &AckContext,
        rate: u64,
    ) {
        if sample.acked > 0 {
            let (cwnd, conserves) = self.conserve(window.cwnd, sample, context);
            let mut cwnd = cwnd;
            if !conserves {
                let aim = self.product(rate, self.window_gain) + self.extra_window();
                let aim = self.with_budget(aim, context) as u32;
                if self.full {
                    cwnd = (cwnd + sample.acked).min(aim);
                } else if cwnd < aim || context.delivered < 10 {
                    cwnd += sample.acked;
                }
                cwnd = cwnd.max(WINDOW_LEAST);
            }
            window.cwnd = cwnd;
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(WINDOW_LEAST);
        }
    }

    /// In the first round of a repair a segment goes for each that arrived.
    fn conserve(&mut self, cwnd: u32, sample: &Sample, context: &AckContext) -> (u32, bool) {
        let stage = context.stage;
        let before = std::mem::replace(&mut self.prior_stage, stage);
        let mut cwnd = if sample.lost > 0 { cwnd.saturating_sub(sample.lost).max(1) } else { cwnd };
        if stage == Stage::Recovery && before != Stage::Recovery {
            self.conserves = true;
            self.round_ends = context.delivered;
            cwnd = context.in_flight + sample.acked;
        } else if before >= Stage::Recovery && stage < Stage::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        if self.conserves {
            return (cwnd.max(context.in_flight + sample.acked), true);
        }
        (cwnd, false)
    }

    /// For ACKs that come at once.
    fn extra_window(&self) -> u64 {
        if !self.full {
            return 0;
        }
        let most = product(self.rate(), EXTRA_US) >> RATE_SHIFT;
        self.extra[0].max(self.extra[1]).min(most)
    }

    /// Rate times shortest round trip times `gain`, in segments, rounded up.
    fn product(&self, rate: u64, gain: u64) -> u64 {
        if self.shortest >= u64::from(u32::MAX) {
            return 10;
        }
        let segments = (u128::from(rate) * u128::from(self.shortest) * u128::from(gain)) >> 8;
        segments.div_ceil(1 << RATE_SHIFT) as u64
    }

    /// Room for groups, even, and for the cycle's first phase.
    fn with_budget(&self, segments: u64, context: &AckContext) -> u64 {
        let whole = (segments + 3 * self.group(context) + 1) & !1;
        let probes = self.mode == Mode::ProbeBandwidth && self.cycle == 0;
        whole + if probes { 2 } else { 0 }
    }

    fn aim(&self, rate: u64, gain: u64, context: &AckContext) -> u32 {
        self.with_budget(self.product(rate, gain), context) as u32
    }

    /// Segments of a group.
    fn group(&self, context: &AckContext) -> u64 {
        let bytes = (self.pacing_rate >> 10).min(GROUP_BYTES);
        (bytes / context.payload).max(self.least_group()).min(127)
    }

    pub(crate) fn least_group(&self) -> u64 {
        if self.pacing_rate < SLOW_RATE { 1 } else { 2 }
    }

    /// Segments that will be in the network when the next group may leave.
    fn in_network(&self, flight: u32, context: &AckContext) -> u32 {
        let delivered = product(self.rate(), context.ahead()) >> RATE_SHIFT;
        let probing = if self.pacing_gain > UNIT { self.group(context) } else { 0 };
        (u64::from(flight) + probing).saturating_sub(delivered) as u32
    }

    fn set_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth if self.policer.rate().is_some() => (UNIT, WINDOW_GAIN),
            Mode::ProbeBandwidth => (cycle::GAINS[self.cycle], WINDOW_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }
}

fn product(rate: u64, us: u64) -> u64 {
    (u128::from(rate) * u128::from(us)).min(u128::from(u64::MAX)) as u64
}
