//! A network of bursts: packets enter its edge nodes, these close bursts, and what lies beyond
//! takes them from there.

use burstlab_kernel::RandomSource;
use burstlab_link::Wire;
use burstlab_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use super::account::{Account, BurstCounts};
use super::beyond::Beyond;
use super::burst::{Burst, Bursts};
use super::edge::{DataQueue, Edges, PATH_TRAINS};
use super::effects::Effects;
use super::fabric::Fabric;
use super::fate::Fates;
use super::flows::Flows;
use super::plan::Plan;
use super::scope::Common;
use super::under_way::UnderWay;
use crate::measure::{NetworkSummary, Occupancy, Recorder, Table};
use crate::scenario::{Interrupt, Resolved};
use crate::world::ahead::policy::{ACKS, DATA, Lookahead, Promises};
use crate::world::context::Context;
use crate::world::events::CoreEvent;
use crate::world::packet::{AckPacket, DataPacket};
use crate::world::train::TimedTrain;

/// What a burst takes in memory.
pub(in crate::world) const BURST_SIZE: usize = size_of::<Burst>();

/// The mesh: edge nodes, the fabric between them, and what both work on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Mesh {
    edges: Edges,
    fabric: Fabric,
    pub(super) common: Common,
}

impl Mesh {
    pub(super) fn new(resolved: &Resolved, random: &RandomSource, ahead: &mut Lookahead) -> Self {
        let plan = Plan::new(resolved);
        let control = plan.rules.control;
        let edges = Edges::new(resolved, &plan, random, ahead);
        let fabric = Fabric::new(resolved, &plan, random);
        let mut common = Common {
            flows: Flows::default(),
            bursts: if control { Bursts::default() } else { Bursts::stocked() },
            fates: Fates::new(resolved, random, plan.graph.links.len()),
            account: Account::new(resolved, &plan),
            effects: Effects::default(),
            plan,
        };
        if !control {
            common.effects.landing.reserve(PATH_TRAINS);
        }
        Self { edges, fabric, common }
    }

    /// Takes what is not stored from a mesh of the same scenario.
    pub(super) fn adopt(&mut self, fresh: Self) {
        self.edges.adopt(fresh.edges);
        self.common.plan.adopt(fresh.common.plan);
        self.common.fates.adopt(fresh.common.fates);
    }

