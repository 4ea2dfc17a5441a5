//! Demands: their connections, with the slots and the results of these.

use std::sync::Arc;

use burstlab_kernel::RandomSource;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::arrivals::{Arrivals, Arriving};
use super::connection::{Called, FlowKind, Tally};
use super::ideal::Ideal;
use crate::measure::{Connections, DemandSummary, DepartedSummary, Digest, Piece};
use crate::measure::{Progress, Samples, Spread, Transfer, slowdowns};
use crate::scenario::{Offered, Resolved, keys};
use crate::topology::Graph;
use crate::traffic::Sampler;

/// The results of the connections of a demand.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DemandOutcome {
    pub(super) started: u64,
    pub(super) completed: u64,
    /// Those that began in the measured time and have left their rows.
    pub(super) cohort: Vec<Transfer>,
    /// Those that were done in the measured time.
    departed: u64,
    pub(super) active: u64,
    /// Connections x picoseconds since measuring began, up to `counted`.
    active_time: u128,
    /// That at the end of the measured time, where the run goes on.
    measured_time: Option<u128>,
    counted: Time,
    time_s: f64,
    rate: f64,
    rate_squared: f64,
    least: f64,
    greatest: f64,
    bytes: f64,
}

impl DemandOutcome {
    /// The number of open connections is about to change.
    pub(super) fn count_to(&mut self, now: Time) {
        self.active_time += u128::from(self.active) * u128::from(now.since(self.counted).as_ps());
        self.counted = now;
    }

    pub(super) fn done(&mut self, took: Span, bytes: u64) {
        let rate = bytes as f64 * 8.0 / took.as_secs_f64();
        self.departed += 1;
        self.time_s += took.as_secs_f64();
        self.rate += rate;
        self.rate_squared += rate * rate;
        self.least = if self.departed == 1 { rate } else { self.least.min(rate) };
        self.greatest = self.greatest.max(rate);
        self.bytes += bytes as f64;
    }

    fn departed(&self) -> DepartedSummary {
        let n = self.departed.max(1) as f64;
        let mean = self.rate / n;
        DepartedSummary {
            connections: self.departed,
            completion_time_s: self.time_s / n,
            throughput_bps: mean,
            throughput_variance: (self.rate_squared / n - mean * mean).max(0.0),
            throughput_range_bps: (self.least, self.greatest),
            size_bytes: self.bytes / n,
        }
    }

    fn summary(&self, label: &str, offered: Option<Offered>, measured: Span) -> DemandSummary {
        let span = measured.as_ps().max(1) as f64;
        let received = Spread::of_received(&self.cohort);
        let acknowledged = Spread::of_acknowledged(&self.cohort);
        let slowdown = Spread::of_slowdown(&self.cohort);
        DemandSummary {
            label: label.into(),
            offered_flows_per_second: offered.map(|one| one.flows_per_second),
            offered_bps: offered.map(|one| one.bps),
            offered_load_access: offered.map(|one| one.access),
            offered_load_receiver: offered.map(|one| one.receiver),
            offered_load_fibre: offered.map(|one| one.fibre),
            started: self.started,
            completed: self.completed,
            active: self.measured_time.unwrap_or(self.active_time) as f64 / span,
            cohort: self.cohort.len() as u64,
            censored: received.censored(),
            received_mean_s: received.mean(),
            received_mean_bound_s: received.mean_bound(),
            received_p50_s: received.quantile(500),
            received_p90_s: received.quantile(900),
            received_p99_s: received.quantile(990),
            received_p999_s: received.quantile(999),
            unacknowledged: acknowledged.censored(),
            acknowledged_mean_s: acknowledged.mean(),
            acknowledged_mean_bound_s: acknowledged.mean_bound(),
            acknowledged_p50_s: acknowledged.quantile(500),
            acknowledged_p90_s: acknowledged.quantile(900),
            acknowledged_p99_s: acknowledged.quantile(990),
            acknowledged_p999_s: acknowledged.quantile(999),
            slowdown_mean: slowdown.mean(),
            slowdown_p50: slowdown.quantile(500),
            slowdown_p99: slowdown.quantile(990),
            slowdown: slowdowns(&self.cohort),
            departed: self.departed(),
        }
    }
}

/// All demands, and the slots of their connections.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Demands {
    /// Of each entry. Not stored: the scenario has them, and no event changes them.
    #[serde(skip)]
    pub(super) kinds: Vec<Arc<FlowKind>>,
    /// Of each entry. Not stored: a law of the scenario, which no draw changes.
    #[serde(skip)]
    pub(super) samplers: Vec<Sampler>,
    /// The mean load of each entry. Not stored: it follows from the scenario.
    #[serde(skip)]
    offered: Vec<Option<Offered>>,
    /// Not stored: it follows from the paths before any failure.
    #[serde(skip)]
    pub(super) ideal: Ideal,
    pub(super) arrivals: Vec<Arrivals>,
    /// Connections that come at one instant. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    pub(super) coming: Vec<Arriving>,
    pub(super) outcomes: Vec<DemandOutcome>,
    /// Slots of connections that are gone.
    pub(super) free: Vec<u32>,
    /// Slots of connections that are done while some of their packets are still in transit.
    pub(super) lingering: Vec<u32>,
    /// The counts of connections that are gone.
    pub(in crate::world) gone: Tally,
    pub(in crate::world) digest: Digest,
    pub(super) connections: Connections,
    samples: Samples,
    /// Open connections, by the node where they started.
    pub(super) active: Vec<u32>,
    pub(super) ids: u32,
    /// Connections and flows so far of entries without a name.
    pub(super) unnamed: u64,
}

