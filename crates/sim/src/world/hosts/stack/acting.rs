//! Third-party hosts act: at the start, by their alarms, and as packets come.

use burstlab_tcp::{Ack, SackBlocks, SegmentFlags, Transmission};
use burstlab_units::Time;

use super::in_transit::Kept;
use super::{End, FAR, NEAR, Stack, patience};
use crate::measure::SentRow;
use crate::scenario::{Ecn, Packet as Datagram, ScenarioError};
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::hosts::{Flow, Hosts};
use crate::world::packet::{AckPacket, DataPacket, Owner, Packet, stamp};
use crate::world::tie_key::TieKey;

/// The largest packet, in bytes, as the length of IP has 16 bits.
const PACKET_MAX: u64 = 65_535;

/// Whether a flow is dead, and of its connection all is: no host has an alarm, and no packet is in
/// flight.
pub(in crate::world) fn is_dead(hosts: &Hosts, flow: &Flow) -> bool {
    let other = flow.reverse_flow().map(|other| &hosts.flows[other as usize]);
    let rests = |other: &Flow| {
        other.stack.as_ref().is_none_or(|stack| stack.is_silent() && other.tally().is_settled())
    };
    flow.is_dead() && other.is_none_or(rests)
}

impl Flow {
    /// Whether its hosts are third-party.
    pub(in crate::world) fn is_third_party(&self) -> bool {
        self.stack.is_some()
    }
}

impl Hosts {
    /// Whether the hosts of a flow are a third-party stack.
    #[inline]
    pub(in crate::world) fn has_stack(&self, index: u32) -> bool {
        self.flows[index as usize].stack.is_some()
    }

    /// The fault of a third-party host that no run can go on with.
    pub(in crate::world) fn fault(&self) -> Option<&ScenarioError> {
        self.fault.as_deref()
    }

    /// Where the host at one side of a flow is: the flow that it sends packets of, and its side
    /// there.
    #[inline]
    pub(in crate::world) fn stack_at(&self, (index, side): (u32, usize)) -> (u32, usize) {
        match self.flows[index as usize].reverse_flow() {
            Some(other) if side == FAR => (other, NEAR),
            _ => (index, side),
        }
    }

    /// A flow with a stack begins at one of its ends. Answers, as the two below do, whether all of
    /// the flow is acknowledged now, for the first time.
    pub(in crate::world) fn stack_starts(
        &mut self,
        now: Time,
        (index, side): (u32, usize),
        context: &mut Context,
    ) -> bool {
        let before = self.stack_before(index, context);
        self.stack_end(index, side).host().start(now);
        self.stack_reacts(now, (index, side), &before, context)
    }

    /// A host has something to send of itself.
    pub(in crate::world) fn stack_called(
        &mut self,
        now: Time,
        (index, side): (u32, usize),
        context: &mut Context,
    ) -> bool {
        let before = self.stack_before(index, context);
        self.stack_end(index, side).host().handle_timeout(now);
        self.stack_reacts(now, (index, side), &before, context)
    }

    /// A packet from the host at the other end is there.
    pub(in crate::world) fn stack_hears(
        &mut self,
        now: Time,
        packet: &Packet,
        context: &mut Context,
    ) -> bool {
        let flow = &mut self.flows[packet.flow() as usize];
        context.recorder.delivered(packet.row(), now);
        let (side, number) = match packet {
            Packet::Data(packet) => {
                flow.far.count(1, u64::from(packet.size));
                (FAR, packet.seq)
            }
            Packet::Ack(packet) => {
                flow.counted.acks_delivered += 1;
                flow.near.note(now, 2, packet.next);
                (NEAR, packet.next - 1)
            }
        };
        let stack = flow.stack.as_mut().expect("the flow has a stack");
        if side == FAR {
            stack.lost.comes(number);
        }
        let sent = stack.end_mut(1 - side).in_transit.take(number);
        if let Some(sent) = &sent {
            stack.came = Some((number, sent.cargo));
        }
        let at = self.stack_at((packet.flow(), side));
        let before = self.stack_before(at.0, context);
        let stack = self.stack_of(at.0);
        let ecn = stack.ecn;
        if let Some(sent) = sent {
            let host = stack.end_mut(at.1).host();
            if ecn {
                host.hears_ecn(sent.ecn);
            }
            host.handle(now, sent.packet);
        }
        self.stack_reacts(now, at, &before, context)
    }

    /// The alarm of a host may be due.
    pub(in crate::world) fn stack_timer(
        &mut self,
        now: Time,
        (index, side): (u32, usize),
        context: &mut Context,
    ) -> bool {
        let before = self.stack_before(index, context);
        let end = self.stack_end(index, side);
        if !end.alarm.takes(now) || end.host().poll_timeout().is_none_or(|at| at > now) {
            context.stale += 1;
            return false;
        }
        if let Some(without_end) = end.busy.goes_on(now) {
            self.stack_fails(now, (index, side), &format!("calls for itself {without_end}"));
            return false;
        }
        end.host().handle_timeout(now);
        self.stack_reacts(now, (index, side), &before, context)
    }

