//! `[[demand]]` and `[[bursts]]`: flows and bursts that come and go at random.

use burstlab_tcp::Overrides;
use burstlab_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Size;
use super::choice::Fields;
use super::limits::{CLASS_MAX, DURATION_MAX};

/// TCP connections that arrive as a Poisson process, each to carry one file; needs a mesh.
/// Each leaves a row in the table `connections`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Demand {
    /// Name in tables and figures; absent: the variant of TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Mean arrivals a second; of what, says `per`.
    #[schemars(range(min = 1e-9, max = 1e9))]
    pub flows_per_second: f64,
    /// What the rate is counted for.
    pub per: Per,
    /// Where connections go.
    pub destination: Destination,
    /// `gravity`: weight of each edge node, for connections from it and to it; 1 where not given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<NodeWeight>,
    /// `matrix`: weight of each pair that has connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<PairWeight>,
    /// How much application data a connection carries.
    pub size: Size,
    /// Class of the packets, from 0.
    #[schemars(range(max = CLASS_MAX))]
    #[serde(skip_serializing_if = "super::core_network::is_default")]
    pub class: u32,
    /// When arrivals begin.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
    /// When arrivals end. Absent, or later than `run.duration`: with that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// TCP parameters of these flows, over those of `[tcp]`.
    pub tcp: Overrides,
}

/// What a rate or a load is counted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Each edge node as a source; with `matrix`, a source whose weights sum to 1.
    #[default]
    Node,
    /// Each ordered pair of edge nodes; with `matrix`, a pair of weight 1.
    Pair,
    /// The whole network.
    Network,
}

/// How destinations are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Destination {
    /// Every other edge node alike.
    #[default]
    Uniform,
    /// In proportion to the product of the two nodes' `weights`.
    Gravity,
    /// In proportion to the `matrix`.
    Matrix,
}

impl Destination {
    /// The fields that belong to some of these alone.
    pub(super) const FIELDS: Fields = &[
        ("weights", "[{ node = \"1\", weight = 2.0 }]"),
        ("matrix", "[{ from = \"1\", to = \"2\", weight = 1.0 }]"),
    ];

    /// Which of these it needs; it has no others.
    pub(super) fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Uniform => &[],
            Self::Gravity => &["weights"],
            Self::Matrix => &["matrix"],
        }
    }
}

/// Weight of an edge node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeWeight {
    /// Name of the node.
    pub node: String,
    /// Its weight.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub weight: f64,
}

/// Weight of an ordered pair of edge nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairWeight {
    /// Name of the node where connections start.
    pub from: String,
    /// Name of the node where they end.
    pub to: String,
    /// The pair's weight.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub weight: f64,
}

impl Default for Demand {
    fn default() -> Self {
        Self {
            label: None,
            flows_per_second: 1.0,
            per: Per::Node,
            destination: Destination::Uniform,
            weights: Vec::new(),
            matrix: Vec::new(),
            size: Size::default(),
            class: 0,
            start: Span::ZERO,
            stop: None,
            tcp: Overrides::default(),
        }
    }
}

/// Bursts of others, which carry no packets of flows and arrive at their ingress as a Poisson
/// process; needs a mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bursts {
    /// Offered load in Erlang: mean number of wavelengths that the bursts would keep busy if none
    /// were lost. Of what, says `per`.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub erlangs: f64,
    /// What the load is counted for.
    pub per: Per,
    /// Name of the edge node where they start. Absent: every edge node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Name of the edge node where they end. Absent: every other edge node alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Length of a burst; one that would take longer than 10,000 s is cut to that.
    pub length: Size,
    /// Class of the bursts, from 0.
    #[schemars(range(max = CLASS_MAX))]
    #[serde(skip_serializing_if = "super::core_network::is_default")]
    pub class: u32,
    /// When arrivals begin.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
    /// When arrivals end. Absent: with the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
}

impl Default for Bursts {
    fn default() -> Self {
        Self {
            erlangs: 0.1,
            per: Per::Pair,
            from: None,
            to: None,
            length: Size::default(),
            class: 0,
            start: Span::ZERO,
            stop: None,
        }
    }
}
