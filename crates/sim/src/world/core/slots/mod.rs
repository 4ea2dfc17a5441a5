//! A slotted network of optical packets. Slots are numbered, and all nodes switch in step: one
//! event does all the work of one slot, and slots without work cost nothing. Three things are known
//! ahead and need no event: the time at which a packet is at its edge node, at which an optical
//! packet has crossed its last fibre, and at which an ACK outside of the slots arrives.

mod calendar;
mod coming;
mod dlcc;
mod edge;
mod ingress;
mod network;
mod notice;
mod pair;
mod report;
mod reroute;
mod surgery;
mod switching;
mod tally;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use burstlab_kernel::{Lane, RandomSource, Rank, Stream, Ticket};
use burstlab_optical::Fibres;
use burstlab_optical::slotted::{
    AckProxy, Admission, Cell, Descriptor, Piece, ProxyRules, SlotClock, Switch,
};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::calendar::Calendar;
use self::ingress::{Ingress, Moment};
use self::notice::CongestionNotice;
use self::pair::Pair;
use self::reroute::Detours;
use self::tally::{OpsTally, SlotLinkTally};
use super::effects::{Effects, Expected};
use super::flows::{Address, Flows};
use super::marks::Markers;
use crate::measure::OpsSummary;
use crate::scenario::{AckWay, Congestion, Dlcc, Ops, Resolved};
use crate::slab::{Slab, Slot};
use crate::topology::{Graph, Routes};
use crate::world::ahead::policy::ACKS;
use crate::world::context::Context;
use crate::world::events::SlotEvent;
use crate::world::packet::{AckPacket, DataPacket, Packet};
use crate::world::tie_key::TieKey;

/// An optical packet in flight.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct InFlight {
    cell: Cell<Packet>,
    pair: u32,
    /// Fibres that it has been sent on.
    hop: u32,
    /// Its number for users: optical packets are counted as they leave their edges, over the whole
    /// network. It decides nothing but the effect of surgery.
    label: u64,
    /// The slot in which it left its edge.
    left: u64,
}

impl InFlight {
    /// The pieces in it that no queue has dropped.
    #[inline]
    fn left(&self) -> impl Iterator<Item = &Piece<Packet>> {
        self.cell.pieces().filter(|piece| piece.parts > 0)
    }

    /// Place of its kind: 0 if it carries a part of a data packet, 1 if ACKs alone.
    #[inline]
    fn kind(&self) -> usize {
        let mut pieces = self.cell.pieces();
        usize::from(!pieces.any(|piece| matches!(piece.datagram, Packet::Data(_))))
    }
}

/// The slot by which an optical packet in flight is known.
type CellSlot = Slot<InFlight>;

/// A node: its switch, and the buffers of its edge.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SlotNode {
    switch: Switch<CellSlot>,
    /// Fibres that end here, and those that begin here: the outputs of the switch.
    incoming: Vec<u32>,
    outgoing: Vec<u32>,
    /// Buffers for other edge nodes.
    pairs: Vec<u32>,
    random: Stream,
    /// Which of the buffers sends first whose packets came at one instant.
    turns: Stream,
}

impl SlotNode {
    /// A node whose outputs share a buffer of so many slots.
    fn new(graph: &Graph, node: u32, buffer: u32, source: &RandomSource) -> Self {
        let outgoing = graph.outgoing(node).to_vec();
        let widths = outgoing.iter().map(|&link| graph.link(link).wavelengths);
        let switch = Switch::new(widths, buffer);
        let (incoming, pairs) = (Vec::new(), Vec::new());
        let random = source.stream(&format!("ops/order/{node}"));
        let turns = source.stream(&format!("ops/turn/{node}"));
        Self { switch, incoming, outgoing, pairs, random, turns }
    }
}

/// A fibre and the output it begins at.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SlotFibre {
    /// The cells on it, by the slot in which they arrive.
    flying: VecDeque<(u64, CellSlot)>,
    /// How many of it have come to their egress at its end.
    ending: u32,
    /// Which output of its node it begins at.
    port: u32,
    descriptor: Descriptor,
    /// Notifications that wait for a slot to take them along.
    waiting: Vec<CongestionNotice>,
    /// Whether a timer is set for them, or for some that are gone.
    timed: bool,
    /// The slot, counted from 1, in which it went first when slots last met at its end.
    first: u64,
    tally: SlotLinkTally,
}

/// The part that does not change, and is not stored.
#[derive(Clone, Debug, Default)]
struct Fixed {
    graph: Graph,
    fibres: Fibres,
    /// By fibre: how many slots later a cell that leaves on it is at its end, if that never
    /// changes.
    lasts: Vec<Option<u64>>,
    routes: Arc<Routes>,
    rules: Ops,
    /// Rules of the edge for connections, if it writes ACKs.
    proxy: Option<ProxyRules>,
    /// Edge nodes that do not smooth.
    unsmoothed: Vec<bool>,
    /// Whether the links to receivers drop packets.
    drops_behind: bool,
}

