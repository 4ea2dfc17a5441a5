//! SRTT and RTTVAR as Linux has them: RFC 6298 in integers, with a deviation that follows its own
//! maximum in a round trip, and the least time-out as a floor of the deviation.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

use super::clock::{Reading, ticks};
use super::options::LinuxOptions;
use super::queue::Queue;
use crate::rto::RttView;

/// The time that a timer of RACK or of a probe waits for beyond what was computed: two ticks.
pub(super) const TIMEOUT_LEAST_US: u64 = 2_000;
/// `TCP_TIMEOUT_FALLBACK` in ticks.
const RTO_UNKNOWN: u64 = 3_000;
/// A probe of the receiver's window waits for so many ticks at least: `TCP_RTO_MIN`.
const PERSIST_LEAST: u64 = 200;
/// That wait doubles at most so often: `ilog2(TCP_RTO_MAX / TCP_RTO_MIN) + 1`.
const PERSIST_DOUBLINGS: u32 = 10;
/// Probes after which the count of doublings stays as it is: `tcp_retries2`.
const PERSIST_RETRIES: u32 = 15;

/// Round trips in microseconds. Facts of `tcp_input.c` (`tcp_rtt_estimator`), Linux 6.12.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RoundTrip {
    /// Eight times SRTT; 0: nothing was measured.
    srtt_8: u64,
    /// Four times the mean deviation.
    mdev_4: u64,
    /// The largest of this round trip, four times.
    mdev_max_4: u64,
    /// The term that the time-out adds to SRTT.
    variance: u64,
    /// The round trip ends when more than this is acknowledged.
    round: u64,
    /// The least that the time-out adds.
    floor: u64,
    shortest: Option<u64>,
    /// How many round trips were measured, their sum, and the last.
    measured: (u64, u64, u64),
    /// The time-out in ticks, with back-off, and its doublings.
    rto: u64,
    backoff: u32,
    rto_initial: u64,
    rto_max: u64,
}

impl RoundTrip {
    pub(crate) fn new(options: &LinuxOptions) -> Self {
        Self {
            srtt_8: 0,
            mdev_4: 0,
            mdev_max_4: 0,
            variance: 0,
            round: 0,
            floor: options.rto_min_us,
            shortest: None,
            measured: (0, 0, 0),
            rto: options.rto_initial,
            backoff: 0,
            rto_initial: options.rto_initial,
            rto_max: options.rto_max,
        }
    }

    /// A round trip was measured, of the first and of the last segment that an ACK is about; all
    /// below `acked` are acknowledged, all below `next` were sent.
    #[inline]
    pub(crate) fn measure(&mut self, rtt: u64, last: u64, acked: u64, next: u64) {
        self.note(last);
        self.estimate(rtt, acked, next);
        self.rto = ticks((self.srtt_8 >> 3) + self.variance).min(self.rto_max);
        self.backoff = 0;
    }

    /// Takes a round trip; all below `acked` are acknowledged, all below `next` were sent.
    #[inline]
    fn estimate(&mut self, rtt: u64, acked: u64, next: u64) {
        self.measured = (self.measured.0 + 1, self.measured.1 + rtt, rtt);
        if self.srtt_8 == 0 {
            self.srtt_8 = (rtt << 3).max(1);
            self.mdev_4 = rtt << 1;
            self.variance = self.mdev_4.max(self.floor);
            self.mdev_max_4 = self.variance;
            self.round = next;
            return;
        }
        let mut error = rtt as i64 - (self.srtt_8 >> 3) as i64;
        self.srtt_8 = (self.srtt_8 as i64 + error).max(1) as u64;
        let deviation = (self.mdev_4 >> 2) as i64;
        if error < 0 {
            // A round trip that becomes shorter widens the deviation by an eighth only.
            error = -error - deviation;
            if error > 0 {
                error >>= 3;
            }
        } else {
            error -= deviation;
        }
        self.mdev_4 = (self.mdev_4 as i64 + error).max(0) as u64;
        if self.mdev_4 > self.mdev_max_4 {
            self.mdev_max_4 = self.mdev_4;
            self.variance = self.variance.max(self.mdev_max_4);
        }
        if acked > self.round {
            if self.mdev_max_4 < self.variance {
                self.variance -= (self.variance - self.mdev_max_4) >> 2;
            }
            self.round = next;
            self.mdev_max_4 = self.floor;
        }
    }

