//! Nodes, links between them, and connected parts.

use burstlab_optical::{Fibre, Fibres};
use burstlab_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The role of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "NodeRole")]
pub enum Role {
    /// Hosts attach; it forwards no transit bursts.
    Edge,
    /// Bursts pass; no host attaches.
    Core,
    /// Hosts attach, and it forwards transit bursts.
    #[default]
    Both,
}

impl Role {
    /// Whether hosts attach.
    #[must_use]
    pub fn has_hosts(self) -> bool {
        self != Self::Core
    }

    /// Whether bursts that neither begin nor end here may pass.
    #[must_use]
    pub fn switches(self) -> bool {
        self != Self::Edge
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Name of the node; no two nodes have the same name.
    pub name: String,
    /// Its role.
    pub role: Role,
}

impl Node {
    /// A node.
    #[must_use]
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Self { name: name.into(), role }
    }
}

/// A cable between two nodes, one direction of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// One of its fibres, which are all alike.
    pub fibre: Fibre,
    /// Data wavelengths of all its fibres together, at least 1.
    pub wavelengths: u32,
    /// Parallel fibres, at least 1, which have equally many wavelengths.
    pub fibres: u32,
}

/// A cable with its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Index of the node where it begins.
    pub from: u32,
    /// Index of the node where it ends.
    pub to: u32,
    fibre: Fibre,
    /// Data wavelengths of all its fibres together, at least 1: channels, numbered from 0.
    pub wavelengths: u32,
    /// Parallel fibres, at least 1. Channels of one wavelength follow one another, one a fibre.
    pub fibres: u32,
}

impl Link {
    /// A cable laid from one node to another.
    #[must_use]
    pub fn new(from: u32, to: u32, cable: Cable) -> Self {
        let Cable { fibre, wavelengths, fibres } = cable;
        Self { from, to, fibre, wavelengths, fibres }
    }

    /// The least propagation delay that it has in a run.
    #[must_use]
    pub fn least_delay(&self) -> Span {
        self.fibre.least_delay()
    }

    /// The greatest propagation delay that it has in a run.
    #[must_use]
    pub fn greatest_delay(&self) -> Span {
        self.fibre.greatest_delay()
    }

    /// The wavelength of a channel, from 0.
    #[inline]
    #[must_use]
    pub fn wavelength_of(&self, channel: u32) -> u32 {
        channel / self.fibres
    }

    /// The channels of the wavelengths from `low` to `high`: the first and the last of them.
    #[inline]
    #[must_use]
    pub fn channels_of(&self, (low, high): (u32, u32)) -> (u32, u32) {
        (low * self.fibres, high * self.fibres + self.fibres - 1)
    }
}

/// A network: nodes and directed links, both numbered from 0 in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The nodes. Do not change them: derived values are not computed again.
    pub nodes: Vec<Node>,
    /// The links; not to be changed either.
    pub links: Vec<Link>,
    /// Links that begin at each node, by rising number.
    outgoing: Vec<Vec<u32>>,
    /// The nodes in the order of their names.
    by_name: Vec<u32>,
}

impl Graph {
    /// The graph of `nodes` and `links`.
    ///
    /// # Panics
    /// When a link begins or ends at no node, leads to where it begins or has no wavelength.
    #[must_use]
    pub fn new(nodes: Vec<Node>, links: Vec<Link>) -> Self {
        let mut outgoing = vec![Vec::new(); nodes.len()];
        for (number, link) in (0..).zip(&links) {
            assert!((link.to as usize) < nodes.len(), "link {number} ends at no node");
            assert!(link.from != link.to, "link {number} leads to where it begins");
            assert!(link.wavelengths > 0, "link {number} has no wavelength");
            let alike = link.fibres > 0 && link.wavelengths.is_multiple_of(link.fibres);
            assert!(alike, "link {number} has fibres that differ");
            outgoing[link.from as usize].push(number);
        }
        let mut by_name: Vec<u32> = (0..nodes.len() as u32).collect();
        by_name.sort_by_key(|&number| &nodes[number as usize].name);
        Self { nodes, links, outgoing, by_name }
    }

