//! A rate over several round trips with losses: the rate of a policer.

use serde::{Deserialize, Serialize};

use super::scale::{RATE_SHIFT, UNIT, bytes_a_second};
use crate::linux::context::AckContext;
use crate::linux::rate::Sample;

/// Round trips of an interval: at least, and at most.
const ROUNDS: (u32, u32) = (4, 16);
/// Losses that end an interval: a fifth, in 1/256.
const LOSS: u64 = 50;
/// Two intervals agree if their rates differ by an eighth or by 4 kb/s.
const RATIO: u64 = UNIT / 8;
const APART: u64 = 4000 / 8;
/// Round trips for which the rate is then used.
const USED: u32 = 48;

/// A change in the use of the rate of a policer.
pub(super) enum Change {
    Begins,
    Ends,
}

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

    /// A sample has come; `round_begins` with it, and the gain cycle runs if `in_cycle`.
    pub(super) fn take(
        &mut self,
        sample: &Sample,
        (round_begins, in_cycle): (bool, bool),
        context: &AckContext,
    ) -> Option<Change> {
        if self.used {
            self.rounds += u32::from(in_cycle && round_begins);
            if self.rounds < USED {
                return None;
            }
            self.reset(context);
            return Some(Change::Ends);
        }
        if !self.sampling {
            if sample.lost == 0 {
                return None;
            }
            self.begin(context);
            self.sampling = true;
        }
        if sample.idle {
            self.reset(context);
            return None;
        }
        self.rounds += u32::from(round_begins);
        if self.rounds < ROUNDS.0 {
            return None;
        }
        if self.rounds > ROUNDS.1 {
            self.reset(context);
            return None;
        }
        let lost = context.lost - self.lost;
        let delivered = context.delivered - self.delivered;
        if sample.lost == 0 || delivered == 0 || lost << 8 < LOSS * delivered {
            return None;
        }
        let time = (context.delivered_at / 1000).saturating_sub(self.at);
        if time == 0 {
            return None;
        }
        self.end_interval((delivered << RATE_SHIFT) / (time * 1000), context)
    }

    fn end_interval(&mut self, rate: u64, context: &AckContext) -> Option<Change> {
        if self.rate > 0 {
            let apart = rate.abs_diff(self.rate);
            if apart * UNIT <= RATIO * self.rate
                || bytes_a_second(apart, UNIT, context.payload) <= APART
            {
                self.rate = (rate + self.rate) >> 1;
                self.used = true;
                self.rounds = 0;
                return Some(Change::Begins);
            }
        }
        self.rate = rate;
        self.begin(context);
        None
    }
}