    /// The next packet that a host sends now. When there is none, its alarm is seen to.
    pub(in crate::world) fn stack_sends(
        &mut self,
        now: Time,
        (index, side): (u32, usize),
        context: &mut Context,
    ) -> Option<Packet> {
        if self.fault.is_some() {
            return None;
        }
        let end = self.stack_end(index, side);
        let Some(datagram) = end.host().poll_transmit(now) else {
            let due = end.host().poll_timeout().map(|at| at.max(now));
            let place = [TieKey::SENDER, TieKey::RECEIVER][side].of(index);
            let event = [Event::NearStackTimer(index), Event::FarStackTimer(index)][side];
            end.alarm.arm(due, context, place, event);
            return None;
        };
        let (size, cargo, ecn) = (datagram.size.get(), end.host().carried(), end.host().ecn());
        let without_end = end.busy.goes_on(now);
        if let Some(problem) = self.refuses(index, side, &datagram, without_end) {
            self.stack_fails(now, (index, side), &problem);
            return None;
        }
        context.work += 1;
        if context.recorder.traces_datagrams() {
            self.stack_says(index, side, &datagram, context);
        }
        let flow = &mut self.flows[index as usize];
        flow.near.note(now, 8, size);
        let carried = flow.stack.as_ref().is_some_and(|stack| stack.ecn);
        let ecn = if carried { ecn } else { Ecn::NotEct };
        let sent = Kept { packet: datagram, cargo, ecn };
        Some(match side {
            NEAR => Packet::Data(self.stack_transmits(now, index, sent, context)),
            _ => Packet::Ack(self.stack_answers(now, index, sent, context)),
        })
    }

    /// Records the contents of the packet that comes next, and the secrets behind it.
    #[cold]
    fn stack_says(&mut self, index: u32, side: usize, says: &Datagram, context: &mut Context) {
        let flow = self.flows[index as usize].id;
        context.recorder.says(flow, &says.bytes);
        if let Some(lines) = self.stack_end(index, side).host().take_secrets() {
            context.recorder.secrets(flow, &lines);
        }
    }

    /// The sender of a flow with a stack sends a packet.
    fn stack_transmits(
        &mut self,
        now: Time,
        index: u32,
        sent: Kept,
        context: &mut Context,
    ) -> DataPacket {
        let stack = self.stack_of(index);
        let (size, cargo, state) = (sent.packet.size, sent.cargo, stack.state(NEAR));
        let seq = stack.end_mut(NEAR).in_transit.keep(sent);
        stack.lost.sent(cargo);
        let in_packets = |bytes: u64| bytes as f64 / state.packet.max(1) as f64;
        let cwnd = state.cwnd.map_or(f64::NAN, in_packets);
        let ssthresh = state.ssthresh.map_or(f64::NAN, in_packets);
        let flow = &mut self.flows[index as usize];
        flow.counted.sent += 1;
        flow.near.note(now, 1, seq);
        let (retransmission, flags) = (false, SegmentFlags::default());
        let sent = Transmission { seq, size, retransmission, cwnd, ssthresh, flags };
        let row = context.recorder.sent(now, flow.id, &SentRow::Data(&sent, 1));
        context.recorder.loaded(row, cargo.carries);
        let (size, cwnd) = (size.get() as u32, stamp(cwnd));
        DataPacket { owner: Owner::flow(index), nth: 1, cwnd, size, row, seq }
    }

    /// The receiver of a flow with a stack sends a packet.
    fn stack_answers(
        &mut self,
        now: Time,
        index: u32,
        sent: Kept,
        context: &mut Context,
    ) -> AckPacket {
        let (size, cargo) = (sent.packet.size, sent.cargo);
        let number = self.stack_end(index, FAR).in_transit.keep(sent);
        let ack = Ack { next: number + 1, sack: SackBlocks::NONE, size };
        let id = self.flows[index as usize].id;
        let row = context.recorder.sent(now, id, &SentRow::Ack(&ack, None));
        context.recorder.loaded(row, cargo.carries);
        AckPacket::new(index, row, &ack)
    }

    /// Why a host may not send a packet, if it may not; `without_end` says how much it has sent.
    fn refuses(
        &mut self,
        index: u32,
        side: usize,
        datagram: &Datagram,
        without_end: Option<&str>,
    ) -> Option<String> {
        let size = datagram.size.get();
        if !(1..=PACKET_MAX).contains(&size) {
            return Some(format!("sends a packet of {size} bytes"));
        }
        let stack = self.stack_of(index);
        if stack.end(side).in_transit.weight() + datagram.bytes.len() as u64 > patience::IN_TRANSIT
        {
            let most = patience::IN_TRANSIT >> 20;
            return Some(format!("sends more than the {most} MiB that may be in flight at once"));
        }
        // A machine sends its own packets in a time of its own.
        let without_end = without_end.filter(|_| !stack.live);
        without_end.map(|without_end| format!("sends {without_end}"))
    }

    /// A host makes a fault that no run can go on with.
    pub(super) fn stack_fails(&mut self, now: Time, (index, side): (u32, usize), what: &str) {
        let flow = &self.flows[index as usize];
        let name = flow.kind.variant.clone();
        let whose = ["sender", "receiver"][side];
        let problem = format!("its {whose} {what}, at {now} in flow {}", flow.id);
        let fix = match self.stack_of(index).live {
            true => "bound access.queue, so that what does not fit is lost, or send less",
            false => "fix the stack, or write another",
        };
        self.fault = Some(Box::new(ScenarioError::new("flows.stack", name, problem, fix)));
    }

    fn stack_end(&mut self, index: u32, side: usize) -> &mut End {
        self.stack_of(index).end_mut(side)
    }

    pub(super) fn stack_of(&mut self, index: u32) -> &mut Stack {
        self.flows[index as usize].stack.as_mut().expect("the flow has a stack")
    }
}
