//! A mesh of edge and core nodes in which bursts meet. A header walks from node to node ahead of
//! its burst and reserves; the burst itself costs nothing until it lands.

mod announced;
mod background;
mod batch_arrivals;
mod burst;
mod census;
mod coalescer;
mod contention;
mod cutting;
mod edge;
mod filling;
mod flush;
mod header;
mod ingress_port;
mod injection;
mod losing;
mod occupied;
mod outages;
mod pending;
mod periods;
mod report;
mod routing;
mod rules;
mod steps;
mod surgery;
mod under_way;
mod ways;

use burstlab_kernel::{Lane, RandomSource, Rank, Stream};
use burstlab_link::LossProcess;
use burstlab_optical::delay_lines::DelayLines;
use burstlab_optical::scheduling::Port;
use burstlab_optical::signalling::{ControlChannels, HeaderProcessor};
use burstlab_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

pub(in crate::world) use self::announced::DataQueue;
use self::announced::{Entering, Tails};
use self::background::Background;
pub(in crate::world) use self::batch_arrivals::BatchCounts;
pub(super) use self::burst::BurstKind;
use self::burst::Bursts;
pub(in crate::world) use self::burst::Payload;
use self::census::Census;
use self::edge::Queue;
use self::flush::Due;
use self::header::Signal;
use self::injection::Injection;
use self::occupied::Looked;
use self::outages::Outages;
use self::routing::CurrentRoutes;
use self::rules::Rules;
pub(in crate::world) use self::under_way::UnderWay;
use self::ways::Way;
use super::effects::Effects;
use super::flows::Flows;
use super::marks::Markers;
use super::script::Script;
use crate::measure::NetworkTally;
use crate::measure::loss::LossCause;
use crate::scenario::{Core, Interrupt, Losing, Resolution, Resolved, Scenario};
use crate::topology::Graph;
use crate::world::context::Context;
use crate::world::events::{CoreEvent, Event};
use crate::world::packet::DataPacket;

/// What a burst takes in memory, and a source of bursts, and an assembly queue with a source of
/// batches.
pub(in crate::world) const BURST_SIZE: usize = size_of::<burst::Burst>();
pub(in crate::world) const BURST_SOURCE_SIZE: usize = size_of::<Background>();
pub(in crate::world) const BATCH_SOURCE_SIZE: usize = size_of::<Queue>()
    + size_of::<batch_arrivals::BatchArrivals>()
    + size_of::<crate::traffic::BatchSource>();

/// Where a burst is lost as the scenario prescribes, 0 at the ingress, and why.
type ScheduledLoss = Option<(usize, LossCause)>;

/// Losses that a scenario prescribes for bursts of one kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LossSchedule {
    process: LossProcess,
    script: Script,
    node: usize,
    stream: Stream,
    /// Bursts of this kind so far.
    closed: u64,
}

impl LossSchedule {
    fn new(rule: &Losing, stream: Stream) -> Self {
        let (process, script) = (rule.process.clone(), Script::new(&rule.script));
        Self { process, script, node: rule.node, stream, closed: 0 }
    }

    /// Whether for certain no burst is lost that is closed from the first of two times to the last.
    #[inline]
    fn spares(&mut self, times: impl FnOnce() -> (Time, Time)) -> bool {
        let draws = |ordinal: u64| self.stream.uniforms(ordinal);
        self.script.is_empty() && self.process.spares(times, draws)
    }

    /// The next burst is closed, at `at`: whether it is lost, for what it is or for its first
    /// packets.
    #[inline]
    fn next<'a>(
        &mut self,
        at: Time,
        firsts: impl Iterator<Item = &'a DataPacket>,
    ) -> ScheduledLoss {
        self.closed += 1;
        let Self { process, script, node, stream, closed } = self;
        let hit = process.hits(*closed, at, |ordinal| stream.uniforms(ordinal));
        let scripted = script.schedules(firsts);
        let cause = match process {
            _ if scripted => LossCause::Scripted,
            LossProcess::Listed(_) => LossCause::Scripted,
            LossProcess::Outages(_) => LossCause::Outage,
            _ => LossCause::Burst,
        };
        (hit || scripted).then_some((*node, cause))
    }
}

