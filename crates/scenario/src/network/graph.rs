//! From `[network]` to a graph and its routes.

use std::collections::BTreeMap;

use burstlab_optical::Fibre;
use burstlab_units::Span;

use super::super::error::word;
use super::super::limits::{DURATION_MAX, SPAN_MAX};
use super::super::read::suggestion;
use super::super::{Interrupt, ScenarioError};
use super::{Network, NetworkLink, NetworkRoute, RouteChoice, Topology, WAVELENGTHS_MAX};
use crate::topology::{
    self, Cable, Graph, Lengths, Link, Metric, NSFNET_CORE, Node, Role, RouteError, Routes, Wanted,
};

/// Most nodes of a network.
const NODES_MAX: u32 = 10_000;
/// Most pods of a fat tree, so that it has no more nodes.
const PODS_MAX: u32 = 28;
/// Most dimensions of a torus.
const DIMENSIONS_MAX: usize = 6;

impl Network {
    /// The network as a graph. Nodes and links are numbered as the topology names them. Links of a
    /// custom network are numbered as listed. Each fibre pair has two numbers; the second one is
    /// the reverse direction.
    ///
    /// # Errors
    /// The first mistake, with the path of its field, its value and the fix.
    pub(crate) fn graph(&self) -> Result<Graph, ScenarioError> {
        let mut graph = match self.topology {
            Topology::Path => topology::path(&self.delays(), self.wavelengths()),
            Topology::Custom => self.custom()?,
            Topology::Martinez => topology::martinez(self.wavelengths()),
            topology if topology.is_nsfnet() => self.nsfnet()?,
            Topology::FatTree | Topology::LeafSpine | Topology::Torus => self.fabric()?,
            _ => self.generated()?,
        };
        if let Some(edges) = &self.edges {
            choose_edges(&mut graph, edges)?;
        }
        self.coherent(&graph)?;
        Ok(graph)
    }

    /// The routes of the network, whose graph is `graph`.
    ///
    /// # Errors
    /// The first mistake, with the path of its field, its value and the fix.
    #[cfg(test)]
    pub(crate) fn routes(&self, graph: &Graph) -> Result<Routes, ScenarioError> {
        self.routes_while(graph, &Interrupt::default())
    }

    /// As `routes`, unless `watch` is cancelled.
    pub(in super::super) fn routes_while(
        &self,
        graph: &Graph,
        watch: &Interrupt,
    ) -> Result<Routes, ScenarioError> {
        let explicit = self.explicit(graph)?;
        let (metric, wanted) = self.wanted();
        Routes::find_while(graph, metric, wanted, &explicit, &|| watch.goes_on())
            .map_err(|error| no_routes(graph, self.routes_per_pair(), &error))
    }

    /// The routes of this network, whose graph is `graph`, while some of its links are closed; two
    /// nodes that are apart then keep the routes that they have in `before`.
    ///
    /// # Panics
    /// When the network was not checked.
    #[must_use]
    pub fn routes_around(&self, graph: &Graph, closed: &[bool], before: &Routes) -> Routes {
        let (metric, wanted) = self.wanted();
        let explicit = self.explicit(graph).expect("routes were checked");
        Routes::around(graph, metric, wanted, &explicit, closed, before)
    }

    /// The metric that the shortest routes minimise, and the number of routes.
    fn wanted(&self) -> (Metric, Wanted) {
        let (count, metric) = (self.routes_per_pair(), self.routing.unwrap_or_default());
        match self.route_choice() {
            RouteChoice::Ecmp => (metric, Wanted::Equal(count)),
            _ => (metric, Wanted::Shortest(count)),
        }
    }

    /// The given routes, as lists of links.
    fn explicit(&self, graph: &Graph) -> Result<Vec<Vec<u32>>, ScenarioError> {
        let mut explicit = Vec::new();
        for (index, route) in self.route.iter().flatten().enumerate() {
            let links = links_of(graph, index, route)?;
            if let Some(first) = explicit.iter().position(|other| *other == links) {
                return Err(ScenarioError::new(
                    format!("network.route[{index}]"),
                    ends(route),
                    format!("it is network.route[{first}] again"),
                    "remove one of the two",
                ));
            }
            explicit.push(links);
        }
        Ok(explicit)
    }

    /// The delay over `km`, or why the field at `path` cannot be that long.
    pub(super) fn delay_over(&self, path: &str, km: f64) -> Result<Span, ScenarioError> {
        let delay = self.over(km);
        if delay <= SPAN_MAX {
            return Ok(delay);
        }
        let problem = format!("light takes longer than {SPAN_MAX} over it");
        let fix = "write a shorter length, or a smaller delay_per_km";
        Err(ScenarioError::new(path, km.to_string(), problem, fix))
    }

