//! Fields that a mesh needs, and fields that only a mesh has.

use std::sync::Arc;

use burstlab_traffic::{BatchLaw, Sampler};
use burstlab_units::{Serializer, Span};

use super::core_network::is_default;
use super::ends::{host, two_ends};
use super::error::{Check, refuse, word};
use super::limits::span_of;
use super::{
    Assembly, Bursts, CoreForwarding, Cores, DemandLaw, Edge, FirstWavelength, IngressPort,
    NetworkKind, Per, Queues, Scenario, ScenarioError, check_core, check_ops,
};
use super::{batches, control, idle_tables, injection, offered};
use crate::topology::{Graph, Routes};

/// A header takes no longer to send, and a burst no longer on average, so that queues of them end
/// within the range of time.
const HEADER_TIME_MAX: Span = Span::from_ms(10);
const BURST_TIME_MAX: Span = Span::from_secs(10);
/// Most bursts of one load that are in flight at a time; a mesh has room for 16 million of all.
const UNDER_WAY_MAX: f64 = 1e7;
/// Most assembly queues of a network.
const QUEUES_MAX: u64 = 4_000_000_000;

/// The facts of the network that follow from the tables of a scenario.
#[derive(Default)]
pub(super) struct Through {
    /// Where flows, and traffic, begin and end.
    pub(super) ends: [Vec<(u32, u32)>; 2],
    pub(super) demand: Vec<DemandLaw>,
    /// Lengths of each entry of `bursts`.
    pub(super) lengths: Vec<Sampler>,
    pub(super) batches: Vec<BatchLaw>,
    pub(super) cores: Cores,
}

/// Reads what a scenario has on the mesh of these routes, or on a path. Fills in where flows and
/// traffic begin and end.
pub(super) fn through(
    scenario: &mut Scenario,
    mesh: Option<&(Graph, Arc<Routes>)>,
) -> Result<Through, ScenarioError> {
    edge(&scenario.edge)?;
    let Some((graph, routes)) = mesh else {
        path(scenario)?;
        for traffic in &mut scenario.traffic {
            traffic.side.get_or_insert_default();
        }
        let [flows, traffic] = [scenario.flows().len(), scenario.traffic.len()];
        let far = scenario.network.core_nodes() as u32 + 1;
        let ends = [flows, traffic].map(|count| vec![(0, far); count]);
        let cores = Cores::alike(&scenario.core);
        return Ok(Through { ends, cores, ..Through::default() });
    };
    not_of_a_mesh(scenario)?;
    fill_ends(scenario, graph);
    let mut through = Through { ends: ends(scenario, graph)?, ..Through::default() };
    check_ops::unsmoothed(scenario, graph)?;
    queues(scenario, graph)?;
    for (index, one) in scenario.bursts.iter().enumerate() {
        through.lengths.push(bursts(index, one, graph)?);
    }
    if scenario.kind() == NetworkKind::Mesh {
        control_plane(scenario)?;
        idle_tables::check(scenario)?;
        if scenario.signalling.guard.is_none() {
            let guard = control::default_guard(scenario, graph, routes);
            scenario.signalling.guard = Some(guard);
        }
        control::offsets(scenario, &through.lengths, graph, routes)?;
        through.cores = check_core::check(scenario, graph, routes)?;
        injection::check(scenario, graph, routes)?;
    }
    for (index, one) in scenario.demand.iter().enumerate() {
        let at = format!("demand[{index}]");
        span_of(&at, one.start, one.stop)?;
        offered::check(one, &at)?;
        let mut law = one.law(&at, graph)?;
        offered::settle(scenario, (one, &mut law), &at, (graph, routes))?;
        through.demand.push(law);
    }
    for (index, load) in scenario.bursts.iter().zip(&through.lengths).enumerate() {
        no_longer(scenario, &format!("bursts[{index}].length"), load.1.mean())?;
        not_too_many(scenario, index, load, (graph, routes))?;
    }
    for (index, one) in scenario.batches.iter().enumerate() {
        through.batches.push(batches::read(index, one, graph)?);
    }
    if let Some(size) = scenario.edge.min_size {
        no_longer(scenario, "edge.min_size", size.get() as f64)?;
    }
    Ok(through)
}

