//! The near end of a flow: its application and its sender, with their timers. It knows the data
//! that it wrote and sent and the ACKs that it heard, and of the far end nothing else.

use std::ops::Range;

use burstlab_kernel::Stream;
use burstlab_tcp::{
    Ack, AckOptions, Outlet, PacketRun, SackBlocks, Sender, SentRun, Transmission, Wires,
};
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::FlowKind;
use super::alarm::Alarm;
use crate::measure::{Digest, SenderBefore, SenderNow, SenderState};
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::hosts::NEAR;
use crate::world::hosts::options::CarriedOptions;
use crate::world::hosts::resent::Resent;
use crate::world::keys::is_named;
use crate::world::packet::AckPacket;
use crate::world::tie_key::TieKey;
use crate::world::train::TimedTrain;

/// An application that writes, and the sender that it writes to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Near {
    sender: Sender,
    alarm: Alarm,
    start: Time,
    /// Writes still to come, last first, by absolute time; `None` where data never ends.
    writes: Option<Vec<(Time, u64)>>,
    written: u64,
    /// When all that it will ever write was acknowledged.
    completed: Option<Time>,
    /// Delays of `send_jitter` so far.
    delays: u32,
    repeated: Resent,
    /// Of a sender that went back after duplicate ACKs: one past the last segment it had sent.
    gone_back: u64,
    /// A digest of the events at the sender, in a mesh.
    digest: Digest,
}

impl Near {
    pub(in crate::world::hosts) fn new(
        id: u32,
        kind: &FlowKind,
        start: Time,
        writes: Option<Vec<(Time, u64)>>,
    ) -> Self {
        let mut sender = Sender::with_classes(&kind.config, kind.classes.as_deref());
        if !kind.closes {
            sender.stay_open();
        }
        Self {
            sender,
            alarm: Alarm::OFF,
            start,
            writes,
            written: 0,
            completed: None,
            delays: 0,
            repeated: Resent::default(),
            gone_back: 0,
            digest: Digest::of_flow(id),
        }
    }

    /// The sender, which answers what it is asked.
    #[inline(always)]
    pub(in crate::world) fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The sender, to which something happens.
    #[inline(always)]
    pub(in crate::world::hosts) fn sender_mut(&mut self) -> &mut Sender {
        &mut self.sender
    }

    /// When the application begins.
    pub(in crate::world) fn start(&self) -> Time {
        self.start
    }

    /// It is to begin at `at`, with its writes.
    pub(in crate::world::hosts) fn begin(&mut self, at: Time) {
        self.start = at;
        for (due, _) in self.writes.iter_mut().flatten() {
            *due = at + due.since(Time::ZERO);
        }
    }

    /// Application data that it has been given so far, in bytes.
    pub(in crate::world) fn written(&self) -> u64 {
        self.written
    }

    /// Whether its data never end.
    pub(in crate::world::hosts) fn is_endless(&self) -> bool {
        self.writes.is_none()
    }

    /// The writes that are still to come, in order.
    pub(in crate::world::hosts) fn writes(&self) -> impl Iterator<Item = (Time, u64)> {
        self.writes.iter().flatten().rev().copied()
    }

    /// When the application writes next; a greedy application writes once, at the start.
    pub(in crate::world) fn next_write(&self) -> Option<Time> {
        match &self.writes {
            None => (self.written == 0).then_some(self.start),
            Some(writes) => writes.last().map(|&(at, _)| at),
        }
    }

    /// When it sends next though nothing comes: at a timer, or as its application starts or writes.
    /// All that was due before `now` has happened.
    pub(in crate::world::hosts) fn sends_by_itself(&self, now: Time) -> Option<Time> {
        let starts = Some(self.start).filter(|&at| at >= now);
        let timers = [self.sender.poll_timeout(), self.sender.poll_release()];
        timers.into_iter().chain([starts, self.next_write()]).flatten().min()
    }

