//! Senders that take ACKs ahead of the clock, and the segments that these ACKs release.
//!
//! Assumptions: the sender's link to the edge is its own and has no bounded queue (`runs` checks
//! this), and up to `until` nothing but these ACKs and its timers changes the sender (`policy`,
//! sentences 9 to 13). So each ACK has the same effect now as at its own time, and each segment's
//! time at the edge follows from the link alone. With options, an ACK that is off the fast path is
//! taken alone, if the endpoint allows it. Segments that pacing lets go before an ACK go first. The
//! first ACK that cannot be taken, and all later ones, become events. Segments that leave evenly
//! spaced are announced as one train.

use std::ops::Range;

use burstlab_link::Wire;
use burstlab_tcp::{PacketRun, Sender, Transmission};
use burstlab_units::{Bytes, Span, Time};

use super::host::Host;
use crate::measure::{CwndEvent, CwndRow};
use crate::world::access::Link;
use crate::world::context::Context;
use crate::world::core::{Core, DataQueue, Network};
use crate::world::hosts::{Flow, Noted};
use crate::world::packet::{AckPacket, DataPacket, Parcel};
use crate::world::train::{TimedTrain, Train};

/// A sender.
pub(super) struct Hearing<'a> {
    pub(super) until: Time,
    pub(super) options: bool,
    pub(super) flow: &'a mut Flow,
    pub(super) link: &'a mut Link<AckPacket>,
    /// Empty, and stays so.
    pub(super) released: &'a mut Vec<Transmission>,
    pub(super) leaving: Leaving<'a>,
}

impl Host<AckPacket> for Hearing<'_> {
    #[inline(always)]
    fn link(&mut self) -> &mut Link<AckPacket> {
        self.link
    }

    /// With options each ACK is the first of its number.
    #[inline(always)]
    fn admits(&self, first: &AckPacket, _: Time) -> bool {
        let once = !self.options || first.nth == 1;
        first.flow == self.leaving.index && first.is_plain() && once
    }

    #[inline(always)]
    fn take(&mut self, coming: &TimedTrain<AckPacket>) -> u32 {
        match (self.options, self.leaving.context.recorder.traces_cwnd()) {
            (true, _) => self.take_with_options(coming),
            (false, false) => self.take_plain(coming),
            (false, true) => self.take_and_record(coming),
        }
    }

    #[inline(always)]
    fn end(self) {
        let Leaving { index, mut sending, core, context, .. } = self.leaving;
        sending.end(core, context);
        self.flow.near.arm(index, context);
    }
}

impl Hearing<'_> {
    #[inline(always)]
    fn take_plain(&mut self, coming: &TimedTrain<AckPacket>) -> u32 {
        let leaving = &mut self.leaving;
        self.flow.near.hear_in_order(coming, self.until, |now, seq, of| {
            let at = leaving.wire.carry(now, of.0);
            leaving.put(at, seq, of);
        })
    }

    /// The same where each ACK has a row in the trace.
    #[inline(never)]
    fn take_and_record(&mut self, coming: &TimedTrain<AckPacket>) -> u32 {
        let (flow, leaving) = (self.flow.id, &mut self.leaving);
        self.flow.near.hear_and_note(coming, self.until, |now, noted| match noted {
            Noted::Goes(seq, of) => {
                let at = leaving.wire.carry(now, of.0);
                leaving.put(at, seq, of);
            }
            Noted::Heard(next, sender, sample) => {
                let (slot, event, ack) = (leaving.index, CwndEvent::Ack, next as i64 - 1);
                let row = CwndRow { now, flow, slot, event, ack, sample, sender };
                leaving.context.recorder.cwnd(&row);
            }
        })
    }

    #[inline(always)]
    fn take_with_options(&mut self, coming: &TimedTrain<AckPacket>) -> u32 {
        let Self { until, flow: Flow { id, near, carried, .. }, released, leaving, .. } = self;
        let Some(carried) = carried else { return 0 };
        let (ack, count) = (&coming.train.first, coming.train.count);
        let traced = leaving.context.recorder.traces_cwnd();
        let (mut rest, mut taken) = (coming.run(ack.next), 0);
        while taken < count && rest.at <= *until {
            let due = (leaving.index, rest.at);
            near.let_go_paced(carried, due, released, |at, seqs, of| leaving.let_go(at, seqs, of));
            let measured = if traced { near.sender().round_trips().0 } else { 0 };
            let run = PacketRun { count: if traced { 1 } else { rest.count }, ..rest };
            let go = |at, seqs, of| leaving.let_go(at, seqs, of);
            let mut heard = near.hear_fast(carried, &run, *until, go);
            if heard == 0 {
                let next = (rest.first, ack.bytes());
                if !near.hear_slowly(carried, rest.at, next, released) {
                    break;
                }
                for sent in released.drain(..) {
                    leaving.let_go(rest.at, sent.seq..sent.seq + 1, (sent.size, sent.cwnd));
                }
                heard = 1;
            }
            if traced {
                let of = (*id, leaving.index);
                record((rest.at, rest.first), of, (near.sender(), measured), leaving.context);
            }
            taken += heard;
            if taken < count {
                rest = rest.behind(heard);
            }
        }
        taken
    }
}