/// Totals by kind of burst.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct BurstCounts {
    pub(in crate::world) sent: u64,
    pub(in crate::world) delivered: u64,
    pub(in crate::world) lost: u64,
    /// What they carried, in a mesh.
    pub(in crate::world) bytes_sent: u64,
    pub(in crate::world) bytes_delivered: u64,
    pub(in crate::world) bytes_lost: u64,
}

impl BurstCounts {
    /// Bursts crossed a way, and carried so many bytes.
    #[inline]
    fn passed(&mut self, bursts: u64, bytes: u64) {
        self.sent += bursts;
        self.delivered += bursts;
        self.bytes_sent += bytes;
        self.bytes_delivered += bytes;
    }
}

/// Whether packets may be kept as trains. A path tells those who listen of each packet of one.
fn keeps_trains(resolved: &Resolved, rules: &Rules, loss: &LossSchedule) -> bool {
    let told = rules.control && resolved.listens();
    !rules.ordered && !told && loss.script.is_empty()
}

/// The output of each fibre.
fn ports(graph: &Graph, core: &Core) -> Vec<Port> {
    graph.links.iter().map(|link| Port::new(link.wavelengths, core.scheduler)).collect()
}

/// Which of the nodes with hosts each node is.
fn sites(graph: &Graph) -> Vec<Option<u32>> {
    let mut sites = vec![None; graph.nodes.len()];
    for (site, node) in (0..).zip(graph.edges()) {
        sites[node as usize] = Some(site);
    }
    sites
}

/// The mesh.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Mesh {
    /// Not stored: no event changes it.
    #[serde(skip)]
    scenario: Scenario,
    /// Not stored: the scenario has its nodes and fibres, which no event changes.
    #[serde(skip)]
    graph: Graph,
    routes: CurrentRoutes,
    /// Not stored: the scenario has them, and no event changes them.
    #[serde(skip)]
    rules: Rules,
    /// What it knows of the flows.
    pub(super) flows: Flows,
    /// Ways that pairs of nodes have for themselves: those of a path.
    ways: Vec<Way>,
    /// How long before a packet reaches an edge node that is known at least, of data and of ACKs:
    /// the delay of its access link. Not stored: the scenario has it.
    #[serde(skip)]
    lookahead: [Span; 2],
    /// Whether hosts are there that are never ahead of the clock. Not stored: the flows that the
    /// scenario lists decide it.
    #[serde(skip)]
    by_the_clock: bool,
    /// Whether there are flows that never end, and with them the run. Not stored: the flows that
    /// the scenario lists decide it.
    #[serde(skip)]
    endless: bool,
    /// Whether a burst that carries nothing that is followed ends with its last reservation. Not
    /// stored: the scenario decides it.
    #[serde(skip)]
    unseen: bool,
    /// What a queue takes in at once. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    due: Due,
    /// What the hosts and links are yet to deal with. Not stored: empty between two events.
    #[serde(skip)]
    pub(super) effects: Effects,
    /// Whether the burst that sets out is lost, where that was asked already. Not stored: the event
    /// that asks closes the burst.
    #[serde(skip)]
    asked: Option<ScheduledLoss>,
    /// Packets that entered before each of the burst that sets out, where these are spaced. Not
    /// stored: the event that closes a burst writes and reads it.
    #[serde(skip)]
    positions: Vec<u64>,
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
    /// Of a path with one queue for all data, and one for all ACKs: these.
    only: [Option<u32>; 2],
    /// Whether queues need only be told in advance of data packets, and of ACKs.
    expects: (bool, bool),
    entering: Entering,
    tails: Tails,
    /// Which queue is in which place.
    places: Vec<u32>,
    bursts: Bursts,
    background: Vec<Background>,
    /// Queues that batches enter, and what became of these.
    fed: Vec<u32>,
    pub(super) batches: BatchCounts,
    data_loss: LossSchedule,
    ack_loss: LossSchedule,
    choices: Stream,
    /// By pair of nodes with hosts: which of its routes comes next, where they take turns.
    turns: Vec<u32>,
    /// Draws of the wavelengths on which bursts set out.
    wavelengths: Stream,
    injection: Option<Injection>,
    /// Of ingress ports, by fibre.
    markers: Markers,
    outages: Outages,
    looked: Looked,
    /// Bursts numbered so far; on a path those of each direction by themselves.
    numbered: [u64; 2],
    /// Whether a sender listens to what becomes of its bursts, and whether to more than losses.
    reports: bool,
    tells: bool,
    /// Whether packets may be kept as trains: where no one looks at their order, or at one of them.
    trains: bool,
    census: Census,
    pub(super) counts: [BurstCounts; 3],
    pub(super) cross_lost: u64,
    pub(super) tally: NetworkTally,
    /// What was counted by the end of the measured time, where the run goes on.
    measured: Option<Box<report::MeasuredNetwork>>,
    measured_from: Time,
}