/// Refuses fields that only a mesh has.
fn path(scenario: &Scenario) -> Check {
    let edge = &scenario.edge;
    let mut given: Vec<String> = Vec::new();
    let mut note = |field: &str, plain: bool| {
        if !plain {
            given.push(field.to_string());
        }
    };
    note("edge.queues", is_default(&edge.queues));
    note("edge.burstifiers", edge.burstifiers == 1);
    note("edge.min_size", edge.min_size.is_none());
    note("edge.at_most", !edge.at_most);
    note("edge.port", is_default(&edge.port));
    note("edge.wavelength", is_default(&edge.wavelength));
    note("edge.class_offsets", edge.class_offsets.is_empty());
    note("edge.assembly", edge.assembly != Assembly::CwndClasses);
    note("edge.ack.with_data", !edge.ack.with_data);
    note("signalling", is_default(&scenario.signalling));
    let mut core = scenario.core.clone();
    core.forwarding = CoreForwarding::default();
    note("core", is_default(&core));
    note("demand", scenario.demand.is_empty());
    note("bursts", scenario.bursts.is_empty());
    note("batches", scenario.batches.is_empty());
    note("run.sample", scenario.run.sample.is_none());
    note("run.occupancy", scenario.run.occupancy.is_none());
    for (index, flow) in scenario.flows().iter().enumerate() {
        note(&format!("flows[{index}].from"), flow.from.is_none());
        note(&format!("flows[{index}].to"), flow.to.is_none());
    }
    for (index, traffic) in scenario.traffic.iter().enumerate() {
        note(&format!("traffic[{index}].from"), traffic.from.is_none());
        note(&format!("traffic[{index}].to"), traffic.to.is_none());
    }
    match given.into_iter().next() {
        None => Ok(()),
        Some(field) => refuse(
            field,
            "",
            "a path has one ingress, one egress and no contention",
            "remove it, or choose a mesh, such as network.topology = \"nsfnet\" or \"line\"",
        ),
    }
}

/// Refuses fields that only a path has.
fn not_of_a_mesh(scenario: &Scenario) -> Check {
    let (edge, ack) = (&scenario.edge, &scenario.edge.ack);
    let fix = "remove it; the offset time of a mesh is signalling.offset";
    for (field, offset) in [("edge.offset", edge.offset), ("edge.ack.offset", ack.offset)] {
        if !offset.is_zero() {
            return refuse(field, offset.to_string(), "it belongs to a path", fix);
        }
    }
    for (field, timers) in
        [("edge.burst_timers", &edge.burst_timers), ("edge.ack.burst_timers", &ack.burst_timers)]
    {
        if !timers.is_empty() {
            let value = format!("{} bursts", timers.len());
            return refuse(field, value, "it belongs to a path", "remove it");
        }
    }
    if !edge.spacing.is_zero() {
        let value = edge.spacing.to_string();
        return refuse("edge.spacing", value, "it belongs to a path", "remove it");
    }
    let sides = scenario.traffic.iter().map(|traffic| traffic.side).enumerate();
    if let Some((index, side)) = sides.filter_map(|(index, side)| Some((index, side?))).next() {
        let fix = "remove it; in a mesh, traffic goes from one node to another";
        return refuse(format!("traffic[{index}].side"), word(&side), "it belongs to a path", fix);
    }
    if scenario.core.forwarding != CoreForwarding::CutThrough {
        let value = word(&scenario.core.forwarding);
        let problem = "the nodes of a mesh switch bursts";
        return refuse("core.forwarding", value, problem, "remove it");
    }
    Ok(())
}

