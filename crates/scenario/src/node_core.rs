//! Core nodes that differ from `[core]`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::{Check, refuse, word};
use super::read::suggestion;
use super::{
    ConversionKind, Core, CoreGroup, DelayLines, NodeCore, NodeOrder, Scenario, ScenarioError,
};
use crate::topology::{Graph, Routes};

/// The core of each node: distinct kinds of nodes, and which of them each node is.
#[derive(Clone, Debug, Default)]
pub struct Cores {
    kinds: Vec<Core>,
    /// By node; empty if all are of the first kind.
    of: Vec<u32>,
}

impl Cores {
    /// All nodes are alike.
    #[must_use]
    pub fn alike(core: &Core) -> Self {
        Self { kinds: vec![Core { group: Vec::new(), ..core.clone() }], of: Vec::new() }
    }

    /// The kinds of nodes, at least one.
    #[must_use]
    pub fn kinds(&self) -> &[Core] {
        &self.kinds
    }

    /// By node, the place of its kind; empty if all nodes are of the first kind.
    #[must_use]
    pub fn places(&self) -> &[u32] {
        &self.of
    }

    /// The core of a node.
    #[must_use]
    pub fn at(&self, node: u32) -> &Core {
        &self.kinds[self.of.get(node as usize).map_or(0, |&kind| kind as usize)]
    }
}

/// A kind of nodes, and where its fields are written.
pub(super) struct Kind<'a> {
    pub(super) core: Core,
    pub(super) nodes: Vec<u32>,
    sources: Vec<&'a (String, &'a NodeCore)>,
}

impl Kind<'_> {
    /// The path of a field of the kind, where it is written.
    pub(super) fn path(&self, field: &str) -> String {
        let (table, rest) = field.split_once('.').unwrap_or((field, ""));
        let at = self.last(table).map_or("core", |place| &self.sources[place].0);
        if rest.is_empty() { format!("{at}.{table}") } else { format!("{at}.{table}.{rest}") }
    }

    /// Whether a node or a group sets the field by itself.
    pub(super) fn own(&self, field: &str) -> bool {
        self.last(field).is_some()
    }

    /// The place of the last that sets a field.
    fn last(&self, field: &str) -> Option<usize> {
        self.sources.iter().rposition(|source| source.1.sets(field))
    }
}

impl NodeCore {
    fn sets(&self, field: &str) -> bool {
        let table = serde_json::to_value(self).unwrap_or_default();
        table.get(field).is_some_and(|value| *value != Value::Null)
    }

    /// Replaces the fields that it sets.
    fn apply(&self, core: &mut Core) {
        core.scheduler = self.scheduler.unwrap_or(core.scheduler);
        core.conversion = self.conversion.unwrap_or(core.conversion);
        core.conversion_range = self.conversion_range.or(core.conversion_range);
        core.converters = self.converters.or(core.converters);
        if let Some(contention) = &self.contention {
            core.contention.clone_from(contention);
        }
        if let Some(lines) = &self.delay_lines {
            let passes_on_path = core.delay_lines.passes_on_path;
            core.delay_lines = DelayLines { passes_on_path, ..lines.clone() };
        }
    }
}

/// The kinds of nodes of a mesh.
pub(super) fn kinds<'a>(
    scenario: &Scenario,
    sources: &'a [(String, &'a NodeCore)],
    (graph, routes): (&Graph, &Routes),
) -> Result<Vec<Kind<'a>>, ScenarioError> {
    let nodes = graph.nodes.len();
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let groups = &scenario.core.group;
    for (index, group) in groups.iter().enumerate() {
        for node in members(index, group, graph, routes)? {
            of[node as usize].push(index);
        }
    }
    let listed = scenario.network.node.iter().flatten().enumerate();
    let own = listed.filter(|(_, node)| node.core.is_some()).map(|(node, _)| node);
    own.enumerate().for_each(|(place, node)| of[node].push(groups.len() + place));
    let mut found: BTreeMap<Vec<usize>, Vec<u32>> = BTreeMap::new();
    for (node, which) in (0..).zip(of) {
        found.entry(which).or_default().push(node);
    }
    let kind = |(which, nodes): (Vec<usize>, Vec<u32>)| {
        let sources: Vec<_> = which.into_iter().map(|source| &sources[source]).collect();
        let mut core = Core { group: Vec::new(), ..scenario.core.clone() };
        sources.iter().for_each(|source| source.1.apply(&mut core));
        let mut kind = Kind { core, nodes, sources };
        // A conversion that is set later needs no longer what was for the one before.
        let conversion = kind.last("conversion");
        if !is_limited(&kind.core) && kind.last("conversion_range") < conversion {
            kind.core.conversion_range = None;
        }
        if kind.core.conversion == ConversionKind::None && kind.last("converters") < conversion {
            kind.core.converters = None;
        }
        kind
    };
    Ok(found.into_iter().map(kind).collect())
}

