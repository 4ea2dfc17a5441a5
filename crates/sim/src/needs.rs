//! The needs of a run, estimated before it begins: memory, and events.
//!
//! Memory is counted for the parts of the world that a scenario asks for by number, and for the
//! backlog that is sure to grow where more comes than passes. No one can know beforehand how much
//! more a run comes to need; whoever runs it watches its memory.

use burstlab_units::{Bytes, Rate, Span};

use crate::measure::counts_all_pairs;
use crate::scenario::{
    Assembly, Batches, Course, Demand, DemandPattern, IngressPort, Pattern, Per, Queues,
    Resolution, Resolved, Scenario, ScenarioError,
};
use crate::topology::Graph;
use crate::world::sizes;

/// A part of the needs, and the field that makes it so large.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The field.
    pub path: String,
    /// Its value.
    pub value: String,
    /// The part that needs the memory, or makes the events.
    pub what: String,
    /// Bytes, or events.
    pub amount: f64,
    /// The text to write instead.
    pub fix: &'static str,
}

/// The needs of runs of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Memory of one run, in bytes.
    pub memory: Vec<Need>,
    /// Memory of the numbers of all replications together, in bytes.
    pub kept: Vec<Need>,
    /// Events of one run.
    pub events: Vec<Need>,
}

/// More events than these are announced: some minutes' work.
const EVENTS_MANY: f64 = 2e8;
/// More memory than this is announced.
const MEMORY_MANY: f64 = 1e9;
/// Events a second, on the machines of today.
const SPEED: f64 = 1e6;

impl Needs {
    /// Those of a scenario.
    #[must_use]
    pub fn of(resolved: &Resolved) -> Self {
        let mut needs = Self::default();
        needs.flows(resolved);
        needs.traffic(resolved);
        needs.run(resolved);
        if let Some((graph, _)) = &resolved.mesh {
            needs.network(resolved, graph);
            needs.demand(resolved, graph);
            needs.bursts(resolved, graph);
            for (index, batches) in resolved.scenario.batches.iter().enumerate() {
                needs.batches(resolved, graph, index, batches);
            }
        }
        needs
    }

    /// Memory of one run, in bytes.
    #[must_use]
    pub fn bytes(&self) -> f64 {
        self.memory.iter().map(|need| need.amount).sum()
    }

    /// Memory of the numbers of all runs together.
    #[must_use]
    pub fn bytes_kept(&self) -> f64 {
        self.kept.iter().map(|need| need.amount).sum()
    }

    /// Events of one run, as far as they are foreseen.
    #[must_use]
    pub fn count(&self) -> f64 {
        self.events.iter().map(|need| need.amount).sum()
    }

    /// Refuses a scenario that needs more memory than `limit` bytes.
    ///
    /// # Errors
    /// The part that needs the most of it.
    pub fn refuse(&self, limit: u64) -> Result<(), ScenarioError> {
        let whole = self.bytes() + self.bytes_kept();
        if whole <= limit as f64 {
            return Ok(());
        }
        let Some(most) = largest(self.memory.iter().chain(&self.kept)) else { return Ok(()) };
        let (needs, has) = (size(whole), size(limit as f64));
        let problem = if most.amount > 0.9 * whole {
            format!("{} would take about {needs}, more than run.max_memory = {has}", most.what)
        } else {
            let part = size(most.amount);
            format!(
                "the run would take about {needs}, more than run.max_memory = {has}; {part} of it \
                 for {}",
                most.what
            )
        };
        let fix = format!("{}, or allow more with run.max_memory", most.fix);
        Err(ScenarioError::new(&*most.path, &*most.value, problem, fix))
    }

    /// Announcements about a long or a large run.
    #[must_use]
    pub fn announcements(&self) -> Vec<String> {
        let mut all = Vec::new();
        let events = self.count();
        if let Some(most) = largest(&self.events).filter(|_| events > EVENTS_MANY) {
            let (path, value, what) = (&most.path, &most.value, &most.what);
            all.push(format!(
                "a run has about {events:.0e} events, which take {}: {path} = {value} makes \
                 {:.0e} {what}",
                time(events / SPEED),
                most.amount,
            ));
        }
        let bytes = self.bytes() + self.bytes_kept();
        let both = self.memory.iter().chain(&self.kept);
        if let Some(most) = largest(both).filter(|_| bytes > MEMORY_MANY) {
            let (path, value, what) = (&most.path, &most.value, &most.what);
            let part = size(most.amount);
            all.push(format!(
                "a run takes about {} of memory: {part} for {what} ({path} = {value})",
                size(bytes)
            ));
        }
        all
    }

