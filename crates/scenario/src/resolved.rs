//! A scenario as a run has it: each choice with the values it needs.

use std::ops::Deref;
use std::sync::Arc;

use burstlab_link::{AckSpacing, LossProcess, Marking};
use burstlab_tcp::{Classes, Config, Listens, Overrides};
use burstlab_traffic::{BatchLaw, Sampler};
use burstlab_units::Serializer;
use serde_json::Value;

use super::check_mesh::{self, Through};
use super::error::Check;
use super::topology::{Graph, Metric, Routes};
use super::{
    Cores, Demand, DemandLaw, DemandPattern, EdgeAssembly, Flow, Interrupt, Losses, NetworkKind,
    Offered, Outage, Scenario, ScenarioError, Stacks, WlanLaw, ack_pacing, check, check_ops,
    control, extremes, failure, fill, idle_fields, idle_switches, idle_tcp, link_loss, live, names,
    network, offered, ranges, ticks, unused, wlan,
};

/// A scenario that was read whole: with every default filled in, and with all that follows from its
/// choices. Clones share all of that.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub(super) found: Arc<Settled>,
    /// Statements that are allowed but probably not meant.
    pub warnings: Vec<String>,
    /// Warnings of TCP parameters that no sender has, and which the stored form lacks.
    pub dropped: Vec<String>,
    /// Who makes the laws and detectors that are classes of Python, if there are any. Whoever runs
    /// the scenario has to say.
    pub classes: Option<Arc<dyn Classes>>,
    /// Who makes the hosts of flows with a stack, if there are any. Whoever runs the scenario has
    /// to [say](Self::with_stacks).
    pub stacks: Option<Arc<dyn Stacks>>,
    /// Looked at where a world of many parts is made: once it is cancelled, the rest is left out.
    pub watch: Interrupt,
}

impl Deref for Resolved {
    type Target = Settled;

    fn deref(&self) -> &Settled {
        &self.found
    }
}

/// The content of a scenario that was read whole; nobody changes it.
#[derive(Debug)]
pub struct Settled {
    /// The scenario with the values that hold. `tcp` has every parameter, a flow or a demand those
    /// of its own that differ.
    pub scenario: Scenario,
    /// How queues close their bursts.
    pub assembly: EdgeAssembly,
    /// The losses of the core.
    pub loss: Losses,
    /// The losses of the senders' access links, and those of the receivers'.
    pub link_loss: [Option<LossProcess>; 2],
    /// The marking rules of the senders' and the receivers' access links; none if no host allows
    /// marks and no packet is dropped in place of a mark.
    pub marks: [Option<Marking>; 2],
    /// The marking rule of an ingress port, or of a node with slots; none in the same cases.
    pub core_marks: Option<Marking>,
    /// The spacing of ACKs on the senders' access links.
    pub ack_spacing: Option<AckSpacing>,
    /// The law of each entry of `scenario.wlan`.
    pub wlan: Vec<WlanLaw>,
    /// TCP parameters of each entry of `scenario.flows`.
    pub tcp: Vec<Config>,
    /// The nodes of each entry of `scenario.flows`.
    pub flow_ends: Vec<(u32, u32)>,
    /// The nodes between which each entry of `scenario.traffic` crosses a mesh.
    pub traffic_ends: Vec<(u32, u32)>,
    /// Where connections of each entry of `scenario.demand` go, and how large they are.
    pub demand: Vec<DemandLaw>,
    /// TCP parameters of each entry of `scenario.demand`.
    pub demand_tcp: Vec<Config>,
    /// Lengths of the bursts of each entry of `scenario.bursts`.
    pub lengths: Vec<Sampler>,
    /// The laws of each entry of `scenario.batches`.
    pub batches: Vec<BatchLaw>,
    /// The cores of the nodes of a mesh of bursts.
    pub cores: Cores,
    /// The mesh and its routes, which all runs share; absent for a path.
    pub mesh: Option<(Graph, Arc<Routes>)>,
    /// The outages of each entry of `scenario.failures`.
    pub failures: Vec<Outage>,
}

