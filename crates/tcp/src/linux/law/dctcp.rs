//! DCTCP: the window shrinks by the share of marks (RFC 8257).

use serde::{Deserialize, Serialize};

use super::super::context::AckContext;
use super::super::window::LinuxWindow;

/// alpha is in 1/1024; 1 to begin with (RFC 8257 section 4.2), g = 1/16.
const ALPHA_ONE: u64 = 1024;
const SHIFT_G: u32 = 4;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Dctcp {
    alpha: u64,
    /// The round trip ends when this is acknowledged.
    round: u64,
    delivered: u64,
    marked: u64,
    /// The window before the last loss.
    before_loss: u32,
}

impl Dctcp {
    pub(super) fn new() -> Self {
        Self { alpha: ALPHA_ONE, round: 0, delivered: 0, marked: 0, before_loss: 0 }
    }

    pub(super) fn open(&mut self, context: &AckContext) {
        self.begin(context);
    }

    fn begin(&mut self, context: &AckContext) {
        self.round = context.next;
        (self.delivered, self.marked) = (context.delivered, context.marked);
    }

    pub(super) fn arrives(&mut self, context: &AckContext) {
        if context.acked < self.round {
            return;
        }
        let delivered = context.delivered - self.delivered;
        let marked = context.marked - self.marked;
        // A small alpha goes to zero in one step rather than never.
        let decay = self.alpha >> SHIFT_G;
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        if marked > 0 {
            let share = (marked << (10 - SHIFT_G)) / delivered.max(1);
            self.alpha = (self.alpha + share).min(ALPHA_ONE);
        }
        self.begin(context);
    }

    /// For marks: RFC 8257 section 3.3 (9).
    pub(super) fn ssthresh(&mut self, cwnd: u32) -> u32 {
        self.before_loss = cwnd;
        let cut = (u64::from(cwnd) * self.alpha) >> 11;
        (cwnd - cut as u32).max(2)
    }

    /// For losses: to a half, as any TCP (section 3.5).
    pub(super) fn loses(&mut self, window: &mut LinuxWindow) {
        self.before_loss = window.cwnd;
        window.ssthresh = (window.cwnd >> 1).max(2);
    }

    pub(super) fn before_loss(&self) -> u32 {
        self.before_loss
    }
}