/// The cores of so many nodes.
pub(super) fn cores(kinds: Vec<Kind>, nodes: usize) -> Cores {
    let mut of = vec![0; if kinds.len() > 1 { nodes } else { 0 }];
    // The first kind has place 0.
    for (place, kind) in (0..).zip(&kinds).skip(1) {
        kind.nodes.iter().for_each(|&node| of[node as usize] = place);
    }
    Cores { kinds: kinds.into_iter().map(|kind| kind.core).collect(), of }
}

/// Whether conversion has a range.
pub(super) fn is_limited(core: &Core) -> bool {
    core.conversion == ConversionKind::Limited
}

/// The fields that differ at nodes, and where they are written: groups first, then nodes.
pub(super) fn sources(scenario: &Scenario) -> Result<Vec<(String, &NodeCore)>, ScenarioError> {
    let groups = scenario.core.group.iter().enumerate();
    let groups = groups.map(|(index, group)| (format!("core.group[{index}].set"), &group.set));
    let nodes = scenario.network.node.iter().flatten().enumerate();
    let nodes = nodes.filter_map(|(index, node)| {
        Some((format!("network.node[{index}].core"), node.core.as_ref()?))
    });
    let all: Vec<_> = groups.chain(nodes).collect();
    for (path, own) in &all {
        check(path, own)?;
    }
    Ok(all)
}

fn check(path: &str, own: &NodeCore) -> Check {
    if *own == NodeCore::default() {
        let fix = "write conversion = \"none\", for example, or remove it";
        return refuse(path, "", "nothing differs from [core]", fix);
    }
    let lines = own.delay_lines.as_ref();
    if let Some(most) = lines.and_then(|lines| lines.passes_on_path) {
        let path = format!("{path}.delay_lines.passes_on_path");
        let fix = "write core.delay_lines.passes_on_path";
        return refuse(path, most.to_string(), "it counts at all nodes of a path", fix);
    }
    Ok(())
}

/// The nodes of a group.
fn members(
    index: usize,
    group: &CoreGroup,
    graph: &Graph,
    routes: &Routes,
) -> Result<Vec<u32>, ScenarioError> {
    let path = format!("core.group[{index}]");
    let both = "it has both nodes and first";
    match (&group.nodes, group.first) {
        (Some(_), Some(first)) => {
            refuse(format!("{path}.first"), first.to_string(), both, "keep one of the two")
        }
        (None, None) => {
            let fix = "write nodes = [\"NAME\"], or first = 3";
            refuse(format!("{path}.nodes"), "", "the group names no node", fix)
        }
        (Some(names), None) => {
            if let Some(by) = &group.by {
                let fix = "remove it, or write first in place of nodes";
                return refuse(format!("{path}.by"), word(by), "the nodes are named", fix);
            }
            names.iter().enumerate().map(|(at, name)| named(&path, at, name, graph)).collect()
        }
        (None, Some(first)) => {
            let mut nodes: Vec<u32> = (0..graph.nodes.len() as u32).collect();
            nodes.retain(|&node| graph.nodes[node as usize].role.switches());
            if first as usize > nodes.len() {
                let problem = format!("{} nodes switch", nodes.len());
                let fix = format!("write at most {}", nodes.len());
                return refuse(format!("{path}.first"), first.to_string(), problem, fix);
            }
            let sizes = match group.by.unwrap_or_default() {
                NodeOrder::Degree => nodes.iter().map(|&node| graph.outgoing(node).len()).collect(),
                NodeOrder::Routes => passing(graph, routes, &nodes),
            };
            let mut order: Vec<(usize, u32)> = sizes.into_iter().zip(nodes).collect();
            order.sort_by_key(|&(size, node)| (std::cmp::Reverse(size), node));
            Ok(order.into_iter().take(first as usize).map(|(_, node)| node).collect())
        }
    }
}

/// How many first routes pass through each of these nodes.
fn passing(graph: &Graph, routes: &Routes, nodes: &[u32]) -> Vec<usize> {
    let mut all = vec![0; graph.nodes.len()];
    let edges = graph.edges();
    for (from, to) in edges.iter().flat_map(|&from| edges.iter().map(move |&to| (from, to))) {
        if from != to {
            for &link in routes.peek(from, to)[0].iter().skip(1) {
                all[graph.link(link).from as usize] += 1;
            }
        }
    }
    nodes.iter().map(|&node| all[node as usize]).collect()
}

fn named(path: &str, at: usize, name: &str, graph: &Graph) -> Result<u32, ScenarioError> {
    if let Some(node) = graph.find(name) {
        return Ok(node);
    }
    let names: Vec<String> = graph.nodes.iter().map(|node| node.name.clone()).collect();
    let fix = suggestion(name, &names);
    refuse(format!("{path}.nodes[{at}]"), format!("{name:?}"), "no node has this name", fix)
}
