//! `[network]`: the optical network.

mod check;
mod graph;
#[cfg(test)]
mod tests;

use burstlab_units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use check::check;

use crate::topology::{Metric, Role};

use super::NodeCore;
use super::limits::{RATE_MIN, SPAN_MAX};

/// Most wavelengths of a fibre: C and L band on a 12.5 GHz grid have fewer.
const WAVELENGTHS_MAX: u32 = 1000;
/// Most routes between two nodes.
const ROUTES_MAX: usize = 100;
/// Routes among which flows are spread where nothing is said: all of a fat tree of eight pods.
const ECMP_ROUTES: usize = 16;

/// The optical network: nodes and the fibres between them. A field that the topology does not use
/// is an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Shape of the network.
    pub topology: Topology,
    /// `path`: core nodes between the two edge nodes. There is one more fibre than core nodes.
    /// Absent: 2.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_nodes: Option<usize>,
    /// Rate of every fibre, in both directions. With several wavelengths, the rate of each
    /// wavelength.
    #[schemars(extend("x-minimum" = RATE_MIN))]
    pub link_rate: Rate,
    /// Shapes without lengths of their own: propagation delay of every fibre, in one direction.
    /// `nsfnet` and its variants, `martinez` and `custom` have such lengths. Absent: it follows
    /// from `link_length_km`; without this "10 ms", with `fat-tree` and `leaf-spine` "1 us".
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_delay: Option<Span>,
    /// `path`: propagation delays of the fibres from ingress to egress, if they differ:
    /// `core_nodes` + 1 values in place of `link_delay`.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_delays: Option<Vec<Span>>,
    /// In place of `link_delay`: length of every fibre in km.
    #[schemars(range(min = 0.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_length_km: Option<f64>,
    /// Propagation delay of 1 km of fibre, wherever a length is given. Absent: "5 us".
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_per_km: Option<Span>,
    /// `line`, `ring`: nodes, 2 (ring: 3) to 10000. `star`: nodes around the hub, 2 to 9999.
    /// `dumbbell`: edge nodes on each side, 1 to 499. Absent: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// `fat-tree`: pods, an even number from 2 to 28. Each pod has `pods` / 2 nodes with hosts and
    /// `pods` / 2 nodes above them. There are (`pods` / 2)^2 core nodes. Absent: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<u32>,
    /// `leaf-spine`: nodes with hosts, at least 2. Absent: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<u32>,
    /// `leaf-spine`: nodes that join the leaves; leaves and spines together at most 10000. Absent:
    /// 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spines: Option<u32>,
    /// `torus`: nodes along each dimension, at least 2, of one to six dimensions; at most 10000
    /// nodes. Absent: `[4, 4]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Vec<u32>>,
    /// All but `path`: data wavelengths of every fibre. Absent: 1.
    #[schemars(range(min = 1, max = WAVELENGTHS_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wavelengths: Option<u32>,
    /// All but `path`: names of the nodes that hosts attach to, at least two; all others only
    /// switch. Absent: as the topology says.
    #[schemars(extend("x-default" = "as the topology says"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<Vec<String>>,
    /// All but `path`: the metric that the shortest route minimises. Absent: `delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<Metric>,
    /// All but `path`: largest number of routes from each node with hosts to each other one: the
    /// shortest routes without loops. Absent: 1, with `ecmp` 16.
    #[schemars(range(min = 1, max = ROUTES_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes_per_pair: Option<usize>,
    /// All but `path`: which of several routes a burst takes. Absent: `first`; in `fat-tree` and
    /// `leaf-spine` `ecmp`, without `[ops]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_choice: Option<RouteChoice>,
    /// All but `path`: given routes, each in one direction. They come before the shortest routes
    /// and count among `routes_per_pair`; all of them are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<NetworkRoute>>,
    /// `custom`: the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Vec<NetworkNode>>,
    /// `custom`: the fibres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Vec<NetworkLink>>,
    /// `custom`: a file with the nodes and fibres, instead of `node` and `link`: GraphML, GML, JSON
    /// (node-link or GNPy), SNDlib (native or XML), REPETITA, a list of edges (CSV or text) or
    /// TOML. Its path is relative to the scenario's file. When the scenario is loaded, the contents
    /// replace the file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// With `file`: length of a link without a length and with an end without coordinates. Absent:
    /// `"placed"`.
    #[schemars(extend("x-default" = "`\"placed\"`"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengths: Option<FileLengths>,
}

/// How long links of a file are of which it does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileLengths {
    /// A node without coordinates lies between its neighbours, if two of them have some; else the
    /// link is as long as the median of the others, or 100 km where no length is known.
    Placed,
    /// As long as the median of the others, or 100 km where no length is known.
    Hop,
    /// It is an error.
    Given,
}

