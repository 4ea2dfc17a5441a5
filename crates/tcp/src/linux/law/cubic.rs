//! CUBIC (RFC 9438) in the integers of Linux: times in 1/1024 s, the factor 0.7 as 717/1024, the
//! constant C = 0.4 as 410/1024.

use serde::{Deserialize, Serialize};

use super::super::clock::ticks;
use super::super::context::{AckContext, Stage};
use super::super::window::LinuxWindow;
use super::hystart::Hystart;

/// beta and what it is out of (RFC 9438 section 4.6).
const BETA: u32 = 717;
const ONE: u32 = 1024;
/// Eighths of a window that must be acknowledged for Reno's window to grow by one:
/// 8 (1 + beta) / (3 (1 - beta)) (RFC 9438 section 4.3).
const RENO_EIGHTHS: u32 = 8 * (ONE + BETA) / 3 / (ONE - BETA);
/// C of RFC 9438 section 5, in 2^40 / (1/1024 s)^3.
const C: u64 = 410;
/// Ticks in a second.
const HZ: u64 = 1000;
/// At first the window grows by at least one in twenty ACKs.
const FIRST_EACH: u32 = 20;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cubic {
    hystart: Option<Hystart>,
    /// ACKs for each segment of growth.
    each: u32,
    last_max: u32,
    last_cwnd: u32,
    last_tick: u64,
    origin: u32,
    /// K in 1/1024 s.
    k: u64,
    /// The shortest round trip in microseconds; 0: none.
    shortest: u64,
    epoch: Option<u64>,
    acks: u32,
    /// The window that Reno would have.
    reno: u32,
}

impl Cubic {
    pub(super) fn new(hystart: bool) -> Self {
        Self {
            hystart: hystart.then(Hystart::new),
            each: 0,
            last_max: 0,
            last_cwnd: 0,
            last_tick: 0,
            origin: 0,
            k: 0,
            shortest: 0,
            epoch: None,
            acks: 0,
            reno: 0,
        }
    }

    pub(super) fn open(&mut self, context: &AckContext) {
        *self = Self::new(self.hystart.is_some());
        if let Some(hystart) = &mut self.hystart {
            hystart.begin(context);
        }
    }

    pub(super) fn enters(&mut self, stage: Stage, context: &AckContext) {
        if stage == Stage::Loss {
            self.open(context);
        }
    }

    /// Time without data does not count (RFC 9438 section 5.8).
    pub(super) fn starts(&mut self, context: &AckContext) {
        let idle = context.clock.tick.saturating_sub(context.last_sent);
        if let Some(epoch) = &mut self.epoch {
            *epoch = (*epoch + idle).min(context.clock.tick);
        }
    }

    /// Fast convergence, RFC 9438 section 4.7.
    pub(super) fn ssthresh(&mut self, cwnd: u32) -> u32 {
        self.epoch = None;
        self.last_max = if cwnd < self.last_max { part(cwnd, ONE + BETA, 2 * ONE) } else { cwnd };
        part(cwnd, BETA, ONE).max(2)
    }

    #[inline]
    pub(super) fn measured(&mut self, window: &mut LinuxWindow, rtt: u64, context: &AckContext) {
        // Right after a reduction round trips are of the queue that was.
        if self.epoch.is_some_and(|epoch| context.clock.tick.saturating_sub(epoch) < HZ) {
            return;
        }
        let rtt = rtt.max(1);
        if self.shortest == 0 || self.shortest > rtt {
            self.shortest = rtt;
        }
        if window.in_slow_start()
            && let Some(hystart) = &mut self.hystart
        {
            hystart.measured(window, rtt, self.shortest, context);
        }
    }

    #[inline]
    pub(super) fn grow(&mut self, window: &mut LinuxWindow, acked: u32, context: &AckContext) {
        if !window.may_grow() {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left > 0 {
            self.follow(window.cwnd, left, context.clock.tick);
            window.additive(self.each, left);
        }
    }

    fn follow(&mut self, cwnd: u32, acked: u32, tick: u64) {
        self.acks += acked;
        if self.last_cwnd == cwnd && tick - self.last_tick <= HZ / 32 {
            return;
        }
        // The curve is followed once a tick.
        if self.epoch.is_none() || tick != self.last_tick {
            self.last_cwnd = cwnd;
            self.last_tick = tick;
            self.aim(cwnd, acked, tick);
        }
        self.be_friendly(cwnd);
        self.each = self.each.max(2);
    }

    fn aim(&mut self, cwnd: u32, acked: u32, tick: u64) {
        let epoch = *self.epoch.get_or_insert_with(|| {
            self.acks = acked;
            self.reno = cwnd;
            (self.k, self.origin) = match self.last_max.checked_sub(cwnd) {
                Some(gap @ 1..) => (cube_root((1 << 40) / C * u64::from(gap)), self.last_max),
                _ => (0, cwnd),
            };
            tick
        });
        let time = ((tick - epoch + ticks(self.shortest)) << 10) / HZ;
        let apart = time.abs_diff(self.k);
        let delta = ((u128::from(C) * u128::from(apart).pow(3)) >> 40) as u32;
        let target = if time < self.k {
            self.origin.wrapping_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        self.each = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max == 0 {
            self.each = self.each.min(FIRST_EACH);
        }
    }

    /// Not slower than Reno (RFC 9438 section 4.3).
    fn be_friendly(&mut self, cwnd: u32) {
        let step = part(cwnd, RENO_EIGHTHS, 8);
        while self.acks > step {
            self.acks -= step;
            self.reno += 1;
        }
        if self.reno > cwnd {
            self.each = self.each.min(cwnd / (self.reno - cwnd));
        }
    }
}

/// `over`/`under` of a window, rounded down.
fn part(cwnd: u32, over: u32, under: u32) -> u32 {
    (u64::from(cwnd) * u64::from(over) / u64::from(under)) as u32
}

/// 64 times the cube root of 0 to 63, less 10 or so: what the root begins with (constants of
/// `net/ipv4/tcp_cubic.c`, Linux 6.12, there precomputed and refined by hand).
const ROOTS: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, //
    157, 161, 164, 168, 170, 173, 176, 179, 181, 185, 187, 190, 192, 194, 197, 199, //
    200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224, 225, 227, 229, //
    231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// The cube root, to 0.2 %: six leading bits from the table, then one step of Newton's method with
/// 341/1024 for a third, as Linux has it.
fn cube_root(a: u64) -> u64 {
    let bits = u64::BITS - a.leading_zeros();
    if bits < 7 {
        return (u64::from(ROOTS[a as usize]) + 35) >> 6;
    }
    let shift = ((bits * 84) >> 8) - 1;
    let first = ((u64::from(ROOTS[(a >> (3 * shift)) as usize]) + 10) << shift) >> 6;
    ((2 * first + a / (first * (first - 1))) * 341) >> 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_root_is_near() {
        for exponent in 20..45 {
            let a = (1u64 << exponent) + (1 << (exponent - 2));
            let error = cube_root(a) as f64 / (a as f64).cbrt() - 1.0;
            assert!(error.abs() < 0.015, "{a}: {error}");
        }
    }
}
