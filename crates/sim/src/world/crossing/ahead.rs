//! A direction of a path with one flow, ahead of the clock: its packets come in order, over one
//! link, so that which of them make a burst is known as they are put on that link, and an ACK that
//! is a burst of its own crosses as it is sent. Only the closing of a burst is an event.

use burstlab_kernel::Rank;
use burstlab_optical::{AssemblyPolicy, ClosedBurst, Forwarding};
use burstlab_units::{Bytes, Evenly, Time};
use serde::{Deserialize, Serialize};

use super::{Crossing, Direction};
use crate::scenario::Scenario;
use crate::world::flow::Flow;
use crate::world::optics::Path;
use crate::world::packet::Parcel;
use crate::world::{Context, Event};

/// How far a direction is ahead.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ahead {
    /// No more bursts than these are closed until all that is sent now is acknowledged.
    round: u64,
    /// The open burst: packets, bytes, when it was opened, and when its timer ends.
    packets: usize,
    bytes: Bytes,
    opened: Time,
    deadline: Time,
    /// Bytes that close it.
    full: Bytes,
    /// When the last packet so far reaches the edge.
    latest: Time,
}

/// A burst that is complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sealed {
    burst: ClosedBurst,
    at: Time,
    packets: usize,
}

/// What becomes of an ACK that may cross ahead of the clock.
pub(in crate::world) enum Passed {
    /// It does not; it will be at the edge as an event.
    No,
    /// It is under way.
    Flies,
    /// It is at the ingress at this time.
    At(Time),
}

impl<P: Parcel> Crossing<P> {
    /// Whether all packets of a burst leave together, no script looks at them, and only bursts that
    /// a timer closes are lost.
    fn may_go_ahead(&self) -> bool {
        let policy = self.assembler.policy();
        self.forwarding == Forwarding::CutThrough
            && self.spacing.is_zero()
            && self.script.is_empty()
            && (policy.timer_alone().is_some() || self.fates.are_none())
            && policy.complete_at().is_some()
    }

    /// From now on packets are assembled as they are put on the link; they are those of a flow
    /// whose receiver has a window of `window` segments.
    fn go_ahead(&mut self, window: u64) {
        // In slow start each ACK lets two packets go; each packet is in one burst.
        let round = 4 * window + 64;
        let full = self.assembler.policy().complete_at().expect("it may go ahead");
        self.ahead = Some(Ahead {
            round,
            packets: 0,
            bytes: Bytes::ZERO,
            opened: Time::ZERO,
            deadline: Time::MAX,
            full,
            latest: Time::ZERO,
        });
    }

    /// Whether packets are assembled as they are put on the link.
    #[inline]
    pub(in crate::world) fn assembles_ahead(&self) -> bool {
        self.ahead.is_some() && self.assembler.policy() != AssemblyPolicy::None
    }

    /// Whether ACKs that are bursts of their own may cross ahead of the clock: none is under way.
    #[inline]
    pub(in crate::world) fn is_clear(&self) -> bool {
        self.ahead.is_some()
            && self.assembler.policy() == AssemblyPolicy::None
            && self.flying.is_empty()
    }

    /// A packet will reach the edge at `at`, behind all others.
    #[inline(always)]
    pub(in crate::world) fn assemble(&mut self, at: Time, packet: P, context: &mut Context) {
        let Some(open) = &mut self.ahead else { return };
        let bytes = packet.bytes();
        if open.packets > 0 && at < open.deadline && open.bytes + bytes < open.full {
            open.packets += 1;
            open.bytes += bytes;
            open.latest = at;
            self.flying.push_back(packet);
        } else {
            self.assemble_at_bound(at, packet, context);
        }
    }

    /// The packet is the first of a burst, or the last.
    #[inline(never)]
    fn assemble_at_bound(&mut self, at: Time, packet: P, context: &mut Context) {
        let event = self.assembly_event();
        let Some(open) = &mut self.ahead else { return };
        if open.packets > 0 && open.deadline <= at {
            self.seal(None);
        }
        let Some(open) = &mut self.ahead else { return };
        let opens = open.packets == 0;
        if opens {
            self.assembler.open(at);
            open.opened = at;
            open.deadline = self.assembler.poll_timeout().unwrap_or(Time::MAX);
        }
        open.packets += 1;
        open.bytes += packet.bytes();
        open.latest = at;
        self.flying.push_back(packet);
        if open.bytes >= open.full {
            context.queue.push(at, Rank::Arrival, event);
            self.seal(Some(at));
        } else if opens && open.deadline < Time::MAX {
            context.queue.push(open.deadline, Rank::Timer, event);
        }
    }

    /// The open burst is complete: when its timer ends, or at a given time.
    fn seal(&mut self, at: Option<Time>) {
        let Some(open) = &mut self.ahead else { return };
        let at = at.unwrap_or(open.deadline);
        let packets = std::mem::take(&mut open.packets);
        self.assembler.push(open.opened, (), std::mem::take(&mut open.bytes));
        open.deadline = Time::MAX;
        let burst = self.assembler.close(&mut Vec::new());
        self.sealed.push_back(Sealed { burst, at, packets });
    }