    fn holds(
        &mut self,
        path: impl Into<String>,
        value: &impl ToString,
        what: impl Into<String>,
        (number, each): (f64, usize),
        fix: &'static str,
    ) {
        let (path, value, what) = (path.into(), value.to_string(), what.into());
        self.memory.push(Need { path, value, what, amount: number * each as f64, fix });
    }

    fn makes(&mut self, path: impl Into<String>, value: &impl ToString, what: &str, amount: f64) {
        let (path, value, what) = (path.into(), value.to_string(), what.to_string());
        self.events.push(Need { path, value, what, amount, fix: "" });
    }

    fn flows(&mut self, resolved: &Resolved) {
        let shared = resolved.scenario.access.shared;
        for (index, flow) in resolved.scenario.flows().iter().enumerate() {
            let count = f64::from(flow.flows());
            let back = flow.reverse.as_ref().and_then(|one| one.script.as_ref());
            let writes = flow.script.iter().chain(back).map(Vec::len).max().unwrap_or(0);
            let each = sizes::flow(shared) + writes * sizes::WRITE;
            let at = format!("flows[{index}].count");
            self.holds(&*at, &flow.count, "the flows", (count, each), "write fewer flows");
            let runs = f64::from(resolved.scenario.run.replications);
            let amount = runs * count * sizes::FLOW_NUMBERS as f64;
            let value = flow.count.to_string();
            let what = "the numbers of the flows".to_string();
            let fix = "write fewer flows, or fewer run.replications";
            self.kept.push(Need { path: at, value, what, amount, fix });
        }
    }

    fn traffic(&mut self, resolved: &Resolved) {
        let scenario = &resolved.scenario;
        let duration = scenario.run.duration.as_secs_f64();
        // Packets a second, bits a second, and the largest entry, by side of a path.
        let mut sides = [(0.0, 0.0, 0.0, 0), (0.0, 0.0, 0.0, 0)];
        for (index, traffic) in scenario.traffic.iter().enumerate() {
            let at = |field: &str| format!("traffic[{index}].{field}");
            let count = f64::from(traffic.count);
            let what = "the sources of other traffic";
            let room = (count, sizes::SOURCE);
            self.holds(at("count"), &traffic.count, what, room, "write fewer sources");
            let (on, off) = (traffic.on_mean.as_secs_f64(), traffic.off_mean.as_secs_f64());
            let (spell, period) = (traffic.on().as_secs_f64(), traffic.period().as_secs_f64());
            let sessions = traffic.sessions_per_second.unwrap_or(0.0) * on;
            let share = match traffic.pattern {
                Pattern::Cbr | Pattern::Poisson => 1.0,
                Pattern::Pareto => on / (on + off),
                Pattern::Periodic => spell / period,
                Pattern::Sessions => sessions,
            };
            if traffic.pattern == Pattern::Sessions {
                let value = traffic.sessions_per_second.unwrap_or(0.0);
                let (room, fix) = ((count * sessions, sizes::SESSION), "write fewer, or shorter");
                self.holds(at("sessions_per_second"), &value, "open sessions", room, fix);
            }
            let time = (duration - traffic.start.as_secs_f64()).max(0.0);
            let bits = count * share * traffic.rate.as_bps() as f64;
            let packets = bits / (8.0 * traffic.packet_size.get() as f64);
            self.makes(at("rate"), &traffic.rate, "packets of other traffic", packets * time);
            let side = &mut sides[traffic.side.unwrap_or_default() as usize];
            side.0 += packets * time;
            side.1 += bits * time;
            if bits * time > side.2 {
                (side.2, side.3) = (bits * time, index);
            }
        }
        if !resolved.scenario.kind().is_path() {
            return;
        }
        let access = &scenario.access;
        let (rate, _, room) = access.receiver_side();
        let lines = [("access", access.rate, access.room()), ("access.receiver", rate, room)];
        for ((table, rate, room), (packets, bits, _, index)) in lines.into_iter().zip(sides) {
            let line = rate.as_bps() as f64 * duration;
            if room.packets.is_none() && room.bytes.is_none() && bits > line {
                let passes = line / bits;
                let what = format!("the packets that wait for {table}.rate = {rate}");
                let (path, value) =
                    (format!("traffic[{index}].rate"), scenario.traffic[index].rate);
                let room = (packets * (1.0 - passes), sizes::WAITING_PACKET);
                let fix = "write a lower rate, or bound the queue with access.queue = 1000";
                self.holds(path, &value, what, room, fix);
            }
        }
    }

