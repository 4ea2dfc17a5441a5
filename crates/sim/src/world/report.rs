//! What a run leaves: its numbers and its tables.

use burstlab_units::Span;

use super::World;
use super::core::{Network, UnderWay};
use super::course::Course;
use super::dead::Dead;
use super::hosts::Flow;
use super::looks::Looks;
use super::totals;
use super::transit::Transit;
use crate::measure::{DemandSummary, FlowSummary, Piece, SpeedSummary, Summary};

/// What to do about transfers of which none would end in a longer run.
const REPORT: &str = "no longer run would end them";

impl World {
    /// Sets the rows of a chunk of the tables.
    pub(crate) fn set_chunk(&mut self, rows: u32) {
        self.transit.context.recorder.set_chunk(rows);
        self.transit.hosts.demands.set_chunk(rows);
        self.looks.set_chunk(rows);
    }

    /// Rows of tables that were not handed over.
    pub(crate) fn held_rows(&self) -> u64 {
        let Transit { context, hosts, .. } = &self.transit;
        context.recorder.held() + hosts.demands.held() + self.looks.held()
    }

    /// Hands over the chunks of the tables that are full and final.
    pub(crate) fn drain(&mut self) -> Vec<Piece> {
        let Transit { context, hosts, core, .. } = &mut self.transit;
        let mut tables: Vec<Piece> = context.recorder.drain(context.now).collect();
        tables.extend(hosts.demands.drain(core.graph()));
        tables.extend(self.looks.drain(core));
        tables
    }

    /// The numbers of the run so far, of so many flows at most, and its tables.
    pub(crate) fn finish(
        &mut self,
        random: (u64, u64),
        interrupted: bool,
        most: usize,
        warnings: Vec<String>,
    ) -> (Summary, Vec<Piece>) {
        let alone = self.outside.is_none();
        let Self { transit, course, looks, endpoints, .. } = self;
        let one_by_one = endpoints.one_by_one;
        Report { transit, course, looks, one_by_one, alone }.finish(
            random,
            interrupted,
            most,
            warnings,
        )
    }
}

/// A run that is reported.
struct Report<'a> {
    transit: &'a mut Transit,
    course: &'a Course,
    looks: &'a mut Looks,
    /// Data packets that came to their receivers at events of their own.
    one_by_one: u64,
    /// Whether no program outside the run acts.
    alone: bool,
}

