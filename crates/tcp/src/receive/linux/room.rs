//! The window that a receiver offers, and its response to packets without data: probes of its
//! window, and a FIN alone.

use burstlab_units::Time;

use super::{Answers, FullAck, Place};

/// Ticks between answers to segments that carry nothing (`tcp_invalid_ratelimit`).
const PROBES_APART: u64 = 500;

impl Answers {
    /// The window that there is room for. Where that is little, ACKs do not go at once.
    pub(super) fn offer(&mut self) -> u64 {
        let (offer, squeezed) = self.window.select(self.early + self.unread, self.delay.size());
        if squeezed {
            self.delay.calm();
        }
        offer
    }

    /// Whether the window would be at least as wide as it was: else the ACK waits until the
    /// application has read.
    pub(super) fn is_wide(&mut self) -> bool {
        let offer = self.offer();
        self.window.is_as_wide(offer)
    }

    /// Whether the application, which has read all up to `next`, has opened the window by that.
    pub(super) fn opens(&mut self, next: u64) -> bool {
        let since = self.lengths.between(self.acked, next);
        let (held, size) = (self.early, self.delay.size());
        self.window.opens(since, || self.window.select(held, size).0)
    }

    /// The FIN came alone: it shows nothing of sizes and of the time between segments. In order it
    /// ends the data, and its ACK waits as that of an answer does.
    pub(super) fn on_fin(&mut self, now: Time, seq: u64, place: &Place, out: &mut Vec<FullAck>) {
        self.fin = Some(seq);
        self.delay.schedule();
        if place.beyond || seq < place.before {
            if seq < place.before && self.d_sack {
                self.blocks.twice(seq, seq + 1);
            }
            self.delay.enter_quickack(&self.window);
        } else if seq == place.before {
            self.delay.leave_to_data();
        } else if self.sack {
            if place.twice && self.d_sack {
                self.blocks.twice(seq, seq + 1);
            }
            self.blocks.report(seq, seq + 1);
        }
        self.check(now, place, out);
        self.unread = 0;
    }

    /// The window is probed: the answer is an ACK, which goes no more often than twice a second
    /// (`tcp_invalid_ratelimit`).
    pub(in crate::receive) fn on_probe(&mut self, now: Time, next: u64, out: &mut Vec<FullAck>) {
        let tick = self.clock.tick(now);
        if self.probed.is_none_or(|last| tick - last >= PROBES_APART) {
            self.probed = Some(tick);
            self.send(now, next, out);
        }
    }
}