    /// The one cable that all are like.
    fn uniform(&self) -> Cable {
        let fibre = Fibre::of(self.uniform_delay());
        Cable { fibre, wavelengths: self.wavelengths(), fibres: 1 }
    }

    fn fabric(&self) -> Result<Graph, ScenarioError> {
        let refuse = |field: &str, value: String, problem: String, fix: &str| {
            Err(ScenarioError::new(format!("network.{field}"), value, problem, fix))
        };
        let cable = self.uniform();
        if self.topology == Topology::FatTree {
            let pods = self.pods();
            if pods.is_multiple_of(2) && (2..=PODS_MAX).contains(&pods) {
                return Ok(topology::fat_tree(pods, cable));
            }
            let problem = format!("a fat tree has an even number of pods, 2 to {PODS_MAX}");
            return refuse("pods", pods.to_string(), problem, "write one, such as 4");
        }
        if self.topology == Topology::LeafSpine {
            let (leaves, spines) = (self.leaves(), self.spines());
            let field = if !(2..NODES_MAX).contains(&leaves) { "leaves" } else { "spines" };
            if leaves >= 2 && spines >= 1 && leaves.saturating_add(spines) <= NODES_MAX {
                return Ok(topology::leaf_spine(leaves, spines, cable));
            }
            let value = if field == "leaves" { leaves } else { spines };
            let problem =
                format!("there are 2 leaves and 1 spine at least, {NODES_MAX} nodes at most");
            return refuse(field, value.to_string(), problem, "write a number in that range");
        }
        let dimensions = self.dimensions();
        let nodes = dimensions.iter().fold(1u64, |all, &one| all.saturating_mul(one.into()));
        let many = (1..=DIMENSIONS_MAX).contains(&dimensions.len());
        if many && nodes <= NODES_MAX.into() && dimensions.iter().all(|&one| one >= 2) {
            return Ok(topology::torus(&dimensions, cable));
        }
        let problem = format!(
            "a torus has 1 to {DIMENSIONS_MAX} dimensions of at least 2 nodes, and at most \
             {NODES_MAX} nodes"
        );
        refuse("dimensions", format!("{dimensions:?}"), problem, "write such as [4, 4]")
    }

    fn generated(&self) -> Result<Graph, ScenarioError> {
        let cable = self.uniform();
        type Make = fn(u32, Cable) -> Graph;
        let (least, most, make): (u32, u32, Make) = match self.topology {
            Topology::Ring => (3, NODES_MAX, topology::ring),
            Topology::Star => (2, NODES_MAX - 1, topology::star),
            Topology::Dumbbell => (1, NODES_MAX / 2 - 1, topology::dumbbell),
            _ => (2, NODES_MAX, topology::line),
        };
        let count = self.node_count();
        if (least..=most).contains(&count) {
            return Ok(make(count, cable));
        }
        Err(ScenarioError::new(
            "network.nodes",
            count.to_string(),
            format!("topology = {} has {least} to {most}", word(&self.topology)),
            "write a number in that range",
        ))
    }

    fn nsfnet(&self) -> Result<Graph, ScenarioError> {
        let lengths = match self.topology {
            Topology::NsfnetDeeprmsa => Lengths::DeepRmsa,
            _ => Lengths::Common,
        };
        // No fibre of the tables is longer.
        self.delay_over("network.delay_per_km", 2800.0).map_err(|_| {
            let value = self.delay_per_km().to_string();
            let fix = "write a smaller one, such as \"5 us\"";
            ScenarioError::new("network.delay_per_km", value, "fibres would take too long", fix)
        })?;
        let (per_km, wavelengths) = (self.delay_per_km(), self.wavelengths());
        let mut graph = topology::nsfnet(lengths, per_km, wavelengths);
        if self.topology == Topology::Nsfnet8e6c {
            for number in NSFNET_CORE {
                graph.nodes[number as usize - 1].role = Role::Core;
            }
        }
        Ok(graph)
    }