/// Shape of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// A chain: hosts, ingress edge, core nodes, egress edge, hosts.
    Path,
    /// Nodes `1`, `2` and so on in a row; all have hosts and switch.
    Line,
    /// Nodes `1`, `2` and so on in a circle; all have hosts and switch.
    Ring,
    /// A core node `hub` with edge nodes `1`, `2` and so on around it.
    Star,
    /// Two core nodes, `left` and `right`, with edge nodes `left1`, `right1` and so on.
    Dumbbell,
    /// Three tiers of equal switches with as much capacity above as below (Al-Fares, Loukissas
    /// and Vahdat 2008, section 3): `tor1-1` with hosts and `agg1-1` of each pod, and `core1` and
    /// so on. A top-of-rack node reaches all `agg` of its pod; these, in order, `pods` / 2 core
    /// nodes each.
    FatTree,
    /// Nodes `leaf1` and so on, with hosts, each with a fibre to each of `spine1` and so on.
    LeafSpine,
    /// A grid that is closed in each dimension: nodes `1-1`, `1-2` and so on; all have hosts and
    /// switch. Along a dimension of 2 the two have one fibre.
    Torus,
    /// NSFNET: 14 nodes `1` to `14`, 21 fibres of 300 to 2800 km; all nodes have hosts and switch.
    Nsfnet,
    /// NSFNET with hosts at nodes 1, 2, 3, 6, 10, 11, 13 and 14, which switch too; 4, 5, 7, 8, 9
    /// and 12 only switch.
    #[serde(rename = "nsfnet-8e6c")]
    Nsfnet8e6c,
    /// NSFNET with the 22 fibres and the lengths of DeepRMSA (Chen et al. 2019).
    NsfnetDeeprmsa,
    /// Edge nodes `E1` and `E3` on core node `C1`, `E2` and `E4` on `C2`, fibres of 1 ms, and one
    /// of 5 ms between the core nodes: a reading of the network of Martinez-Yelmo et al., whose
    /// figure of it is lost.
    Martinez,
    /// The nodes and fibres that `node` and `link` list, or `file`.
    Custom,
}

/// Which of several routes a burst takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RouteChoice {
    /// The first.
    #[default]
    First,
    /// Each in turn. Each pair of nodes draws the route with which it begins, so that pairs that
    /// begin together are not in step.
    RoundRobin,
    /// Any, all equally likely.
    Random,
    /// Each flow has one for all that it sends, and one for its ACKs, all equally likely
    /// (equal-cost multi-path, RFC 2992). Only routes as short as the shortest are found, in
    /// addition to those given by `route`. There is an assembly queue for each route; sources of
    /// background traffic and of batches, and each background burst, count as flows.
    Ecmp,
}

/// A node of a custom network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkNode {
    /// Name of the node; no two nodes have the same name.
    pub name: String,
    /// Its role.
    #[serde(default)]
    pub role: Role,
    /// Fields of `[core]` that differ at this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<NodeCore>,
}

/// A fibre of a custom network, in both directions; it has `length_km` or `delay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkLink {
    /// Name of the node where it begins.
    pub from: String,
    /// Name of the node where it ends.
    pub to: String,
    /// Length in km.
    #[schemars(range(min = 0.0))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_km: Option<f64>,
    /// Propagation delay, in one direction.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Data wavelengths. Absent: `network.wavelengths`.
    #[schemars(extend("x-default" = "`network.wavelengths`"))]
    #[schemars(range(min = 1, max = WAVELENGTHS_MAX))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wavelengths: Option<u32>,
    /// Number of parallel fibres, each with `wavelengths`. A burst takes any of them. They have at
    /// most 1000 wavelengths together. Absent: 1.
    #[schemars(range(min = 1, max = WAVELENGTHS_MAX))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fibres: Option<u32>,
    /// Whether the fibre leads only from `from` to `to`. Absent: false.
    #[serde(default)]
    pub one_way: bool,
}

/// A given route, from one node with hosts to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkRoute {
    /// Name of the node where it begins.
    pub from: String,
    /// Name of the node where it ends.
    pub to: String,
    /// Names of the nodes between the two, in order; a link leads from each to the next.
    #[serde(default)]
    pub via: Vec<String>,
}

impl Default for Network {
    /// The path of Yu et al. 2004, section III: two core nodes, three fibres of 10 ms, 10 Gb/s.
    fn default() -> Self {
        Self {
            topology: Topology::Path,
            core_nodes: None,
            link_rate: Rate::from_bps(10_000_000_000),
            link_delay: None,
            link_delays: None,
            link_length_km: None,
            delay_per_km: None,
            nodes: None,
            pods: None,
            leaves: None,
            spines: None,
            dimensions: None,
            wavelengths: None,
            edges: None,
            routing: None,
            routes_per_pair: None,
            route_choice: None,
            route: None,
            node: None,
            link: None,
            file: None,
            lengths: None,
        }
    }
}

