//! What lies between the access links: edge and core nodes, fibres, bursts or slots. It knows
//! packets, and of a flow its address; what happens to a packet here, hosts and links learn from
//! its [effects](Effects).

mod account;
mod beyond;
mod burst;
mod edge;
mod effects;
mod fabric;
mod fate;
mod flows;
mod marks;
mod mesh;
mod payload;
mod plan;
mod routing;
mod rules;
mod runs;
mod scope;
mod sites;
mod slots;
mod under_way;

use burstlab_kernel::RandomSource;
use burstlab_link::Wire;
use burstlab_optical::slotted::{Passed, SlotClock};
use burstlab_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use self::account::BatchCounts;
pub(super) use self::account::BurstCounts;
pub(super) use self::edge::{BATCH_SOURCE_SIZE, BURST_SOURCE_SIZE, DataQueue};
pub(super) use self::effects::{Effect, Effects, Expected};
pub(super) use self::flows::{Address, Carried, Flows};
use self::marks::Markers;
pub(super) use self::mesh::BURST_SIZE;
use self::mesh::Mesh;
pub(super) use self::payload::Payload;
use self::slots::Ops;
pub(super) use self::under_way::UnderWay;
use super::ahead::policy::{Lookahead, Promises};
use super::context::Context;
use super::events::CoreEvent;
use super::packet::{AckPacket, DataPacket, Packet};
use super::surgery::Surgery;
use super::train::TimedTrain;
use crate::measure::{NetworkSummary, Occupancy, OpsSummary, Piece, Recorder, SurgerySummary};
use crate::scenario::{Interrupt, Resolved};
use crate::topology::Graph;

/// The optical network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Core {
    /// Bursts, over a path or a mesh.
    Bursts(Box<Mesh>),
    /// Slots instead of bursts.
    Slots(Box<Ops>),
}

/// What the network did, for the summary.
pub(super) struct Report {
    /// Where headers reserve what bursts need.
    pub(super) network: Option<NetworkSummary>,
    pub(super) ops: Option<OpsSummary>,
    pub(super) warnings: Vec<String>,
    pub(super) tables: Vec<Piece>,
}

/// Totals of what the network carries and has lost.
#[derive(Default)]
pub(super) struct Totals {
    /// Bursts of data, of ACKs, of others: those that ended, and how many are under way.
    pub(super) bursts: [(BurstCounts, u64); 3],
    /// Data packets of flows, ACKs and packets of cross-traffic aboard.
    pub(super) aboard: [u64; 3],
    /// Packets of cross-traffic that were lost.
    pub(super) cross_lost: u64,
    pub(super) batches: BatchCounts,
}

impl Core {
    /// The network of a scenario, which says what it promises.
    pub(super) fn new(resolved: &Resolved, random: &RandomSource, ahead: &mut Lookahead) -> Self {
        let core = Self::of(resolved, random, ahead);
        ahead.promise(&core.promises(resolved, ahead));
        core
    }

    fn of(resolved: &Resolved, random: &RandomSource, ahead: &mut Lookahead) -> Self {
        match (&resolved.mesh, &resolved.scenario.ops) {
            (Some(mesh), Some(ops)) => {
                let clock = SlotClock::new(ops.slot_size, resolved.scenario.network.link_rate);
                let marks = Markers::of(resolved, mesh.0.nodes.len(), random);
                let ops = Ops::new(mesh.clone(), ops.clone(), (clock, marks), random);
                Self::Slots(Box::new(ops))
            }
            _ => Self::Bursts(Box::new(Mesh::new(resolved, random, ahead))),
        }
    }

    /// Takes what is not stored from the network of the same scenario; `None` where it is of
    /// another.
    pub(super) fn adopt(&mut self, fresh: Self) -> Option<()> {
        match (self, fresh) {
            (Self::Bursts(mesh), Self::Bursts(fresh)) => mesh.adopt(*fresh),
            (Self::Slots(ops), Self::Slots(fresh)) => ops.adopt(*fresh),
            _ => return None,
        }
        Some(())
    }

