//! Whether a rate that grows no more is all there is (the draft's "Exiting Startup Based on
//! Bandwidth Plateau").

use serde::{Deserialize, Serialize};

use super::bounds::part;

/// A rate that grows by less than a quarter in three rounds is all there is.
const GROWTH: u64 = 1_250;
const ROUNDS: u32 = 3;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pipe {
    /// Whether it was full once, and is since it was looked at anew.
    pub(super) full: bool,
    pub(super) full_now: bool,
    rate: u64,
    rounds: u32,
}

impl Pipe {
    /// CheckFullBWReached, once a round.
    pub(super) fn look(&mut self, rate: u64) {
        if self.full_now {
            return;
        }
        if rate >= part(self.rate, GROWTH) {
            self.look_anew(rate);
            return;
        }
        self.rounds += 1;
        self.full_now = self.rounds >= ROUNDS;
        self.full |= self.full_now;
    }

    /// ResetFullBW, from a rate on.
    pub(super) fn look_anew(&mut self, rate: u64) {
        (self.rate, self.rounds, self.full_now) = (rate, 0, false);
    }

    /// Losses say that it is full.
    pub(super) fn fill(&mut self) {
        (self.full, self.full_now) = (true, true);
    }
}
