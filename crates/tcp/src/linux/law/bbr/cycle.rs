//! The gain cycle: a quarter more for a round trip, a quarter less, then six round trips as it is.

use super::{AckContext, Bbr, Mode, Sample, UNIT};

pub(super) const GAINS: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];

impl Bbr {
    /// The cycle begins, at random in any phase but the second.
    pub(super) fn begin_cycle(&mut self, context: &AckContext) {
        self.mode = Mode::ProbeBandwidth;
        self.cycle = GAINS.len() - 1 - self.phase;
        self.advance(context);
    }

    fn advance(&mut self, context: &AckContext) {
        self.cycle = (self.cycle + 1) % GAINS.len();
        self.cycle_at = context.delivered_at;
    }

    pub(super) fn follow_cycle(&mut self, sample: &Sample, context: &AckContext) {
        if self.mode == Mode::ProbeBandwidth && self.is_over(sample, context) {
            self.advance(context);
        }
    }

    fn is_over(&self, sample: &Sample, context: &AckContext) -> bool {
        let long = context.delivered_at.saturating_sub(self.cycle_at) > self.shortest;
        if self.pacing_gain == UNIT {
            return long;
        }
        let flight = self.in_network(sample.flight, context);
        let rate = self.max_rate();
        if self.pacing_gain > UNIT {
            return long
                && (sample.lost > 0 || flight >= self.aim(rate, self.pacing_gain, context));
        }
        long || flight <= self.aim(rate, UNIT, context)
    }
}