    /// The graph whose fibres lie in both directions: pair `n` becomes links `2n`, as given, and
    /// `2n + 1`, the reverse.
    ///
    /// # Panics
    /// As [`Graph::new`].
    #[must_use]
    pub fn of_pairs(nodes: Vec<Node>, pairs: impl IntoIterator<Item = (u32, u32, Cable)>) -> Self {
        let both = |(a, b, cable)| [Link::new(a, b, cable), Link::new(b, a, cable)];
        Self::new(nodes, pairs.into_iter().flat_map(both).collect())
    }

    /// The number of the node called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        let known = |&number: &u32| self.name(number).cmp(name);
        let place = self.by_name.binary_search_by(known).ok()?;
        Some(self.by_name[place])
    }

    /// The name of a node.
    #[must_use]
    pub fn name(&self, node: u32) -> &str {
        &self.nodes[node as usize].name
    }

    /// The nodes that hosts attach to, by rising number.
    #[must_use]
    pub fn edges(&self) -> Vec<u32> {
        let hosts = |&node: &u32| self.nodes[node as usize].role.has_hosts();
        (0..self.nodes.len() as u32).filter(hosts).collect()
    }

    /// The node with hosts called `name`; without a name all nodes with hosts.
    #[must_use]
    pub fn edges_called(&self, name: Option<&String>) -> Vec<u32> {
        let mut edges = self.edges();
        if let Some(name) = name {
            let node = self.find(name);
            edges.retain(|&edge| Some(edge) == node);
        }
        edges
    }

    /// The numbers of the links that begin at `node`, rising.
    #[must_use]
    pub fn outgoing(&self, node: u32) -> &[u32] {
        &self.outgoing[node as usize]
    }

    /// A link by its number.
    #[must_use]
    pub fn link(&self, number: u32) -> &Link {
        &self.links[number as usize]
    }

    /// The lowest-numbered link from one node to another.
    #[must_use]
    pub fn link_between(&self, from: u32, to: u32) -> Option<u32> {
        self.outgoing(from).iter().copied().find(|&link| self.link(link).to == to)
    }

    /// The fibres by number of their link, as they are before a run.
    #[must_use]
    pub fn fibres(&self) -> Fibres {
        self.links.iter().map(|link| link.fibre).collect()
    }

    /// The least propagation delay over `route`, a list of links, that it has in a run.
    #[must_use]
    pub fn least_delay(&self, route: &[u32]) -> Span {
        route.iter().fold(Span::ZERO, |sum, &link| sum + self.link(link).least_delay())
    }

    /// The greatest propagation delay over `route` that it has in a run.
    #[must_use]
    pub fn greatest_delay(&self, route: &[u32]) -> Span {
        route.iter().fold(Span::ZERO, |sum, &link| sum + self.link(link).greatest_delay())
    }

    /// The propagation delay over `route`, if it is the same throughout a run.
    #[must_use]
    pub fn steady_delay(&self, route: &[u32]) -> Option<Span> {
        let mut steady = route.iter().map(|&link| self.link(link).fibre.steady_delay());
        steady.try_fold(Span::ZERO, |sum, delay| Some(sum + delay?))
    }

    /// The nodes that `route` touches, from its first to its last.
    #[must_use]
    pub fn nodes_of(&self, route: &[u32]) -> Vec<u32> {
        let first = route.first().map(|&link| self.link(link).from);
        first.into_iter().chain(route.iter().map(|&link| self.link(link).to)).collect()
    }

    /// A node that no link, taken in either direction, connects with node 0; the lowest-numbered.
    #[must_use]
    pub fn separate(&self) -> Option<u32> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for link in &self.links {
            neighbours[link.from as usize].push(link.to);
            neighbours[link.to as usize].push(link.from);
        }
        let mut reached = vec![false; self.nodes.len()];
        let mut ahead: Vec<u32> = if reached.is_empty() { vec![] } else { vec![0] };
        while let Some(node) = ahead.pop() {
            if !std::mem::replace(&mut reached[node as usize], true) {
                ahead.extend(&neighbours[node as usize]);
            }
        }
        reached.iter().position(|&reached| !reached).map(|node| node as u32)
    }
}
