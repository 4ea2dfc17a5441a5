//! The answer to a SYN goes again by a timer of its own host, until the connection is there
//! (`reqsk_timer_handler`, Linux 6.12).

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::linux::{Clock, ticks, whole_us};

/// It goes again so often at most: `tcp_synack_retries`.
const REPEATS: u32 = 5;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SynTimer {
    clock: Clock,
    /// Ticks until it goes again for the first time, and at most.
    first: u64,
    most: u64,
    repeats: u32,
    /// The tick for which it is set, and that at which it was.
    set: Option<(u64, u64)>,
}

impl SynTimer {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            clock: Clock::new(config.rto_clock_phase, config.wheel_phase.map_or(0, u64::from)),
            first: ticks(whole_us(config.rto_initial)).max(1),
            most: ticks(whole_us(config.rto_max)).max(1),
            repeats: 0,
            set: None,
        }
    }

    /// The answer goes now.
    pub(super) fn set(&mut self, now: Time) {
        let tick = self.clock.tick(now);
        let wait = (self.first << self.repeats).min(self.most);
        self.set = (self.repeats < REPEATS).then_some((tick + wait, tick));
    }

    /// The connection is there.
    pub(super) fn clear(&mut self) {
        self.set = None;
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Time> {
        let (expires, at) = self.set?;
        Some(self.clock.at(self.clock.fires(at, expires)))
    }

    /// Whether it is due; then it is set again.
    pub(super) fn takes(&mut self, now: Time) -> bool {
        let due = self.deadline().is_some_and(|due| due <= now);
        if due {
            self.repeats += 1;
            self.set(now);
        }
        due
    }
}
