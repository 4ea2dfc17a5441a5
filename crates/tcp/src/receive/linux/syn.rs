//! The answer to a SYN goes again by a timer of its own host, until the connection is there
//! (`reqsk_timer_handler`, Linux 6.12).

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::{Answers, FullAck, syn_options};
use crate::config::Config;
use crate::linux::{Clock, ticks, whole_us};
use crate::segment::{AckOptions, SegmentOptions};

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

impl Answers {
    /// The SYN arrives, for the first time or again.
    pub(in crate::receive) fn on_syn(&mut self, now: Time, options: &SegmentOptions) -> FullAck {
        let again = self.answered.is_some();
        self.answered = Some(if again { Time::MAX } else { now });
        if !again {
            self.recent = options.stamp;
        }
        self.told = 1;
        self.syn.set(now);
        self.answer_to_syn(now)
    }

    pub(super) fn answer_to_syn(&mut self, now: Time) -> FullAck {
        let mut ack = self.build(1);
        ack.size += syn_options(self.timestamps);
        (ack, AckOptions { opens: true, ..self.options_of_syn(now) })
    }

    /// What the SYN's ACK says. Its window is that of the first buffer, and is not rounded up to
    /// the scale as others are (`tcp_make_synack`).
    pub(super) fn options_of_syn(&mut self, now: Time) -> AckOptions {
        AckOptions {
            stamp: self.clock.tick(now) as u32,
            echo: self.recent,
            window: self.window.of_syn(),
            marked: self.echo.says(),
            opens: false,
        }
    }

    /// The answer to the SYN goes with data, whose sender repeats it.
    pub(in crate::receive) fn leave_syn(&mut self) {
        self.syn.clear();
    }

    /// The SYN arrives that answers the one of this host, for the first time or again: with it the
    /// connection is there. `first`: nothing had arrived before; `next` is what it waits for.
    pub(in crate::receive) fn on_answer(
        &mut self,
        now: Time,
        stamp: u32,
        (first, next): (bool, u64),
    ) -> FullAck {
        self.recent = self.recent.max(stamp);
        if first {
            self.told = next;
            self.window.open(self.clock.us(now));
        }
        let answer = self.whole(now, next);
        self.told = next;
        answer
    }
}
