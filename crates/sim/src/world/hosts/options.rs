//! Options of a connection's packets beyond the common header: time stamps, flags, marks, a window.
//! They stand in a table of the flow, so that packets of other connections are no larger.

use burstlab_tcp::{AckOptions, SegmentOptions, SentRun};
use serde::{Deserialize, Serialize};

use super::option_table::OptionTable;

/// The verdict of a queue that marks on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum Verdict {
    Passes,
    Marked,
    /// It is not ECN-capable, and would be marked if it were.
    Dropped,
}

/// The options in flight of one connection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct CarriedOptions {
    pub(super) data: OptionTable<SegmentOptions>,
    acks: OptionTable<AckOptions>,
    /// The options of the last ACK that came with data of the other direction.
    pub(super) piggybacked: AckOptions,
    /// The segment that the last ACK asked for, and how many ACKs have.
    asked: (u64, u16),
    /// Marks made.
    pub(in crate::world) marks: u64,
}

impl CarriedOptions {
    /// A segment is sent.
    pub(in crate::world) fn send(&mut self, seq: u64, nth: u16, options: SegmentOptions) {
        self.data.put(seq, nth, options);
    }

    /// Segments are sent for the first time.
    #[inline(always)]
    pub(super) fn send_run(&mut self, run: &SentRun) {
        let &SentRun { first, count, pushes, options, .. } = run;
        if options.flags.reduced || pushes {
            return self.send_unlike(run);
        }
        self.data.put_run(first, count, options);
    }

    /// The same where the first one is not like those behind it, or the last like those before.
    fn send_unlike(&mut self, run: &SentRun) {
        for nth in 0..run.count {
            let mut options = run.options;
            options.flags.reduced &= nth == 0;
            options.flags.push = run.pushes && nth + 1 == run.count;
            self.data.put(run.first + u64::from(nth), 1, options);
        }
    }

    /// The options of a data packet, which is there or lost.
    pub(in crate::world) fn take(&mut self, seq: u64, nth: u16) -> Option<SegmentOptions> {
        self.data.take(seq, nth)
    }

    /// A queue would mark a packet; returns whether it may.
    pub(in crate::world) fn mark(&mut self, seq: u64, nth: u16) -> bool {
        self.data.change(seq, nth, |options| {
            options.marked |= options.flags.markable;
            options.flags.markable
        })
    }

    /// An ACK is sent; returns which of those for this segment it is.
    #[inline(always)]
    pub(super) fn acknowledge(&mut self, next: u64, options: AckOptions) -> u16 {
        let (before, count) = self.asked;
        self.asked = match next == before {
            true => (next, count.wrapping_add(1).max(1)),
            false => (next, 1),
        };
        self.acks.put(next, self.asked.1, options);
        self.asked.1
    }

    /// The options of the ACK for a segment that comes next, if it comes in order.
    #[inline(always)]
    pub(super) fn of_ack(&self, next: u64) -> Option<AckOptions> {
        self.acks.get(next)
    }

    /// That ACK is at its sender.
    #[inline(always)]
    pub(super) fn hear_in_order(&mut self) {
        self.acks.take_first();
    }

    /// An ACK for `next` is at its sender with data of the other direction.
    pub(super) fn on_piggybacked_ack(&mut self, next: u64, options: AckOptions) {
        self.acks.forget_below(next);
        self.piggybacked = options;
    }

    /// The options of an ACK that is at its sender: those of ACKs that it overtook no longer count.
    pub(in crate::world) fn hear(&mut self, next: u64, nth: u16) -> Option<AckOptions> {
        let options = self.acks.take(next, nth);
        self.acks.forget_below(next);
        options
    }
}
