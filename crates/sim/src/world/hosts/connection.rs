//! One TCP connection: its two hosts, its application, and its alarms.

mod achieved;
mod kind;
mod listed;
mod reductions;

use std::sync::Arc;

use burstlab_kernel::{Rank, Stream};
use burstlab_tcp::{Ack, PacketRun, Receiver, Sender, Transmission, Variant};
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

pub(in crate::world) use self::achieved::Achieved;
use self::achieved::Before;
pub(in crate::world) use self::kind::{Called, FlowKind};
use super::options::CarriedOptions;
use super::other_way::OtherWay;
use super::resent::Resent;
use super::stack::Stack;
use super::taken_ahead::TakenAhead;
use crate::measure::loss::{Causes, Loss, ReductionCause, Truth};
use crate::measure::{Digest, SenderBefore, SenderState};
use crate::scenario::Ending;
use crate::world::ahead::policy::{Ends, HostRules};
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::keys::is_named;
use crate::world::packet::{AckPacket, DataPacket};
use crate::world::place::Place;

/// What a flow has sent and received. Of a flow that is there, what its sender counts is left out
/// (see [`Flow::tally`]).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct Tally {
    /// Of a flow that is there: copies that edge nodes sent.
    pub(in crate::world) sent: u64,
    pub(in crate::world) delivered: u64,
    pub(in crate::world) delivered_bytes: u64,
    pub(in crate::world) lost: u64,
    pub(in crate::world) acks_sent: u64,
    pub(in crate::world) acks_delivered: u64,
    pub(in crate::world) acks_lost: u64,
    /// Segments sent again though their last transmission was not lost.
    pub(in crate::world) spurious_retransmissions: u64,
    /// Time-outs by what they were, and whether the detector excused them.
    pub(in crate::world) timeouts: [[u64; 2]; 3],
    /// Reductions of the window by what they were for, and the segments that they cost.
    pub(in crate::world) reductions: [(u64, f64); ReductionCause::COUNT],
}

impl Tally {
    /// Adds what another flow has sent and received.
    pub(in crate::world) fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.lost += other.lost;
        self.acks_sent += other.acks_sent;
        self.acks_delivered += other.acks_delivered;
        self.acks_lost += other.acks_lost;
    }

    /// Whether nothing is on its way.
    pub(super) fn is_settled(&self) -> bool {
        self.sent == self.delivered + self.lost
            && self.acks_sent == self.acks_delivered + self.acks_lost
    }
}

/// When a timer's event stands in the queue. A timer that moves to later is not taken out: its
/// event comes, sees that it is early, and is put back.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Alarm(Time);

impl Alarm {
    pub(super) const OFF: Self = Self(Time::MAX);

    /// Sees to it that an event is queued at `deadline` or before.
    #[inline]
    pub(super) fn arm(
        &mut self,
        deadline: Option<Time>,
        context: &mut Context,
        place: Place,
        event: Event,
    ) {
        if let Some(at) = deadline
            && at < self.0
        {
            self.0 = at;
            let ticket = context.ticket(Rank::Timer, place);
            context.queue.push_at(at, ticket, event);
        }
    }

    /// Whether an event at `now` is the one that was armed last.
    pub(super) fn takes(&mut self, now: Time) -> bool {
        let mine = self.0 == now;
        if mine {
            *self = Self::OFF;
        }
        mine
    }
}

/// A connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Flow {
    pub(in crate::world) id: u32,
    /// What its draws are keyed by.
    pub(in crate::world) key: u64,
    /// Not stored: the scenario has it, and no event changes it. A flow that is read has one
    /// [of no use](FlowKind::unknown).
    #[serde(skip, default = "FlowKind::unknown")]
    pub(in crate::world) kind: Arc<FlowKind>,
    /// Nodes of the sender and of the receiver; both 0 on a path.
    pub(in crate::world) from: u32,
    pub(in crate::world) to: u32,
    /// Entry of the scenario's `demand` that it came from.
    pub(in crate::world) demand: Option<u32>,
    /// Whether the slot is empty.
    pub(in crate::world) vacant: bool,
    pub(in crate::world) start: Time,
    pub(in crate::world) sender: Sender,
    pub(in crate::world) receiver: Receiver,
    /// Third-party hosts, which take the place of the two. Not stored: a run with such is not.
    #[serde(skip)]
    pub(super) stack: Option<Box<Stack>>,
    pub(in crate::world) tally: Tally,
    pub(in crate::world) causes: Causes,
    /// Writes still to come, last first, by absolute time; `None` where data never ends.
    pub(super) writes: Option<Vec<(Time, u64)>>,
    written: u64,
    /// All that its application will ever write; `None` where data never ends.
    pub(in crate::world) bytes: Option<u64>,
    /// Its segments with the SYN, if all but the last are whole; no receiver gets as many where
    /// data never ends.
    whole: u64,
    /// When the last of them was at the receiver, and when it was acknowledged at the sender.
    pub(in crate::world) received: Option<Time>,
    pub(in crate::world) completed: Option<Time>,
    /// Delays of `send_jitter` so far.
    delays: u32,
    sender_alarm: Alarm,
    receiver_alarm: Alarm,
    resent: Resent,
    /// Of a sender that went back after duplicate ACKs: one past the last segment it had sent.
    gone_back: u64,
    /// The latest duplicate ACK asks for this segment.
    asked_again: u64,
    /// What its receiver has taken ahead of the clock, and somebody may ask for.
    pub(super) ahead: TakenAhead,
    /// What its packets carry besides, if they do.
    pub(super) carried: Option<Box<CarriedOptions>>,
    /// The other direction of its connection, if that has data too.
    pub(super) other: Option<Box<OtherWay>>,
    /// What happened at its sender, in a mesh.
    pub(in crate::world) digest: Digest,
    /// What there was before measuring began.
    before: Before,
}

