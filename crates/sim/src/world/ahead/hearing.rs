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

use burstlab_kernel::Rank;
use burstlab_link::Wire;
use burstlab_tcp::{PacketRun, SegmentFlags, Sender, Transmission};
use burstlab_units::{Bytes, Span, Time};

use super::host::Host;
use crate::measure::{CwndEvent, CwndRow, NO_ROW, Recorder, SentRow, row_behind};
use crate::world::access::Link;
use crate::world::context::Context;
use crate::world::core::{Core, DataQueue, Network};
use crate::world::hosts::{Flow, Noted};
use crate::world::packet::{AckPacket, DataPacket, Parcel};
use crate::world::tie_key::TieKey;
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

    #[inline(always)]
    fn recorder(&mut self) -> &mut Recorder {
        &mut self.leaving.context.recorder
    }

    /// With options each ACK is the first of its number.
    #[inline(always)]
    fn admits(&self, first: &AckPacket, _: Time) -> bool {
        let once = !self.options || first.nth == 1;
        first.flow == self.leaving.index && first.is_plain() && once
    }

    #[inline(always)]
    fn take(&mut self, coming: &TimedTrain<AckPacket>) -> u32 {
        let recorder = &self.leaving.context.recorder;
        if recorder.traces_packets() {
            return self.take_and_record_packets(coming);
        }
        match (self.options, recorder.traces_cwnd()) {
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

    /// ACKs and segments have rows in the trace.
    #[inline(never)]
    fn take_and_record_packets(&mut self, coming: &TimedTrain<AckPacket>) -> u32 {
        let taken = match self.options {
            true => self.take_with_options(coming),
            false => self.take_and_record(coming),
        };
        let (id, recorder) = (self.flow.id, &mut self.leaving.context.recorder);
        recorder.delivered_all((coming.train.first.row, taken), (coming.at, coming.gap));
        for number in 0..taken {
            recorder.acked(id, coming.at(number), coming.train.packet(number).next);
        }
        taken
    }

    /// The same where each ACK or segment has a row in the trace.
    #[inline(never)]
    fn take_and_record(&mut self, coming: &TimedTrain<AckPacket>) -> u32 {
        let (flow, leaving) = (self.flow.id, &mut self.leaving);
        let recorder = &leaving.context.recorder;
        let (cwnd, packets) = (recorder.traces_cwnd(), recorder.traces_packets());
        self.flow.near.hear_and_note(coming, self.until, |now, noted| match noted {
            Noted::Goes(seq, of, ssthresh) => {
                if packets {
                    let recorder = &mut leaving.context.recorder;
                    let sent = (seq, of.0, of.1);
                    leaving.row = record_sent((now, leaving.index), leaving.id, sent, recorder);
                    recorder.below((leaving.row, 1), ssthresh);
                }
                let at = leaving.wire.carry(now, of.0);
                leaving.put(at, seq, of);
            }
            Noted::Heard(..) if !cwnd => {}
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
        let recorder = &leaving.context.recorder;
        let (traced, packets) = (recorder.traces_cwnd(), recorder.traces_packets());
        let (mut rest, mut taken) = (coming.run(ack.next), 0);
        while taken < count && rest.at <= *until {
            // Rows of packets are in the turn of the event that sends them.
            if !packets {
                let due = (leaving.index, rest.at);
                let go = |at, seqs, of| leaving.let_go(at, seqs, of);
                near.let_go_paced(carried, due, released, go);
            }
            let measured = if traced { near.sender().round_trips().0 } else { 0 };
            let run = PacketRun { count: if traced || packets { 1 } else { rest.count }, ..rest };
            let mut gone = (NO_ROW, 0);
            let go = |at, seqs: Range<u64>, of| {
                if packets {
                    leaving.record(at, seqs.clone(), of, &mut gone);
                }
                leaving.let_go(at, seqs, of);
            };
            let mut heard = near.hear_fast(carried, &run, *until, go);
            if heard == 0 {
                let next = (rest.first, ack.bytes());
                if !near.hear_slowly(carried, rest.at, next, released) {
                    break;
                }
                for sent in released.drain(..) {
                    let (seqs, of) = (sent.seq..sent.seq + 1, (sent.size, sent.cwnd));
                    if packets {
                        leaving.record(rest.at, seqs.clone(), of, &mut gone);
                    }
                    leaving.let_go(rest.at, seqs, of);
                }
                heard = 1;
            }
            if packets {
                leaving.context.recorder.below(gone, near.sender().ssthresh());
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

/// A sender in a slot lets a segment go at an instant, whose number, size and window are these:
/// adds its row to the trace, and returns that. The threshold is reported later.
pub(super) fn record_sent(
    (at, slot): (Time, u32),
    flow: u32,
    (seq, size, cwnd): (u64, Bytes, f64),
    recorder: &mut Recorder,
) -> u32 {
    let (retransmission, flags, ssthresh) = (false, SegmentFlags::default(), f64::NAN);
    let sent = Transmission { seq, size, retransmission, cwnd, ssthresh, flags };
    let turn = TieKey::ACK_DOWN.of(slot).turn(Rank::Arrival);
    recorder.sent_in((at, turn), flow, &SentRow::Data(&sent, 1))
}

/// Segments that a sender releases on its link, and their announcement.
pub(super) struct Leaving<'a> {
    pub(super) id: u32,
    /// The row in the trace of the segment that goes next, or `NO_ROW`.
    pub(super) row: u32,
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
                let row = self.row;
                for (nth, seq) in (0..).zip(seqs) {
                    self.row = row_behind(row, nth);
                    self.put(at + gap * u64::from(nth), seq, of);
                }
            }
            return;
        }
        let row = self.row;
        for (nth, seq) in (0..).zip(seqs) {
            let at = self.wire.carry(now, size);
            self.row = row_behind(row, nth);
            self.put(at, seq, of);
        }
    }

    /// Segments go that have rows in the trace: adds the rows, which are behind each other, to the
    /// rows of the segments `gone` with the same ACK.
    #[cold]
    fn record(
        &mut self,
        at: Time,
        seqs: Range<u64>,
        (size, cwnd): (Bytes, f64),
        gone: &mut (u32, u32),
    ) {
        for (number, seq) in (0..).zip(seqs) {
            let (id, recorder) = (self.id, &mut self.context.recorder);
            let row = record_sent((at, self.index), id, (seq, size, cwnd), recorder);
            if number == 0 {
                self.row = row;
            }
            *gone = (if gone.1 == 0 { row } else { gone.0 }, gone.1 + 1);
        }
    }

    /// A segment will be at its queue.
    #[inline(always)]
    fn put(&mut self, at: Time, seq: u64, (size, cwnd): (Bytes, f64)) {
        if !self.sending.goes_on(at, seq, size) {
            let cwnd = if self.queue.is_by_window() { cwnd } else { 0.0 };
            let packet =
                DataPacket { row: self.row, ..DataPacket::first(self.index, seq, size, cwnd) };
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