    /// The edge nodes, and what lies behind them.
    #[inline]
    fn split<'a>(&'a mut self, context: &'a mut Context) -> (&'a mut Edges, Beyond<'a>) {
        (&mut self.edges, Beyond::new(&mut self.fabric, &mut self.common, context))
    }

    /// What it promises of what it carries.
    pub(super) fn promises(&self) -> Promises {
        let Common { plan, fates, account, .. } = &self.common;
        let (rules, run) = (&plan.rules, &plan.scenario.run);
        if !rules.control {
            return Promises::Exclusive { drops_behind: rules.drops_behind };
        }
        Promises::Contended {
            // Sources of bursts never end. In a drain the run may yet end with a flow.
            endless: self.sources() > 0 && run.drain.is_none(),
            changes: rules.cuts || !fates.outages().are_none(),
            looked_at: account.reports() || run.occupancy.is_some(),
        }
    }

    /// Queues what happens first.
    pub(super) fn begin(&mut self, watch: &Interrupt, context: &mut Context) {
        self.edges.begin(watch, context);
        self.common.fates.outages().begin(context);
    }

    /// Something happens.
    #[inline]
    pub(super) fn happen(&mut self, now: Time, event: CoreEvent, context: &mut Context) {
        let (edges, mut out) = self.split(context);
        match event {
            CoreEvent::Assembly(queue) => edges.timer(now, queue, &mut out),
            CoreEvent::Enters(queue) => edges.enters(now, queue, &mut out),
            CoreEvent::Background(source) => edges.source_sends(now, source, &mut out),
            event => out.happen(now, event),
        }
    }

    /// A data packet reaches its ingress.
    #[inline]
    pub(super) fn data_arrives(&mut self, now: Time, packet: DataPacket, context: &mut Context) {
        let (edges, mut out) = self.split(context);
        edges.data_arrives(now, packet, &mut out);
    }

    /// A packet of cross-traffic reaches its ingress.
    pub(super) fn cross_arrives(
        &mut self,
        now: Time,
        packet: DataPacket,
        to: ((u32, u32), u32, u64),
        context: &mut Context,
    ) {
        let (edges, mut out) = self.split(context);
        edges.cross_arrives(now, packet, to, &mut out);
    }

    /// An ACK reaches the edge node of its receiver.
    #[inline]
    pub(super) fn ack_arrives(&mut self, now: Time, packet: AckPacket, context: &mut Context) {
        let (edges, mut out) = self.split(context);
        edges.ack_arrives(now, packet, &mut out);
    }

    /// Where runs of data packets of a flow may be announced, if they may.
    #[inline]
    pub(super) fn data_queue(&mut self, flow: u32, ahead: &Lookahead) -> Option<DataQueue> {
        let Common { plan, flows, .. } = &mut self.common;
        ahead.announces(DATA).then(|| self.edges.data_queue(flow, flows, (plan, ahead)))
    }

    /// Where runs of ACKs of a flow may be announced, if they may.
    #[inline]
    pub(super) fn ack_queue(&mut self, flow: u32, ahead: &Lookahead) -> Option<usize> {
        let Common { plan, flows, .. } = &mut self.common;
        ahead.announces(ACKS).then(|| self.edges.ack_queue(flow, flows, (plan, ahead)))
    }

    /// ACKs that are `sent` over an access link will enter a queue.
    #[inline]
    pub(super) fn expect_acks_over(
        &mut self,
        queue: usize,
        link: &mut Wire,
        sent: &TimedTrain<AckPacket>,
        context: &mut Context,
    ) {
        self.edges.expect_acks_over(queue, link, sent, context);
    }

    /// Data packets will enter a queue.
    #[inline]
    pub(super) fn expect_run(
        &mut self,
        queue: DataQueue,
        run: TimedTrain<DataPacket>,
        context: &mut Context,
    ) {
        let rules = (&self.common.plan, &context.ahead);
        let queue = self.edges.queue_for(queue, &run.train.first, rules);
        self.edges.expect_run_in(queue, run, context);
    }

    /// An ACK will enter a queue at a time.
    #[inline]
    pub(super) fn expect_ack(
        &mut self,
        queue: usize,
        (at, packet): (Time, AckPacket),
        context: &mut Context,
    ) {
        self.edges.expect_ack(queue, at, packet, context);
    }

    /// Sources of bursts, which never end.
    pub(super) fn sources(&self) -> usize {
        self.edges.sources()
    }

    /// Bursts under way, and sources of bursts.
    pub(super) fn weight(&self) -> u64 {
        let ended = |one: &BurstCounts| one.delivered + one.lost;
        let under_way =
            self.common.account.counts().iter().map(|one| one.sent.saturating_sub(ended(one)));
        under_way.sum::<u64>() + self.sources() as u64
    }

    /// Bursts with data closed so far; where there are only background bursts, these.
    #[inline]
    pub(super) fn closed(&self) -> u64 {
        let [data, _, background] = self.common.account.counts();
        if self.sources() == 0 { data.sent } else { data.sent + background.sent }
    }

    /// Bursts numbered so far, each way.
    pub(super) fn numbered(&self) -> [u64; 2] {
        self.edges.numbered()
    }

    /// Whether the burst `number` of a way, or every one where none is named, is yet to be closed.
    pub(super) fn is_before(&self, way: usize, number: Option<u64>) -> bool {
        self.edges.is_before(way, number)
    }

    /// The rate of a wavelength, where there is no room for more bursts.
    pub(super) fn is_full(&self) -> Option<Rate> {
        let Common { plan, bursts, .. } = &self.common;
        bursts.is_full().then_some(plan.rules.rate)
    }

    /// Measuring begins.
    pub(super) fn warmed_up(&mut self, now: Time) {
        let Self { fabric, common, .. } = self;
        let busy = fabric.busy(now, &common.plan);
        common.account.warmed_up(now, &common.plan, &busy);
        fabric.measure_from(now);
    }

    /// The measured time is over, and the run goes on.
    pub(super) fn measured(&mut self, now: Time) {
        let Self { fabric, common, .. } = self;
        common.account.measured(fabric.busy(now, &common.plan));
    }

    /// Adds what waits and is reserved at `now` to the tables.
    pub(super) fn look(&mut self, now: Time, tables: &mut Occupancy) {
        self.edges.look(now, tables);
        let Self { fabric, common: Common { plan, bursts, account, .. }, .. } = self;
        let (taken, busy) = (fabric.taken(now, plan), fabric.busy(now, plan));
        account.look(now, (plan, bursts), (&taken, busy), tables);
    }

    /// What is under way at `now`, counted where it is. There may be millions of bursts, and who
    /// stops a run waits for this: all that is counted of them is counted in one go.
    pub(super) fn under_way(&self, now: Time) -> UnderWay {
        let (mut found, Self { fabric, common, .. }) = (UnderWay::new(now), self);
        self.edges.under_way(&mut found);
        fabric.under_way(&mut found);
        let ahead = !common.plan.rules.control;
        common.bursts.live().for_each(|burst| found.burst(burst, ahead));
        found.early_of.sort_unstable();
        found
    }

    /// The numbers of the measured time, which lasted so long, with a warning if many headers were
    /// late, and the histograms; the run ends at `now`.
    pub(super) fn summary(
        &self,
        now: Time,
        measured: Span,
        under_way: &UnderWay,
    ) -> (NetworkSummary, Option<String>, Table) {
        let Self { fabric, common: Common { plan, fates, account, .. }, .. } = self;
        let share_up = |link, start, end| fates.outages().share_up(link, start, end);
        let busy = fabric.busy(now, plan);
        let summary = account.summary(plan, &busy, share_up, measured, under_way);
        let warning = account.late_headers(plan, &summary);
        (summary, warning, account.table())
    }

    /// Traces what is in queues and bursts at the end of the run.
    pub(super) fn record_rest(&self, now: Time, recorder: &mut Recorder) {
        let Common { plan, bursts, account, .. } = &self.common;
        self.edges.record_waiting(now, recorder);
        account.record_rest(plan, bursts, recorder);
    }

    /// Bytes of copies that edge nodes keep.
    #[cfg(test)]
    pub(super) fn copied(&self) -> u64 {
        match &self.fabric {
            Fabric::Contended(fabric) => fabric.copied(),
            Fabric::Exclusive(_) => 0,
        }
    }
}
