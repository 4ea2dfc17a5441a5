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
use super::effects::{Effects, Expected, Place};
use super::fabric::Fabric;
use super::fabric::contended::Contended;
use super::fate::Fates;
use super::flows::{Carried, Flows};
use super::network::{Network, Report, Totals};
use super::payload::Payload;
use super::plan::Plan;
use super::scope::Common;
use super::under_way::UnderWay;
use crate::measure::{NetworkSummary, Occupancy, Piece, Recorder, Table};
use crate::scenario::{Interrupt, Resolved, Run};
use crate::topology::Graph;
use crate::world::ahead::policy::{ACKS, DATA, Lookahead, Promises};
use crate::world::context::Context;
use crate::world::events::BurstEvent;
use crate::world::packet::{AckPacket, DataPacket};
use crate::world::surgery::Surgery;
use crate::world::train::TimedTrain;

/// The memory of a burst.
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

    /// Something happens.
    #[inline]
    pub(super) fn happen(
        &mut self,
        now: Time,
        (event, number): (BurstEvent, u32),
        context: &mut Context,
    ) {
        let (edges, mut out) = self.split(context);
        let at = (now, number);
        match event {
            BurstEvent::Assembly => edges.timer(now, number, &mut out),
            BurstEvent::Enters => edges.enters(now, number, &mut out),
            BurstEvent::Background => edges.source_sends(now, number, &mut out),
            BurstEvent::Submit => out.header(at, Contended::submit),
            BurstEvent::Served => out.header(at, Contended::schedule),
            BurstEvent::Refused => out.header(at, Contended::refused),
            BurstEvent::Again => out.header(at, Contended::launch),
            BurstEvent::Signal => out.signal(now, number),
            BurstEvent::Landed => out.land(now, number),
            BurstEvent::Stored => out.unload(now, number),
            BurstEvent::Lost => out.lost_here(now, number),
            BurstEvent::Outage => out.outage(now, number),
        }
    }

    /// The numbers of the measured time, which lasted so long, with a warning if many headers were
    /// late, and the histograms; the run ends at `now`.
    fn summary(
        &self,
        now: Time,
        measured: Span,
        under_way: &UnderWay,
    ) -> (NetworkSummary, Option<String>, Table) {
        let Self { fabric, common: Common { plan, fates, account, .. }, .. } = self;
        let share_up = |link, start, end| fates.outages().share_up(link, start, end);
        let busy = fabric.measures(now, plan);
        let summary = account.summary(plan, &busy, share_up, measured, under_way);
        let warning = account.late_headers(plan, &summary);
        (summary, warning, account.table())
    }

    /// Traces what is in queues and bursts at the end of the run.
    fn record_rest(&self, now: Time, recorder: &mut Recorder) {
        let Common { plan, bursts, account, .. } = &self.common;
        self.edges.record_waiting(now, (&plan.rules, account.labels), recorder);
        account.record_rest(plan, bursts, recorder);
    }
}

impl Network for Mesh {
    fn begin(&mut self, watch: &Interrupt, context: &mut Context) {
        self.edges.begin(watch, context);
        self.common.fates.outages().begin(context);
    }

    fn promises(&self, _run: &Run, _ahead: &Lookahead) -> Promises {
        let Common { plan, fates, account, .. } = &self.common;
        let (rules, run) = (&plan.rules, &plan.scenario.run);
        if !rules.control {
            return Promises::Exclusive { drops_behind: rules.drops_behind };
        }
        Promises::Contended {
            // Sources of bursts never end. In a drain the run may yet end with a flow.
            endless: self.endless() > 0 && run.drain.is_none(),
            changes: rules.cuts || !fates.outages().are_none(),
            looked_at: account.reports() || run.occupancy.is_some(),
        }
    }

    #[inline]
    fn flows(&mut self) -> &mut Flows {
        &mut self.common.flows
    }

    #[inline]
    fn effects(&mut self) -> &mut Effects {
        &mut self.common.effects
    }

    fn graph(&self) -> &Graph {
        &self.common.plan.graph
    }

    fn warmed_up(&mut self, now: Time) {
        let Self { fabric, common, .. } = self;
        let busy = fabric.busy(now, &common.plan);
        common.account.warmed_up(now, &common.plan, &busy);
        fabric.measure_from(now);
    }

    fn measured(&mut self, now: Time) {
        let Self { fabric, common, .. } = self;
        common.account.measured(fabric.measures(now, &common.plan));
    }

    #[inline]
    fn data_arrives(&mut self, now: Time, packet: DataPacket, context: &mut Context) {
        let (edges, mut out) = self.split(context);
        edges.data_arrives(now, packet, &mut out);
    }

    #[inline]
    fn ack_arrives(&mut self, now: Time, packet: AckPacket, context: &mut Context) {
        let (edges, mut out) = self.split(context);
        edges.ack_arrives(now, packet, &mut out);
    }

    fn cross_arrives(
        &mut self,
        now: Time,
        packet: DataPacket,
        to: ((u32, u32), u32, u64),
        context: &mut Context,
    ) {
        let (edges, mut out) = self.split(context);
        edges.cross_arrives(now, packet, to, &mut out);
    }

    #[inline]
    fn expects_data(&mut self, at: Time, packet: DataPacket, context: &mut Context) -> bool {
        let Some(queue) = self.data_queue(packet.flow(), &context.ahead) else { return false };
        self.expect_run(queue, TimedTrain::one(at, packet), context);
        true
    }