/// Flows and traffic that do not say otherwise go from the first edge node to the last.
fn fill_ends(scenario: &mut Scenario, graph: &Graph) {
    let edges = graph.edges();
    let (Some(&first), Some(&last)) = (edges.first(), edges.last()) else { return };
    let [first, last] = [first, last].map(|node| graph.name(node).to_string());
    let flows = scenario.flows.iter_mut().flatten().map(|flow| (&mut flow.from, &mut flow.to));
    let traffic = scenario.traffic.iter_mut().map(|one| (&mut one.from, &mut one.to));
    for (from, to) in flows.chain(traffic) {
        from.get_or_insert_with(|| first.clone());
        to.get_or_insert_with(|| last.clone());
    }
}

/// The numbers of the nodes of flows, and of traffic.
fn ends(scenario: &Scenario, graph: &Graph) -> Result<[Vec<(u32, u32)>; 2], ScenarioError> {
    let ends = |table: &str, index: usize, from: &Option<String>, to: &Option<String>| {
        let name = |name: &Option<String>| name.clone().unwrap_or_default();
        two_ends(graph, &format!("{table}[{index}]"), &name(from), &name(to))
    };
    let flows = scenario.flows().iter().enumerate();
    let flows = flows.map(|(index, one)| ends("flows", index, &one.from, &one.to));
    let traffic = scenario.traffic.iter().enumerate();
    let traffic = traffic.map(|(index, one)| ends("traffic", index, &one.from, &one.to));
    Ok([flows.collect::<Result<_, _>>()?, traffic.collect::<Result<_, _>>()?])
}

/// The fields of `[edge]` that more than one topology or assembler shares.
fn edge(edge: &Edge) -> Check {
    if edge.queues == Queues::Flow && edge.burstifiers > 1 {
        let value = edge.burstifiers.to_string();
        let problem = "each flow has a queue of its own";
        return refuse("edge.burstifiers", value, problem, "remove it, or change edge.queues");
    }
    if edge.wavelength == FirstWavelength::Random && edge.port != IngressPort::Shared {
        let problem = "a queue waits for whichever wavelength is free first";
        let fix = "add port = \"shared\", or remove it";
        return refuse("edge.wavelength", word(&edge.wavelength), problem, fix);
    }
    let ack = &edge.ack;
    if ack.with_data && ack.assembly != Assembly::None {
        let problem = "ACKs enter the queues of the data";
        return refuse("edge.ack.assembly", word(&ack.assembly), problem, "remove it");
    }
    let classes = edge.cwnd_thresholds.len() as u32 + 1;
    if ack.class >= classes {
        let problem = format!("there are {classes} classes of windows, from 0");
        return refuse("edge.ack.class", ack.class.to_string(), problem, "write one of them");
    }
    Ok(())
}

/// Whether there are not too many queues for the classes.
fn queues(scenario: &Scenario, graph: &Graph) -> Check {
    let edge = &scenario.edge;
    let classes = match edge.queues {
        Queues::Class => u64::from(scenario.classes()),
        Queues::Destination | Queues::Flow => edge.cwnd_thresholds.len() as u64 + 1,
    };
    if edge.queues == Queues::Flow {
        let flows: u64 = scenario.flows().iter().map(|one| u64::from(one.flows())).sum();
        let others: u64 = scenario.traffic.iter().map(|one| u64::from(one.count)).sum();
        let queues = 2 * flows.max(others) * (classes + 1);
        if queues > u64::from(u32::MAX) {
            let problem = format!("{} flows and {classes} classes", flows.max(others));
            let problem = format!("{problem} make {queues} queues");
            let fix = "write \"destination\", or have fewer classes, flows or sources";
            return refuse("edge.queues", word(&edge.queues), problem, fix);
        }
    }
    let nodes = graph.edges().len() as u64;
    let lanes = scenario.network.routes_apart();
    let queues = nodes * nodes * (classes + 1) * u64::from(edge.burstifiers) * u64::from(lanes);
    if queues > QUEUES_MAX && lanes > 1 {
        let problem = format!(
            "{nodes} nodes with hosts, {classes} classes and {lanes} routes make {queues} queues"
        );
        let fix = "write fewer routes, or have fewer nodes with hosts";
        return refuse("network.routes_per_pair", lanes.to_string(), problem, fix);
    }
    if queues > QUEUES_MAX {
        let problem =
            format!("{nodes} nodes with hosts and {classes} classes make {queues} queues");
        let fix = "write fewer, or have fewer classes or nodes with hosts";
        return refuse("edge.burstifiers", edge.burstifiers.to_string(), problem, fix);
    }
    Ok(())
}