    /// The application writes what is due.
    pub(in crate::world::hosts) fn write(&mut self, now: Time, sending: &mut Vec<Transmission>) {
        self.written = match &mut self.writes {
            None => u64::MAX,
            Some(writes) => self.written + writes.pop().map_or(0, |(_, bytes)| bytes),
        };
        match &self.writes {
            None => self.sender.supply(now, u64::MAX, sending),
            Some(rest) => {
                let closes = rest.is_empty();
                self.sender.supply_bytes(now, Bytes::new(self.written), closes, sending);
            }
        }
    }

    /// Whether the flow is done with `now`, for the first time: all that its application will ever
    /// write is acknowledged.
    #[inline]
    pub(in crate::world) fn has_completed(&mut self, now: Time) -> bool {
        let done = self.writes.as_ref().is_some_and(Vec::is_empty)
            && self.completed.is_none()
            && self.sender.finished();
        if done {
            self.completed = Some(now);
        }
        done
    }

    /// All of it is acknowledged.
    pub(in crate::world::hosts) fn complete(&mut self, now: Time) {
        self.completed = Some(now);
    }

    /// When all that its application will ever write was acknowledged.
    #[inline(always)]
    pub(in crate::world) fn completed(&self) -> Option<Time> {
        self.completed
    }

    /// The sender's values for the ledger before an event; its state too, where that is asked for.
    /// It waits for all segments up to the last one sent since the last time-out or repair, as
    /// Linux has it for all that it has sent: those that are acknowledged are there, unless an edge
    /// node acknowledged them in the name of the receiver.
    #[inline]
    pub(in crate::world) fn before(&self, state: bool) -> SenderBefore {
        SenderBefore {
            waits_until: self.sender.outstanding().end.max(self.gone_back),
            state: state.then(|| SenderState::of(&self.sender)),
        }
    }

    /// Duplicate ACKs let the sender cut its window; it may have gone back to the first segment
    /// that is missing, as Tahoe does, and yet waits for all that it waited for `before`.
    pub(in crate::world::hosts) fn cut(&mut self, before: &SenderBefore) {
        self.gone_back = before.waits_until;
    }

    /// The sender begins again from the first segment that is missing.
    pub(in crate::world::hosts) fn begins_again(&mut self) {
        self.gone_back = 0;
    }

    /// The first segment that is not acknowledged.
    pub(in crate::world::hosts) fn first_missing(&self) -> u64 {
        self.sender.highest_acked().map_or(0, |seq| seq + 1)
    }

    /// A segment is sent again, by the sender or in its name; returns which transmission it is.
    pub(in crate::world::hosts) fn sends_again(&mut self, seq: u64, acked: u64) -> u32 {
        self.repeated.again(seq, acked)
    }

    /// The segments that were retransmitted.
    #[inline]
    pub(in crate::world::hosts) fn repeated(&self) -> &Resent {
        &self.repeated
    }

    /// The connection is gone.
    pub(in crate::world::hosts) fn forget(&mut self) {
        self.repeated = Resent::default();
    }

    /// Holds back what it sends, for a time below `below` that `jitter` draws by this key; answers
    /// until when.
    pub(in crate::world::hosts) fn hold(
        &mut self,
        now: Time,
        (below, key): (Span, u64),
        jitter: &Stream,
    ) -> Time {
        let delays = u64::from(self.delays);
        let [share, _] = match is_named(key) {
            false => jitter.uniforms(key << 32 | delays),
            true => jitter.of(key).uniforms(delays),
        };
        self.delays = self.delays.wrapping_add(1);
        let until = now + Span::from_ps((share * below.as_ps() as f64) as u64);
        self.sender.hold_until(until);
        until
    }

    #[inline(always)]
    pub(in crate::world) fn arm(&mut self, index: u32, context: &mut Context) {
        let (due, place) = (self.sender.poll_timeout(), TieKey::SENDER.of(index));
        context.ahead.has_timer(NEAR, due);
        self.alarm.arm(due, context, place, Event::SenderTimer(index));
    }

