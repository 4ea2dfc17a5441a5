//! Connections that come and go: they arrive at random, take a slot, and leave a row.

use std::sync::Arc;

use burstlab_kernel::{RandomSource, Rank, Stream};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::flow::{Flow, FlowKind, Tally};
use super::ideal::Ideal;
use super::{Access, Event, World};
use crate::measure::{ConnectionRow, Connections, DemandSummary, DepartedSummary, Digest, Piece};
use crate::measure::{Samples, Spread, Took, Transfer, slowdowns};
use crate::scenario::{Demand, Per, Resolved, Weights};
use crate::topology::Graph;
use crate::traffic::{Sampler, exponential_of, mean_ps};

/// Arrivals of one demand at one edge node, a Poisson process.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Arrivals {
    demand: u32,
    from: u32,
    /// Where connections go, with the share of those that go there or to one before it.
    targets: Vec<(f64, u32)>,
    /// Mean time from one arrival to the next, in ps.
    mean: f64,
    times: Stream,
    sizes: Stream,
    arrived: u64,
    next: Time,
    stop: Time,
}

/// What became of the connections of a demand.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Outcome {
    started: u64,
    completed: u64,
    /// Those that began in the measured time and have left their rows.
    cohort: Vec<Transfer>,
    /// Those that were done in the measured time.
    departed: u64,
    active: u64,
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

impl Outcome {
    /// The number of connections under way is about to change.
    fn count_to(&mut self, now: Time) {
        self.active_time += u128::from(self.active) * u128::from(now.since(self.counted).as_ps());
        self.counted = now;
    }

