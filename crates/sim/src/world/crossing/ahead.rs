//! A direction of a path with one flow, ahead of the clock: its packets come in order, over one
//! link, so that which of them make a burst is known as they are put on that link, and an ACK that
//! is a burst of its own crosses as it is sent. Only the closing of a burst is an event.

use burstlab_kernel::Rank;
use burstlab_optical::{AssemblyPolicy, ClosedBurst, Forwarding};
use burstlab_units::Time;

use super::{Crossing, Direction};
use crate::world::flow::Flow;
use crate::world::optics::Path;
use crate::world::packet::Parcel;
use crate::world::{Context, Event};
use crate::scenario::Scenario;

/// How far a direction is ahead.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// Packets of the open burst.
    gathered: usize,
    /// When the last packet so far reaches the edge.
    latest: Time,
    /// No more bursts than these are closed until all that is sent now is acknowledged.
    round: u64,
}

/// A burst that is complete.
#[derive(Clone, Debug)]
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
        self.forwarding == Forwarding::CutThrough
            && self.spacing.is_zero()
            && self.script.is_empty()
            && match self.assembler.policy() {
                AssemblyPolicy::Timer(span) => !span.is_zero(),
                AssemblyPolicy::Adaptive { .. } => false,
                _ => self.fates.are_none(),
            }
    }

    /// From now on packets are assembled as they are put on the link; they are those of a flow
    /// whose receiver has a window of `window` segments.
    fn go_ahead(&mut self, window: u64) {
        // In slow start each ACK lets two packets go; each packet is in one burst.
        let round = 4 * window + 64;
        self.ahead = Some(Ahead { gathered: 0, latest: Time::ZERO, round });
    }

    /// Whether packets are assembled as they are put on the link.
    #[inline]
    pub(in crate::world) fn assembles_ahead(&self) -> bool {
        self.ahead.is_some() && self.assembler.policy() != AssemblyPolicy::None
    }

    /// A packet will reach the edge at `at`, behind all others.
    #[inline]
    pub(in crate::world) fn assemble(&mut self, at: Time, packet: P, context: &mut Context) {
        if self.assembler.poll_timeout().is_some_and(|deadline| deadline <= at) {
            self.seal();
        }
        let event = self.assembly_event();
        let ahead = self.ahead.as_mut().expect("this direction is ahead");
        ahead.latest = at;
        ahead.gathered += 1;
        let first = ahead.gathered == 1;
        self.flying.push_back(packet);
        if self.assembler.push(at, (), packet.bytes()) {
            context.queue.push(at, Rank::Arrival, event);
            self.seal_at(at);
        } else if first && let Some(deadline) = self.assembler.poll_timeout() {
            context.queue.push(deadline, Rank::Timer, event);
        }
    }

    /// The open burst is complete when its timer ends.
    fn seal(&mut self) {
        if let Some(deadline) = self.assembler.poll_timeout() {
            self.seal_at(deadline);
        }
    }

    fn seal_at(&mut self, at: Time) {
        let ahead = self.ahead.as_mut().expect("this direction is ahead");
        let packets = std::mem::take(&mut ahead.gathered);
        let burst = self.assembler.close(&mut Vec::new());
        self.sealed.push_back(Sealed { burst, at, packets });
    }

    /// Sends off the burst that is closed now, if one is.
    pub(super) fn depart(&mut self, now: Time, context: &mut Context, flows: &mut [Flow]) {
        if self.assembler.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.seal();
        }
        if self.sealed.front().is_none_or(|next| next.at > now) {
            context.stale += 1;
            return;
        }
        let Some(Sealed { burst, packets, .. }) = self.sealed.pop_front() else { return };
        if self.fates.first_doomed(burst.number).is_some() {
            let last = self.in_core + packets;
            let packets: Vec<P> = self.flying.drain(self.in_core..last).collect();
            self.dispatch(now, &burst, &packets, context, flows);
        } else {
            self.bursts_sent += 1;
            self.fly(now, burst.bytes, packets, context);
        }
    }

    /// An ACK that is a burst of its own is at its edge at `at`; what happens at its sender may be
    /// done until `until`.
    #[inline]
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
        let burst = self.assembler.pass(at, packet.bytes());
        self.bursts_sent += 1;
        let departure = self.path.start(at + self.offset, burst.bytes);
        let arrives = self.path.cross(departure, self.path.hops());
        if self.in_core == 0 && arrives <= until {
            self.bursts_delivered += 1;
            return Passed::At(arrives);
        }
        self.flying.push_back(*packet);
        self.in_core += 1;
        self.land_at(arrives, 1, context);
        Passed::Flies
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
        match self.assembler.policy() {
            AssemblyPolicy::Timer(span) => {
                let deadline = self.assembler.poll_timeout().unwrap_or(next + span);
                deadline + span * (number - known - 1)
            }
            _ => next,
        }
    }
}

impl Path {
    /// How far receivers and senders may be ahead of the clock, as `now` a burst lands: the run may
    /// end with burst `limit`, and all that happens to a sender is noted in one digest with the
    /// losses of bursts, in order of time.
    pub(in crate::world) fn ahead(&mut self, now: Time, until: Time, limit: u64) -> (Time, Time) {
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
        let alone = scenario.traffic.is_empty() && !flow.kind.listens.at_all();
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