    pub(in crate::world::hosts) fn alarm_due(&mut self, now: Time) -> bool {
        self.alarm.takes(now)
    }

    /// Something happens that the digest has.
    #[inline]
    pub(in crate::world) fn note(&mut self, now: Time, what: u8, of: u64) {
        self.digest.add(now, what, of);
    }

    /// The digest of the events at the sender.
    pub(in crate::world) fn digest(&self) -> &Digest {
        &self.digest
    }

    /// ACKs without SACK blocks will be at the sender: hears those in front that let new segments
    /// go, do nothing else, and come by `until`; returns how many. `go` takes each segment: when it
    /// goes, its number, its size, and the congestion window.
    #[inline(always)]
    pub(in crate::world) fn hear_in_order(
        &mut self,
        coming: &TimedTrain<AckPacket>,
        until: Time,
        mut go: impl FnMut(Time, u64, (Bytes, f64)),
    ) -> u32 {
        let Sender::Classic(sender) = &mut self.sender else { return 0 };
        let run = coming.run(coming.train.first.next);
        let (mut clock, most) = sender.begin_run(&run, until);
        let mut digest = self.digest.clone();
        let (mut heard, mut next, mut taken) = (run.at, run.first, 0);
        while taken < most {
            let Some(segments) = clock.take(sender, heard, next) else { break };
            digest.add(heard, 2, next);
            let mut seq = segments.start;
            while seq < segments.end {
                digest.add(heard, 1, seq);
                go(heard, seq, (sender.segment_size(seq), clock.cwnd()));
                seq += 1;
            }
            heard += run.gap;
            next += u64::from(run.step);
            taken += 1;
        }
        sender.end_run(&clock, &run, taken);
        self.digest = digest;
        taken
    }

    /// The same, and hands `put` the state after each ACK too.
    #[inline(always)]
    pub(in crate::world) fn hear_and_note(
        &mut self,
        coming: &TimedTrain<AckPacket>,
        until: Time,
        mut put: impl FnMut(Time, Noted),
    ) -> u32 {
        let run = coming.run(coming.train.first.next);
        let Sender::Classic(sender) = &mut self.sender else { return 0 };
        let (mut clock, most) = sender.begin_run(&run, until);
        let (mut heard, mut next, mut taken) = (run.at, run.first, 0);
        let mut now = SenderNow::of(&self.sender);
        while taken < most {
            let ((measured, _), rare) = (self.sender.round_trips(), clock.is_rare(next));
            let Sender::Classic(sender) = &mut self.sender else { break };
            let Some(segments) = clock.take(sender, heard, next) else { break };
            self.digest.add(heard, 2, next);
            for seq in segments {
                self.digest.add(heard, 1, seq);
                let of = (sender.segment_size(seq), clock.cwnd());
                put(heard, Noted::Goes(seq, of, clock.ssthresh()));
            }
            let (count, last) = self.sender.round_trips();
            if rare {
                now = SenderNow::of(&self.sender);
            } else {
                now.goes_on(clock.cwnd(), clock.in_flight(next));
            }
            put(heard, Noted::Heard(next, now, (count > measured).then_some(last)));
            heard += run.gap;
            next += u64::from(run.step);
            taken += 1;
        }
        if let Sender::Classic(sender) = &mut self.sender {
            sender.end_run(&clock, &run, taken);
        }
        taken
    }
}

/// Something that a sender does as it hears ACKs.
pub(in crate::world) enum Noted {
    /// A segment goes: its number, its size, the congestion window, and the threshold.
    Goes(u64, (Bytes, f64), f64),
    /// It has heard the ACK that asks for this segment: its state, and the round trip that it has
    /// measured.
    Heard(u64, SenderNow, Option<Span>),
}

/// The options of the ACKs that come to a sender and of the segments that go, and a digest of both.
struct Carrying<'a, F> {
    carried: &'a mut CarriedOptions,
    digest: &'a mut Digest,
    short: Option<(u64, Bytes)>,
    /// Takes segments of one size: their numbers, the size, and the congestion window.
    go: F,
}

