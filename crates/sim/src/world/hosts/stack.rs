//! Third-party hosts, such as those of a QUIC stack. The contents of their packets are kept here.
//! Over links, edges and fibres they go as those of our own TCP do: those of the sender as data
//! packets and those of the receiver as ACKs, each by its number. Of a connection with data in both
//! directions each host is the sender of one flow, and all packets are data packets: the receiver
//! of a flow is at the sender of the other. Such hosts are never ahead of the clock.

mod in_transit;
mod lost;
mod patience;
mod reacts;

use std::sync::{Mutex, PoisonError};

use burstlab_kernel::RandomSource;
use burstlab_tcp::{Ack, SackBlocks, SegmentFlags, Transmission};
use burstlab_units::{Span, Time};

use self::in_transit::{InTransit, Kept, Weight};
use self::lost::LostCargo;
use self::patience::Busy;
use super::Hosts;
use super::connection::{Alarm, Flow};
use super::duplex::replies;
use crate::measure::{FlowSummary, SentRow};
use crate::scenario::{
    Back, Cargo, Connection, Ecn, Ending, Host, HostState, LIVE, Packet as Datagram, Resolved,
    ScenarioError,
};
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::packet::{AckPacket, DataPacket, Packet, stamp};
use crate::world::tie_key::TieKey;

/// The largest packet, in bytes, as the length of IP has 16 bits.
const PACKET_MAX: u64 = 65_535;

/// The sender and the receiver of a flow.
pub(in crate::world) const NEAR: usize = 0;
pub(in crate::world) const FAR: usize = 1;

/// The hosts of a flow, and the packets in transit that they have sent.
#[derive(Debug)]
pub(super) struct Stack {
    /// The receiver is not here where it is the sender of the flow of the other direction.
    ends: [Option<End>; 2],
    /// Of all packets of the sender that are acknowledged, the highest.
    acked: Option<u64>,
    /// The losses, as its sender may report them.
    lost: LostCargo,
    counts: Counts,
    /// When each end found its connection to be dead before its time, and why.
    ended: [Option<(Time, Ending)>; 2],
    /// The packet that came last, and what is in it.
    came: Option<(u64, Cargo)>,
    /// Application data that had come to its receiver when it was asked last, in bytes.
    received: u64,
    /// Whether its hosts send by themselves, as fast as a machine lets them.
    live: bool,
    /// Bytes that its receiver had when measuring began, and the counts of its sender.
    before: (u64, Counts),
    /// Draws by which queues mark.
    drawn: u64,
    /// Whether the network carries what headers of IP say of congestion.
    ecn: bool,
    /// Its data packets that queues have marked.
    marked: u64,
}

/// Counts of the reports of a sender.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Packets taken for lost or sent again, and repairs of what is not in one yet.
    repaired: u64,
    repairs: u64,
    timeouts: u64,
    /// Looks at the smoothed round trip, and their sum.
    round_trips: u64,
    round_trip: Span,
}

/// One of the two.
#[derive(Debug)]
struct End {
    /// Locked only to be looked at: hosts need not be shared between threads, worlds are.
    host: Mutex<Box<dyn Host>>,
    alarm: Alarm,
    in_transit: InTransit,
    busy: Busy,
}

/// A run with third-party hosts goes on in one place alone: nobody can double them.
impl Clone for Stack {
    fn clone(&self) -> Self {
        panic!("a run whose flows have a third-party stack cannot be cloned")
    }
}

impl End {
    fn new(host: Box<dyn Host>, weight: Weight) -> Self {
        let (host, in_transit) = (Mutex::new(host), InTransit::weighing(weight));
        Self { host, alarm: Alarm::OFF, in_transit, busy: Busy::default() }
    }