impl Flow {
    pub(in crate::world) fn new(
        (id, key): (u32, u64),
        kind: &Arc<FlowKind>,
        (from, to): (u32, u32),
        start: Time,
        writes: Option<Vec<(Time, u64)>>,
    ) -> Self {
        let sum = |sum: u64, &(_, bytes): &(Time, u64)| sum.saturating_add(bytes);
        let bytes = writes.as_ref().map(|writes| writes.iter().fold(0, sum));
        let mut sender = Sender::with_classes(&kind.config, kind.classes.as_deref());
        if !kind.closes {
            sender.stay_open();
        }
        Self {
            id,
            key,
            from,
            to,
            demand: None,
            vacant: false,
            start,
            sender,
            receiver: Receiver::new(&kind.config),
            kind: Arc::clone(kind),
            stack: None,
            tally: Tally::default(),
            causes: Causes::default(),
            writes,
            written: 0,
            bytes,
            whole: bytes.map_or(u64::MAX, |bytes| 1 + bytes.div_ceil(kind.payload)),
            received: None,
            completed: None,
            delays: 0,
            sender_alarm: Alarm::OFF,
            receiver_alarm: Alarm::OFF,
            resent: Resent::default(),
            gone_back: 0,
            asked_again: 0,
            ahead: TakenAhead::default(),
            other: None,
            carried: (kind.config.variant == Variant::Linux).then(Box::default),
            digest: Digest::of_flow(id),
            before: Before::default(),
        }
    }

    /// The connection is gone; the slot is empty.
    pub(in crate::world) fn vacate(&mut self) {
        self.demand = None;
        self.vacant = true;
        self.resent = Resent::default();
        self.causes = Causes::default();
        self.ahead = TakenAhead::default();
    }

    /// Whether nothing of it is on its way or still to come.
    pub(in crate::world) fn settled(&self) -> bool {
        self.tally().is_settled()
            && self.sender.poll_timeout().is_none()
            && self.receiver.poll_timeout().is_none()
    }

    /// Whether data wait, nothing of it is under way or to be written, and no timer is set.
    pub(in crate::world) fn is_dead(&self) -> bool {
        if let Some(stack) = &self.stack {
            let waits = self.bytes.is_some() && self.received.is_none() && stack.ended().is_none();
            return waits && self.tally.is_settled() && stack.is_silent();
        }
        let begun = self.sender.counters().segments_sent > 0;
        begun && !self.sender.finished() && self.settled() && self.sender.poll_release().is_none()
    }

    /// When its connection ended before its time, and why: where its hosts are third-party.
    pub(in crate::world) fn ended(&self) -> Option<(Time, Ending)> {
        self.stack.as_ref().and_then(|stack| stack.ended())
    }

    /// Time-outs whose losses were all in one burst.
    pub(in crate::world) fn false_timeouts(&self) -> u64 {
        self.tally.timeouts[Truth::False as usize].iter().sum()
    }

    /// Application data that it has been given so far, in bytes.
    pub(in crate::world) fn written(&self) -> u64 {
        self.written
    }

    /// When the application writes next; a greedy application writes once, at the start.
    pub(in crate::world) fn next_write(&self) -> Option<Time> {
        match &self.writes {
            None => (self.written == 0).then_some(self.start),
            Some(writes) => writes.last().map(|&(at, _)| at),
        }
    }