    /// Bytes of copies that edge nodes keep.
    #[cfg(test)]
    pub(super) fn copied(&self) -> u64 {
        match self {
            Self::Bursts(mesh) => mesh.copied(),
            Self::Slots(_) => 0,
        }
    }

    /// What it knows of the flows.
    #[inline]
    pub(super) fn flows(&mut self) -> &mut Flows {
        match self {
            Self::Bursts(mesh) => &mut mesh.common.flows,
            Self::Slots(ops) => &mut ops.flows,
        }
    }

    /// The bursts that carried a segment of the flow in a slot; without bursts, none.
    pub(super) fn bursts_of(&self, slot: u32) -> Carried {
        match self {
            Self::Bursts(mesh) => mesh.common.flows.bursts_of(slot),
            Self::Slots(_) => Carried::default(),
        }
    }

    /// What it promises of what it carries.
    fn promises(&self, resolved: &Resolved, ahead: &Lookahead) -> Promises {
        match self {
            Self::Bursts(mesh) => mesh.promises(),
            Self::Slots(ops) => ops.promises(&resolved.scenario.run, ahead),
        }
    }

    /// The nodes and fibres.
    pub(super) fn graph(&self) -> &Graph {
        match self {
            Self::Bursts(mesh) => &mesh.common.plan.graph,
            Self::Slots(ops) => ops.graph(),
        }
    }

    /// Sources of bursts, which never end.
    pub(super) fn endless(&self) -> usize {
        match self {
            Self::Slots(_) => 0,
            Self::Bursts(mesh) => mesh.sources(),
        }
    }

    /// Queues what happens first.
    pub(super) fn begin(&mut self, watch: &Interrupt, context: &mut Context) {
        match self {
            Self::Bursts(mesh) => mesh.begin(watch, context),
            Self::Slots(ops) => ops.begin(context),
        }
    }

    /// Measuring begins.
    pub(super) fn warmed_up(&mut self, now: Time) {
        match self {
            Self::Bursts(mesh) => mesh.warmed_up(now),
            Self::Slots(ops) => ops.warmed_up(now),
        }
    }

    /// The measured time is over, and the run goes on.
    pub(super) fn measured(&mut self, now: Time) {
        match self {
            Self::Bursts(mesh) => mesh.measured(now),
            Self::Slots(ops) => ops.measured(now),
        }
    }

    /// Something happens.
    #[inline]
    pub(super) fn happen(&mut self, now: Time, event: CoreEvent, context: &mut Context) {
        match self {
            Self::Bursts(mesh) => mesh.happen(now, event, context),
            Self::Slots(ops) => ops.happen(now, event, context),
        }
    }

    /// What is to be dealt with.
    #[inline]
    pub(super) fn effects(&mut self) -> &mut Effects {
        match self {
            Self::Bursts(mesh) => &mut mesh.common.effects,
            Self::Slots(ops) => &mut ops.effects,
        }
    }

    /// The vectors of what was carried are used again.
    #[inline]
    pub(super) fn reuse(&mut self, payload: Payload) {
        if let Self::Bursts(mesh) = self {
            mesh.common.bursts.reuse(payload);
        }
    }

    /// Bursts under way, and sources of bursts.
    pub(super) fn weight(&self) -> u64 {
        match self {
            Self::Bursts(mesh) => mesh.weight(),
            Self::Slots(_) => 0,
        }
    }

    /// Bursts with data closed so far.
    #[inline]
    pub(super) fn closed(&self) -> u64 {
        match self {
            Self::Bursts(mesh) => mesh.closed(),
            Self::Slots(_) => 0,
        }
    }

    /// A data packet is at its first edge node.
    #[inline]
    pub(super) fn data_arrives(&mut self, now: Time, packet: DataPacket, context: &mut Context) {
        match self {
            Self::Bursts(mesh) => mesh.data_arrives(now, packet, context),
            Self::Slots(ops) => ops.arrives(now, Packet::Data(packet), context),
        }
    }

    /// An ACK is at the edge node of its receiver.
    #[inline]
    pub(super) fn ack_arrives(&mut self, now: Time, packet: AckPacket, context: &mut Context) {
        match self {
            Self::Bursts(mesh) => mesh.ack_arrives(now, packet, context),
            Self::Slots(ops) => ops.arrives(now, Packet::Ack(packet), context),
        }
    }

