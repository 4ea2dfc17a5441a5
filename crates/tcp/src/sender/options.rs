//! A sender of a connection whose packets carry options.

use burstlab_units::Time;

use super::Sender;
use crate::linux::Linux;
use crate::packet_run::PacketRun;
use crate::segment::{Ack, AckOptions, SegmentOptions, Transmission, Wires};

impl Sender {
    /// Whether packets of the connection carry options, so that ACKs go to
    /// [`on_full_ack`](Self::on_full_ack).
    #[inline]
    #[must_use]
    pub fn has_options(&self) -> bool {
        self.linux.is_some()
    }

    /// Whether all that an ACK for `next` at `now` without SACK blocks and marks does is to let new
    /// segments go: no timer runs out before it, nothing is being repaired, probed or reported, no
    /// class of Python listens or decides, and more is to follow.
    #[must_use]
    pub fn takes_full_fast(&self, now: Time, next: u64) -> bool {
        let Some(linux) = &self.linux else { return false };
        let news = linux.acked() < next && next <= linux.next() && next < self.flow.limit;
        let own = !self.detection.heeds_progress();
        news && linux.is_fast() && linux.is_in_time(now) && own
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
        if !self.counts(ack) {
            return;
        }
        let simple = ack.sack.is_empty() && !options.marked;
        let act = |linux: &mut Linux, out: &mut Vec<Transmission>| {
            linux.on_wire_ack(now, (ack, false), Some(options), out);
        };
        if simple && self.takes_full_fast(now, ack.next) {
            // Nothing is reduced that a detector might excuse.
            self.by_linux(out, act);
            self.detection.on_progress(ack.next);
        } else {
            self.by_linux_judged(now, out, act);
        }
    }

    /// As [`on_full_ack`](Self::on_full_ack), for ACKs without SACK blocks and marks. Takes those
    /// in front that are [on the fast path](Self::takes_full_fast), and simply so, and come by
    /// `until`; returns how many. Each segment that goes has its
    /// [`segment_size`](Self::segment_size).
    #[inline]
    pub fn on_full_acks_fast(
        &mut self,
        run: &PacketRun,
        until: Time,
        wires: &mut impl Wires,
    ) -> u32 {
        let Some(linux) = self.linux.as_mut().filter(|_| !self.detection.heeds_progress()) else {
            return 0;
        };
        let taken = linux.on_acks_fast(run, (until, self.flow.limit), wires);
        self.flow.counters.acks += u64::from(taken);
        self.flow.counters.segments_sent = linux.totals()[0];
        if taken > 0 {
            self.detection.on_progress(linux.acked());
        }
        taken
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