/// Reads `written` whole, unless `watch` is cancelled.
pub(super) fn resolve(written: &Scenario, watch: &Interrupt) -> Result<Resolved, ScenarioError> {
    let mut scenario = written.clone();
    in_range(written, &mut scenario)?;
    let usual = if scenario.others_send() { Vec::new() } else { vec![Flow::default()] };
    scenario.flows.get_or_insert(usual);
    if scenario.kind().is_slotted() {
        // A slotted network has one route for each pair, in every shape.
        scenario.network.route_choice.get_or_insert_default();
    }
    let mesh = network::check(&scenario.network, watch)?;
    live::expand(&mut scenario, mesh.as_ref().map(|(graph, _)| graph))?;
    names::check(&scenario)?;
    let mut warnings = check::check(&scenario)?;
    let (assembly, loss) =
        (scenario.edge.assembly()?, scenario.loss.losses(link_loss::lasts(&scenario))?);
    let link_loss = link_loss::of_links(&scenario)?;
    let ack_spacing = ack_pacing::read(&scenario)?;
    let marks = scenario.access.marks()?;
    let core_marks = check::core_marks(&scenario)?;
    let through = check_mesh::through(&mut scenario, mesh.as_ref())?;
    let Through { ends: [flow_ends, traffic_ends], demand, lengths, batches, cores } = through;
    if let Some((_, routes)) = &mesh {
        check_ops::reroute(&scenario, routes, &traffic_ends)?;
    }
    if let Some((graph, routes)) = mesh.as_ref().filter(|_| scenario.kind() == NetworkKind::Mesh) {
        warnings.extend(control::warning(&scenario, &lengths, graph, routes));
        warnings.extend(idle_switches::warning(&scenario.network, graph, routes));
    }
    let failures = failure::read(&scenario, mesh.as_ref())?;
    let wlan = wlan::read(&mut scenario, mesh.as_ref().map(|(graph, _)| graph))?;
    fill::fill(&mut scenario);
    if let (Some(ops), Some((graph, routes))) = (&mut scenario.ops, &mesh) {
        ops.fill(graph, routes);
    }
    let (tcp, demand_tcp) = endpoints(written, &mut scenario)?;
    idle_fields::check(&scenario)?;
    let marked = heeds_marks(&scenario, tcp.iter().chain(&demand_tcp));
    let heeded = marked || scenario.flows().iter().any(|flow| flow.reverse.is_some());
    warnings.extend(unused::warnings(&scenario, &demand, marked));
    warnings.extend(offered::warnings(&scenario));
    warnings.extend(idle_fields::warnings(&scenario, tcp.iter().chain(&demand_tcp)));
    let idle = idle_tcp::warnings(&scenario, &tcp, &demand_tcp);
    let dropped = idle_tcp::dropped(written, &idle, &tcp, &demand_tcp);
    warnings.extend(idle);
    let entries = (&tcp[..], &flow_ends[..], &demand_tcp[..]);
    warnings.extend(ticks::warnings(&scenario, &assembly, mesh.as_ref(), entries));
    let found = Settled {
        scenario,
        assembly,
        loss,
        link_loss,
        ack_spacing,
        marks: marks.map(|marking| marking.filter(|marking| heeded || marking.drops)),
        core_marks: core_marks.filter(|marking| heeded || marking.drops),
        wlan,
        tcp,
        flow_ends,
        traffic_ends,
        demand,
        demand_tcp,
        lengths,
        batches,
        cores,
        mesh,
        failures,
    };
    let (found, watch) = (Arc::new(found), watch.clone());
    Ok(Resolved { found, warnings, dropped, classes: None, stacks: None, watch })
}

/// Checks the ranges of all fields of `written`; `scenario` is equal to it, and stays so. Of flows
/// that differ in numbers alone, the least and the largest are looked at first.
fn in_range(written: &Scenario, scenario: &mut Scenario) -> Check {
    let flows = scenario.flows.take();
    scenario.flows = flows.as_deref().map(extremes::of_flows);
    let few = |demand: &mut Demand| {
        let rows = extremes::of_rows(&demand.trace);
        std::mem::replace(&mut demand.trace, rows)
    };
    let traces: Vec<_> = scenario.demand.iter_mut().map(few).collect();
    let found = ranges::check(None, "", &*scenario);
    scenario.flows = flows;
    for (demand, trace) in scenario.demand.iter_mut().zip(traces) {
        demand.trace = trace;
    }
    // The first mistake of all is the one to name.
    found.or_else(|_| ranges::check(None, "", written))
}

/// Whether a queue may mark packets of any host, by the TCP parameters of all entries.
fn heeds_marks<'a>(scenario: &Scenario, mut all: impl Iterator<Item = &'a Config>) -> bool {
    let mut flows = scenario.flows.iter().flatten();
    flows.any(|flow| flow.stack.is_some() && (flow.ecn || flow.is_live()))
        || all.any(|tcp| tcp.ecn == Some(true))
}