    /// The application writes what is due.
    pub(in crate::world) fn write(&mut self, now: Time, sending: &mut Vec<Transmission>) {
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

    /// A transmission is lost, the `nth` of segment `seq`.
    pub(in crate::world) fn lose(&mut self, (seq, nth): (u64, u32), loss: Loss) {
        self.tally.lost += 1;
        if let Some(carried) = &mut self.carried {
            carried.take(seq, nth.min(u32::from(u16::MAX)) as u16);
        }
        if let Some(other) = &mut self.other {
            other.lose(seq, nth.min(u32::from(u16::MAX)) as u16);
        }
        if self.stack.as_mut().is_some_and(|stack| !stack.lose(seq)) {
            return;
        }
        // A later transmission may be under way, or lost for a reason of its own; and an earlier
        // one may have arrived: then nothing is missing.
        let latest = self.resent.transmissions(seq).min(u32::from(u16::MAX));
        if nth >= latest && self.lacks(loss.at, seq) {
            self.causes.lost(seq, loss);
        }
    }

    /// ACKs are lost, so many from this one on.
    pub(in crate::world) fn lose_acks(&mut self, first: &AckPacket, count: u64) {
        self.tally.acks_lost += count;
        if let Some(stack) = &mut self.stack {
            stack.lose_acks(first.next - 1, count);
        }
    }

    /// An edge node sends a copy of `seq`; returns which transmission it is.
    pub(in crate::world) fn copied(&mut self, seq: u64) -> u32 {
        self.tally.sent += 1;
        self.causes.found(seq);
        self.resent.again(seq, 0)
    }

    /// What the ledger says of the sender when something happens to it; its state too, where that
    /// is asked for. It waits for all segments up to the last one sent since the last time-out or
    /// repair, as Linux has it for all that it has sent: those that are acknowledged are there,
    /// unless an edge node acknowledged them in the name of the receiver.
    #[inline]
    pub(in crate::world) fn before(&self, state: bool) -> SenderBefore {
        SenderBefore {
            waits_until: self.sender.outstanding().end.max(self.gone_back),
            state: state.then(|| SenderState::of(&self.sender)),
        }
    }

    /// Duplicate ACKs let the sender cut its window; it may have gone back to the first segment
    /// that is missing, as Tahoe does, and yet waits for all that it waited for `before`.
    pub(in crate::world) fn cut(&mut self, before: &SenderBefore) {
        self.gone_back = before.waits_until;
    }

    /// The sender begins again from the first segment that is missing.
    pub(in crate::world) fn begins_again(&mut self) {
        self.gone_back = 0;
    }

    /// Which transmission of its segment `sent` is, from 1.
    #[inline]
    pub(in crate::world) fn transmission(&mut self, sent: &Transmission) -> u32 {
        if !sent.retransmission {
            return 1;
        }
        let missing = self.causes.found(sent.seq);
        self.tally.spurious_retransmissions += u64::from(!missing);
        self.resent.again(sent.seq, self.sender.highest_acked().unwrap_or(0))
    }

    #[inline(always)]
    pub(in crate::world) fn arm_sender(&mut self, index: u32, context: &mut Context) {
        let (due, place) = (self.sender.poll_timeout(), Place::SENDER.of(index));
        self.sender_alarm.arm(due, context, place, Event::SenderTimer(index));
    }

    #[inline(always)]
    pub(in crate::world) fn arm_receiver(&mut self, index: u32, context: &mut Context) {
        let (due, place) = (self.receiver.poll_timeout(), Place::RECEIVER.of(index));
        self.receiver_alarm.arm(due, context, place, Event::ReceiverTimer(index));
    }

    /// A data packet is at the receiver: it is counted and recorded.
    #[inline(always)]
    pub(super) fn arrives(&mut self, now: Time, packet: &DataPacket, context: &mut Context) {
        self.tally.delivered += 1;
        self.causes.found(packet.seq);
        self.tally.delivered_bytes += u64::from(packet.size);
        context.recorder.delivered(packet.row, now);
    }

    /// Segment `seq` is at the receiver; returns its ACK, if it sends one at once.
    #[inline]
    pub(in crate::world) fn receives(&mut self, now: Time, seq: u64) -> Option<Ack> {
        let next = self.receiver.next();
        let ack = self.receiver.on_segment(now, seq);
        self.has_taken(now, next);
        ack
    }

    /// A packet came to the receiver, which waited for segment `next` before.
    #[inline]
    pub(super) fn has_taken(&mut self, now: Time, next: u64) {
        if self.receiver.next() == next {
            self.asked_again = next;
        } else if self.has_received() {
            self.received = Some(now);
        }
    }

    /// Whether all segments have just come to the receiver, after which
    /// [`received`](Self::received) is to be set.
    #[inline(always)]
    pub(in crate::world) fn has_received(&self) -> bool {
        self.receiver.next() >= self.whole && self.received.is_none() && self.has_all_bytes()
    }

    /// Whether so many segments have come that they are all of it, though some may be short.
    fn has_all_bytes(&self) -> bool {
        let received = self.sender.bytes_before(self.receiver.next());
        self.bytes.is_some_and(|bytes| received >= bytes)
    }

    /// Counts packets received on the fast path, and their bytes.
    #[inline]
    pub(in crate::world) fn count(&mut self, packets: u64, bytes: u64) {
        self.tally.delivered += packets;
        self.tally.delivered_bytes += bytes;
    }

    /// What it has sent and received, by the counts of its sender too.
    pub(in crate::world) fn tally(&self) -> Tally {
        let counters = self.sender.counters();
        let sent = counters.segments_sent + self.tally.sent;
        let acks_delivered = counters.acks + self.tally.acks_delivered;
        Tally { sent, acks_delivered, ..self.tally.clone() }
    }

    /// Whether a packet that is on its way to the receiver comes [behind a
    /// gap](burstlab_tcp::Receiver::takes_behind), and no segment from there on was sent again, and
    /// perhaps lost. One that will be, before it comes, is known to [`TakenAhead`].
    #[inline]
    pub(in crate::world) fn takes_behind(&self, seq: u64) -> bool {
        self.receiver.takes_behind(seq) && self.resent.is_below(seq)
    }

    /// Segments behind a gap will be at the receiver; `now` is the time. Takes those in front that
    /// come by `until`; returns how many, and the ACK of the first of them.
    pub(in crate::world) fn receive_behind(
        &mut self,
        (now, until): (Time, Time),
        run: &PacketRun,
    ) -> Option<(u32, Ack)> {
        let (taken, ack) = self.receiver.take_behind(run, until)?;
        self.asked_again = ack.next;
        self.ahead.take(now, PacketRun { count: taken, step: 1, ..*run });
        Some((taken, ack))
    }

    /// The time is `now`, at which something happens to its hosts.
    #[inline]
    pub(super) fn settle(&mut self, now: Time) {
        self.ahead.settle(now, &mut self.causes);
    }

    /// Whether segment `seq`, whose last transmission is lost at `now`, is not there by then.
    fn lacks(&mut self, now: Time, seq: u64) -> bool {
        !self.receiver.holds(seq) || self.ahead.misses(now, seq)
    }

    /// Holds back what it sends, for a time below `below` that `jitter` draws; answers until when.
    pub(in crate::world) fn hold(&mut self, now: Time, below: Span, jitter: &Stream) -> Time {
        let delays = u64::from(self.delays);
        let [share, _] = match is_named(self.key) {
            false => jitter.uniforms(self.key << 32 | delays),
            true => jitter.of(self.key).uniforms(delays),
        };
        self.delays = self.delays.wrapping_add(1);
        let until = now + Span::from_ps((share * below.as_ps() as f64) as u64);
        self.sender.hold_until(until);
        until
    }

    pub(in crate::world) fn sender_alarm_due(&mut self, now: Time) -> bool {
        self.sender_alarm.takes(now)
    }

    pub(in crate::world) fn receiver_alarm_due(&mut self, now: Time) -> bool {
        self.receiver_alarm.takes(now)
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

    pub(in crate::world) fn detects(&self) -> bool {
        self.kind.detects
    }

    /// The first segment that is not acknowledged.
    pub(in crate::world) fn first_missing(&self) -> u64 {
        self.sender.highest_acked().map_or(0, |seq| seq + 1)
    }
}

impl Ends for Flow {
    #[inline(always)]
    fn rules(&self) -> &HostRules {
        &self.kind.ahead
    }

    #[inline(always)]
    fn is_done(&self) -> bool {
        self.completed.is_some()
    }

    #[inline(always)]
    fn writes_again(&self) -> bool {
        self.next_write().is_some()
    }

    #[inline(always)]
    fn misses(&self) -> bool {
        !self.causes.is_empty()
    }

    #[inline(always)]
    fn repeats(&self) -> bool {
        !self.resent.is_below(self.receiver.next())
    }

    #[inline]
    fn hears_nothing_twice(&self) -> bool {
        self.sender.is_fast()
            && self.sender.highest_acked().is_some_and(|acked| acked >= self.asked_again)
    }

    #[inline(always)]
    fn timer(&self) -> Option<Time> {
        self.sender.poll_timeout()
    }
}