    fn host(&mut self) -> &mut dyn Host {
        &mut **self.host.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stack {
    fn new(hosts: [Option<Box<dyn Host>>; 2], (live, ecn): (bool, bool), weight: &Weight) -> Self {
        Self {
            ends: hosts.map(|host| host.map(|host| End::new(host, weight.clone()))),
            acked: None,
            lost: LostCargo::default(),
            counts: Counts::default(),
            ended: [None; 2],
            came: None,
            received: 0,
            live,
            before: (0, Counts::default()),
            drawn: 0,
            ecn,
            marked: 0,
        }
    }

    #[inline]
    fn end(&self, side: usize) -> &End {
        self.ends[side].as_ref().expect("the host is one of this flow")
    }

    #[inline]
    fn end_mut(&mut self, side: usize) -> &mut End {
        self.ends[side].as_mut().expect("the host is one of this flow")
    }

    /// When its connection ended before its time, and why: as its sender says, if that does.
    pub(super) fn ended(&self) -> Option<(Time, Ending)> {
        self.ended[NEAR].or(self.ended[FAR])
    }

    /// Whether it has begun, and neither host has an alarm.
    pub(super) fn is_silent(&self) -> bool {
        let alarm = |end: &End| {
            end.host.lock().unwrap_or_else(PoisonError::into_inner).poll_timeout().is_some()
        };
        self.end(NEAR).in_transit.kept() > 0 && !self.ends.iter().flatten().any(alarm)
    }

    /// Whether neither host has an alarm, and no packet is in flight.
    fn rests(&self, flow: &Flow) -> bool {
        self.is_silent() && flow.tally().is_settled()
    }

    /// A data packet is lost; returns whether the sender still waits for it.
    pub(super) fn lose(&mut self, number: u64) -> bool {
        let cargo = self.end_mut(NEAR).in_transit.take(number).map(|sent| sent.cargo);
        self.lost.lose(number, cargo.unwrap_or_default())
    }

    /// A queue marks a data packet; returns whether that is so now.
    pub(super) fn mark(&mut self, number: u64) -> bool {
        let End { host, in_transit, .. } = self.end_mut(NEAR);
        let host = host.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(sent) = in_transit.get_mut(number) else { return false };
        let before = sent.ecn;
        let marked = match before {
            Ecn::NotEct => host.mark(&mut sent.packet),
            _ => {
                sent.ecn = Ecn::Ce;
                true
            }
        };
        self.marked += u64::from(marked && before != Ecn::Ce);
        marked
    }

    /// Numbers the draws by which queues mark its packets.
    pub(super) fn draws(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn - 1
    }

    /// Packets of the receiver are lost.
    pub(super) fn lose_acks(&mut self, first: u64, count: u64) {
        let in_transit = &mut self.end_mut(FAR).in_transit;
        (first..first + count).for_each(|number| drop(in_transit.take(number)));
    }

    fn state(&self, side: usize) -> HostState {
        self.end(side).host.lock().unwrap_or_else(PoisonError::into_inner).state()
    }

    /// Measuring begins.
    pub(super) fn warmed_up(&mut self) {
        self.before = (self.received, self.counts);
    }

    /// Application data that came in the measured time, in bytes, and the round trips measured in
    /// it: how many, and their mean.
    pub(super) fn achieved(&self) -> (u64, u64, Option<f64>) {
        let (received, before) = &self.before;
        let count = self.counts.round_trips - before.round_trips;
        let sum = (self.counts.round_trip - before.round_trip).as_secs_f64();
        let bytes = self.received - received;
        (bytes, count, (count > 0).then(|| sum / count as f64))
    }

    /// Puts the reports of the sender in their place.
    pub(super) fn tell(&self, summary: &mut FlowSummary) {
        summary.packets_sent = self.end(NEAR).in_transit.kept();
        summary.retransmissions = self.counts.repaired;
        summary.fast_retransmits = self.counts.repairs;
        summary.timeouts = self.counts.timeouts;
        summary.packets_marked = self.marked;
        summary.ended = self.ended().map(|(_, why)| why.label().to_string());
        summary.ended_s = self.ended().map(|(at, _)| at.as_secs_f64());
    }
}

/// Asks for the hosts of the flows that have a stack.
///
/// # Panics
/// Where nobody makes them.
pub(super) fn seat(flows: &mut [Flow], resolved: &Resolved, random: &RandomSource) {
    if !resolved.needs_stacks() {
        return;
    }
    let stacks = resolved.stacks.as_ref().expect("somebody makes the stacks of a scenario");
    let (draws, weight) = (random.stream("stacks"), Weight::default());
    let entries = resolved.scenario.flows().iter();
    let mut each = entries.flat_map(|entry| (0..entry.count).map(move |_| entry));
    let mut rest = flows;
    while let Some(entry) = each.next().filter(|_| !rest.is_empty()) {
        let both = entry.reverse.is_some();
        let (pair, later) = std::mem::take(&mut rest).split_at_mut(1 + usize::from(both));
        rest = later;
        let Some(stack) = &entry.stack else { continue };
        let flow = &pair[0];
        let [share, _] = draws.uniforms(flow.key);
        let connection = Connection {
            flow: flow.id,
            stack: stack.clone(),
            congestion_control: entry.congestion_control.clone(),
            bytes: flow.bytes,
            writes: flow.near.writes().collect(),
            back: pair.get(1).map(written_back),
            streams: entry.streams,
            ecn: entry.ecn,
            // 53 bits, as many as a draw has.
            seed: (share * (1_u64 << 53) as f64) as u64,
        };
        let [near, far] = stacks.hosts(&connection).map(Some);
        let kind = (connection.stack == LIVE, entry.ecn);
        let pairs = if both { vec![[near, None], [far, None]] } else { vec![[near, far]] };
        for (flow, hosts) in pair.iter_mut().zip(pairs) {
            flow.stack = Some(Box::new(Stack::new(hosts, kind, &weight)));
        }
    }
}

/// The writes of the application of a flow back.
fn written_back(flow: &Flow) -> Back {
    let reply = replies(flow);
    let wait = reply.unwrap_or_default();
    let writes = match (flow.near.is_endless(), reply) {
        (false, _) => flow.near.writes().map(|(at, bytes)| (at + wait, bytes)).collect(),
        (true, Some(_)) => vec![(Time::ZERO + wait, u64::MAX)],
        (true, None) => vec![(flow.near.start(), u64::MAX)],
    };
    Back { bytes: flow.bytes, writes, reply: reply.is_some() }
}

/// Whether a flow is dead, and of its connection all is: no host has an alarm, and no packet is in
/// flight.
pub(in crate::world) fn is_dead(hosts: &Hosts, flow: &Flow) -> bool {
    let other = flow.reverse_flow().map(|other| &hosts.flows[other as usize]);
    let rests = |other: &Flow| other.stack.as_ref().is_none_or(|stack| stack.rests(other));
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
        DataPacket { flow: index, nth: 1, cwnd, size, row, seq }
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
    fn stack_fails(&mut self, now: Time, (index, side): (u32, usize), what: &str) {
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

    fn stack_of(&mut self, index: u32) -> &mut Stack {
        self.flows[index as usize].stack.as_mut().expect("the flow has a stack")
    }
}
