//! The gain cycle: a quarter more for a round trip, a quarter less, then six round trips as it is.

use super::{Bbr, Mode, Sample, Surroundings, UNIT};

pub(super) const GAINS: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];

impl Bbr {
    /// The cycle begins, at random in any phase but the second.
    pub(super) fn begin_cycle(&mut self, around: &Surroundings) {
        self.mode = Mode::ProbeBandwidth;
        self.cycle = GAINS.len() - 1 - self.phase;
        self.advance(around);
    }

    fn advance(&mut self, around: &Surroundings) {
        self.cycle = (self.cycle + 1) % GAINS.len();
        self.cycle_at = around.delivered_at;
    }

    pub(super) fn follow_cycle(&mut self, sample: &Sample, around: &Surroundings) {
        if self.mode == Mode::ProbeBandwidth && self.is_over(sample, around) {
            self.advance(around);
        }
    }

    fn is_over(&self, sample: &Sample, around: &Surroundings) -> bool {
        let long = around.delivered_at.saturating_sub(self.cycle_at) > self.shortest;
        if self.pacing_gain == UNIT {
            return long;
        }
        let flight = self.in_network(sample.flight, around);
        let rate = self.max_rate();
        if self.pacing_gain > UNIT {
            return long && (sample.lost > 0 || flight >= self.aim(rate, self.pacing_gain, around));
        }
        long || flight <= self.aim(rate, UNIT, around)
    }
}
