//! The answer of a host to the SYN of its peer, and the effect of the answer to its own SYN.

use burstlab_units::Time;

use super::{Answers, FullAck, syn_options};
use crate::segment::{AckOptions, SegmentOptions};

impl Answers {
    /// The SYN arrives, for the first time or again.
    pub(in crate::receive) fn on_syn(&mut self, now: Time, options: &SegmentOptions) -> FullAck {
        let again = self.answered.is_some();
        self.answered = Some(if again { Time::MAX } else { now });
        if !again {
            self.recent = options.stamp;
        }
        self.acked = 1;
        self.syn.set(now);
        self.answer_to_syn(now)
    }

    pub(super) fn answer_to_syn(&mut self, now: Time) -> FullAck {
        let mut ack = self.build(1);
        ack.size += syn_options(self.timestamps);
        (ack, AckOptions { opens: true, ..self.options_of_syn(now) })
    }

    /// The options of the SYN's ACK. Its window is that of the first buffer, and is not rounded up
    /// to the scale as others are (`tcp_make_synack`).
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
            self.acked = next;
            self.window.open(self.clock.us(now));
        }
        let answer = self.whole(now, next);
        self.acked = next;
        answer
    }
}
