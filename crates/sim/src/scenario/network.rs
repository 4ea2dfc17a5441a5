//! `[network]`: the optical path.

use burstlab_units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The optical path between the ingress and the egress edge node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Shape of the network.
    pub topology: Topology,
    /// Core nodes between the two edge nodes, 1 to 1000; there is one fibre more than core nodes.
    pub core_nodes: usize,
    /// Rate of every fibre, in both directions.
    pub link_rate: Rate,
    /// Propagation delay of every fibre, one way.
    pub link_delay: Span,
    /// Propagation delay of each fibre from ingress to egress, where they differ; `core_nodes` + 1
    /// values that take the place of `link_delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_delays: Option<Vec<Span>>,
}

/// Shape of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// A chain: hosts, ingress edge, core nodes, egress edge, hosts.
    Path,
}

impl Default for Network {
    /// The path of Yu et al. 2004, section III: two core nodes, three fibres of 10 ms, 10 Gb/s.
    fn default() -> Self {
        Self {
            topology: Topology::Path,
            core_nodes: 2,
            link_rate: Rate::from_bps(10_000_000_000),
            link_delay: Span::from_ms(10),
            link_delays: None,
        }
    }
}

impl Network {
    /// Propagation delay of each fibre, from ingress to egress.
    #[must_use]
    pub fn delays(&self) -> Vec<Span> {
        self.link_delays.clone().unwrap_or_else(|| vec![self.link_delay; self.core_nodes + 1])
    }
}