    #[inline]
    fn expects_ack(&mut self, at: Time, packet: AckPacket, context: &mut Context) -> Expected {
        let Some(queue) = self.ack_queue(packet.flow, &context.ahead) else {
            return Expected::Comes;
        };
        self.edges.expect_ack(queue, at, packet, context);
        Expected::Taken
    }

    fn numbered(&self) -> [u64; 2] {
        self.common.account.labels.given()
    }

    fn is_before(&self, surgery: &Surgery) -> bool {
        let given = self.numbered();
        surgery.named().all(|(way, burst)| burst.unwrap_or(1) > given[way])
    }

    fn totals(&self, under_way: &UnderWay) -> Totals {
        let account = &self.common.account;
        let bursts = [0, 1, 2].map(|kind| {
            let mut counts = account.counts()[kind];
            counts.sent -= under_way.early[kind];
            (counts, under_way.bursts[kind])
        });
        let (cross_lost, batches) = (account.cross_lost(), account.batches());
        Totals { bursts, in_flight: under_way.packets, cross_lost, batches }
    }

    fn report(
        &self,
        now: Time,
        measured: Span,
        under_way: &UnderWay,
        rows: &mut Recorder,
    ) -> Report {
        let mut report = Report::default();
        if self.common.plan.rules.control {
            let (network, warning, table) = self.summary(now, measured, under_way);
            report.warnings.extend(warning);
            report.network = Some(network);
            report.tables.push(Piece::Rows(table));
        }
        self.record_rest(under_way.at, rows);
        report
    }

    fn endless(&self) -> usize {
        self.edges.sources()
    }

    fn weight(&self) -> u64 {
        let ended = |one: &BurstCounts| one.delivered + one.lost;
        let under_way =
            self.common.account.counts().iter().map(|one| one.sent.saturating_sub(ended(one)));
        under_way.sum::<u64>() + self.endless() as u64
    }

    #[inline]
    fn closed(&self) -> u64 {
        let [data, _, background] = self.common.account.counts();
        if self.endless() == 0 { data.sent } else { data.sent + background.sent }
    }

    #[cfg(test)]
    fn copied(&self) -> u64 {
        match &self.fabric {
            Fabric::Contended(fabric) => fabric.copied(),
            Fabric::Exclusive(_) => 0,
        }
    }

    fn bursts_of(&self, slot: u32) -> Carried {
        self.common.flows.bursts_of(slot)
    }

    fn drops(&mut self, place: Place, packet: &DataPacket) -> bool {
        let burst = self.common.bursts.get_mut(place.slot);
        let there = burst.payload.take_out(packet);
        burst.dropped += u64::from(there);
        there
    }

    #[inline]
    fn reuse(&mut self, payload: Payload) {
        self.common.bursts.reuse(payload);
    }

    #[inline]
    fn data_queue(&mut self, flow: u32, ahead: &Lookahead) -> Option<DataQueue> {
        let Common { plan, flows, .. } = &mut self.common;
        ahead.announces(DATA).then(|| self.edges.data_queue(flow, flows, (plan, ahead)))
    }

    #[inline]
    fn ack_queue(&mut self, flow: u32, ahead: &Lookahead) -> Option<usize> {
        let Common { plan, flows, .. } = &mut self.common;
        ahead.announces(ACKS).then(|| self.edges.ack_queue(flow, flows, (plan, ahead)))
    }

    // Inlined, it takes registers from the loop over the packets of a run.
    #[inline(never)]
    fn expect_run(&mut self, queue: DataQueue, run: TimedTrain<DataPacket>, context: &mut Context) {
        let rules = (&self.common.plan, &context.ahead);
        let queue = self.edges.queue_for(queue, &run.train.first, rules);
        self.edges.expect_run_in(queue, run, context);
    }

    // Inlined, it takes registers from the loop over the packets of a run.
    #[inline(never)]
    fn expect_acks_over(
        &mut self,
        queue: usize,
        link: &mut Wire,
        sent: &TimedTrain<AckPacket>,
        context: &mut Context,
    ) {
        self.edges.expect_acks_over(queue, link, sent, context);
    }

    fn connection(&mut self, carried: Carried) {
        self.common.account.connection(carried);
    }

    fn is_full(&self) -> Option<Rate> {
        let Common { plan, bursts, .. } = &self.common;
        bursts.is_full().then_some(plan.rules.rate)
    }

    fn look(&mut self, now: Time, tables: &mut Occupancy) {
        self.edges.look(now, tables);
        let Self { fabric, common: Common { plan, bursts, account, .. }, .. } = self;
        let (taken, busy) = (fabric.taken(now, plan), fabric.busy(now, plan));
        account.look(now, (plan, bursts), (&taken, busy), tables);
    }

    fn unmet(&self) -> Vec<String> {
        self.common.fates.unmet()
    }

    /// There may be millions of bursts, and who stops a run waits for this: all that is counted of
    /// them is counted in one go.
    fn under_way(&self, now: Time) -> UnderWay {
        let (mut found, Self { fabric, common, .. }) = (UnderWay::new(now), self);
        self.edges.under_way(&mut found);
        fabric.under_way(&mut found);
        let ahead = !common.plan.rules.control;
        common.bursts.live().for_each(|burst| found.burst(burst, ahead));
        found.early_of.sort_unstable();
        found
    }

    fn is_path(&self) -> bool {
        !self.common.plan.rules.control
    }

    fn per_burst(&self, packets: u64, bursts: u64) -> f64 {
        packets as f64 / bursts.max(1) as f64
    }
}