/// The sender of a flow in a slot has heard an ACK, which has a row in the trace; before, it had
/// measured so many round trips.
pub(super) fn record(
    (at, next): (Time, u64),
    of: (u32, u32),
    heard: (&Sender, u64),
    context: &mut Context,
) {
    context.recorder.cwnd(&CwndRow::heard(at, of, next, heard));
}

/// Segments that a sender releases on its link, and their announcement.
pub(super) struct Leaving<'a> {
    pub(super) index: u32,
    pub(super) queue: DataQueue,
    pub(super) sending: Sending,
    pub(super) wire: &'a mut Wire,
    pub(super) core: &'a mut Core,
    pub(super) context: &'a mut Context,
}

impl Leaving<'_> {
    /// Segments go, each of this size.
    #[inline(always)]
    fn let_go(&mut self, now: Time, seqs: Range<u64>, of: (Bytes, f64)) {
        let (count, size) = ((seqs.end - seqs.start) as u32, of.0);
        let evenly = match count {
            0 | 1 => None,
            _ => self.wire.carry_evenly((now, Span::ZERO), count, size, Time::MAX),
        };
        if let Some((at, gap)) = evenly {
            if !self.sending.all_go_on((at, gap), &seqs, size) {
                for (nth, seq) in (0..).zip(seqs) {
                    self.put(at + gap * nth, seq, of);
                }
            }
            return;
        }
        for seq in seqs {
            let at = self.wire.carry(now, size);
            self.put(at, seq, of);
        }
    }

    /// A segment will be at its queue.
    #[inline(always)]
    fn put(&mut self, at: Time, seq: u64, (size, cwnd): (Bytes, f64)) {
        if !self.sending.goes_on(at, seq, size) {
            let cwnd = if self.queue.is_by_window() { cwnd } else { 0.0 };
            let packet = DataPacket::first(self.index, seq, size, cwnd);
            self.sending.begin(self.core, self.queue, at, packet, self.context);
        }
    }
}

/// Data packets that a sender lets go: as long as they are even, they are announced together.
#[derive(Default)]
pub(super) struct Sending {
    /// The first packet, the queue it goes to, and when it is there.
    first: Option<(DataQueue, DataPacket, Time)>,
    count: u32,
    gap: Span,
    /// The next packet of an even run: when it is there, its segment, its size.
    at: Time,
    seq: u64,
    size: Bytes,
}

impl Sending {
    /// Whether a packet goes on as those before it; then it is one of them.
    #[inline(always)]
    fn goes_on(&mut self, at: Time, seq: u64, size: Bytes) -> bool {
        if (seq, size) != (self.seq, self.size) || at != self.at && !self.sets_gap(at) {
            return false;
        }
        self.count += 1;
        (self.at, self.seq) = (at + self.gap, seq + 1);
        true
    }

    /// Whether packets, the first of them at `at` and each other a gap after the one before, all go
    /// on so; then they are among them.
    #[inline(always)]
    fn all_go_on(&mut self, (at, gap): (Time, Span), seqs: &Range<u64>, size: Bytes) -> bool {
        let goes_on = (seqs.start, size, at, gap) == (self.seq, self.size, self.at, self.gap);
        if goes_on {
            let count = seqs.end - seqs.start;
            self.count += count as u32;
            (self.at, self.seq) = (at + gap * count, seqs.end);
        }
        goes_on
    }

    /// Whether the packet at `at` is the second one, which says how far apart all are.
    #[inline]
    fn sets_gap(&mut self, at: Time) -> bool {
        if let Some((DataQueue::One(_), _, first)) = self.first
            && self.count == 1
        {
            self.gap = at.since(first);
            return true;
        }
        false
    }

    /// A packet begins a run, and ends the one before.
    // Inlined, it keeps what lets go of each segment out of the loop over the ACKs.
    #[inline(never)]
    fn begin(
        &mut self,
        core: &mut Core,
        queue: DataQueue,
        at: Time,
        packet: DataPacket,
        context: &mut Context,
    ) {
        self.end(core, context);
        // Of one packet nothing but the next one says when that is there.
        (self.at, self.seq, self.size) = (Time::MAX, packet.seq + 1, packet.bytes());
        (self.count, self.gap) = (1, Span::ZERO);
        self.first = Some((queue, packet, at));
    }

    /// There are no more packets.
    #[inline]
    fn end(&mut self, core: &mut Core, context: &mut Context) {
        if let Some((queue, first, at)) = self.first.take() {
            let train = Train { first, count: self.count, step: u32::from(self.count > 1) };
            core.expect_run(queue, TimedTrain { train, at, gap: self.gap }, context);
        }
    }
}