    /// A packet of cross-traffic between two nodes is at the first.
    pub(super) fn cross_arrives(
        &mut self,
        now: Time,
        packet: DataPacket,
        to: ((u32, u32), u32, u64),
        context: &mut Context,
    ) {
        match self {
            Self::Bursts(mesh) => mesh.cross_arrives(now, packet, to, context),
            Self::Slots(ops) => ops.cross_arrives(now, packet, to.0, context),
        }
    }

    /// Takes a data packet that will be at its first edge node at `at`, where it need not be told
    /// again as that comes; returns whether it does.
    #[inline]
    pub(super) fn expects_data(
        &mut self,
        at: Time,
        packet: DataPacket,
        context: &mut Context,
    ) -> bool {
        match self {
            Self::Bursts(mesh) => {
                let queue = mesh.data_queue(packet.flow, &context.ahead);
                let expects = queue.map(|queue| {
                    mesh.expect_run(queue, TimedTrain::one(at, packet), context);
                });
                expects.is_some()
            }
            Self::Slots(ops) => ops.expects(at, packet, context),
        }
    }

    /// Takes an ACK that will be at the edge node of its receiver at `at`, where it need not be
    /// told again as that comes.
    #[inline]
    pub(super) fn expects_ack(
        &mut self,
        at: Time,
        packet: AckPacket,
        context: &mut Context,
    ) -> Expected {
        match self {
            Self::Bursts(mesh) => match mesh.ack_queue(packet.flow, &context.ahead) {
                Some(queue) => {
                    mesh.expect_ack(queue, (at, packet), context);
                    Expected::Taken
                }
                None => Expected::Comes,
            },
            Self::Slots(ops) if ops.frees_acks() => ops.ack_flies(at, packet, context),
            Self::Slots(_) => Expected::Comes,
        }
    }

    /// Where runs of ACKs of a flow may be announced, if they may.
    #[inline]
    pub(super) fn ack_queue(&mut self, flow: u32, ahead: &Lookahead) -> Option<usize> {
        match self {
            Self::Bursts(mesh) => mesh.ack_queue(flow, ahead),
            Self::Slots(_) => None,
        }
    }

    /// Where runs of data packets of a flow may be announced, if they may.
    #[inline]
    pub(super) fn data_queue(&mut self, flow: u32, ahead: &Lookahead) -> Option<DataQueue> {
        match self {
            Self::Bursts(mesh) => mesh.data_queue(flow, ahead),
            Self::Slots(_) => None,
        }
    }

    /// ACKs that are `sent` over an access link will enter a [queue](Self::ack_queue).
    // Inlined, it takes registers from the loop over the packets of a run.
    #[inline(never)]
    pub(super) fn expect_acks_over(
        &mut self,
        queue: usize,
        link: &mut Wire,
        sent: &TimedTrain<AckPacket>,
        context: &mut Context,
    ) {
        if let Self::Bursts(mesh) = self {
            mesh.expect_acks_over(queue, link, sent, context);
        }
    }

    /// Data packets will enter a [queue](Self::data_queue).
    // Inlined, it takes registers from the loop over the packets of a run.
    #[inline(never)]
    pub(super) fn expect_run(
        &mut self,
        queue: DataQueue,
        run: TimedTrain<DataPacket>,
        context: &mut Context,
    ) {
        if let Self::Bursts(mesh) = self {
            mesh.expect_run(queue, run, context);
        }
    }

    /// What an edge node lets pass of an ACK that has come to it over the network.
    #[inline]
    pub(super) fn passes(&mut self, at: Time, packet: &AckPacket) -> Passed<DataPacket> {
        match self {
            Self::Bursts(_) => Passed { on: true, copy: None },
            Self::Slots(ops) => ops.passes(at, packet),
        }
    }

    /// An edge node sends a copy of a data packet.
    pub(super) fn sends_copy(&mut self, at: Time, copy: DataPacket, context: &mut Context) {
        if let Self::Slots(ops) = self {
            ops.sends_copy(at, copy, context);
        }
    }