impl Mesh {
    pub(super) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        let scenario = &resolved.scenario;
        let (graph, routes) = resolved.graph_and_routes();
        let (signalling, core) = (&scenario.signalling, &scenario.core);
        let rules = Rules::new(scenario, &resolved.assembly);
        let nodes = graph.nodes.len();
        let rate = signalling.rate.unwrap_or(rules.rate);
        let control = ControlChannels::new(signalling.channels, rate, signalling.header_size);
        let processor = HeaderProcessor::new(signalling.processors, signalling.processing);
        let lines = DelayLines::new(&core.delay_lines.delays, core.delay_lines.channels);
        let data_loss = LossSchedule::new(&resolved.loss.data, random.stream("loss/data"));
        let expects = edge::expects(scenario, &rules, &data_loss);
        let trains = keeps_trains(resolved, &rules, &data_loss);
        let site_count = graph.edges().len() as u32;
        let mut mesh = Self {
            ports: ports(&graph, core),
            control: vec![control; graph.links.len()],
            signals: vec![Lane::default(); graph.links.len()],
            processors: vec![processor; nodes],
            lines: vec![lines; nodes],
            copies: vec![0; nodes],
            sites: sites(&graph),
            ways: ways::of(scenario, &rules, &graph, &routes),
            lookahead: [scenario.access.delay, scenario.access.receiver_side().1],
            by_the_clock: true,
            endless: false,
            unseen: false,
            due: Due::default(),
            effects: Effects::default(),
            flows: Flows::default(),
            asked: None,
            positions: Vec::new(),
            expects,
            entering: Entering::new(&rules, trains),
            tails: Tails::default(),
            site_count,
            queues: Vec::new(),
            only: [None; 2],
            places: edge::places(&rules, site_count),
            bursts: if rules.control { Bursts::default() } else { Bursts::stocked() },
            background: background::sources(resolved, &graph, &rules, random),
            fed: Vec::new(),
            batches: BatchCounts::default(),
            data_loss,
            ack_loss: LossSchedule::new(&resolved.loss.ack, random.stream("loss/ack")),
            choices: random.stream("routes"),
            turns: rules.turns(&graph, &routes, &random.stream("routes/turns")),
            wavelengths: random.stream("wavelengths"),
            injection: Injection::new(scenario, random),
            markers: Markers::of(resolved, graph.links.len(), random),
            outages: Outages::new(resolved, graph.links.len()),
            looked: Looked::default(),
            numbered: [0; 2],
            reports: resolved.listens(),
            tells: resolved.is_told_of_all(),
            trains,
            census: Census::default(),
            counts: [BurstCounts::default(); 3],
            cross_lost: 0,
            tally: NetworkTally::new(&graph),
            measured: None,
            measured_from: Time::ZERO,
            scenario: scenario.clone(),
            graph,
            routes: CurrentRoutes::new(routes),
            rules,
        };
        mesh.attach_batches(resolved, random);
        mesh
    }

    /// Takes what is not stored from a mesh of the same scenario.
    pub(in crate::world) fn adopt(&mut self, fresh: Self) {
        (self.scenario, self.graph, self.rules) = (fresh.scenario, fresh.graph, fresh.rules);
        (self.lookahead, self.by_the_clock) = (fresh.lookahead, fresh.by_the_clock);
        (self.endless, self.unseen) = (fresh.endless, fresh.unseen);
        self.routes.adopt(fresh.routes);
        self.outages.adopt(fresh.outages);
    }

    pub(super) fn background_sources(&self) -> usize {
        self.background.len() + self.fed.len()
    }

    /// Bursts under way, and sources of bursts.
    pub(super) fn weight(&self) -> u64 {
        let ended = |one: &BurstCounts| one.delivered + one.lost;
        let under_way = self.counts.iter().map(|one| one.sent.saturating_sub(ended(one)));
        under_way.sum::<u64>() + self.background_sources() as u64
    }

    /// Queues the first background bursts, and the first closing of each queue that batches enter.
    pub(super) fn begin(&mut self, watch: &Interrupt, context: &mut Context) {
        for (number, source) in (0..).zip(&self.background) {
            if let Some(at) = source.next() {
                let event = Event::Core(CoreEvent::Background(number));
                context.queue.push(at, Rank::Arrival, event);
            }
        }
        self.begin_batches(watch, context);
        self.outages.begin(context);
    }

    /// Bursts with data closed so far; where there are only background bursts, these.
    #[inline]
    pub(super) fn closed(&self) -> u64 {
        let [data, _, background] = &self.counts;
        let alone = self.background.is_empty() && self.fed.is_empty();
        if alone { data.sent } else { data.sent + background.sent }
    }

    /// Whether headers reserve what bursts need; over a path nothing has to be reserved.
    pub(super) fn has_control(&self) -> bool {
        self.rules.control
    }

    /// Learns of the flows that are listed: whether hosts of theirs are never ahead of the clock,
    /// and whether some never end, and with them the run.
    pub(super) fn learn(&mut self, by_the_clock: bool, endless: bool) {
        (self.by_the_clock, self.endless) = (by_the_clock, endless);
        let looked_at = self.reports || self.scenario.run.occupancy.is_some();
        let lasts =
            !self.rules.contention.contains(&Resolution::Segmentation) && self.outages.are_none();
        // Sources of bursts never end. In a drain the run may yet end with a flow.
        let goes_on = self.background_sources() > 0 && self.scenario.run.drain.is_none();
        self.unseen = (endless || goes_on) && !looked_at && lasts;
    }

    /// What the scenario prescribes for bursts of data, or of ACKs.
    #[inline]
    fn schedule_of(&mut self, kind: BurstKind) -> &mut LossSchedule {
        if kind == BurstKind::Data { &mut self.data_loss } else { &mut self.ack_loss }
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
        self.look_anew(now);
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

    /// The number of a node in tables: from 1, and on a path from the first core node on, behind
    /// the ingress.
    fn number_of(&self, node: u32) -> usize {
        node as usize + usize::from(self.rules.control)
    }

    /// Which count of bursts those from a node belong to.
    #[inline]
    fn counter(&self, from: u32) -> usize {
        usize::from(!self.rules.control && !self.rules.both_ways && from > 0)
    }

    /// The number of the next burst from a node.
    #[inline]
    fn next_number(&mut self, from: u32) -> u64 {
        let counter = self.counter(from);
        self.numbered[counter] += 1;
        self.numbered[counter]
    }

    /// Propagation over the first `hops` fibres of a burst's way.
    fn reach(&self, slot: u32, hops: usize) -> Span {
        let route = &self.bursts.get(slot).route[..hops];
        route.iter().fold(Span::ZERO, |sum, &link| sum + self.graph.link(link).delay)
    }

    /// Something happens.
    #[inline]
    pub(super) fn happen(&mut self, now: Time, event: CoreEvent, context: &mut Context) {
        let headed = match event {
            CoreEvent::Submit(slot)
            | CoreEvent::Served(slot)
            | CoreEvent::Refused(slot)
            | CoreEvent::Again(slot) => Some(slot),
            _ => None,
        };
        if headed.is_some_and(|slot| self.bursts.lay(slot, None)) {
            return;
        }
        match event {
            CoreEvent::Outage(event) => self.outage(now, event, context),
            CoreEvent::Landed(slot) => self.land(now, slot, context),
            CoreEvent::Stored(way) => self.unload(now, way, context),
            CoreEvent::Signal(link) => self.signal(now, link, context),
            CoreEvent::Assembly(queue) => self.timer(now, queue, context),
            CoreEvent::Enters(queue) => self.enters(now, queue, context),
            CoreEvent::Submit(slot) => self.submit(now, slot, context),
            CoreEvent::Served(slot) => self.schedule(now, slot, context),
            CoreEvent::Refused(slot) => self.refused(now, slot, context),
            CoreEvent::Again(slot) => self.launch(now, slot, context),
            CoreEvent::Background(source) => self.background(now, source, context),
            CoreEvent::Lost(slot) => self.lost_on_way(now, slot, context),
            event => panic!("{event:?} happened in a network without slots"),
        }
    }

    /// The vectors of what was carried are used again.
    pub(super) fn reuse(&mut self, payload: Payload) {
        self.bursts.reuse(payload);
    }
}
