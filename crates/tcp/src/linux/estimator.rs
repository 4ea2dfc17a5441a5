//! SRTT and RTTVAR as Linux has them: RFC 6298 in integers, with a deviation that follows its own
//! maximum in a round trip, and the least time-out as a floor of the deviation.

use serde::{Deserialize, Serialize};

/// Round trips in microseconds. Facts of `tcp_input.c` (`tcp_rtt_estimator`), Linux 6.12.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MdevEstimator {
    /// Eight times SRTT; 0: nothing was measured.
    srtt_8: u64,
    /// Four times the mean deviation.
    mdev_4: u64,
    /// The largest of this round trip, four times.
    mdev_max_4: u64,
    /// What the time-out adds to SRTT.
    variance: u64,
    /// The round trip ends when more than this is acknowledged.
    round: u64,
    /// The least that the time-out adds.
    floor: u64,
    shortest: Option<u64>,
    /// How many round trips were measured, their sum, and the last.
    measured: (u64, u64, u64),
}

impl MdevEstimator {
    pub(crate) fn new(rto_min_us: u64) -> Self {
        Self {
            srtt_8: 0,
            mdev_4: 0,
            mdev_max_4: 0,
            variance: 0,
            round: 0,
            floor: rto_min_us,
            shortest: None,
            measured: (0, 0, 0),
        }
    }

    /// Takes a round trip; all below `acked` are acknowledged, all below `next` were sent.
    #[inline]
    pub(crate) fn measure(&mut self, rtt: u64, acked: u64, next: u64) {
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
    pub(crate) fn note(&mut self, rtt: u64) {
        let rtt = if rtt == 0 { 1000 } else { rtt };
        self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
    }

    /// The shortest round trip; `u64::MAX`: none yet.
    pub(crate) fn shortest(&self) -> u64 {
        self.shortest.unwrap_or(u64::from(u32::MAX))
    }

    /// How many round trips were measured, their sum, and the last.
    pub(crate) fn measured(&self) -> (u64, u64, u64) {
        self.measured
    }

    pub(crate) fn srtt_8(&self) -> u64 {
        self.srtt_8
    }

    /// The mean deviation, which `tcp_info` calls `rttvar`.
    pub(crate) fn deviation(&self) -> u64 {
        self.mdev_4 >> 2
    }

    /// The time-out without back-off.
    pub(crate) fn rto(&self) -> u64 {
        (self.srtt_8 >> 3) + self.variance
    }

    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_round_trips_of_a_recorded_connection() {
        let mut estimator = MdevEstimator::new(200_000);
        estimator.measure(204_964, 1, 1);
        assert_eq!((estimator.srtt_8() >> 3, estimator.deviation()), (204_964, 102_482));
        assert_eq!(estimator.rto(), 614_892);
        estimator.measure(216_625, 2, 11);
        assert_eq!((estimator.srtt_8() >> 3, estimator.deviation()), (206_421, 79_776));
    }

    #[test]
    fn the_time_out_exceeds_the_round_trip_by_its_floor() {
        let mut estimator = MdevEstimator::new(200_000);
        for n in 0..2000 {
            estimator.measure(50_000, 2 * n + 2, 2 * n + 1);
        }
        assert_eq!(estimator.rto(), 250_000);
    }
}