impl Demands {
    pub(in crate::world) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        let demands = &resolved.scenario.demand;
        let mut arrivals = Vec::new();
        let nodes = resolved.mesh.as_ref().map_or(0, |(graph, _)| graph.nodes.len());
        if let Some((graph, _)) = &resolved.mesh {
            let end = Time::ZERO + resolved.scenario.run.duration;
            let keys = keys(demands.iter().map(|demand| demand.name.as_ref()));
            for (index, (demand, law)) in (0..).zip(demands.iter().zip(&resolved.demand)) {
                let key = &keys[index as usize];
                arrivals.extend(Arrivals::of((index, key), (demand, law), graph, random));
            }
            // None comes as the measured time ends, or later: the run may go on.
            for arrivals in &mut arrivals {
                arrivals.stop = arrivals.stop.min(end);
            }
        }
        let kinds = demands.iter().zip(&resolved.demand_tcp).map(|(demand, config)| {
            let (name, label) = (demand.name.as_ref(), demand.label.as_ref());
            let called = Called { table: "demand", name, label };
            Arc::new(FlowKind::new(resolved, &called, demand.class, config).closing(demand.closes))
        });
        Self {
            kinds: kinds.collect(),
            samplers: resolved.demand.iter().map(|law| law.sizes.clone()).collect(),
            offered: resolved.offered(),
            ideal: Ideal::new(resolved),
            arrivals,
            coming: Vec::new(),
            outcomes: vec![DemandOutcome::default(); demands.len()],
            free: Vec::new(),
            lingering: Vec::new(),
            gone: Tally::default(),
            digest: Digest::of_none(),
            connections: Connections::default(),
            samples: Samples::default(),
            active: vec![0; nodes],
            ids: resolved.scenario.flows().iter().map(|flow| flow.flows()).sum(),
            unnamed: {
                let flows = resolved.scenario.flows().iter();
                flows.filter(|flow| flow.name.is_none()).map(|flow| u64::from(flow.flows())).sum()
            },
        }
    }

    /// Takes what is not stored from the demands of the same scenario.
    pub(in crate::world) fn adopt(&mut self, fresh: Self) {
        (self.kinds, self.samplers, self.ideal) = (fresh.kinds, fresh.samplers, fresh.ideal);
        self.offered = fresh.offered;
        for (arrivals, fresh) in self.arrivals.iter_mut().zip(fresh.arrivals) {
            arrivals.adopt(fresh);
        }
    }

    /// The part that all connections of an entry share.
    pub(in crate::world) fn kind(&self, demand: u32) -> Option<&Arc<FlowKind>> {
        self.kinds.get(demand as usize)
    }

    /// The same of all entries.
    pub(in crate::world) fn kinds(&self) -> &[Arc<FlowKind>] {
        &self.kinds
    }

    /// When each process has its first arrival.
    pub(in crate::world) fn starts(&self) -> Vec<(u32, Time)> {
        let live = (0..).zip(&self.arrivals).filter(|(_, arrivals)| arrivals.next < arrivals.stop);
        live.map(|(number, arrivals)| (number, arrivals.next)).collect()
    }

    /// Measuring begins.
    pub(in crate::world) fn warmed_up(&mut self, now: Time) {
        for outcome in &mut self.outcomes {
            outcome.active_time = 0;
            outcome.counted = now;
        }
    }

    /// The measured time is over, and the run goes on: returns how many connections are open.
    pub(in crate::world) fn measured(&mut self, now: Time) -> usize {
        for outcome in &mut self.outcomes {
            outcome.count_to(now);
            outcome.measured_time = Some(outcome.active_time);
        }
        self.outcomes.iter().map(|outcome| outcome.active as usize).sum()
    }

    /// Connections that are gone, all of which is at their receivers.
    pub(in crate::world) fn gone_by(&self) -> impl Iterator<Item = Progress> {
        self.connections.reached()
    }

    /// Whether any connection ever comes.
    pub(in crate::world) fn any(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Sets the rows of a chunk of the tables.
    pub(in crate::world) fn set_chunk(&mut self, rows: u32) {
        self.connections.set_chunk(rows);
        self.samples.set_chunk(rows);
    }

    /// Rows of connections and samples that were not handed over.
    pub(in crate::world) fn held(&self) -> u64 {
        self.connections.held() + self.samples.held()
    }

    /// Hands over the chunks of the tables that are full.
    pub(in crate::world) fn drain(&mut self, graph: &Graph) -> impl Iterator<Item = Piece> {
        self.connections.drain(graph).chain(self.samples.drain(graph))
    }

    /// Hands over what is left of the tables of connections and samples.
    pub(in crate::world) fn take_tables(&mut self, graph: &Graph, sampled: bool) -> Vec<Piece> {
        let (connections, samples) =
            (std::mem::take(&mut self.connections), std::mem::take(&mut self.samples));
        let connections = self.any().then(|| connections.finish(graph));
        let samples = sampled.then(|| samples.finish(graph));
        connections.into_iter().flatten().chain(samples.into_iter().flatten()).collect()
    }
}

impl Demands {
    /// Records how many connections are open at nodes with hosts.
    pub(in crate::world) fn sample(&mut self, now: Time, nodes: &[u32]) {
        for &node in nodes {
            self.samples.add(now, node, self.active[node as usize]);
        }
    }

    /// The results of the demands in the `measured` time.
    pub(in crate::world) fn summaries(&mut self, now: Time, measured: Span) -> Vec<DemandSummary> {
        let kinds = self.kinds.iter().zip(&self.offered);
        let summary = |((kind, offered), outcome): ((_, &Option<Offered>), &mut DemandOutcome)| {
            let kind: &Arc<FlowKind> = kind;
            outcome.count_to(now);
            outcome.summary(&kind.label, *offered, measured)
        };
        kinds.zip(&mut self.outcomes).map(summary).collect()
    }
}
