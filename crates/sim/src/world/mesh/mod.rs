//! A mesh of edge and core nodes in which bursts meet. A header walks from node to node ahead of
//! its burst and reserves; the burst itself costs nothing until it lands.

mod background;
mod burst;
mod census;
mod contention;
mod cutting;
mod edge;
mod feed;
mod header;
mod inbox;
mod injection;
mod joins;
mod losing;
mod report;
mod rules;
mod steps;
mod under_way;

use burstlab_kernel::{Lane, RandomSource, Rank, Stream};
use burstlab_link::LossProcess;
use burstlab_optical::delay_lines::DelayLines;
use burstlab_optical::scheduling::Port;
use burstlab_optical::signalling::{ControlChannels, HeaderProcessor};
use burstlab_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use self::background::Background;
pub(super) use self::burst::BurstKind;
use self::burst::Bursts;
use self::census::Census;
use self::edge::Queue;
use self::feed::BatchCounts;
use self::header::Signal;
use self::inbox::Entering;
use self::injection::Injection;
use self::rules::Rules;
pub(super) use self::under_way::UnderWay;
use super::flow::Flow;
use super::script::Script;
use super::{Context, Event, World};
use crate::measure::NetworkTally;
use crate::scenario::{Interrupt, Losing, Resolved, RouteChoice, Scenario, TieBreak};
use crate::topology::{Graph, Routes};

/// What a burst takes in memory, and a source of bursts, and an assembly queue with a source of
/// batches.
pub(super) const BURST_SIZE: usize = size_of::<burst::Burst>();
pub(super) const BURST_SOURCE_SIZE: usize = size_of::<Background>();
pub(super) const BATCH_SOURCE_SIZE: usize =
    size_of::<Queue>() + size_of::<feed::Feed>() + size_of::<crate::traffic::BatchSource>();

/// What can happen in a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MeshEvent {
    /// The timer of an assembly queue may be due.
    Assembly(u32),
    /// The header of the burst in a slot enters the processor of its ingress.
    Submit(u32),
    /// A header or trailer reaches the end of a fibre.
    Signal(u32),
    /// A node begins to work on the header of the burst in a slot.
    Served(u32),
    /// The last bit of the burst in a slot reaches its egress.
    Landed(u32),
    /// A refusal of a two-way reservation reaches a node on its way back.
    Refused(u32),
    /// The ingress offers the burst in a slot again.
    Again(u32),
    /// A source of bursts sends one.
    Background(u32),
}

/// Losses that a scenario prescribes for bursts of one kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Prescribed {
    process: LossProcess,
    script: Script,
    node: usize,
    stream: Stream,
    /// Bursts of this kind so far.
    closed: u64,
}

impl Prescribed {
    fn new(rule: &Losing, stream: Stream) -> Self {
        let (process, script) = (rule.process.clone(), Script::new(&rule.script));
        Self { process, script, node: rule.node, stream, closed: 0 }
    }
}

/// Totals by kind of burst.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct BurstCounts {
    pub(super) sent: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    /// What they carried, in a mesh.
    pub(super) bytes_sent: u64,
    pub(super) bytes_delivered: u64,
    pub(super) bytes_lost: u64,
}

/// The mesh.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mesh {
    /// What does not change is not stored: the scenario says it.
    #[serde(skip)]
    scenario: Scenario,
    #[serde(skip)]
    graph: Graph,
    #[serde(skip)]
    routes: Routes,
    #[serde(skip)]
    rules: Rules,
    /// By fibre.
    ports: Vec<Port>,
    control: Vec<ControlChannels>,
    signals: Vec<Lane<Signal>>,
    /// By node.
    processors: Vec<HeaderProcessor>,
    lines: Vec<DelayLines>,
    copies: Vec<u64>,
    /// Which of the nodes with hosts a node is.
    sites: Vec<Option<u32>>,
    site_count: u32,
    queues: Vec<Queue>,
    /// Whether queues need only be told in advance of data packets, and of ACKs.
    expects: (bool, bool),
    entering: Entering,
    /// Which queue is in which place.
    places: Vec<u32>,
    bursts: Bursts,
    background: Vec<Background>,
    /// Queues that batches enter, and what became of these.
    fed: Vec<u32>,
    pub(super) batches: BatchCounts,
    data_loss: Prescribed,
    ack_loss: Prescribed,
    choices: Stream,
    /// By pair of nodes with hosts: which of its routes comes next, where they take turns.
    turns: Vec<u32>,
    /// Draws of the wavelengths on which bursts set out.
    wavelengths: Stream,
    injection: Option<Injection>,
    /// Bursts numbered so far.
    numbered: u64,
    /// Whether a sender listens to what becomes of its bursts.
    reports: bool,
    /// Whether packets may be kept as trains: where no one looks at their order, or at one of them.
    trains: bool,
    census: Census,
    pub(super) counts: [BurstCounts; 3],
    pub(super) others_lost: u64,
    pub(super) tally: NetworkTally,
    /// What was counted by the end of the measured time, where the run goes on.
    measured: Option<Box<report::Measured>>,
    measured_from: Time,
}