    /// Sends off the burst that is closed now, if one is.
    pub(super) fn depart(&mut self, now: Time, context: &mut Context, flows: &mut [Flow]) {
        if self.ahead.as_ref().is_some_and(|open| open.deadline <= now) {
            self.seal(None);
        }
        if self.sealed.front().is_none_or(|next| next.at > now) {
            context.stale += 1;
            return;
        }
        let Some(Sealed { burst, packets, .. }) = self.sealed.pop_front() else { return };
        if self.fates.first_doomed(burst.number).is_some() {
            let last = self.in_core + packets;
            let mut packets = std::mem::take(&mut self.waiting);
            packets.extend(self.flying.drain(self.in_core..last));
            self.dispatch(now, &burst, &packets, context, flows);
            packets.clear();
            self.waiting = packets;
        } else {
            self.bursts_sent += 1;
            self.fly(now, burst.bytes, packets, context);
        }
    }

    /// An ACK that is a burst of its own is at its edge at `at`; what happens at its sender may be
    /// done until `until`.
    pub(in crate::world) fn pass_ahead(
        &mut self,
        at: Time,
        packet: &P,
        until: Time,
        context: &mut Context,
    ) -> Passed {
        let number = self.assembler.closed() + 1;
        if self.ahead.is_none() || at > until || self.fates.first_doomed(number).is_some() {
            return Passed::No;
        }
        let arrives = self.pass_one(at, packet.bytes());
        if self.in_core == 0 && arrives <= until {
            self.passed(1, 1);
            return Passed::At(arrives);
        }
        self.passed(1, 0);
        self.flies(arrives, *packet, context);
        Passed::Flies
    }

    /// When a burst of `size` that leaves its edge at `at` has crossed; it is yet to be
    /// [counted](Self::passed).
    #[inline(always)]
    pub(in crate::world) fn pass_one(&mut self, at: Time, size: Bytes) -> Time {
        let departure = self.path.start(at + self.offset, size);
        self.path.cross(departure, self.path.hops())
    }

    /// When `count` bursts of `size` that are evenly at their edge would have crossed.
    #[inline]
    pub(in crate::world) fn plan(
        &mut self,
        at_edge: &Evenly,
        count: u32,
        size: Bytes,
    ) -> Option<Evenly> {
        self.path.plan((at_edge.first + self.offset, at_edge.gap), count, size)
    }

    /// `count` bursts cross as [planned](Self::plan) and have landed.
    #[inline]
    pub(in crate::world) fn follow(&mut self, arrivals: &Evenly, count: u32) {
        self.path.follow(arrivals);
        self.passed(u64::from(count), u64::from(count));
    }

    /// Counts bursts of one packet that have left, and those of them that have landed.
    #[inline]
    pub(in crate::world) fn passed(&mut self, sent: u64, landed: u64) {
        self.assembler.skip(sent);
        self.bursts_sent += sent;
        self.bursts_delivered += landed;
    }

    /// A burst of one packet, which is counted, lands at `at`.
    pub(in crate::world) fn flies(&mut self, at: Time, packet: P, context: &mut Context) {
        self.flying.push_back(packet);
        self.in_core += 1;
        self.land_at(at, 1, context);
    }

    /// Before when no burst closes that is lost.
    fn lossless_before(&mut self, now: Time) -> Time {
        let last = self.ahead.as_ref().map_or(0, |ahead| self.closed() + ahead.round);
        let first = self.fates.first_doomed(last);
        first.map_or(Time::MAX, |first| self.open_until(now, first))
    }

    /// Before when burst `number` does not close.
    fn open_until(&self, now: Time, number: u64) -> Time {
        let Some(ahead) = &self.ahead else { return now };
        let (closed, known) = (self.closed(), self.assembler.closed());
        if number > closed + ahead.round {
            return Time::MAX;
        }
        if number <= known {
            return self.sealed[(number - closed - 1) as usize].at;
        }
        let next = now.max(ahead.latest);
        match self.assembler.policy().timer_alone() {
            Some(span) => {
                let open = ahead.packets > 0;
                let deadline = if open { ahead.deadline } else { next + span };
                deadline + span * (number - known - 1)
            }
            None => next,
        }
    }
}

impl Path {
    /// How far receivers and senders may be ahead of the clock, as `now` a burst lands: the run may
    /// end with burst `limit`, and all that happens to a sender is noted in one digest with the
    /// losses of bursts, in order of time.
    pub(in crate::world) fn ahead(&mut self, now: Time, until: Time, limit: u64) -> (Time, Time) {
        if limit == u64::MAX && self.data.fates.are_none() && self.ack.fates.are_none() {
            return (until, until);
        }
        let before = |time: Time| Time::from_ps(time.as_ps().saturating_sub(1));
        let until = until.min(before(self.data.open_until(now, limit)));
        let lossless = self.data.lossless_before(now).min(self.ack.lossless_before(now));
        (until, until.min(before(lossless)))
    }

    /// Lets the hosts be ahead of the clock if there is one flow, which shares nothing, and nobody
    /// looks at single packets or bursts; answers whether they may. No loss may be at the instant
    /// of an arrival: which of the two is first could not be told.
    pub(in crate::world) fn go_ahead(&mut self, scenario: &Scenario, flows: &[Flow]) -> bool {
        let [flow] = flows else { return false };
        let alone = scenario.traffic.is_empty() && !flow.kind.is_by_the_clock();
        let may = alone && self.data.may_go_ahead() && self.ack.may_go_ahead();
        if may && self.data.assembler.policy() != AssemblyPolicy::None {
            self.data.go_ahead(flow.kind.window());
            self.ack.go_ahead(flow.kind.window());
            return true;
        }
        false
    }
}

impl<P> Crossing<P> {
    pub(super) fn assembly_event(&self) -> Event {
        match self.direction {
            Direction::Data => Event::DataAssembly,
            Direction::Ack => Event::AckAssembly,
        }
    }
}