    fn run(&mut self, resolved: &Resolved) {
        let run = &resolved.scenario.run;
        let hosts = resolved.mesh.as_ref().map_or(0, |(graph, _)| graph.edges().len());
        if let Some(every) = run.sample {
            let rows = (run.duration.as_ps() / every.as_ps()) as f64 * hosts as f64;
            let room = (rows, sizes::SAMPLE);
            self.holds("run.sample", &every, "the samples", room, "write a longer time");
            self.makes("run.sample", &every, "samples", rows);
        }
        let (links, wavelengths) = resolved.mesh.as_ref().map_or((0, 0), |(graph, _)| {
            let wavelengths = graph.links.iter().map(|link| link.wavelengths as usize);
            (graph.links.len(), wavelengths.sum())
        });
        if let Some(every) = run.occupancy {
            let looks = run.duration.as_ps() as f64 / every.as_ps() as f64;
            let rows = looks * (links + wavelengths + hosts * hosts) as f64;
            let room = (rows, sizes::OCCUPANCY);
            self.holds("run.occupancy", &every, "its tables", room, "write a longer time");
            self.makes("run.occupancy", &every, "rows of its tables", 0.1 * rows);
        }
        let each = sizes::NUMBERS + links * sizes::LINK_NUMBERS + wavelengths * 40;
        self.kept.push(Need {
            path: "run.replications".into(),
            value: run.replications.to_string(),
            what: "the numbers of the replications".into(),
            amount: f64::from(run.replications) * each as f64,
            fix: "write fewer, or make them one after the other with other seeds",
        });
    }

    fn network(&mut self, resolved: &Resolved, graph: &Graph) {
        let scenario = &resolved.scenario;
        let (nodes, links) = (graph.nodes.len(), graph.links.len());
        let fix = "have fewer nodes, or fewer nodes with hosts (network.edges = [...])";
        let (value, all) = (format!("{nodes} nodes"), (nodes * nodes) as f64);
        let what = "the shortest paths between nodes";
        self.holds("network", &value, what, (all, sizes::PATH), fix);
        let what = "what is counted for each pair of nodes";
        let room = if counts_all_pairs(nodes) {
            (all, sizes::PAIR)
        } else {
            (used_pairs(scenario, all), sizes::USED_PAIR)
        };
        self.holds("network", &value, what, room, fix);
        if scenario.kind().is_slotted() {
            return;
        }
        let wavelengths: f64 = graph.links.iter().map(|link| f64::from(link.wavelengths)).sum();
        let (what, fix) = ("the wavelengths of all fibres", "write fewer");
        let room = (wavelengths, sizes::CHANNEL);
        self.holds("network.wavelengths", &wavelengths, what, room, fix);
        let channels = |node: usize| {
            let lines = &resolved.cores.at(node as u32).delay_lines;
            lines.delays.len() as f64 * f64::from(lines.channels)
        };
        let what = "the channels of the delay lines of all nodes";
        let room = ((0..nodes).map(channels).sum(), sizes::CHANNEL);
        let (lines, signalling) = (&scenario.core.delay_lines, &scenario.signalling);
        self.holds("core.delay_lines.channels", &lines.channels, what, room, fix);
        let what = "the control channels of all fibres";
        let room = (links as f64 * f64::from(signalling.channels), sizes::CONTROL);
        self.holds("signalling.channels", &signalling.channels, what, room, fix);
        let edge = &scenario.edge;
        if edge.queues == Queues::Flow {
            let flows: f64 = scenario.flows().iter().map(|one| f64::from(one.flows())).sum();
            let others: f64 = scenario.traffic.iter().map(|one| f64::from(one.count)).sum();
            let classes = scenario.classes().max(edge.cwnd_thresholds.len() as u32 + 1);
            let places = 2.0 * flows.max(others) * f64::from(classes + 1);
            let (what, fix) = ("the queues of all flows", "write \"destination\"");
            self.holds("edge.queues", &"\"flow\"", what, (places, 4), fix);
        }
    }