    fn custom(&self) -> Result<Graph, ScenarioError> {
        if let Some(file) = &self.file {
            let fix = "load the scenario with `burstlab` or `bl.load`, which read the file";
            let problem = "the engine reads no files";
            return Err(ScenarioError::new("network.file", file, problem, fix));
        }
        if let Some(lengths) = &self.lengths {
            let fix = "remove it, or name a topology file with network.file";
            let problem = "it is of links of a file, and none is named";
            return Err(ScenarioError::new("network.lengths", word(lengths), problem, fix));
        }
        let nodes = self.node.as_deref().unwrap_or_default();
        if nodes.is_empty() || nodes.len() > NODES_MAX as usize {
            return Err(ScenarioError::new(
                "network.node",
                if self.node.is_some() { format!("{} nodes", nodes.len()) } else { String::new() },
                format!("topology = \"custom\" has 2 to {NODES_MAX}"),
                "list them as [[network.node]], or write file = ...",
            ));
        }
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for (index, node) in nodes.iter().enumerate() {
            let path = format!("network.node[{index}].name");
            if node.name.is_empty() {
                return Err(ScenarioError::new(path, "\"\"", "a node has a name", "write one"));
            }
            if let Some(first) = numbers.insert(&node.name, index as u32) {
                let problem = format!("network.node[{first}] is called so too");
                return Err(ScenarioError::new(path, &*node.name, problem, "rename one of them"));
            }
        }
        let mut links: Vec<Link> = Vec::new();
        let mut taken: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (index, entry) in self.link.iter().flatten().enumerate() {
            let [from, to] = [("from", &entry.from), ("to", &entry.to)].map(|(field, name)| {
                let path = || format!("network.link[{index}].{field}");
                numbers
                    .get(&**name)
                    .copied()
                    .ok_or_else(|| unknown(path(), name, nodes.iter().map(|node| &*node.name)))
            });
            let (from, to) = (from?, to?);
            let cable = self.cable(index, entry)?;
            let there = Link::new(from, to, cable);
            let back = (!entry.one_way).then(|| Link::new(to, from, cable));
            for link in [Some(there), back].into_iter().flatten() {
                if let Some(first) = taken.insert((link.from, link.to), index) {
                    return Err(doubled(index, entry, first));
                }
                links.push(link);
            }
        }
        let nodes = nodes.iter().map(|node| Node::new(&*node.name, node.role)).collect();
        Ok(Graph::new(nodes, links))
    }

    /// The cable of a listed entry.
    fn cable(&self, index: usize, entry: &NetworkLink) -> Result<Cable, ScenarioError> {
        let at = |field: &str| format!("network.link[{index}]{field}");
        let delay = match (entry.length_km, entry.delay) {
            (Some(km), None) => self.delay_over(&at(".length_km"), km)?,
            (None, Some(delay)) => delay,
            (Some(_), Some(delay)) => {
                let (value, problem) = (delay.to_string(), "length_km is given too");
                return Err(ScenarioError::new(
                    at(".delay"),
                    value,
                    problem,
                    "keep one of the two",
                ));
            }
            (None, None) => {
                let problem = "neither length_km nor delay is given";
                return Err(ScenarioError::new(at(""), "", problem, "add length_km = ..."));
            }
        };
        let fibres = entry.fibres.unwrap_or(1);
        let each = entry.wavelengths.unwrap_or(self.wavelengths());
        let most = WAVELENGTHS_MAX / each;
        if fibres > most {
            let problem = format!("{fibres} fibres of {each} wavelengths are too many");
            let fix = format!("write at most {most}, or fewer wavelengths");
            return Err(ScenarioError::new(at(".fibres"), fibres.to_string(), problem, fix));
        }
        if entry.from == entry.to {
            let problem = "it leads to where it begins";
            let fix = "name two nodes, or remove it";
            return Err(ScenarioError::new(at(".to"), &*entry.to, problem, fix));
        }
        Ok(Cable { fibre: Fibre::of(delay), wavelengths: each * fibres, fibres })
    }

    /// Whether all of `graph` hangs together and enough nodes have hosts.
    fn coherent(&self, graph: &Graph) -> Result<(), ScenarioError> {
        let edges = graph.edges();
        if edges.len() < 2 {
            let found: Vec<&str> = edges.iter().map(|&edge| graph.name(edge)).collect();
            return Err(ScenarioError::new(
                if self.edges.is_some() { "network.edges" } else { "network.node" },
                format!("[{}]", found.join(", ")),
                "bursts need two nodes that hosts attach to",
                "give hosts to more nodes (role edge or both)",
            ));
        }
        if let Some(apart) = graph.separate() {
            let (name, first) = (graph.name(apart), graph.name(0));
            return Err(ScenarioError::new(
                "network.link",
                "",
                format!("the network is not connected: no fibres join node {name:?} to {first:?}"),
                format!("add a link to {name:?}, or remove the node"),
            ));
        }
        if self.topology == Topology::Path {
            return Ok(());
        }
        // No route passes a node twice, so that this holds its delay in range.
        let longest = graph.links.iter().map(Link::greatest_delay).max().unwrap_or_default();
        let most = DURATION_MAX / graph.nodes.len() as u64;
        if longest <= most {
            return Ok(());
        }
        Err(ScenarioError::new(
            "network",
            longest.to_string(),
            format!("a burst over {} such links takes longer than any run", graph.nodes.len() - 1),
            format!("shorten the links to {most} or less"),
        ))
    }
}

/// `name`, at `path`, is none of `known`.
fn unknown<'a>(
    path: impl Into<String>,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> ScenarioError {
    let known: Vec<String> = known.map(str::to_owned).collect();
    ScenarioError::new(path, format!("{name:?}"), "no such node", suggestion(name, &known))
}