/// The TCP parameters of flows and of demand. `scenario` then has the general parameters in its
/// `tcp`, and the different ones at each flow and demand.
fn endpoints(
    written: &Scenario,
    scenario: &mut Scenario,
) -> Result<(Vec<Config>, Vec<Config>), ScenarioError> {
    let (mut tcp, mut demand_tcp) = (Vec::new(), Vec::new());
    // Most flows are as the one before them.
    let mut before: Option<(&Overrides, Config)> = None;
    for (index, flow) in scenario.flows().iter().enumerate() {
        let config = match before.take() {
            Some((own, config)) if *own == flow.tcp => config,
            _ => endpoint(written, &format!("flows[{index}]"), &flow.tcp)?,
        };
        if !scenario.wlan.is_empty() {
            let at = format!("flows[{index}]");
            let table = ScenarioError::table_of(&at, &flow.tcp, "segment_size");
            wlan::fits(scenario, index, &table, &config)?;
        }
        tcp.push(config.clone());
        before = Some((&flow.tcp, config));
    }
    let flows = scenario.flows.iter_mut().flatten().zip(&tcp);
    let mut own: Vec<_> = flows
        .filter(|(flow, _)| flow.stack.is_none())
        .map(|(flow, config)| (&mut flow.tcp, config))
        .collect();
    for (index, demand) in scenario.demand.iter_mut().enumerate() {
        let config = endpoint(written, &format!("demand[{index}]"), &demand.tcp)?;
        if matches!(demand.pattern, DemandPattern::Incast | DemandPattern::Permutation) {
            let segment = Serializer::new(scenario.access.rate).next(config.segment_size);
            demand.spread.get_or_insert(segment);
        }
        demand_tcp.push(config);
    }
    let demand = scenario.demand.iter_mut().map(|demand| &mut demand.tcp);
    own.extend(demand.zip(&demand_tcp));
    // General parameters that contradict one another serve entries that override them.
    let general = Config::resolve(&written.tcp).ok().filter(|_| !own.is_empty());
    let general = general.as_ref().map(written_out);
    let mut last: Option<(&Config, Overrides)> = None;
    for (parameters, config) in own {
        let differs = match last.take() {
            Some((before, differs)) if before == config => differs,
            _ => beyond(general.as_ref(), config),
        };
        parameters.clone_from(&differs);
        last = Some((config, differs));
    }
    if let Some(general) = general {
        scenario.tcp = read_back(general);
    }
    Ok((tcp, demand_tcp))
}

/// The TCP parameters of the entry `at`, which has parameters `own`.
fn endpoint(written: &Scenario, at: &str, own: &Overrides) -> Result<Config, ScenarioError> {
    let config = Config::resolve(&own.over(&written.tcp))
        .map_err(|error| ScenarioError::of_tcp(at, own, &error))?;
    let table = ScenarioError::table_of(at, own, "detector");
    check::detector(written, &table, &config)?;
    check::marks(written, at, own, &config)?;
    Ok(config)
}

impl Resolved {
    /// The nodes, fibres and routes; a path is a chain.
    ///
    /// # Panics
    /// Never: a chain leads from end to end.
    #[must_use]
    pub fn graph_and_routes(&self) -> (Graph, Arc<Routes>) {
        self.mesh.clone().unwrap_or_else(|| {
            let graph = super::topology::path(&self.scenario.network.delays(), 1);
            let routes = Routes::new(&graph, Metric::Hops, 1, &[]);
            (graph, Arc::new(routes.expect("a chain leads from end to end")))
        })
    }

    /// The mean load of each entry of `scenario.demand`; none for an entry with a single round.
    #[must_use]
    pub fn offered(&self) -> Vec<Option<Offered>> {
        let all = self.scenario.demand.iter().zip(&self.demand);
        let offered = |(demand, law): (&Demand, &DemandLaw)| {
            let (graph, routes) = self.mesh.as_ref()?;
            law.offered(&self.scenario, demand, (graph, routes))
        };
        all.map(offered).collect()
    }

    /// The pairs of different nodes with hosts that have these names; every name where none is
    /// given.
    #[must_use]
    pub fn pairs(&self, from: Option<&String>, to: Option<&String>) -> Vec<(u32, u32)> {
        let Some((graph, _)) = &self.mesh else { return Vec::new() };
        let (froms, tos) = (graph.edges_called(from), graph.edges_called(to));
        let pairs = froms.iter().flat_map(|&from| tos.iter().map(move |&to| (from, to)));
        pairs.filter(|(from, to)| from != to).collect()
    }

    /// Whether a class of Python takes part, for which [`classes`](Self::classes) is needed.
    #[must_use]
    pub fn needs_classes(&self) -> bool {
        self.tcp.iter().chain(&self.demand_tcp).any(Config::needs_classes)
    }

    /// Whether a sender receives reports on its bursts.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.listening().any(Listens::at_all)
    }

    /// Whether a sender receives reports of bursts that are not lost.
    #[must_use]
    pub fn needs_every_fate(&self) -> bool {
        self.listening().any(|listens| listens.left || listens.arrived)
    }

    fn listening(&self) -> impl Iterator<Item = Listens> {
        self.tcp.iter().chain(&self.demand_tcp).map(Listens::of)
    }
}

/// The parameters of `config` that differ from the `general` ones, or all.
fn beyond(general: Option<&Value>, config: &Config) -> Overrides {
    let mut own = written_out(config);
    if let (Some(general), Some(own)) = (general, own.as_object_mut()) {
        own.retain(|name, value| general.get(name.as_str()) != Some(value));
    }
    read_back(own)
}

/// Every parameter of `config`, as a scenario writes it.
fn written_out(config: &Config) -> Value {
    serde_json::to_value(config).expect("the parameters of an endpoint are written")
}

fn read_back(parameters: Value) -> Overrides {
    serde_json::from_value(parameters)
        .expect("the parameters of an endpoint are read as they are written")
}