    fn demand(&mut self, resolved: &Resolved, graph: &Graph) {
        let hosts = graph.edges().len() as f64;
        for (index, demand) in resolved.scenario.demand.iter().enumerate() {
            let room = (hosts * hosts, sizes::TARGET);
            let (what, fix) = ("the pairs of a demand", "have fewer nodes with hosts");
            self.holds(format!("demand[{index}]"), &"", what, room, fix);
            let connections = connections(resolved, index, hosts);
            let tcp = &resolved.demand_tcp[index];
            let segment = (tcp.segment_size.get() - tcp.headers().get()) as f64;
            let mean = resolved.demand[index].sizes.mean();
            // A connection has a SYN too.
            let packets = connections * (1.0 + mean / segment);
            let (at, value) = written(demand, index);
            self.makes(&*at, &value, "packets of connections", packets);
            let what = "the numbers of all connections";
            let room = (connections, sizes::TRANSFER);
            self.holds(&*at, &value, what, room, "write fewer, or a shorter run.duration");
            let open = connections * share_open(resolved, index, connections * mean);
            let what = "the connections that are open at a time";
            let room = (open, sizes::flow(resolved.scenario.access.shared));
            self.holds(&*at, &value, what, room, "write fewer, or smaller ones");
        }
    }

    fn bursts(&mut self, resolved: &Resolved, graph: &Graph) {
        let scenario = &resolved.scenario;
        let duration = scenario.run.duration.as_secs_f64();
        let rate = scenario.network.link_rate;
        for (index, load) in scenario.bursts.iter().enumerate() {
            let froms = graph.edges_called(load.from.as_ref()).len() as f64;
            let pairs = froms * graph.edges_called(load.to.as_ref()).len() as f64;
            let at = |field: &str| format!("bursts[{index}]{field}");
            // A source whose bursts have several packets has the ends of all that share its load.
            let sources = match load.per {
                Per::Network if load.packets > 1 => 1.0,
                Per::Node if load.packets > 1 => froms,
                _ => pairs,
            };
            let ends = (pairs / sources.max(1.0)) as usize * sizes::BURST_ENDS;
            let each = sizes::BURST_SOURCE + ends + points(&load.length);
            let (what, fix) = ("the sources of bursts", "have fewer nodes with hosts");
            self.holds(at(""), &"", what, (sources, each), fix);
            let times = match load.per {
                Per::Pair => pairs,
                Per::Node => froms,
                Per::Network => 1.0,
            };
            let hold = (8.0 * resolved.lengths[index].mean() / rate.as_bps() as f64).max(1e-12);
            let until = load.stop.map_or(duration, Span::as_secs_f64).min(duration);
            let time = (until - load.start.as_secs_f64()).max(0.0);
            let bursts = times * load.erlangs * time / hold;
            self.makes(at(".erlangs"), &load.erlangs, "background bursts", 3.0 * bursts);
        }
    }