impl Report<'_> {
    fn finish(
        mut self,
        random: (u64, u64),
        interrupted: bool,
        most: usize,
        mut warnings: Vec<String>,
    ) -> (Summary, Vec<Piece>) {
        let Transit { context, access, core, .. } = &*self.transit;
        warnings.extend(first_of_each_list(&core.unmet()));
        warnings.extend(first_of_each_list(&access.unmet()));
        let (now, measured) = (context.now, context.phase.span(context.now));
        let under_way = core.under_way(self.course.last_instant(now));
        let [events, core_events] = self.course.events();
        let work = [events, core_events, self.one_by_one];
        let counters = totals::counters(self.transit, work, &under_way);
        let over = |many: u64, few: u64| many as f64 / few.max(1) as f64;
        self.gather_digests();
        for word in [counters.packets_delivered, counters.packets_lost, counters.bursts_lost] {
            self.transit.context.digest.add(now, 4, word);
        }
        let demand = self.close_demands(measured);
        let flows = self.flow_summaries(measured, most, &under_way);
        let dead = Dead::of(&self.transit.hosts, self.alone);
        warnings.extend(dead.ended());
        warnings.extend(dead.flows());
        warnings.extend(self.censored(flows.len(), &demand, &dead));
        let one_by_one = over(self.one_by_one, counters.packets_delivered);
        let speed = SpeedSummary { one_by_one, because: self.because() };
        let Transit { context, hosts, access, core } = self.transit;
        let cells = || access.wireless.summaries();
        let mut summary = Summary {
            seed: random.0,
            replication: random.1,
            simulated_s: now.as_secs_f64(),
            measured_s: measured.as_secs_f64(),
            fingerprint: context.digest.hex(),
            interrupted,
            warnings,
            events_per_packet: over(counters.events, counters.packets_delivered),
            speed,
            packets_per_burst: core.per_burst(counters.packets_crossed, counters.bursts_delivered),
            counters,
            flows,
            network: None,
            ops: None,
            ack_pacing: access.pacing.summary(),
            wlan: self.course.measured().map_or_else(cells, |measured| measured.wlan.clone()),
            demand,
            surgery: core.surgery(&context.surgery),
            stacks: Vec::new(),
        };
        let report = core.report(now, measured, &under_way, &mut context.recorder);
        (summary.network, summary.ops) = (report.network, report.ops);
        summary.warnings.extend(report.warnings);
        let mut tables = report.tables;
        tables.extend(self.looks.take_tables(hosts, core));
        let recorder = std::mem::take(&mut context.recorder);
        let ends = (now, self.course.last_instant(now));
        tables.splice(0..0, recorder.finish(ends, summary.network.is_some()));
        (summary, tables)
    }

    /// The fields because of which hosts keep to the clock.
    fn because(&self) -> Vec<String> {
        let Transit { context, hosts, .. } = &*self.transit;
        let whole = context.ahead.obstacles().iter().map(|field| (*field).to_owned());
        whole.chain(hosts.because()).collect()
    }

    /// One digest of all that happened.
    fn gather_digests(&mut self) {
        let Transit { context, hosts, .. } = &mut *self.transit;
        let mut flows = hosts.demands.digest.clone();
        hosts.live().for_each(|flow| flows.absorb(flow.near.digest()));
        context.digest = context.digest.with(&flows);
    }

    /// At the end of the run: connections under way leave their rows too. Returns what the demands
    /// achieved.
    fn close_demands(&mut self, measured: Span) -> Vec<DemandSummary> {
        if !self.transit.hosts.demands.any() {
            return Vec::new();
        }
        for slot in 0..self.transit.hosts.flows.len() as u32 {
            self.transit.leave_row(slot);
        }
        self.transit.hosts.demands.summaries(self.transit.context.now, measured)
    }

    /// The numbers of the first flows that the scenario lists, of which so much time was measured.
    /// Bursts that were counted too early are not among theirs.
    fn flow_summaries(&self, span: Span, most: usize, under_way: &UnderWay) -> Vec<FlowSummary> {
        let (listed, early) = (self.transit.hosts.listed().take(most), &under_way.early_of);
        // A flow that is listed keeps the slot of its number.
        let bursts = |flow: &Flow| {
            let carried = self.transit.core.bursts_of(flow.id);
            let before = |number: u32| early.partition_point(|&other| other < number) as u64;
            let early = before(flow.id + 1) - before(flow.id);
            (carried.bursts - early, carried.lost)
        };
        match self.course.measured() {
            None => listed.map(|flow| flow.summary(&flow.achieved(span), bursts(flow))).collect(),
            Some(measured) => {
                let flows = listed.zip(&measured.flows);
                flows.map(|(flow, achieved)| flow.summary(achieved, bursts(flow))).collect()
            }
        }
    }

    /// Warnings about work left undone at the end, and about flows beyond the `shown` ones.
    fn censored(&self, shown: usize, demands: &[DemandSummary], dead: &Dead<'_>) -> Vec<String> {
        let fix = match self.course.has_drain() {
            false => "write run.drain, so that they end",
            true => "write a longer run.drain",
        };
        let unended = demands.iter().enumerate().filter(|(_, demand)| demand.censored > 0);
        let of_demands = unended.map(|(number, demand)| {
            let fix = if dead.is_demand(number, demand) { REPORT } else { fix };
            let DemandSummary { label, censored, cohort, .. } = demand;
            format!(
                "demand {label}: {censored} of the {cohort} connections that began in the measured \
                 time were not received at the end, and their completion times are unknown: no \
                 mean is reported, nor a percentile that they could change; {fix}"
            )
        });
        let (mut all, mut finite, mut open) = (0, 0, 0);
        for flow in self.transit.hosts.listed() {
            all += 1;
            finite += usize::from(flow.bytes.is_some());
            open += usize::from(flow.bytes.is_some() && flow.far.received().is_none());
        }
        let fix = if open == dead.transfers() { REPORT } else { fix };
        let of_flows = (open > 0).then(|| {
            format!(
                "flows: {open} of {finite} finite transfers were not received at the end; {fix}"
            )
        });
        let of_rest = (shown < all).then(|| {
            format!(
                "flows: the run was stopped, and only the first {shown} of {all} flows have \
                 numbers here; the totals include all"
            )
        });
        of_demands.chain(of_flows).chain(of_rest).collect()
    }
}

/// Of the entries of each list of a script that were not met, the first, and how many others.
fn first_of_each_list(unmet: &[String]) -> impl Iterator<Item = String> {
    let list = |line: &String| line.find(": ").map(|end| line[..end].to_string());
    unmet.chunk_by(move |one, next| list(one) == list(next)).map(|same| match same {
        [alone] => alone.clone(),
        _ => format!("{} (and {} more of that list)", same[0], same.len() - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::first_of_each_list;

    #[test]
    fn a_list_that_is_not_met_is_one_line() {
        let unmet =
            ["a.x: packet 1 was never sent", "a.x: packet 4 was never sent", "b.x: packet 1"];
        let found: Vec<_> = first_of_each_list(&unmet.map(String::from)).collect();
        assert_eq!(
            found,
            ["a.x: packet 1 was never sent (and 1 more of that list)", "b.x: packet 1"]
        );
    }
}
