//! A rate over several round trips with losses: the rate of a policer.

use serde::{Deserialize, Serialize};

use super::{AckContext, Bbr, Mode, RATE_SHIFT, Sample, UNIT, bytes_a_second};

/// Round trips of an interval: at least, and at most.
const ROUNDS: (u32, u32) = (4, 16);
/// Losses that end an interval: a fifth, in 1/256.
const LOSS: u64 = 50;
/// Two intervals agree if their rates differ by an eighth or by 4 kb/s.
const RATIO: u64 = UNIT / 8;
const APART: u64 = 4000 / 8;
/// Round trips for which the rate is then used.
const USED: u32 = 48;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Policer {
    sampling: bool,
    used: bool,
    rate: u64,
    rounds: u32,
    delivered: u64,
    lost: u64,
    /// Milliseconds.
    at: u64,
}

impl Policer {
    /// An interval begins.
    pub(super) fn begin(&mut self, context: &AckContext) {
        self.at = context.delivered_at / 1000;
        (self.delivered, self.lost, self.rounds) = (context.delivered, context.lost, 0);
    }

    /// The rate to go by, if there is one.
    pub(super) fn rate(&self) -> Option<u64> {
        self.used.then_some(self.rate)
    }

    fn reset(&mut self, context: &AckContext) {
        *self = Self::default();
        self.begin(context);
    }
}

impl Bbr {
    pub(super) fn sample_policer(&mut self, sample: &Sample, context: &AckContext) {
        let policer = &mut self.policer;
        if policer.used {
            if self.mode == Mode::ProbeBandwidth && self.round_begins {
                policer.rounds += 1;
                if policer.rounds >= USED {
                    policer.reset(context);
                    self.begin_cycle(context);
                }
            }
            return;
        }
        if !policer.sampling {
            if sample.lost == 0 {
                return;
            }
            policer.begin(context);
            policer.sampling = true;
        }
        if sample.idle {
            return policer.reset(context);
        }
        policer.rounds += u32::from(self.round_begins);
        if policer.rounds < ROUNDS.0 {
            return;
        }
        if policer.rounds > ROUNDS.1 {
            return policer.reset(context);
        }
        let lost = context.lost - policer.lost;
        let delivered = context.delivered - policer.delivered;
        if sample.lost == 0 || delivered == 0 || lost << 8 < LOSS * delivered {
            return;
        }
        let time = (context.delivered_at / 1000).saturating_sub(policer.at);
        if time >= 1 {
            self.end_interval((delivered << RATE_SHIFT) / (time * 1000), context);
        }
    }

    fn end_interval(&mut self, rate: u64, context: &AckContext) {
        let policer = &mut self.policer;
        if policer.rate > 0 {
            let apart = rate.abs_diff(policer.rate);
            if apart * UNIT <= RATIO * policer.rate
                || bytes_a_second(apart, UNIT, context.payload) <= APART
            {
                policer.rate = (rate + policer.rate) >> 1;
                policer.used = true;
                policer.rounds = 0;
                self.pacing_gain = UNIT;
                return;
            }
        }
        policer.rate = rate;
        policer.begin(context);
    }
}
