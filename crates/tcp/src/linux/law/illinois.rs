//! TCP-Illinois (Liu, Basar and Srikant 2008) in the integers of Linux: losses decide when the
//! window shrinks, and the delay of queues decides by how much it grows and shrinks.

use serde::{Deserialize, Serialize};

use super::super::context::{AckContext, Stage};
use super::super::window::LinuxWindow;

/// alpha, in segments a round trip, is in 1/128, from 0.3 to 10.
const ALPHA_ONE: u32 = 1 << 7;
const ALPHA_MIN: u32 = 3 * ALPHA_ONE / 10;
const ALPHA_MAX: u32 = 10 * ALPHA_ONE;
/// beta, the share that a loss takes, is in 1/64, from 1/8 to 1/2.
const BETA_MIN: u32 = 8;
const BETA_MAX: u32 = 32;
/// A smaller window, in segments, grows and shrinks as Reno's does.
const SMALL: u32 = 15;
/// Round trips with a short queue before alpha is the largest again.
const THETA: u32 = 5;
/// The longest round trip that the integers bear, in microseconds.
const RTT_MAX: u32 = u32::MAX / ALPHA_MAX;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Illinois {
    alpha: u32,
    beta: u32,
    /// Round trips in microseconds: the sum and the number in the running one, the shortest and
    /// the longest of all.
    sum: u64,
    count: u32,
    shortest: u32,
    longest: u32,
    /// The round trip ends when more than this is acknowledged.
    round: u64,
    /// Segments that the last ACK acknowledged, and the cumulative ACK.
    acked: (u32, u64),
    /// Whether the queue was long since alpha was the largest; round trips since it is short.
    above: bool,
    low: u32,
}

impl Illinois {
    pub(super) fn new() -> Self {
        Self {
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            sum: 0,
            count: 0,
            shortest: 0x7fff_ffff,
            longest: 0,
            round: 0,
            acked: (0, 0),
            above: false,
            low: 0,
        }
    }

    pub(super) fn open(&mut self, context: &AckContext) {
        *self = Self::new();
        self.acked.1 = context.acked;
        self.begin(context);
    }

    fn begin(&mut self, context: &AckContext) {
        (self.round, self.sum, self.count) = (context.next, 0, 0);
    }

    pub(super) fn enters(&mut self, stage: Stage, context: &AckContext) {
        if stage == Stage::Loss {
            (self.alpha, self.beta, self.above, self.low) = (ALPHA_ONE, BETA_MAX, false, 0);
            self.begin(context);
        }
    }

    /// An ACK came, whether or not it measured a round trip, in microseconds.
    pub(super) fn measured(&mut self, rtt: Option<u64>, context: &AckContext) {
        self.acked = ((context.acked - self.acked.1) as u32, context.acked);
        let Some(rtt) = rtt else { return };
        let rtt = rtt.min(u64::from(RTT_MAX)) as u32;
        self.shortest = self.shortest.min(rtt);
        self.longest = self.longest.max(rtt);
        self.count += 1;
        self.sum += u64::from(rtt);
    }

    pub(super) fn grow(&mut self, window: &mut LinuxWindow, acked: u32, context: &AckContext) {
        if context.acked > self.round {
            self.adapt(window.cwnd, context);
        }
        if !window.may_grow() {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(acked);
            return;
        }
        window.credit += self.acked.0;
        self.acked.0 = 1;
        let delta = ((u64::from(window.credit) * u64::from(self.alpha)) >> 7) as u32;
        if delta >= window.cwnd {
            window.cwnd += delta / window.cwnd;
            window.credit = 0;
        }
    }

    pub(super) fn ssthresh(&self, cwnd: u32) -> u32 {
        let cut = (u64::from(cwnd) * u64::from(self.beta)) >> 6;
        (cwnd - cut as u32).max(2)
    }

    /// A round trip is over.
    fn adapt(&mut self, cwnd: u32, context: &AckContext) {
        if cwnd < SMALL {
            (self.alpha, self.beta) = (ALPHA_ONE, BETA_MAX);
        } else if self.count > 0 {
            let mean = (self.sum / u64::from(self.count)) as u32;
            let (queued, most) = (mean - self.shortest, self.longest - self.shortest);
            self.alpha = self.alpha(queued, most);
            self.beta = beta(queued, most);
        }
        self.begin(context);
    }

    /// Their equation (4): the largest below a hundredth of the longest delay, then a hyperbola to
    /// the least at the longest.
    fn alpha(&mut self, queued: u32, most: u32) -> u32 {
        let short = most / 100;
        if queued <= short {
            if self.above {
                self.low += 1;
                if self.low < THETA {
                    return self.alpha;
                }
                (self.low, self.above) = (0, false);
            }
            return ALPHA_MAX;
        }
        self.above = true;
        let (queued, most) = (queued - short, most - short);
        most * ALPHA_MAX / (most + queued * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN)
    }
}

/// Their equation (5): the least below a tenth of the longest delay, the largest from eight tenths
/// on, and a line between.
fn beta(queued: u32, most: u32) -> u32 {
    let (short, long) = (most / 10, 8 * most / 10);
    if queued <= short {
        return BETA_MIN;
    }
    if queued >= long || long <= short {
        return BETA_MAX;
    }
    (BETA_MIN * long - BETA_MAX * short + (BETA_MAX - BETA_MIN) * queued) / (long - short)
}