impl Fixed {
    /// The slot in which what leaves on a fibre in slot `slot` is at its end. None ever fails.
    #[inline]
    fn crosses(&self, clock: SlotClock, slot: u64, link: u32) -> u64 {
        match self.lasts[link as usize] {
            Some(slots) => slot + slots,
            None => clock.synchronised(slot, self.fibres.signal(link, clock.start(slot))),
        }
    }

    /// Whether ACKs travel outside the slots.
    #[inline]
    fn frees_acks(&self) -> bool {
        self.rules.acks == AckWay::Free
    }
}

/// An edge's record of a connection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    /// The flow's number: its slot may hold another one by now.
    id: u32,
    proxy: AckProxy<DataPacket>,
}

/// A slotted network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct SlotNetwork {
    /// Not stored: the scenario has it, and no event changes it.
    #[serde(skip)]
    fixed: Fixed,
    /// Its facts about the flows.
    pub(super) flows: Flows,
    /// The effects that hosts and links are yet to process. Not stored: empty between two events.
    #[serde(skip)]
    pub(super) effects: Effects,
    clock: SlotClock,
    nodes: Vec<SlotNode>,
    calendar: Calendar,
    /// Whether something happens at this instant before the nodes that are still to come in it.
    at_once: bool,
    /// Packets that came to an edge node before this moment came before the present work.
    present: Moment,
    fibres: Vec<SlotFibre>,
    /// By fibre: the slot in which the first of what is on it arrives. They lie together, as each
    /// slot of a node looks at all fibres that end there.
    fronts: Vec<u64>,
    cells: Slab<InFlight>,
    /// Buffers by ingress and egress, as they come to be used.
    pairs: Vec<Pair>,
    numbers: BTreeMap<(u32, u32), u32>,
    detours: Detours,
    admission: Admission,
    /// When buffers negotiate, and in which order at one instant.
    negotiations: Stream,
    ingress: Ingress,
    /// By slot of the flow: what its edge knows, and ACKs that will be there.
    known: Vec<Known>,
    home: Vec<Lane<AckPacket>>,
    notices: Slab<CongestionNotice>,
    /// Optical packets sent so far.
    numbered: u64,
    /// Units of time of the smoothing so far.
    units: u64,
    pub(super) cross_lost: u64,
    /// Of the buffers of nodes.
    markers: Markers,
    pub(super) tally: OpsTally,
    /// The numbers at the end of the measured time, where the run goes on.
    measured: Option<Box<OpsSummary>>,
    /// Cells that arrive at a node. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    arrived: Vec<CellSlot>,
    /// Cells that leave its buffer. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    left: Vec<(usize, CellSlot)>,
    /// Cells that land there. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    landed: Vec<CellSlot>,
    /// The buffers of a node that may send. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    ready: Vec<u32>,
    /// The buffers that negotiate, what they ask for, and what waits there. Not stored: a buffer,
    /// empty between two events.
    #[serde(skip)]
    asking: Vec<(usize, f64, f64)>,
}

impl SlotNetwork {
    /// The network of a scenario that has slots.
    pub(super) fn new(resolved: &Resolved, random: &RandomSource) -> Option<Self> {
        let ((graph, routes), rules) = (resolved.mesh.clone()?, resolved.scenario.ops.clone()?);
        let clock = SlotClock::new(rules.slot_size, resolved.scenario.network.link_rate);
        let markers = Markers::of(resolved, graph.nodes.len(), random);
        let mut nodes: Vec<SlotNode> = (0..graph.nodes.len() as u32)
            .map(|node| SlotNode::new(&graph, node, rules.buffer, random))
            .collect();
        let mut fibres: Vec<SlotFibre> = Vec::new();
        for (number, link) in (0..).zip(&graph.links) {
            nodes[link.to as usize].incoming.push(number);
            let ports = &nodes[link.from as usize].outgoing;
            let port = ports.iter().position(|&one| one == number).expect("a link begins") as u32;
            fibres.push(SlotFibre {
                flying: VecDeque::new(),
                ending: 0,
                port,
                descriptor: descriptor(&rules.congestion, clock, link.wavelengths),
                waiting: Vec::new(),
                timed: false,
                first: 0,
                tally: SlotLinkTally::default(),
            });
        }
        let named = |name: &str| rules.unsmoothed.iter().any(|one| one == name);
        let every = !rules.smoothing.enabled;
        let unsmoothed = graph.nodes.iter().map(|node| every || named(&node.name)).collect();
        let drops_behind = resolved.scenario.drops_behind();
        let writes = rules.dlcc.as_ref().filter(|dlcc| dlcc.acks);
        let rtt = rules.congestion.rtt_max;
        let proxy = writes.map(|dlcc| proxy_rules(dlcc, rtt));
        let lit = graph.fibres();
        let lasts = crossings(&graph, clock);
        let fixed =
            Fixed { fibres: lit, lasts, graph, routes, rules, proxy, unsmoothed, drops_behind };
        let smoothing = &fixed.rules.smoothing;
        Some(Self {
            flows: Flows::default(),
            effects: Effects::default(),
            markers,
            clock,
            calendar: Calendar::new(clock, nodes.len()),
            at_once: false,
            present: (Time::ZERO, 0),
            ingress: Ingress::new(nodes.len()),
            nodes,
            admission: Admission::new(fibres.len(), smoothing.refusal),
            negotiations: random.stream("ops/negotiation"),
            fronts: vec![u64::MAX; fibres.len()],
            fibres,
            cells: Slab::default(),
            pairs: Vec::new(),
            numbers: BTreeMap::new(),
            detours: Detours::default(),
            known: Vec::new(),
            home: Vec::new(),
            notices: Slab::default(),
            numbered: 0,
            units: 0,
            cross_lost: 0,
            tally: OpsTally::new(smoothing.unit),
            measured: None,
            arrived: Vec::new(),
            left: Vec::new(),
            landed: Vec::new(),
            ready: Vec::new(),
            asking: Vec::new(),
            fixed,
        })
    }

