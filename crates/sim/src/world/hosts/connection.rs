//! One TCP connection: its two hosts, its application, and its alarms.
//!
//! `Near` is the sender's end, `Far` the receiver's end. Each acts only on its own packets and
//! timers. The truth about losses is here, between them; a sender learns it only with the detector
//! `"oracle"`, which the world notifies. `lose` keeps the sender's side of a loss: a later
//! transmission may be in flight. Before the truth is asked for, `settle` asks the receiver whether
//! an earlier one has come. A receiver that is ahead of the clock answers by the times of packets.
//!
//! Three questions still join the ends while a run goes on:
//! - How far may a receiver be ahead of the clock (`Ends`, [`Flow::takes_behind`])? It asks whether
//!   the sender is done, or has retransmitted a segment. Without the question, the bound would have
//!   to be the least time that a packet takes from the sender.
//! - Have all data come ([`Flow::may_have_all`])? The sender knows the lengths of its segments.
//!   Without the question, a packet would have to carry its offset in bytes.
//! - Is anything still to come ([`Flow::settled`])? The answer ends a drain and frees a slot.
//!   Without the question, each end would have to report its counts to the world.

mod achieved;
mod alarm;
mod before;
mod far;
mod kind;
mod listed;
mod near;
mod reductions;

use std::sync::Arc;

use burstlab_tcp::{Ack, Transmission, Variant};
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

pub(in crate::world) use self::achieved::Achieved;
pub(super) use self::alarm::Alarm;
use self::before::Before;
pub(in crate::world) use self::far::{AckOutlet, Far};
pub(in crate::world) use self::kind::{Called, FlowKind};
pub(in crate::world) use self::near::{Near, Noted};
use super::NEAR;
use super::duplex::Duplex;
use super::options::CarriedOptions;
use super::stack::Stack;
use crate::measure::loss::{Causes, Loss, LossCause, ReductionCause, Truth};
use crate::scenario::Ending;
use crate::world::ahead::policy::{Ends, HostRules};
use crate::world::context::Context;
use crate::world::packet::{AckPacket, DataPacket};

/// The packets that a flow has sent and received.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct Tally {
    pub(in crate::world) sent: u64,
    pub(in crate::world) delivered: u64,
    pub(in crate::world) delivered_bytes: u64,
    pub(in crate::world) lost: u64,
    /// Of these, those that a queue dropped in place of a mark.
    pub(in crate::world) not_ect: u64,
    pub(in crate::world) acks_sent: u64,
    pub(in crate::world) acks_delivered: u64,
    pub(in crate::world) acks_lost: u64,
    /// Segments sent again though their last transmission was not lost.
    pub(in crate::world) spurious_retransmissions: u64,
    /// Time-outs by their true kind, and whether the detector excused them.
    pub(in crate::world) timeouts: [[u64; 2]; 3],
    /// Reductions of the window by cause, and the segments that they cost.
    pub(in crate::world) reductions: [(u64, f64); ReductionCause::COUNT],
}

impl Tally {
    /// Adds what another flow has sent and received.
    pub(in crate::world) fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.lost += other.lost;
        self.not_ect += other.not_ect;
        self.acks_sent += other.acks_sent;
        self.acks_delivered += other.acks_delivered;
        self.acks_lost += other.acks_lost;
    }

    /// Whether none of its packets is in transit.
    pub(super) fn is_settled(&self) -> bool {
        self.sent == self.delivered + self.lost
            && self.acks_sent == self.acks_delivered + self.acks_lost
    }
}

