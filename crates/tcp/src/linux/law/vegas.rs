//! Vegas as Linux has it: once a round trip the window follows the delay (Brakmo and Peterson
//! 1995), with alpha 2, beta 4 and gamma 1; Reno where there are too few measurements, and while
//! losses are being repaired.

use serde::{Deserialize, Serialize};

use super::super::context::{AckContext, Stage};
use super::super::window::{LinuxWindow, current_ssthresh};

const ALPHA: u64 = 2;
const BETA: u64 = 4;
const GAMMA: u64 = 1;
const NONE: u64 = 0x7fff_ffff;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LinuxVegas {
    on: bool,
    /// The shortest round trip, and the shortest of the running one; each a microsecond more than
    /// was measured.
    base: u64,
    least: u64,
    count: u32,
    /// The round trip ends when more than this is acknowledged.
    round: u64,
}

impl LinuxVegas {
    pub(super) fn new() -> Self {
        Self { on: false, base: NONE, least: NONE, count: 0, round: 0 }
    }

    pub(super) fn open(&mut self, context: &AckContext) {
        self.base = NONE;
        self.begin(context);
    }

    fn begin(&mut self, context: &AckContext) {
        self.on = true;
        self.round = context.next;
        (self.count, self.least) = (0, NONE);
    }

    pub(super) fn enters(&mut self, stage: Stage, context: &AckContext) {
        if stage == Stage::Open { self.begin(context) } else { self.on = false }
    }

    pub(super) fn measured(&mut self, rtt: u64) {
        self.base = self.base.min(rtt + 1);
        self.least = self.least.min(rtt + 1);
        self.count += 1;
    }

    pub(super) fn grow(&mut self, window: &mut LinuxWindow, acked: u32, context: &AckContext) {
        if !self.on {
            window.reno(acked);
        } else if context.acked > self.round {
            self.round = context.next;
            if self.count <= 2 {
                window.reno(acked);
            } else {
                self.decide(window, acked, context);
            }
            (self.count, self.least) = (0, NONE);
        } else if window.in_slow_start() {
            window.slow_start(acked);
        }
    }

    fn decide(&self, window: &mut LinuxWindow, acked: u32, context: &AckContext) {
        let cwnd = u64::from(window.cwnd);
        let target = cwnd * self.base / self.least;
        let queued = cwnd * (self.least - self.base) / self.base;
        if window.in_slow_start() {
            if queued > GAMMA {
                window.cwnd = window.cwnd.min(target as u32 + 1);
                window.ssthresh = window.ssthresh.min(window.cwnd);
            } else {
                window.slow_start(acked);
            }
        } else if queued > BETA {
            window.cwnd -= 1;
            window.ssthresh = window.ssthresh.min(window.cwnd);
        } else if queued < ALPHA {
            window.cwnd += 1;
        }
        window.cwnd = window.cwnd.max(2);
        window.ssthresh = current_ssthresh(window, context.stage);
    }
}
