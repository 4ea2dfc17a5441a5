//! TCP Veno (Fu and Liew 2003) as Linux has it: Reno whose losses count as random, and take a fifth
//! of the window, while fewer than three segments are queued.

use serde::{Deserialize, Serialize};

use super::super::context::Stage;
use super::super::window::LinuxWindow;

/// Queued segments from which on losses are of congestion, in halves (their beta = 3).
const BETA: u64 = 3 << 1;
const NONE: u64 = 0x7fff_ffff;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Veno {
    on: bool,
    /// The shortest round trip, and the shortest since the window was last to grow; each a
    /// microsecond more than was measured.
    base: u64,
    least: u64,
    count: u32,
    /// With a queue the window grows each second time.
    grows: bool,
    /// Queued segments, in halves.
    queued: u64,
}

impl Veno {
    pub(super) fn new() -> Self {
        Self { on: false, base: NONE, least: NONE, count: 0, grows: true, queued: 0 }
    }

    pub(super) fn open(&mut self) {
        (self.base, self.grows) = (NONE, true);
        self.enters(Stage::Open);
    }

    pub(super) fn enters(&mut self, stage: Stage) {
        self.on = stage == Stage::Open;
        if self.on {
            self.least = NONE;
        }
    }

    pub(super) fn measured(&mut self, rtt: u64) {
        self.base = self.base.min(rtt + 1);
        self.least = self.least.min(rtt + 1);
        self.count += 1;
    }

    pub(super) fn grow(&mut self, window: &mut LinuxWindow, acked: u32) {
        if !self.on {
            return window.reno(acked);
        }
        if !window.may_grow() {
            return;
        }
        if self.count <= 2 {
            window.reno(acked);
        } else {
            let cwnd = u64::from(window.cwnd);
            self.queued = 2 * cwnd - 2 * cwnd * self.base / self.least;
            self.decide(window, acked);
            window.cwnd = window.cwnd.max(2);
        }
        self.least = NONE;
    }

    fn decide(&mut self, window: &mut LinuxWindow, acked: u32) {
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left == 0 {
            return;
        }
        if self.queued < BETA {
            window.additive(window.cwnd, left);
        } else if window.credit >= window.cwnd {
            window.cwnd += u32::from(self.grows);
            self.grows = !self.grows;
            window.credit = 0;
        } else {
            window.credit += left;
        }
    }

    pub(super) fn ssthresh(&self, cwnd: u32) -> u32 {
        let left = if self.queued < BETA { cwnd * 4 / 5 } else { cwnd >> 1 };
        left.max(2)
    }
}