/// A connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Flow {
    pub(in crate::world) id: u32,
    /// The key of its draws.
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
    /// All that its application will ever write; `None` where data never ends.
    pub(in crate::world) bytes: Option<u64>,
    pub(in crate::world) near: Near,
    pub(in crate::world) far: Far,
    /// Third-party hosts, which take the place of the two. Not stored: a run with such is not.
    #[serde(skip)]
    pub(super) stack: Option<Box<Stack>>,
    /// The truth about its losses, which the world knows and no host does: counts and reasons, and
    /// the segments that are lost and have not come since. Packets that its two ends count are not
    /// in `counted`, but for those of third-party hosts and of edge nodes that send copies: only
    /// [`tally`](Self::tally) has all.
    pub(in crate::world) counted: Tally,
    pub(in crate::world) causes: Causes,
    /// Segments among these that the receiver was not asked for yet, and when they were lost: an
    /// earlier transmission may have brought them or, taken ahead of the clock, is yet to.
    unjoined: Vec<(u64, Time)>,
    /// Draws by which queues mark, or drop, the packets of a sender of our own.
    pub(super) mark_draws: u32,
    /// What its packets carry besides, if they do.
    pub(in crate::world) carried: Option<Box<CarriedOptions>>,
    /// The other direction of its connection, if that has data too.
    pub(super) duplex: Option<Box<Duplex>>,
    /// The values when measuring began.
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
        Self {
            id,
            key,
            from,
            to,
            demand: None,
            vacant: false,
            bytes,
            near: Near::new(id, kind, start, writes),
            far: Far::new(kind, bytes),
            kind: Arc::clone(kind),
            stack: None,
            counted: Tally::default(),
            causes: Causes::default(),
            unjoined: Vec::new(),
            mark_draws: 0,
            duplex: None,
            carried: (kind.config.variant == Variant::Linux).then(Box::default),
            before: Before::default(),
        }
    }

    /// The connection is gone; the slot is empty.
    pub(in crate::world) fn vacate(&mut self) {
        self.demand = None;
        self.vacant = true;
        self.causes = Causes::default();
        self.unjoined.clear();
        self.near.forget();
        self.far.forget();
    }

    /// Whether none of its packets is in transit or still to come.
    pub(in crate::world) fn settled(&self) -> bool {
        self.tally().is_settled()
            && self.near.sender().poll_timeout().is_none()
            && self.far.receiver().poll_timeout().is_none()
    }

    /// When its sender (0) or its receiver (1) sends next though nothing comes.
    pub(in crate::world) fn sends_by_itself(&self, side: usize, now: Time) -> Option<Time> {
        match side {
            NEAR => self.near.sends_by_itself(now),
            _ => self.far.receiver().poll_timeout(),
        }
    }

    /// Whether data wait, nothing of it is in flight or to be written, and no timer is set.
    pub(in crate::world) fn is_dead(&self) -> bool {
        if let Some(stack) = &self.stack {
            let waits =
                self.bytes.is_some() && self.far.received().is_none() && stack.ended().is_none();
            return waits && self.tally().is_settled() && stack.is_silent();
        }
        let sender = self.near.sender();
        let begun = sender.counters().segments_sent > 0;
        begun && !sender.finished() && self.settled() && sender.poll_release().is_none()
    }

    /// When its connection ended before its time, and why: where its hosts are third-party.
    pub(in crate::world) fn ended(&self) -> Option<(Time, Ending)> {
        self.stack.as_ref().and_then(|stack| stack.ended())
    }

    /// Time-outs whose losses were all in one burst.
    pub(in crate::world) fn false_timeouts(&self) -> u64 {
        self.counted.timeouts[Truth::False as usize].iter().sum()
    }

    /// A transmission is lost, the `nth` of segment `seq`.
    pub(in crate::world) fn lose(&mut self, (seq, nth): (u64, u32), loss: Loss) {
        self.counted.lost += 1;
        self.counted.not_ect += u64::from(loss.cause == LossCause::NotEct);
        if let Some(carried) = &mut self.carried {
            carried.take(seq, nth.min(u32::from(u16::MAX)) as u16);
        }
        if let Some(other) = &mut self.duplex {
            other.lose(seq, nth.min(u32::from(u16::MAX)) as u16);
        }
        if self.stack.as_mut().is_some_and(|stack| !stack.lose(seq)) {
            return;
        }
        // A later transmission may be under way, or lost for a reason of its own. Whether an
        // earlier one has arrived, the receiver is asked as the truth is: see `settle`.
        let latest = self.near.repeated().transmissions(seq).min(u32::from(u16::MAX));
        if nth >= latest {
            self.causes.lost(seq, loss);
            self.unjoined.push((seq, loss.at));
        }
    }

    /// ACKs are lost, so many from this one on.
    pub(in crate::world) fn lose_acks(&mut self, first: &AckPacket, count: u64) {
        self.counted.acks_lost += count;
        if let Some(stack) = &mut self.stack {
            stack.lose_acks(first.next - 1, count);
        }
    }

    /// An edge node sends a copy of `seq`; returns which transmission it is.
    pub(in crate::world) fn copied(&mut self, seq: u64) -> u32 {
        self.counted.sent += 1;
        self.causes.found(seq);
        self.near.sends_again(seq, 0)
    }

    /// Which transmission of its segment `sent` is, from 1.
    #[inline]
    pub(in crate::world) fn transmission(&mut self, sent: &Transmission) -> u32 {
        if !sent.retransmission {
            return 1;
        }
        let missing = self.causes.found(sent.seq);
        self.counted.spurious_retransmissions += u64::from(!missing);
        let acked = self.near.sender().highest_acked().unwrap_or(0);
        self.near.sends_again(sent.seq, acked)
    }

    /// A data packet is at the receiver: it is counted and recorded.
    #[inline(always)]
    pub(super) fn arrives(&mut self, now: Time, packet: &DataPacket, context: &mut Context) {
        self.far.count(1, u64::from(packet.size));
        self.causes.found(packet.seq);
        context.recorder.delivered(packet.row, now);
    }

    /// Segment `seq` is at the receiver; returns its ACK, if it sends one at once.
    #[inline]
    pub(in crate::world) fn receives(&mut self, now: Time, seq: u64) -> Option<Ack> {
        let next = self.far.receiver().next();
        let ack = self.far.receiver_mut().on_segment(now, seq);
        self.has_taken(now, next);
        ack
    }

    /// A packet came to the receiver, which waited for segment `next` before.
    #[inline]
    pub(super) fn has_taken(&mut self, now: Time, next: u64) {
        if self.far.goes_on(next) {
            self.may_have_all(now);
        }
    }

    /// Segments have come, the last of them at `at`: if they are all of the flow, that is noted.
    /// Some may be short: how many bytes they have, the sender knows.
    #[inline(always)]
    pub(in crate::world) fn may_have_all(&mut self, at: Time) {
        if self.far.may_have_all() {
            let received = self.near.sender().bytes_before(self.far.receiver().next());
            if self.bytes.is_some_and(|bytes| received >= bytes) {
                self.far.has_all(at);
            }
        }
    }

    /// Its counts of sent and received packets, by the counts of its sender too.
    pub(in crate::world) fn tally(&self) -> Tally {
        let (counters, got) = (self.near.sender().counters(), self.far.got());
        Tally {
            sent: counters.segments_sent + self.counted.sent,
            delivered: got.packets,
            delivered_bytes: got.bytes,
            acks_sent: got.acks,
            acks_delivered: counters.acks + self.counted.acks_delivered,
            ..self.counted.clone()
        }
    }

    /// Whether a packet that is in transit to the receiver comes [behind a
    /// gap](burstlab_tcp::Receiver::takes_behind), and no segment from there on was sent again, and
    /// perhaps lost. One that will be, before it comes, is known to [`Far`].
    #[inline]
    pub(in crate::world) fn takes_behind(&self, seq: u64) -> bool {
        self.far.receiver().takes_behind(seq) && self.near.repeated().is_below(seq)
    }

    /// Whether a packet with options that is in transit to the receiver is in order, and may be
    /// processed now.
    #[inline]
    pub(in crate::world) fn receives_fast(&self, packet: &DataPacket) -> bool {
        let options = self.carried.as_ref().and_then(|carried| carried.data.alike(packet.seq));
        packet.nth == 1 && options.is_some() && self.far.receiver().takes_full_fast(packet.seq)
    }

    /// The time is `now`, at which something happens to its hosts, and the truth may be asked for:
    /// joins the losses with the segments that have come by now.
    #[inline]
    pub(super) fn settle(&mut self, now: Time) {
        if !self.unjoined.is_empty() {
            self.join(now);
        }
    }

    #[inline(never)]
    fn join(&mut self, now: Time) {
        let Self { far, causes, unjoined, .. } = self;
        unjoined.retain(|&(seq, lost)| match far.has_from(now, seq) {
            None => false,
            Some(at) if at > now.max(lost) => true,
            Some(_) => {
                causes.found(seq);
                false
            }
        });
    }
}

impl Ends for Flow {
    #[inline(always)]
    fn rules(&self) -> &HostRules {
        &self.kind.ahead
    }

    #[inline(always)]
    fn is_done(&self) -> bool {
        self.near.completed().is_some()
    }

    #[inline(always)]
    fn writes_again(&self) -> bool {
        self.near.next_write().is_some()
    }

    #[inline(always)]
    fn misses(&self) -> bool {
        !self.causes.is_empty()
    }
}