fn doubled(index: usize, entry: &NetworkLink, first: usize) -> ScenarioError {
    ScenarioError::new(
        format!("network.link[{index}]"),
        format!("{} to {}", entry.from, entry.to),
        format!("network.link[{first}] joins the two already"),
        "remove one; a thicker link has more wavelengths or fibres",
    )
}

/// Gives hosts only to the nodes in `names`.
fn choose_edges(graph: &mut Graph, names: &[String]) -> Result<(), ScenarioError> {
    let mut chosen = vec![false; graph.nodes.len()];
    for (index, name) in names.iter().enumerate() {
        let path = || format!("network.edges[{index}]");
        let known = || graph.nodes.iter().map(|node| &*node.name);
        let node = graph.find(name).ok_or_else(|| unknown(path(), name, known()))?;
        if std::mem::replace(&mut chosen[node as usize], true) {
            return Err(ScenarioError::new(path(), &**name, "it is named twice", "remove one"));
        }
    }
    for (node, chosen) in graph.nodes.iter_mut().zip(chosen) {
        node.role = match (chosen, node.role) {
            (true, Role::Core) => Role::Both,
            (true, role) => role,
            (false, _) => Role::Core,
        };
    }
    Ok(())
}

fn ends(route: &NetworkRoute) -> String {
    format!("{} to {}", route.from, route.to)
}

/// The links of the given route `index`.
fn links_of(graph: &Graph, index: usize, route: &NetworkRoute) -> Result<Vec<u32>, ScenarioError> {
    let at = |field: &str| format!("network.route[{index}].{field}");
    let refuse = |path: String, name: &str, problem: &str, fix: &str| {
        Err(ScenarioError::new(path, name, problem, fix))
    };
    let last = route.via.len() + 1;
    let via = route.via.iter().enumerate().map(|(n, name)| (at(&format!("via[{n}]")), name));
    let stops: Vec<(String, &String)> = std::iter::once((at("from"), &route.from))
        .chain(via)
        .chain([(at("to"), &route.to)])
        .collect();
    let mut nodes: Vec<u32> = Vec::new();
    for (stop, (path, name)) in stops.into_iter().enumerate() {
        let known = || graph.nodes.iter().map(|node| &*node.name);
        let node = graph.find(name).ok_or_else(|| unknown(&*path, name, known()))?;
        let role = graph.nodes[node as usize].role;
        let is_end = stop == 0 || stop == last;
        if is_end && !role.has_hosts() {
            let fix = "begin and end at nodes of role edge or both";
            return refuse(path, name, "no hosts attach to this node", fix);
        }
        if !is_end && !role.switches() {
            let fix = "take another path, or give it the role both";
            return refuse(path, name, "an edge node forwards no transit bursts", fix);
        }
        if nodes.contains(&node) || (!is_end && *name == route.to) {
            let fix = "name each node once; via has only those between from and to";
            return refuse(path, name, "the route comes here twice", fix);
        }
        nodes.push(node);
    }
    let mut links = Vec::new();
    for pair in nodes.windows(2) {
        let Some(link) = graph.link_between(pair[0], pair[1]) else {
            let [a, b] = [pair[0], pair[1]].map(|node| graph.name(node));
            let problem = format!("no link leads from {a:?} to {b:?}");
            let fix = "name every node on the path, or add the link";
            return refuse(at("via"), &ends(route), &problem, fix);
        };
        links.push(link);
    }
    Ok(links)
}

fn no_routes(graph: &Graph, count: usize, error: &RouteError) -> ScenarioError {
    let (from, to, blocked) = match *error {
        RouteError::Unreachable { from, to, blocked } => (from, to, blocked),
        RouteError::Stopped => {
            return ScenarioError::new("network", "", "it was stopped", "start it again");
        }
        RouteError::TooMany => {
            let value = count.to_string();
            let problem = format!("the routes of {} nodes are too many", graph.nodes.len());
            let fix = "write fewer, or have fewer nodes with hosts (edges = [...])";
            return ScenarioError::new("network.routes_per_pair", value, problem, fix);
        }
    };
    let (from, to) = (graph.name(from), graph.name(to));
    let (path, problem, fix) = match blocked.map(|node| graph.name(node)) {
        Some(node) => (
            "network.node",
            format!(
                "no route leads from {from:?} to {to:?}: node {node:?} is an edge node, which \
                 forwards no transit bursts"
            ),
            format!("give {node:?} the role both, or add links"),
        ),
        None => (
            "network.link",
            format!("no route leads from {from:?} to {to:?}: links on the path are one_way"),
            "add a link in that direction, or remove one_way".to_owned(),
        ),
    };
    ScenarioError::new(path, format!("{from} to {to}"), problem, fix)
}