    fn batches(&mut self, resolved: &Resolved, graph: &Graph, index: usize, batches: &Batches) {
        let scenario = &resolved.scenario;
        let edge = &scenario.edge;
        let duration = scenario.run.duration.as_secs_f64();
        let at = |field: &str| format!("batches[{index}]{field}");
        let froms = graph.edges_called(batches.from.as_ref()).len() as f64;
        let tos = graph.edges_called(batches.to.as_ref()).len() as f64;
        let correlated =
            usize::from(batches.hurst_arrivals > 0.5) + usize::from(batches.hurst_sizes > 0.5);
        let each = sizes::BATCH_SOURCE + correlated * sizes::NOISE + points(&batches.size);
        let (what, fix) =
            ("the sources of batches", "have fewer nodes with hosts, or name from, to");
        self.holds(at(""), &"", what, (froms * tos, each), fix);
        let until = batches.stop.map_or(duration, Span::as_secs_f64).min(duration);
        let time = (until - batches.start.as_secs_f64()).max(0.0);
        let number = froms * tos * batches.batches_per_second * time;
        let sampler = &resolved.batches[index].sizes;
        let most = f64::from(BATCH_MAX);
        let mean = sampler.mean().min(most);
        // The largest of so many.
        let above = (1.0 / number.max(1.0)).max(f64::EPSILON);
        let largest = (sampler.draw(1.0 - above).get() as f64).min(most).max(mean);
        let packet = batches.packet_size.get() as f64;
        let burst = match (edge.assembly, edge.size) {
            (Assembly::None, _) => packet,
            (Assembly::Size | Assembly::Hybrid, Some(size)) => packet.max(size.get() as f64),
            _ => f64::INFINITY,
        };
        let bursts = number * (mean / burst).ceil().max(0.0);
        let value = batches.batches_per_second;
        self.makes(at(".batches_per_second"), &value, "batches", 0.05 * number);
        self.makes(at(".batches_per_second"), &value, "bursts of batches", 3.0 * bursts);
        if number < 0.01 {
            return;
        }
        let (what, fix) = (
            format!("one batch of {}, in bursts of {}", size(largest), size(burst)),
            "write larger packets, or assemble larger bursts with edge.assembly = \"hybrid\"",
        );
        self.holds(
            at(".packet_size"),
            &batches.packet_size,
            what,
            (largest / burst, sizes::BURST),
            fix,
        );
        if scenario.tries(Resolution::Segmentation) {
            let what = format!("the packets of one batch of {}, which may be cut", size(largest));
            let room = (largest / packet, sizes::PACKET);
            let fix = "write larger packets, or leave out segmentation";
            self.holds(at(".packet_size"), &batches.packet_size, what, room, fix);
        }
        if edge.port == IngressPort::Fifo && burst.is_finite() {
            let line = capacity(graph, scenario.network.link_rate) * time;
            let bits = 8.0 * number * mean / froms.max(1.0);
            let passes = (line / bits.max(1.0)).min(1.0);
            let room = (bursts * (1.0 - passes), sizes::BURST);
            let what = "the bursts that wait at the ingress";
            let fix = "write fewer or smaller batches, or a faster network.link_rate";
            self.holds(at(".batches_per_second"), &value, what, room, fix);
        }
    }
}

/// How many connections of an entry of `demand` begin, as a mean.
fn connections(resolved: &Resolved, index: usize, hosts: f64) -> f64 {
    let demand = &resolved.scenario.demand[index];
    let from = demand.start.as_secs_f64();
    let time = spell(resolved, index);
    let rounds = |every: Option<Span>| every.map_or(1.0, |every| 1.0 + time / every.as_secs_f64());
    match &resolved.demand[index].course {
        Course::Poisson => {
            let sources = resolved
                .mesh
                .iter()
                .flat_map(|(graph, _)| resolved.demand[index].sources(demand.per, graph));
            time * sources.map(|(_, rate)| rate).sum::<f64>()
        }
        Course::Incast { senders, every, .. } => f64::from(*senders) * rounds(*every),
        Course::Permutation { every } => hosts * rounds(*every),
        Course::Trace(rows) => {
            let starts = rows.iter().map(|row| row.start.as_secs_f64());
            starts.filter(|start| *start < from + time).count() as f64
        }
    }
}

/// How many of all pairs of nodes bursts may travel between, back and forth.
fn used_pairs(scenario: &Scenario, all: f64) -> f64 {
    let Scenario { demand, bursts, batches, traffic, .. } = scenario;
    let listed = demand.is_empty() && bursts.is_empty() && batches.is_empty();
    let entries = (scenario.flows().len() + traffic.len()) as f64;
    if listed { all.min(2.0 * entries) } else { all }
}

/// How long connections of an entry of `demand` come, in s.
fn spell(resolved: &Resolved, index: usize) -> f64 {
    let demand = &resolved.scenario.demand[index];
    let duration = resolved.scenario.run.duration.as_secs_f64();
    let until = demand.stop.map_or(duration, Span::as_secs_f64).min(duration);
    (until - demand.start.as_secs_f64()).max(0.0)
}