fn control_plane(scenario: &Scenario) -> Check {
    let signalling = &scenario.signalling;
    let rate = signalling.rate.unwrap_or(scenario.network.link_rate);
    let size = signalling.header_size;
    if Serializer::new(rate).next(size) > HEADER_TIME_MAX {
        let problem = format!("a header of {size} takes longer than {HEADER_TIME_MAX}");
        let fix = "write a faster rate of the control channels, such as \"1 Gb/s\"";
        return refuse("signalling.rate", rate.to_string(), problem, fix);
    }
    Ok(())
}

/// Whether a burst of `bytes` crosses a fibre in time.
fn no_longer(scenario: &Scenario, path: &str, bytes: f64) -> Check {
    let rate = scenario.network.link_rate;
    if bytes * 8.0 <= rate.as_bps() as f64 * BURST_TIME_MAX.as_secs_f64() {
        return Ok(());
    }
    let problem = format!("a burst of {bytes:.0} B takes longer than {BURST_TIME_MAX} at {rate}");
    refuse(path, "", problem, "write a shorter one, or a faster network.link_rate")
}

/// Refuses a load that would have more bursts in flight than a mesh holds; a mean length of a few
/// bytes does that. Their number is counted with the longest delay, and with a millisecond at
/// least.
fn not_too_many(
    scenario: &Scenario,
    index: usize,
    (load, lengths): (&Bursts, &Sampler),
    (graph, routes): (&Graph, &Routes),
) -> Check {
    let froms = graph.edges_called(load.from.as_ref());
    let tos = graph.edges_called(load.to.as_ref());
    let mut pairs = 0u32;
    let mut delay = Span::from_ms(1);
    for &from in &froms {
        for &to in tos.iter().filter(|&&to| to != from) {
            pairs += 1;
            delay = delay.max(graph.greatest_delay(&routes.of(from, to)[0]));
        }
    }
    let times = match load.per {
        Per::Pair => f64::from(pairs),
        Per::Node => froms.len() as f64,
        Per::Network => 1.0,
    };
    let bytes = lengths.mean();
    let rate = times * load.erlangs * scenario.network.link_rate.as_bps() as f64 / (8.0 * bytes);
    let many = rate * delay.as_secs_f64();
    if many <= UNDER_WAY_MAX {
        return Ok(());
    }
    let problem = format!("{many:.1e} bursts of {bytes:.0} B would be in flight at a time");
    let fix = format!("write longer bursts, or fewer erlangs; at most {UNDER_WAY_MAX:e} fit");
    refuse(format!("bursts[{index}].erlangs"), load.erlangs.to_string(), problem, fix)
}

fn bursts(index: usize, load: &Bursts, graph: &Graph) -> Result<Sampler, ScenarioError> {
    let at = format!("bursts[{index}]");
    span_of(&at, load.start, load.stop)?;
    let ends = [("from", &load.from), ("to", &load.to)];
    for (field, name) in ends {
        if let Some(name) = name {
            host(graph, &format!("{at}.{field}"), name)?;
        }
    }
    if load.from.is_some() && load.from == load.to {
        let value = word(&load.to);
        let fix = "name two different edge nodes";
        return refuse(format!("{at}.to"), value, "it is where the bursts start", fix);
    }
    load.length.sampler(&format!("{at}.length"))
}