impl Topology {
    /// Whether every fibre has the same delay or length, from `link_delay` or `link_length_km`.
    fn is_uniform(self) -> bool {
        self.is_counted()
            || matches!(self, Self::Path | Self::FatTree | Self::LeafSpine | Self::Torus)
    }

    /// Whether `nodes` says how large it is.
    fn is_counted(self) -> bool {
        matches!(self, Self::Line | Self::Ring | Self::Star | Self::Dumbbell)
    }

    /// Whether it is a shape of a data centre: short fibres, and equal routes to share the load.
    pub(super) fn is_fabric(self) -> bool {
        matches!(self, Self::FatTree | Self::LeafSpine)
    }

    fn is_nsfnet(self) -> bool {
        matches!(self, Self::Nsfnet | Self::Nsfnet8e6c | Self::NsfnetDeeprmsa)
    }
}

impl Network {
    /// `path`: core nodes between the two edge nodes.
    #[must_use]
    pub fn core_nodes(&self) -> usize {
        self.core_nodes.unwrap_or(2)
    }

    /// `path`: propagation delay of each fibre, from ingress to egress.
    #[must_use]
    pub fn delays(&self) -> Vec<Span> {
        let each = || vec![self.uniform_delay(); self.core_nodes() + 1];
        self.link_delays.clone().unwrap_or_else(each)
    }

    /// Which of several routes a burst takes.
    #[must_use]
    pub fn route_choice(&self) -> RouteChoice {
        let usual = || match self.topology.is_fabric() {
            true => RouteChoice::Ecmp,
            false => RouteChoice::First,
        };
        self.route_choice.unwrap_or_else(usual)
    }

    /// Assembly queues for each pair of nodes where there would be one if all flows took the same
    /// route.
    #[must_use]
    pub fn routes_apart(&self) -> u32 {
        match self.route_choice() {
            // The explicit routes of a pair are all kept.
            RouteChoice::Ecmp => {
                let given = self.route.as_ref().map_or(0, Vec::len);
                self.routes_per_pair().max(given) as u32
            }
            RouteChoice::First | RouteChoice::RoundRobin | RouteChoice::Random => 1,
        }
    }

    /// Writes out the defaults that the topology uses.
    pub(super) fn fill(&mut self) {
        let topology = self.topology;
        if topology == Topology::Path {
            self.core_nodes = Some(self.core_nodes());
        } else {
            self.wavelengths = Some(self.wavelengths());
            self.routing.get_or_insert_default();
            self.routes_per_pair = Some(self.routes_per_pair());
            self.route_choice = Some(self.route_choice());
            self.nodes = topology.is_counted().then_some(self.node_count());
        }
        for link in self.link.iter_mut().flatten() {
            link.fibres.get_or_insert(1);
        }
        match topology {
            Topology::FatTree => self.pods = Some(self.pods()),
            Topology::LeafSpine => {
                (self.leaves, self.spines) = (Some(self.leaves()), Some(self.spines()));
            }
            Topology::Torus => self.dimensions = Some(self.dimensions()),
            _ => {}
        }
        if topology.is_uniform() && self.link_length_km.is_none() {
            self.link_delay = Some(self.uniform_delay());
        } else if topology != Topology::Martinez {
            self.delay_per_km = Some(self.delay_per_km());
        }
    }

    fn node_count(&self) -> u32 {
        self.nodes.unwrap_or(4)
    }

    fn pods(&self) -> u32 {
        self.pods.unwrap_or(4)
    }

    fn leaves(&self) -> u32 {
        self.leaves.unwrap_or(4)
    }

    fn spines(&self) -> u32 {
        self.spines.unwrap_or(2)
    }

    fn dimensions(&self) -> Vec<u32> {
        self.dimensions.clone().unwrap_or_else(|| vec![4, 4])
    }

    fn wavelengths(&self) -> u32 {
        self.wavelengths.unwrap_or(1)
    }

    pub(super) fn routes_per_pair(&self) -> usize {
        let equal = self.route_choice() == RouteChoice::Ecmp;
        self.routes_per_pair.unwrap_or(if equal { ECMP_ROUTES } else { 1 })
    }

    fn delay_per_km(&self) -> Span {
        self.delay_per_km.unwrap_or(Span::from_us(5))
    }

    /// The delay of every fibre, where all are alike.
    fn uniform_delay(&self) -> Span {
        let by_length = self.link_length_km.map(|km| self.over(km));
        let usual = if self.topology.is_fabric() { Span::from_us(1) } else { Span::from_ms(10) };
        self.link_delay.or(by_length).unwrap_or(usual)
    }

    /// The delay over `km`, rounded to a picosecond; [`Span::MAX`] where it is too long.
    fn over(&self, km: f64) -> Span {
        // `as` saturates.
        Span::from_ps((self.delay_per_km().as_ps() as f64 * km).round() as u64)
    }
}