impl Mesh {
    pub(super) fn new(resolved: &Resolved, mesh: &(Graph, Routes), random: &RandomSource) -> Self {
        let scenario = &resolved.scenario;
        let (graph, routes) = mesh.clone();
        let (signalling, core) = (&scenario.signalling, &scenario.core);
        let rules = Rules::new(scenario, &resolved.assembly);
        let nodes = graph.nodes.len();
        let port = |wavelengths| Port::new(wavelengths, core.scheduler);
        let rate = signalling.rate.unwrap_or(rules.rate);
        let control = ControlChannels::new(signalling.channels, rate, signalling.header_size);
        let processor = HeaderProcessor::new(signalling.processors, signalling.processing);
        let lines = DelayLines::new(&core.delay_lines.delays, core.delay_lines.channels);
        let mut sites = vec![None; nodes];
        for (site, node) in (0..).zip(graph.edges()) {
            sites[node as usize] = Some(site);
        }
        let data_loss = Prescribed::new(&resolved.loss.data, random.stream("loss/data"));
        // What is announced enters by time and flow: drawn ties need an event for each packet.
        let drawn = scenario.run.tie_break == TieBreak::Random;
        let (data, acks) = edge::expects(scenario, &rules, &data_loss);
        let expects = (data && !drawn, acks && !drawn);
        let trains = !rules.ordered && !resolved.listens() && data_loss.script.is_empty();
        let site_count = graph.edges().len() as u32;
        let mut mesh = Self {
            ports: graph.links.iter().map(|link| port(link.wavelengths)).collect(),
            control: vec![control; graph.links.len()],
            signals: vec![Lane::default(); graph.links.len()],
            processors: vec![processor; nodes],
            lines: vec![lines; nodes],
            copies: vec![0; nodes],
            sites,
            expects,
            entering: Entering::new(&rules, trains),
            site_count,
            queues: Vec::new(),
            places: edge::places(&rules, site_count),
            bursts: Bursts::default(),
            background: background::sources(resolved, &graph, &rules, random),
            fed: Vec::new(),
            batches: BatchCounts::default(),
            data_loss,
            ack_loss: Prescribed::new(&resolved.loss.ack, random.stream("loss/ack")),
            choices: random.stream("routes"),
            turns: match rules.choice {
                RouteChoice::RoundRobin => vec![0; (site_count * site_count) as usize],
                RouteChoice::First | RouteChoice::Random => Vec::new(),
            },
            wavelengths: random.stream("wavelengths"),
            injection: Injection::new(scenario, random),
            numbered: 0,
            reports: resolved.listens(),
            trains,
            census: Census::default(),
            counts: [BurstCounts::default(); 3],
            others_lost: 0,
            tally: NetworkTally::new(&graph),
            measured: None,
            measured_from: Time::ZERO,
            scenario: scenario.clone(),
            graph,
            routes,
            rules,
        };
        mesh.feed_queues(resolved, random);
        mesh
    }

    /// Takes what is not stored from a mesh of the same scenario.
    pub(in crate::world) fn adopt(&mut self, fresh: Self) {
        (self.scenario, self.rules) = (fresh.scenario, fresh.rules);
        (self.graph, self.routes) = (fresh.graph, fresh.routes);
    }

    pub(super) fn background_sources(&self) -> usize {
        self.background.len() + self.fed.len()
    }

    /// Queues the first bursts of others, and the first closing of each queue that batches enter.
    pub(super) fn begin(&mut self, watch: &Interrupt, context: &mut Context) {
        for (number, source) in (0..).zip(&self.background) {
            if let Some(at) = source.next() {
                let event = Event::Mesh(MeshEvent::Background(number));
                context.queue.push(at, Rank::Arrival, event);
            }
        }
        self.begin_feeding(watch, context);
    }