/// The share of the connections of an entry, which carry so many bytes, that is open at a time at
/// least: for a round trip and the time on the slowest link, or until the end where the fibres
/// carry less than comes.
fn share_open(resolved: &Resolved, index: usize, bytes: f64) -> f64 {
    let Some((graph, routes)) = &resolved.mesh else { return 0.0 };
    let time = spell(resolved, index);
    if bytes == 0.0 || time == 0.0 {
        return 0.0;
    }
    let scenario = &resolved.scenario;
    let edges = graph.edges();
    let pairs = edges.iter().flat_map(|&from| edges.iter().map(move |&to| (from, to)));
    let (mut count, mut hops, mut delay) = (0.0, 0.0, 0.0);
    for (from, to) in pairs.filter(|(from, to)| from != to).take(PAIRS_LOOKED_AT) {
        let route = &routes.peek(from, to)[0];
        count += 1.0;
        hops += route.len() as f64;
        delay += graph.least_delay(route).as_secs_f64();
    }
    let access = &scenario.access;
    let (far, beyond, _) = access.receiver_side();
    let outside = (access.delay + beyond).as_secs_f64();
    let slowest = access.rate.min(far).min(scenario.network.link_rate).as_bps() as f64;
    let bits = 8.0 * resolved.demand[index].sizes.mean();
    let shortest = 2.0 * (delay / count + outside) + bits / slowest;
    let wavelengths: f64 = graph.links.iter().map(|link| f64::from(link.wavelengths)).sum();
    let carried = wavelengths * scenario.network.link_rate.as_bps() as f64 * count / hops;
    let waits = 1.0 - carried * time / (8.0 * bytes);
    (shortest / time).max(waits).clamp(0.0, 1.0)
}

/// As many pairs of nodes tell how long routes are.
const PAIRS_LOOKED_AT: usize = 100_000;

/// The field that says how many connections there are, and its value.
fn written(demand: &Demand, index: usize) -> (String, String) {
    let at = |field: &str| format!("demand[{index}].{field}");
    match demand.pattern {
        DemandPattern::Poisson => match (demand.load, demand.flows_per_second) {
            (Some(load), _) => (at("load"), load.to_string()),
            (None, rate) => (at("flows_per_second"), rate.unwrap_or_default().to_string()),
        },
        DemandPattern::Trace => (at("trace"), format!("{} rows", demand.trace.len())),
        DemandPattern::Incast | DemandPattern::Permutation => {
            let every = demand.every.map(|every| every.to_string());
            (at("every"), every.unwrap_or_else(|| "one round".into()))
        }
    }
}

/// No batch is larger.
const BATCH_MAX: u32 = crate::traffic::BATCH_MAX;

/// The rate that the fibres out of the best connected node carry.
fn capacity(graph: &Graph, rate: Rate) -> f64 {
    let out = |node: u32| -> f64 {
        let links = graph.outgoing(node).iter();
        links.map(|&link| f64::from(graph.link(link).wavelengths)).sum()
    };
    (0..graph.nodes.len() as u32).map(out).fold(0.0, f64::max) * rate.as_bps() as f64
}

/// The points of a distribution.
fn points(size: &crate::scenario::Size) -> usize {
    let points = |cdf: &Option<Vec<_>>| 32 * cdf.as_ref().map_or(32, Vec::len);
    points(&size.cdf) + size.parts.iter().map(|part| points(&part.cdf)).sum::<usize>()
}

fn largest<'a>(needs: impl IntoIterator<Item = &'a Need>) -> Option<&'a Need> {
    needs.into_iter().max_by(|a, b| a.amount.total_cmp(&b.amount))
}

/// A size in words.
fn size(bytes: f64) -> String {
    match bytes {
        few if few < 1e6 => Bytes::new(few.round() as u64).to_string(),
        some if some < 1e9 => format!("{:.0} MB", some / 1e6),
        many if many < 1e12 => format!("{:.3} GB", many / 1e9).replace(".000", ""),
        huge => format!("{:.0e} GB", huge / 1e9),
    }
}

/// A time in words.
fn time(seconds: f64) -> String {
    match seconds {
        some if some < 7200.0 => format!("some {:.0} minutes", some / 60.0),
        hours if hours < 2e5 => format!("some {:.0} hours", hours / 3600.0),
        days if days < 1e8 => format!("some {:.0} days", days / 86_400.0),
        _ => "years".into(),
    }
}