impl<F: FnMut(Time, Range<u64>, (Bytes, f64))> Outlet for Carrying<'_, F> {
    #[inline(always)]
    fn put(&mut self, now: Time, run: &SentRun) {
        self.carried.send_run(run);
        let end = run.first + u64::from(run.count);
        for seq in run.first..end {
            self.digest.add(now, 1, seq);
        }
        let cwnd = f64::from(run.cwnd);
        match self.short.filter(|(seq, _)| (run.first..end).contains(seq)) {
            None => (self.go)(now, run.first..end, (run.size, cwnd)),
            Some((seq, size)) => {
                (self.go)(now, run.first..seq, (run.size, cwnd));
                (self.go)(now, seq..seq + 1, (size, cwnd));
                (self.go)(now, seq + 1..end, (run.size, cwnd));
            }
        }
    }
}

impl<F: FnMut(Time, Range<u64>, (Bytes, f64))> Wires for Carrying<'_, F> {
    #[inline(always)]
    fn carried(&self, next: u64) -> Option<AckOptions> {
        self.carried.of_ack(next).filter(|options| !options.marked)
    }

    #[inline(always)]
    fn hear(&mut self, now: Time, next: u64) {
        self.digest.add(now, 2, next);
        self.carried.hear_in_order();
    }
}

/// The same where packets carry options: those in flight are in `carried`.
impl Near {
    /// ACKs will be at the sender. Takes those in front that are on the fast path and come by
    /// `until`; returns how many. `go` takes segments of one size that go: their numbers, the
    /// size, and the congestion window.
    #[inline]
    pub(in crate::world) fn hear_fast(
        &mut self,
        carried: &mut CarriedOptions,
        run: &PacketRun,
        until: Time,
        go: impl FnMut(Time, Range<u64>, (Bytes, f64)),
    ) -> u32 {
        let short = self.sender.short_segment();
        let mut wires = Carrying { carried, digest: &mut self.digest, short, go };
        self.sender.on_full_acks_fast(run, until, &mut wires)
    }

    /// Pacing lets the segments go that are due by `until`, if nothing else happens to the sender
    /// by then. `go` takes the segments as in [`hear_fast`](Self::hear_fast); `out` is
    /// empty, and stays so.
    #[inline]
    pub(in crate::world) fn let_go_paced(
        &mut self,
        carried: &mut CarriedOptions,
        (index, until): (u32, Time),
        out: &mut Vec<Transmission>,
        mut go: impl FnMut(Time, Range<u64>, (Bytes, f64)),
    ) {
        while let Some(at) = self.sender.paced_alone().filter(|&at| at <= until) {
            self.sender.on_timeout(at, out);
            self.digest.add(at, 3, u64::from(index));
            for sent in out.drain(..) {
                self.digest.add(at, 1, sent.seq);
                carried.send(sent.seq, 1, self.sender.options(at, &sent));
                go(at, sent.seq..sent.seq + 1, (sent.size, sent.cwnd));
            }
        }
    }

    /// Takes an ACK that is not on the fast path, as any other, if it may be processed now. The
    /// segments that it releases are in `out`. Returns whether it did.
    pub(in crate::world) fn hear_slowly(
        &mut self,
        carried: &mut CarriedOptions,
        at: Time,
        (next, size): (u64, Bytes),
        out: &mut Vec<Transmission>,
    ) -> bool {
        if !self.sender.takes_full_fast(at, next) {
            return false;
        }
        let Some(options) = carried.of_ack(next).filter(|options| !options.marked) else {
            return false;
        };
        carried.hear_in_order();
        self.digest.add(at, 2, next);
        let ack = Ack { next, sack: SackBlocks::NONE, size };
        self.sender.on_full_ack(at, &ack, &options, out);
        for sent in out {
            self.digest.add(at, 1, sent.seq);
            carried.send(sent.seq, 1, self.sender.options(at, sent));
        }
        true
    }
}