    /// Bursts with data closed so far; where there are only bursts of others, these.
    #[inline]
    pub(super) fn closed(&self) -> u64 {
        let [data, _, background] = &self.counts;
        let alone = self.background.is_empty() && self.fed.is_empty();
        if alone { data.sent } else { data.sent + background.sent }
    }

    /// That of a wavelength.
    pub(super) fn rate(&self) -> Rate {
        self.rules.rate
    }

    /// Whether there is no room for more bursts.
    pub(super) fn is_full(&self) -> bool {
        self.bursts.is_full()
    }

    /// Measuring begins.
    pub(super) fn warmed_up(&mut self, now: Time) {
        self.measured_from = now;
        self.tally = NetworkTally::new(&self.graph);
        for port in &mut self.ports {
            port.forget(now);
            port.measure_from(now);
        }
    }

    /// What was scripted and never came.
    pub(super) fn unmet(&self) -> Vec<String> {
        let tables = [("loss.data", &self.data_loss), ("loss.ack", &self.ack_loss)];
        let unmet = tables.into_iter().flat_map(|(table, rule)| {
            let closed = rule.closed;
            let listed = match &rule.process {
                LossProcess::Listed(bursts) => bursts.as_slice(),
                _ => &[],
            };
            let bursts = listed.iter().filter(move |&&burst| burst > closed).map(move |burst| {
                format!("bursts: there was no burst {burst}; the run closed {closed} bursts")
            });
            rule.script.unmet().chain(bursts).map(move |what| format!("{table}.{what}"))
        });
        unmet.collect()
    }

    /// The node at which a header stands that has `hop` fibres behind it.
    fn node_at(&self, slot: u32, hop: usize) -> u32 {
        let burst = self.bursts.get(slot);
        match hop {
            0 => burst.from,
            _ => self.graph.link(burst.route[hop - 1]).to,
        }
    }

    /// Propagation over the first `hops` fibres of a burst's way.
    fn reach(&self, slot: u32, hops: usize) -> Span {
        let route = &self.bursts.get(slot).route[..hops];
        route.iter().fold(Span::ZERO, |sum, &link| sum + self.graph.link(link).delay)
    }

    /// Something happens that no host takes part in.
    fn happen(&mut self, now: Time, event: MeshEvent, context: &mut Context, flows: &mut [Flow]) {
        match event {
            MeshEvent::Signal(link) => self.signal(now, link, context, flows),
            MeshEvent::Assembly(queue) => self.timer(now, queue, context, flows),
            MeshEvent::Submit(slot) => self.submit(now, slot, context, flows),
            MeshEvent::Served(slot) => self.schedule(now, slot, context, flows),
            MeshEvent::Refused(slot) => self.refused(now, slot, context, flows),
            MeshEvent::Again(slot) => self.launch(now, slot, context, flows),
            MeshEvent::Background(source) => self.background(now, source, context, flows),
            MeshEvent::Landed(_) => unreachable!("a landing goes to the hosts"),
        }
    }
}

impl World {
    /// Something happens in the mesh.
    #[inline]
    pub(super) fn mesh(&mut self, event: MeshEvent) {
        let super::Optics::Mesh(mesh) = &mut self.optics else {
            panic!("an event of a mesh happened on a path");
        };
        let MeshEvent::Landed(slot) = event else {
            mesh.happen(self.now, event, &mut self.context, &mut self.flows);
            return;
        };
        let Some(mut cargo) = mesh.land(self.now, slot, &mut self.context, &mut self.flows) else {
            return;
        };
        self.context.work += (cargo.data.len() + cargo.acks.len()) as u32;
        let mut data = &cargo.data[..];
        while let Some((train, others)) = data.split_first() {
            let done = self.stride_of_data(data);
            data = if done > 0 { &data[done..] } else { others };
            match done {
                0 if train.first.is_of_batch() => {}
                0 if train.first.is_other() => self.others_leave(train),
                0 => train.packets().for_each(|packet| self.data_on_link(self.now, packet)),
                _ => {}
            }
        }
        let mut acks = &cargo.acks[..];
        while let Some((train, others)) = acks.split_first() {
            let done = self.stride_of_acks(acks);
            acks = if done > 0 { &acks[done..] } else { others };
            if done == 0 {
                train.packets().for_each(|ack| self.ack_on_link(self.now, ack));
            }
        }
        cargo.clear();
        if let super::Optics::Mesh(mesh) = &mut self.optics {
            mesh.clear_away(slot, cargo);
        }
    }
}