    /// Notes a round trip for the shortest.
    #[inline]
    fn note(&mut self, rtt: u64) {
        let rtt = if rtt == 0 { 1000 } else { rtt };
        self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
    }

    /// The shortest round trip; `u64::MAX`: none yet.
    pub(crate) fn shortest(&self) -> u64 {
        self.shortest.unwrap_or(u64::from(u32::MAX))
    }

    pub(crate) fn srtt_8(&self) -> u64 {
        self.srtt_8
    }

    /// The mean deviation, which `tcp_info` calls `rttvar`.
    pub(crate) fn deviation(&self) -> u64 {
        self.mdev_4 >> 2
    }
}

/// The time-out.
impl RoundTrip {
    /// Ticks until a probe without pacing, where so many segments are outstanding and no time-out
    /// comes before.
    #[inline]
    pub(crate) fn probe_wait(&self, outstanding: u32) -> u64 {
        match self.srtt_8 {
            0 => self.rto_initial,
            // A lone segment's ACK may be delayed.
            srtt_8 if outstanding == 1 => ticks((srtt_8 >> 2) + self.floor),
            srtt_8 => ticks((srtt_8 >> 2) + TIMEOUT_LEAST_US),
        }
    }

    /// Microseconds until the time-out of the first segment, counted from when it was sent.
    #[inline]
    pub(crate) fn timeout_left(&self, queue: &Queue, now: Reading) -> i64 {
        let rto = self.rto as i64 * 1000;
        queue.head_at().map_or(rto, |at| (at as i64 + rto) - now.us as i64)
    }

    /// The handshake has shown no round trip (RFC 6298 section 5.7).
    pub(crate) fn measure_nothing(&mut self) {
        self.rto = RTO_UNKNOWN.min(self.rto_max);
    }

    /// The time-out in ticks, with back-off.
    #[inline]
    pub(crate) fn rto(&self) -> u64 {
        self.rto
    }

    /// The time-out doubles.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
        self.rto = (self.rto << 1).min(self.rto_max);
    }

    /// An ACK of new data came, or the receiver's window opened.
    #[inline]
    pub(crate) fn forget_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Ticks until the receiver's window is probed, for the first time and after a probe.
    pub(crate) fn first_persist(&self) -> u64 {
        self.rto.max(PERSIST_LEAST)
    }

    pub(crate) fn next_persist(&self) -> u64 {
        let wait = self.rto.max(PERSIST_LEAST) << self.backoff.min(PERSIST_DOUBLINGS);
        wait.min(self.rto_max)
    }

    /// A probe of the receiver's window went.
    pub(crate) fn count_persist(&mut self) {
        self.backoff += u32::from(self.backoff < PERSIST_RETRIES);
    }

    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The time-out is what it was.
    pub(crate) fn set_rto(&mut self, (rto, backoff): (u64, u32)) {
        (self.rto, self.backoff) = (rto, backoff);
    }

    pub(crate) fn view(&self) -> RttView {
        let (samples, total, sample) = self.measured;
        RttView {
            sample: Span::from_us(sample),
            smoothed: Span::from_us(self.srtt_8 >> 3),
            variance: Span::from_us(self.deviation()),
            backoff: 1 << self.backoff.min(31),
            samples,
            total: Span::from_us(total),
        }
    }

    /// The shortest round trip in microseconds, if one was measured.
    pub(crate) fn known_shortest(&self) -> Option<u64> {
        (self.measured.0 > 0).then(|| self.shortest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_round_trips_of_a_recorded_connection() {
        let mut estimator = RoundTrip::new(&LinuxOptions::default());
        estimator.estimate(204_964, 1, 1);
        assert_eq!((estimator.srtt_8() >> 3, estimator.deviation()), (204_964, 102_482));
        assert_eq!((estimator.srtt_8 >> 3) + estimator.variance, 614_892);
        estimator.estimate(216_625, 2, 11);
        assert_eq!((estimator.srtt_8() >> 3, estimator.deviation()), (206_421, 79_776));
    }

    #[test]
    fn the_time_out_exceeds_the_round_trip_by_its_floor() {
        let mut estimator = RoundTrip::new(&LinuxOptions::default());
        for n in 0..2000 {
            estimator.estimate(50_000, 2 * n + 2, 2 * n + 1);
        }
        assert_eq!((estimator.srtt_8 >> 3) + estimator.variance, 250_000);
    }
}
