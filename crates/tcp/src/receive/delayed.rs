//! When an ACK goes out: at once, or later (RFC 5681 section 4.2; ns-2 `DelAckSink`).

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::Config;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AckPolicy {
    /// Segments in order that make an ACK; 1: no delay.
    every: u32,
    timeout: Span,
    /// Segments in order that wait for their ACK.
    waiting: u32,
    deadline: Option<Time>,
}

impl AckPolicy {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            every: if config.delayed_ack { config.delayed_ack_every } else { 1 },
            timeout: config.delayed_ack_timeout,
            waiting: 0,
            deadline: None,
        }
    }

    /// Whether no ACK is ever delayed.
    #[inline]
    pub(super) fn acknowledges_each(&self) -> bool {
        self.every == 1
    }

    /// A segment arrived; returns whether an ACK goes out now. Delayed are those of segments in
    /// order that fill no hole; the SYN and all others are acknowledged at once.
    #[inline]
    pub(super) fn on_segment(&mut self, now: Time, delayable: bool) -> bool {
        if self.acknowledges_each() {
            return true;
        }
        if delayable && self.waiting + 1 < self.every {
            if self.waiting == 0 {
                self.deadline = Some(now.saturating_add(self.timeout));
            }
            self.waiting += 1;
            return false;
        }
        self.waiting = 0;
        self.deadline = None;
        true
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Returns whether the delayed ACK goes out now.
    pub(super) fn on_timeout(&mut self, now: Time) -> bool {
        let due = self.deadline.is_some_and(|deadline| now >= deadline);
        if due {
            self.waiting = 0;
            self.deadline = None;
        }
        due
    }
}