    /// An ACK that an edge node wrote began a fast retransmission.
    pub(super) fn repaired(&mut self) {
        if let Self::Slots(ops) = self {
            ops.tally.retransmissions += 1;
        }
    }

    /// A connection is done: it travelled in so many bursts, of which so many were lost.
    pub(super) fn connection(&mut self, carried: Carried) {
        if let Self::Bursts(mesh) = self {
            mesh.common.account.connection(carried);
        }
    }

    /// The rate of a wavelength, where there is no room for more bursts.
    pub(super) fn is_full(&self) -> Option<Rate> {
        match self {
            Self::Bursts(mesh) => mesh.is_full(),
            Self::Slots(_) => None,
        }
    }

    /// What came of the operations on bursts.
    pub(super) fn surgery(&self, surgery: &Surgery) -> Vec<SurgerySummary> {
        let on_path = matches!(self, Self::Bursts(mesh) if !mesh.common.plan.rules.control);
        surgery.summary(self.numbered(), on_path)
    }

    /// Bursts numbered so far: all; on a path those each way.
    pub(super) fn numbered(&self) -> [u64; 2] {
        match self {
            Self::Bursts(mesh) => mesh.numbered(),
            Self::Slots(ops) => [ops.numbered(), 0],
        }
    }

    /// Whether nothing that is operated on was decided before now.
    pub(super) fn is_before(&self, surgery: &Surgery) -> bool {
        surgery.named().all(|(way, burst)| match self {
            Self::Bursts(mesh) => mesh.is_before(way, burst),
            Self::Slots(ops) => burst.unwrap_or(1) > ops.numbered(),
        })
    }

    /// Adds what waits and is reserved at `now` to the tables.
    pub(super) fn look(&mut self, now: Time, tables: &mut Occupancy) {
        if let Self::Bursts(mesh) = self {
            mesh.look(now, tables);
        }
    }

    /// What was scripted and never came.
    pub(super) fn unmet(&self) -> Vec<String> {
        match self {
            Self::Bursts(mesh) => mesh.common.fates.unmet(),
            Self::Slots(_) => Vec::new(),
        }
    }

    /// What is under way.
    pub(super) fn under_way(&self, now: Time) -> UnderWay {
        match self {
            Self::Bursts(mesh) => mesh.under_way(now),
            Self::Slots(_) => UnderWay::default(),
        }
    }

    /// The totals, with what is `under_way`.
    pub(super) fn totals(&self, under_way: &UnderWay) -> Totals {
        match self {
            Self::Bursts(mesh) => Totals {
                bursts: [0, 1, 2].map(|kind| {
                    let mut counts = mesh.common.account.counts()[kind];
                    counts.sent -= under_way.early[kind];
                    (counts, under_way.bursts[kind])
                }),
                aboard: under_way.packets,
                cross_lost: mesh.common.account.cross_lost(),
                batches: mesh.common.account.batches(),
            },
            Self::Slots(ops) => {
                Totals { aboard: ops.aboard(), cross_lost: ops.cross_lost, ..Totals::default() }
            }
        }
    }

    /// Packets a burst, of so many packets that crossed in so many bursts.
    pub(super) fn per_burst(&self, packets: u64, bursts: u64) -> f64 {
        match self {
            Self::Bursts(_) => packets as f64 / bursts.max(1) as f64,
            Self::Slots(_) => 0.0,
        }
    }

    /// What the network did in the `measured` time; the run ends at `now`.
    pub(super) fn report(
        &self,
        now: Time,
        measured: Span,
        under_way: &UnderWay,
        recorder: &mut Recorder,
    ) -> Report {
        let mut report =
            Report { network: None, ops: None, warnings: Vec::new(), tables: Vec::new() };
        match self {
            Self::Bursts(mesh) => {
                if mesh.common.plan.rules.control {
                    let (network, warning, table) = mesh.summary(now, measured, under_way);
                    report.warnings.extend(warning);
                    report.network = Some(network);
                    report.tables.push(Piece::Rows(table));
                }
                mesh.record_rest(under_way.at, recorder);
            }
            Self::Slots(ops) => {
                report.ops = Some(ops.summary(now));
                report.warnings = ops.warnings();
            }
        }
        report
    }
}
