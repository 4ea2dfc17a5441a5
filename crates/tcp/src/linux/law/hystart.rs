//! Hybrid slow start (Ha and Rhee 2008): a train of ACKs that is as long as half the shortest round
//! trip, or a round trip that grew, ends slow start before a loss does.

use serde::{Deserialize, Serialize};

use super::super::context::AckContext;
use super::super::window::LinuxWindow;

/// Below this window nothing is looked at.
const LEAST_WINDOW: u32 = 16;
/// ACKs that are closer than this belong to one train.
const TRAIN_GAP_US: u64 = 2_000;
/// Round trips that are looked at in the beginning of a round.
const SAMPLES: u32 = 8;
/// By how much they must have grown: an eighth, within these bounds.
const RISE_US: (u64, u64) = (4_000, 16_000);
/// Time that the grouping of segments may add to a train, where the rate is below 260 MB/s.
const GROUPING_US: u64 = 1_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hystart {
    pub(super) found: bool,
    begun: u64,
    last_ack: u64,
    /// The round ends when more than this is acknowledged.
    round: u64,
    least: u64,
    samples: u32,
}

impl Hystart {
    pub(super) fn new() -> Self {
        Self { found: false, begun: 0, last_ack: 0, round: 0, least: u64::MAX, samples: 0 }
    }

    pub(super) fn begin(&mut self, context: &AckContext) {
        (self.begun, self.last_ack) = (context.clock.us, context.clock.us);
        self.round = context.next;
        (self.least, self.samples) = (u64::MAX, 0);
    }

    /// Takes a round trip in slow start; `shortest` is the shortest so far.
    #[inline]
    pub(super) fn measured(
        &mut self,
        window: &mut LinuxWindow,
        rtt: u64,
        shortest: u64,
        context: &AckContext,
    ) {
        if self.found {
            return;
        }
        if context.acked > self.round {
            self.begin(context);
        }
        if window.cwnd < LEAST_WINDOW {
            return;
        }
        if context.clock.us - self.last_ack <= TRAIN_GAP_US {
            self.last_ack = context.clock.us;
            if context.clock.us - self.begun > (shortest + GROUPING_US) >> 1 {
                self.end(window);
            }
        }
        self.least = self.least.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.least > shortest + (shortest >> 3).clamp(RISE_US.0, RISE_US.1) {
            self.end(window);
        }
    }

    fn end(&mut self, window: &mut LinuxWindow) {
        self.found = true;
        window.ssthresh = window.cwnd;
    }
}