    /// Takes what is not stored from a network of the same scenario.
    pub(super) fn adopt(&mut self, fresh: Self) {
        self.fixed = fresh.fixed;
    }

    /// A packet is at its first edge node.
    #[inline]
    pub(super) fn arrives(&mut self, now: Time, packet: Packet, context: &mut Context) {
        context.recorder.reached(packet.row(), now);
        let &Address { from, to, .. } = self.flows.address(packet.flow());
        match packet {
            Packet::Data(data) => {
                self.present = (now, data.flow());
                self.forwards(&data);
                self.enters(now, ((from, to), 0), packet, context);
            }
            Packet::Ack(_) => {
                self.present = (now, u32::MAX);
                self.enters(now, ((to, from), 0), packet, context);
            }
        }
    }

    /// The edge that writes ACKs takes note of a data packet that has come to it.
    #[inline]
    fn forwards(&mut self, data: &DataPacket) {
        if self.fixed.proxy.is_some() {
            let id = self.flows.address(data.flow()).id;
            self.known(data.flow(), id).proxy.forwards(data.seq, *data);
        }
    }

    /// An ACK outside of the slots will be at the edge of its receiver at `at`. Where edges write
    /// no ACKs nothing can happen to it from there to the edge of its sender.
    #[inline]
    pub(super) fn ack_flies(
        &mut self,
        at: Time,
        packet: AckPacket,
        context: &mut Context,
    ) -> Expected {
        let &Address { from, to, .. } = self.flows.address(packet.flow);
        let route = &self.fixed.routes.of(to, from)[0];
        let at = self.fixed.fibres.signal_over(route, at);
        let alone = self.home.get(packet.flow as usize).is_none_or(Lane::is_empty);
        let alone = alone && self.fixed.proxy.is_none();
        if alone && at <= context.ahead.landing(ACKS) {
            return Expected::Home(at);
        }
        self.comes_home(at, packet, context);
        Expected::Taken
    }

    /// An ACK will be at the edge of its sender at `at`, which then looks at it.
    fn comes_home(&mut self, at: Time, packet: AckPacket, context: &mut Context) {
        let index = packet.flow as usize;
        if self.home.len() <= index {
            self.home.resize_with(index + 1, Lane::default);
        }
        let ticket = Ticket::fixed(Rank::Arrival, TieKey::ACK_UP.of(packet.flow).number());
        let event = SlotEvent::AckHome.of(packet.flow);
        self.home[index].push_in(&mut context.queue, at, ticket, event, packet);
    }

    /// The edge's record of the flow with number `id` in slot `flow`.
    #[inline]
    fn known(&mut self, flow: u32, id: u32) -> &mut Known {
        let index = flow as usize;
        if self.known.len() <= index {
            self.known.resize_with(index + 1, Known::default);
        }
        let known = &mut self.known[index];
        if known.id != id {
            *known = Known { id, proxy: AckProxy::default() };
        }
        known
    }
}

/// By fibre: how many slots later a cell that leaves on it is at its end, if that never changes.
fn crossings(graph: &Graph, clock: SlotClock) -> Vec<Option<u64>> {
    let slots = |link| Some(clock.synchronised(0, Time::ZERO + graph.steady_delay(&[link])?));
    (0..graph.links.len() as u32).map(slots).collect()
}

/// The record of an output with so many wavelengths.
fn descriptor(rules: &Congestion, clock: SlotClock, wavelengths: u32) -> Descriptor {
    let slots = |span: Span| span.as_ps() / clock.slot().as_ps();
    let (arrivals, losses) = (slots(rules.rtt_max * 2).max(1), slots(rules.loss_window).max(1));
    Descriptor::new(wavelengths, rules.threshold, arrivals, losses)
        .sustained(slots(rules.sustained))
}

/// How an edge that writes ACKs does so.
fn proxy_rules(dlcc: &Dlcc, rtt: Span) -> ProxyRules {
    ProxyRules { keep: dlcc.keep(rtt), filter: dlcc.filter, guard: dlcc.guard, again: rtt }
}
