//! H-TCP (Shorten and Leith 2004) in the integers of Linux: the longer ago the last reduction, the
//! faster the window grows; the shorter the queue at a loss, the less the window shrinks.

use serde::{Deserialize, Serialize};

use super::super::clock::ticks;
use super::super::context::{AckContext, Stage};
use super::super::window::LinuxWindow;

/// Factors are in 1/128.
const ONE: u32 = 1 << 7;
/// The window that remains: at least a half, at most four fifths.
const BETA_MIN: u32 = 1 << 6;
const BETA_MAX: u32 = 102;
/// Ticks in a second.
const HZ: u32 = 1000;
/// In ticks: a round trip that may lengthen the longest by more is an outlier; and one below which
/// delays say nothing on the queue.
const OUTLIER: u32 = 20;
const SHORT: u32 = 10;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Htcp {
    /// Segments a round trip, in 1/128.
    alpha: u32,
    /// The share of the window that remains, in 1/128.
    beta: u32,
    /// Whether delays may decide on beta: after one loss with a steady rate.
    by_delay: bool,
    /// Segments that the last ACK acknowledged, and the cumulative ACK.
    acked: (u32, u64),
    /// Round trips in ticks; 0: none.
    shortest: u32,
    longest: u32,
    /// When the last reduction ended, in ticks.
    congested: u32,
    rate: Throughput,
    /// The state before the last reduction: when the one before ended (0: nothing to restore), the
    /// longest round trip and the largest rate.
    before: (u32, u32, u32),
}

/// The throughput that was achieved, in segments a second.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Throughput {
    count: u32,
    since: u32,
    mean: u32,
    most: u32,
    /// The largest before the last reduction.
    most_before: u32,
}

impl Htcp {
    pub(super) fn new() -> Self {
        Self {
            alpha: ONE,
            beta: BETA_MIN,
            by_delay: false,
            acked: (1, 0),
            shortest: 0,
            longest: 0,
            congested: 0,
            rate: Throughput::default(),
            before: (0, 0, 0),
        }
    }

    pub(super) fn open(&mut self, context: &AckContext) {
        *self = Self::new();
        let now = context.clock.tick as u32;
        (self.congested, self.acked.1) = (now, context.acked);
        // In Linux the first sample begins with its count of ticks at zero, long ago.
        self.rate.since = now.wrapping_sub(1 << 31);
    }

    pub(super) fn enters(&mut self, stage: Stage, context: &AckContext) {
        let now = context.clock.tick as u32;
        match stage {
            Stage::Open if self.before.0 != 0 => (self.congested, self.before.0) = (now, 0),
            Stage::Open | Stage::Disorder => {}
            Stage::Cwr | Stage::Recovery | Stage::Loss => {
                self.before = (self.congested, self.longest, self.rate.most_before);
                self.congested = now;
            }
        }
    }

    /// An ACK came, whether or not it measured a round trip, in microseconds.
    pub(super) fn measured(
        &mut self,
        window: &LinuxWindow,
        rtt: Option<u64>,
        context: &AckContext,
    ) {
        let acked = (context.acked - self.acked.1) as u32;
        self.acked.1 = context.acked;
        if context.stage == Stage::Open {
            self.acked.0 = acked;
        }
        if let Some(rtt) = rtt.filter(|&rtt| rtt > 0) {
            self.note_round_trip(ticks(rtt) as u32, context.stage);
        }
        let now = context.clock.tick as u32;
        if !matches!(context.stage, Stage::Open | Stage::Disorder) {
            (self.rate.count, self.rate.since) = (0, now);
            return;
        }
        self.rate.count += acked;
        let step = (self.alpha >> 7).max(1);
        let (full, span) = (window.cwnd.wrapping_sub(step), now.wrapping_sub(self.rate.since));
        if self.rate.count < full || span < self.shortest || self.shortest == 0 {
            return;
        }
        let rate = self.rate.count.wrapping_mul(HZ) / span.max(1);
        // Right after a reduction the mean begins anew.
        if now.wrapping_sub(self.congested) / self.shortest <= 3 {
            (self.rate.mean, self.rate.most) = (rate, rate);
        } else {
            self.rate.mean = (3 * self.rate.mean + rate) / 4;
            self.rate.most = self.rate.most.max(self.rate.mean);
        }
        (self.rate.count, self.rate.since) = (0, now);
    }

    fn note_round_trip(&mut self, rtt: u32, stage: Stage) {
        if self.shortest > rtt || self.shortest == 0 {
            self.shortest = rtt;
        }
        if stage == Stage::Open {
            self.longest = self.longest.max(self.shortest);
            if self.longest < rtt && rtt <= self.longest + OUTLIER {
                self.longest = rtt;
            }
        }
    }

    pub(super) fn grow(&mut self, window: &mut LinuxWindow, acked: u32, context: &AckContext) {
        if !window.may_grow() {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(acked);
            return;
        }
        if (u64::from(window.credit) * u64::from(self.alpha)) >> 7 >= u64::from(window.cwnd) {
            window.cwnd += 1;
            window.credit = 0;
            self.set_alpha(context.clock.tick as u32);
        } else {
            window.credit += self.acked.0;
        }
        self.acked.0 = 1;
    }

    pub(super) fn ssthresh(&mut self, cwnd: u32, tick: u64) -> u32 {
        self.set_beta();
        self.set_alpha(tick as u32);
        // The longest round trip fades, as routes may change.
        if self.shortest > 0 && self.longest > self.shortest {
            self.longest = self.shortest + (self.longest - self.shortest) * 95 / 100;
        }
        ((u64::from(cwnd) * u64::from(self.beta)) >> 7).max(2) as u32
    }

    fn set_beta(&mut self) {
        let (most, before) = (u64::from(self.rate.most), u64::from(self.rate.most_before));
        self.rate.most_before = self.rate.most;
        // The throughput has changed by a fifth or more: the queue of before says nothing.
        if !(4 * before..=6 * before).contains(&(5 * most)) {
            (self.beta, self.by_delay) = (BETA_MIN, false);
        } else if self.by_delay && self.shortest > SHORT && self.longest > 0 {
            self.beta = ((self.shortest << 7) / self.longest).clamp(BETA_MIN, BETA_MAX);
        } else {
            (self.beta, self.by_delay) = (BETA_MIN, true);
        }
    }

    /// 1 + 10 (t - 1) + ((t - 1) / 2)^2 segments a round trip of 100 ms, t seconds after the last
    /// reduction; less where the round trip is shorter. Products wrap, as the kernel's do.
    fn set_alpha(&mut self, now: u32) {
        let mut factor = 1;
        let span = now.wrapping_sub(self.congested);
        if span > HZ {
            let span = span - HZ;
            let square = (span / 2).wrapping_mul(span / 2) / HZ;
            factor = 1 + 10_u32.wrapping_mul(span).wrapping_add(square) / HZ;
        }
        if self.shortest > 0 {
            let scale = ((HZ << 3) / (10 * self.shortest)).clamp(1 << 2, 10 << 3);
            factor = ((factor << 3) / scale).max(1);
        }
        self.alpha = 2_u32.wrapping_mul(factor).wrapping_mul(ONE - self.beta);
        if self.alpha == 0 {
            self.alpha = ONE;
        }
    }

    /// The last reduction was for nothing.
    pub(super) fn undo(&mut self) {
        if self.before.0 != 0 {
            (self.congested, self.longest, self.rate.most_before) = self.before;
            self.before.0 = 0;
        }
    }
}
