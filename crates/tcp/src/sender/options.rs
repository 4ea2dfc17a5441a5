//! A sender of a connection whose packets carry options.

use burstlab_units::Time;

use super::Sender;
use crate::linux::Linux;
use crate::segment::{Ack, AckOptions, SegmentOptions, Transmission};

impl Sender {
    /// Whether packets of the connection carry options, so that ACKs go to
    /// [`on_full_ack`](Self::on_full_ack).
    #[inline]
    #[must_use]
    pub fn has_options(&self) -> bool {
        self.linux.is_some()
    }

    /// Whether all that an ACK for `next` without SACK blocks and marks does is to let new segments
    /// go, if it comes before a timer runs out: nothing is being repaired, probed or reported, no
    /// detector listens, no class of Python decides, and more is to follow.
    #[inline]
    #[must_use]
    pub fn takes_full_fast(&self, next: u64) -> bool {
        let Some(linux) = &self.linux else { return false };
        let news = linux.acked() < next && next <= linux.next() && next < self.flow.limit;
        news && linux.is_fast() && !self.detection.is_on()
    }

    /// What a segment that goes out at `now` carries besides.
    #[must_use]
    pub fn options(&self, now: Time, sent: &Transmission) -> SegmentOptions {
        let plain = SegmentOptions { flags: sent.flags, ..SegmentOptions::default() };
        self.linux.as_ref().map_or(plain, |linux| linux.stamps(now, sent.flags))
    }

    /// As [`on_ack`](Self::on_ack), of a connection with options.
    pub fn on_full_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        options: &AckOptions,
        out: &mut Vec<Transmission>,
    ) {
        if self.counts(ack) {
            let act = |linux: &mut Linux, out: &mut Vec<Transmission>| {
                linux.on_wire_ack(now, (ack, false), Some(options), out);
            };
            self.by_linux_judged(now, out, act);
        }
    }

    /// As [`on_full_ack`](Self::on_full_ack), for an ACK for `next` that it [takes on the
    /// fast path](Self::takes_full_fast).
    pub fn on_full_ack_fast(
        &mut self,
        now: Time,
        ack: &Ack,
        options: &AckOptions,
        out: &mut Vec<Transmission>,
    ) {
        debug_assert!(self.takes_full_fast(ack.next), "an ACK in order");
        let from = out.len();
        let linux = self.linux.as_mut();
        if linux.is_none_or(|linux| !linux.on_ack_fast(now, ack.next, options, out)) {
            return self.on_full_ack(now, ack, options, out);
        }
        for sent in &mut out[from..] {
            sent.size = self.flow.size(sent.seq);
        }
        self.flow.counters.acks += 1;
        self.flow.counters.segments_sent += (out.len() - from) as u64;
    }

    /// Counts an ACK; returns whether it may be of what was sent.
    pub(super) fn counts(&mut self, ack: &Ack) -> bool {
        self.flow.counters.acks += 1;
        if ack.next == 0 || ack.next > self.sent() {
            self.flow.counters.invalid_acks += 1;
            return false;
        }
        if ack.next == self.acked() && self.acked() < self.sent() {
            self.flow.counters.duplicate_acks += 1;
        }
        true
    }
}