    fn done(&mut self, took: Span, bytes: u64) {
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

    fn summary(&self, label: &str, measured: Span) -> DemandSummary {
        let span = measured.as_ps().max(1) as f64;
        let received = Spread::of_received(&self.cohort);
        let acknowledged = Spread::of_acknowledged(&self.cohort);
        let slowdown = Spread::of_slowdown(&self.cohort);
        DemandSummary {
            label: label.into(),
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
pub(super) struct Demands {
    /// Of each entry; not stored, as the scenario says what they are.
    #[serde(skip)]
    kinds: Vec<Arc<FlowKind>>,
    #[serde(skip)]
    samplers: Vec<Sampler>,
    #[serde(skip)]
    ideal: Ideal,
    arrivals: Vec<Arrivals>,
    outcomes: Vec<Outcome>,
    /// Slots of connections that are gone.
    free: Vec<u32>,
    /// Slots of connections that are done while something of theirs is still on its way.
    lingering: Vec<u32>,
    /// What connections that are gone have sent and received.
    pub(super) gone: Tally,
    pub(super) digest: Digest,
    connections: Connections,
    samples: Samples,
    /// Connections under way, by the node where they started.
    active: Vec<u32>,
    ids: u32,
}

impl Demands {
    pub(super) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        let demands = &resolved.scenario.demand;
        let mut arrivals = Vec::new();
        let nodes = resolved.mesh.as_ref().map_or(0, |(graph, _)| graph.nodes.len());
        if let Some((graph, _)) = &resolved.mesh {
            // The run goes on after the last of them.
            let run = &resolved.scenario.run;
            let stop = Time::ZERO + run.duration + Span::from_ps(1);
            for (index, (demand, law)) in (0..).zip(demands.iter().zip(&resolved.demand)) {
                arrivals.extend(Arrivals::of(index, (demand, &law.weights), graph, random));
            }
            for arrivals in arrivals.iter_mut().filter(|_| run.drain.is_some()) {
                arrivals.stop = arrivals.stop.min(stop);
            }
        }
        let kinds = demands.iter().zip(&resolved.demand_tcp).map(|(demand, config)| {
            Arc::new(FlowKind::new(resolved, demand.label.as_ref(), demand.class, config))
        });
        Self {
            kinds: kinds.collect(),
            samplers: resolved.demand.iter().map(|law| law.sizes.clone()).collect(),
            ideal: Ideal::new(resolved),
            arrivals,
            outcomes: vec![Outcome::default(); demands.len()],
            free: Vec::new(),
            lingering: Vec::new(),
            gone: Tally::default(),
            digest: Digest::of_none(),
            connections: Connections::default(),
            samples: Samples::default(),
            active: vec![0; nodes],
            ids: resolved.scenario.flows().iter().map(|flow| flow.count).sum(),
        }
    }

    /// Takes what is not stored from the demands of the same scenario.
    pub(super) fn adopt(&mut self, fresh: Self) {
        (self.kinds, self.samplers, self.ideal) = (fresh.kinds, fresh.samplers, fresh.ideal);
    }

    /// What connections of an entry have in common.
    pub(super) fn kind(&self, demand: u32) -> Option<&Arc<FlowKind>> {
        self.kinds.get(demand as usize)
    }

    /// When each process has its first arrival.
    pub(super) fn starts(&self) -> Vec<(u32, Time)> {
        let live = (0..).zip(&self.arrivals).filter(|(_, arrivals)| arrivals.next < arrivals.stop);
        live.map(|(number, arrivals)| (number, arrivals.next)).collect()
    }

    /// Measuring begins.
    pub(super) fn warmed_up(&mut self, now: Time) {
        for outcome in &mut self.outcomes {
            outcome.active_time = 0;
            outcome.counted = now;
        }
    }

    /// The measured time is over, and the run goes on: answers how many connections are under way.
    pub(super) fn measured(&mut self, now: Time) -> usize {
        for outcome in &mut self.outcomes {
            outcome.count_to(now);
            outcome.measured_time = Some(outcome.active_time);
        }
        self.outcomes.iter().map(|outcome| outcome.active as usize).sum()
    }

    /// Whether any connection ever comes.
    pub(super) fn any(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Sets the rows of a chunk of the tables.
    pub(super) fn set_chunk(&mut self, rows: u32) {
        self.connections.set_chunk(rows);
        self.samples.set_chunk(rows);
    }

    /// Rows of connections and samples that were not handed over.
    pub(super) fn held(&self) -> u64 {
        self.connections.held() + self.samples.held()
    }

    /// Hands over the chunks of the tables that are full.
    pub(super) fn drain(&mut self, graph: &Graph) -> impl Iterator<Item = Piece> {
        self.connections.drain(graph).chain(self.samples.drain(graph))
    }

    /// Hands over what is left of the tables of connections and samples.
    pub(super) fn take_tables(&mut self, graph: &Graph, sampled: bool) -> Vec<Piece> {
        let (connections, samples) =
            (std::mem::take(&mut self.connections), std::mem::take(&mut self.samples));
        let connections = self.any().then(|| connections.finish(graph));
        let samples = sampled.then(|| samples.finish(graph));
        connections.into_iter().flatten().chain(samples.into_iter().flatten()).collect()
    }
}

impl Arrivals {
    /// The processes of a demand, one for each node where its connections start.
    fn of(
        number: u32,
        (demand, weights): (&Demand, &Weights),
        graph: &Graph,
        random: &RandomSource,
    ) -> Vec<Self> {
        let edges = graph.edges();
        let weight = |from: u32, to: u32| weights.of(from, to);
        let row = |from: u32| edges.iter().map(move |&to| (weight(from, to), to));
        let sum = |from: u32| row(from).map(|(weight, _)| weight).sum::<f64>();
        let whole: f64 = edges.iter().map(|&from| sum(from)).sum();
        let mut all = Vec::new();
        for &from in &edges {
            let own = sum(from);
            let pairs = row(from).filter(|(weight, _)| *weight > 0.0).count() as f64;
            let rate = demand.flows_per_second
                * match (demand.per, weights) {
                    (Per::Network, _) => own / whole,
                    (Per::Node | Per::Pair, Weights::Matrix(_)) => own,
                    (Per::Node, _) => 1.0,
                    (Per::Pair, _) => pairs,
                };
            if own <= 0.0 || rate <= 0.0 {
                continue;
            }
            let mut shares = 0.0;
            let targets = row(from).filter(|(weight, _)| *weight > 0.0).map(|(weight, to)| {
                shares += weight / own;
                (shares, to)
            });
            let targets: Vec<_> = targets.collect();
            let name = format!("demand/{number}/{from}");
            let mut arrivals = Self {
                demand: number,
                from,
                targets,
                mean: mean_ps(1.0 / rate),
                times: random.stream(&name),
                sizes: random.stream(&format!("{name}/size")),
                arrived: 0,
                next: Time::ZERO + demand.start,
                stop: demand.stop.map_or(Time::MAX, |stop| Time::ZERO + stop),
            };
            arrivals.draw();
            all.push(arrivals);
        }
        all
    }

    /// Moves to the next arrival; answers the destination of the present one and the uniform
    /// number of its size.
    fn draw(&mut self) -> (u32, f64) {
        let [wait, place] = self.times.uniforms(self.arrived);
        let [size, _] = self.sizes.uniforms(self.arrived);
        self.arrived += 1;
        self.next = self.next.saturating_add(exponential_of(self.mean, wait));
        let last = self.targets.len() - 1;
        let target = self.targets.partition_point(|&(share, _)| share <= place).min(last);
        (self.targets[target].1, size)
    }
}

impl World {
    /// A connection arrives.
    pub(super) fn connect(&mut self, number: u32) {
        let mut lingering = std::mem::take(&mut self.demands.lingering);
        lingering.retain(|&slot| {
            let settled = self.flows[slot as usize].settled();
            if settled {
                self.retire(slot);
            }
            !settled
        });
        self.demands.lingering = lingering;
        let demands = &mut self.demands;
        let arrivals = &mut demands.arrivals[number as usize];
        let (to, share) = arrivals.draw();
        let (demand, from) = (arrivals.demand, arrivals.from);
        if arrivals.next < arrivals.stop {
            self.context.queue.push(arrivals.next, Rank::Arrival, Event::Demand(number));
        }
        let bytes = demands.samplers[demand as usize].draw(share);
        let writes = Some(vec![(self.now, bytes.get())]);
        let kind = &demands.kinds[demand as usize];
        let mut flow = Flow::new(demands.ids, kind, (from, to), self.now, writes);
        flow.demand = Some(demand);
        demands.ids += 1;
        demands.active[from as usize] += 1;
        let outcome = &mut demands.outcomes[demand as usize];
        outcome.count_to(self.now);
        outcome.started += 1;
        outcome.active += 1;
        let slot = demands.free.pop();
        self.active += 1;
        let slot = self.seat(slot, flow);
        self.start(slot);
    }

    /// Puts a connection in a slot, a new one if none is free.
    fn seat(&mut self, slot: Option<u32>, flow: Flow) -> u32 {
        let (near, far) = &self.wires;
        if let Some(slot) = slot {
            let place = slot as usize;
            self.flows[place] = flow;
            if !self.shared {
                self.data_up[place].wire = near.clone();
                self.ack_down[place].wire = near.clone();
                self.data_down[place].wire = far.clone();
                self.ack_up[place].wire = far.clone();
            }
            return slot;
        }
        self.flows.push(flow);
        if !self.shared {
            self.data_up.extend(Access::several(1, near));
            self.ack_down.extend(Access::several(1, near));
            self.data_down.extend(Access::several(1, far));
            self.ack_up.extend(Access::several(1, far));
        }
        self.flows.len() as u32 - 1
    }

    /// A flow is done; a connection of a demand leaves when nothing of it is on its way.
    pub(super) fn leave(&mut self, slot: u32) {
        let flow = &self.flows[slot as usize];
        let Some(demand) = flow.demand else { return };
        let outcome = &mut self.demands.outcomes[demand as usize];
        outcome.count_to(self.now);
        outcome.active -= 1;
        outcome.completed += 1;
        self.demands.active[flow.from as usize] -= 1;
        if self.now > self.measured_from && self.warm && self.measured.is_none() {
            outcome.done(self.now.since(flow.start), flow.written());
        }
        if flow.settled() {
            self.retire(slot);
        } else {
            self.demands.lingering.push(slot);
        }
    }

    /// A connection leaves its row and frees its slot.
    fn retire(&mut self, slot: u32) {
        self.leave_row(slot);
        let flow = &mut self.flows[slot as usize];
        if self.warm {
            self.optics.connection(flow.tally.bursts, flow.tally.bursts_lost);
        }
        self.demands.gone.add(&flow.tally());
        self.demands.digest.absorb(&flow.digest);
        flow.vacate();
        self.demands.free.push(slot);
    }

    /// A connection leaves its row, and is one of its cohort; a flow that the scenario lists not.
    fn leave_row(&mut self, slot: u32) {
        let flow = &self.flows[slot as usize];
        let Some(demand) = flow.demand else { return };
        let row = row(flow, demand, &self.demands.ideal);
        if self.warm && row.started >= self.measured_from {
            let age = self.now.since(row.started);
            let took = |at: Option<Time>| Took::new(at.map(|at| at.since(row.started)), age);
            self.demands.outcomes[demand as usize].cohort.push(Transfer {
                bytes: row.bytes,
                ideal: row.ideal,
                received: took(row.received),
                acknowledged: took(row.completed),
            });
        }
        self.demands.connections.add(&row);
    }

    /// Notes how many connections are under way.
    pub(super) fn sample(&mut self) {
        for node in self.optics.hosts() {
            let active = self.demands.active[node as usize];
            self.demands.samples.add(self.now, node, active);
        }
        self.context.queue.push(self.now + self.sample_every, Rank::Timer, Event::Sample);
    }

    /// At the end of the run: connections under way leave their rows too. Answers what the demands
    /// achieved.
    pub(super) fn close_demands(&mut self, measured: Span) -> Vec<DemandSummary> {
        if self.demands.kinds.is_empty() {
            return Vec::new();
        }
        for slot in 0..self.flows.len() as u32 {
            self.leave_row(slot);
        }
        let now = self.now;
        let outcomes = self.demands.kinds.iter().zip(&mut self.demands.outcomes);
        let summary = |(kind, outcome): (&Arc<FlowKind>, &mut Outcome)| {
            outcome.count_to(now);
            outcome.summary(&kind.label, measured)
        };
        outcomes.map(summary).collect()
    }
}

/// The row of a connection of a demand.
fn row(flow: &Flow, demand: u32, ideal: &Ideal) -> ConnectionRow {
    let counters = flow.sender.counters();
    let bytes = flow.bytes.unwrap_or_default();
    ConnectionRow {
        id: flow.id,
        demand,
        from: flow.from,
        to: flow.to,
        class: flow.kind.class,
        started: flow.start,
        received: flow.received,
        completed: flow.completed,
        bytes,
        ideal: ideal.of(&flow.kind, (flow.from, flow.to), bytes),
        packets_sent: flow.sender.counters().segments_sent,
        packets_lost: flow.tally.lost,
        retransmissions: counters.retransmissions,
        timeouts: counters.timeouts,
        false_timeouts: flow.false_timeouts(),
        fast_retransmits: counters.fast_retransmits,
        bursts: flow.tally.bursts,
        bursts_lost: flow.tally.bursts_lost,
    }
}
