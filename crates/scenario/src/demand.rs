//! `[[demand]]` and `[[bursts]]`: flows and bursts that come and go.

use burstlab_tcp::Overrides;
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Size;
use super::choice::Fields;
use super::limits::{CLASS_MAX, DURATION_MAX, SPAN_MAX};

/// Arrivals a second where neither a rate nor a load is given.
pub(super) const RATE: f64 = 1.0;

/// The largest offered load.
const LOAD_MAX: u32 = 1000;

/// Most connections of one round of an incast.
const SENDERS_MAX: u32 = 100_000;

/// TCP connections that begin and end during the run, each with one file; needs a mesh. Each leaves
/// a row in the table `connections`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Demand {
    /// Name of the entry. It keys the draws of the entry: an entry that is put before it changes
    /// none of them. It is also the label, where no label is given. No two entries of a list have
    /// the same name. Absent: the place among entries without a name keys the draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name in tables and figures; absent: `name`, or the variant of TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// When connections come, and between which nodes.
    pub pattern: DemandPattern,
    /// `poisson`: mean arrivals a second, counted as `per` says. Not together with
    /// `load`.
    #[schemars(range(min = 1e-9, max = 1e9))]
    #[schemars(extend("x-default" = "`1.0`"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows_per_second: Option<f64>,
    /// `poisson`: the offered load, in place of `flows_per_second`: the mean application data that
    /// arrive a second over the rate of the busiest of the links that `load_of` names. Headers and
    /// retransmissions do not count. The rate of arrivals follows from it and the mean of `size`.
    /// Above 1, more data arrive than this link can carry; a warning says so.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = LOAD_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// `load`: of which links the load is a share.
    pub load_of: LoadOf,
    /// `poisson`: the unit for which the rate is counted.
    pub per: Per,
    /// `poisson`: where connections go.
    pub destination: Destination,
    /// `gravity`: weight of each edge node, for connections from it and to it; 1 where not given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<NodeWeight>,
    /// `matrix`: weight of each pair that has connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<PairWeight>,
    /// `incast`: connections of a round. They start at different edge nodes, except the receiver,
    /// which are drawn for each round. If there are fewer such nodes than `senders`, the nodes
    /// drawn first have further connections.
    #[schemars(range(min = 1, max = SENDERS_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub senders: Option<u32>,
    /// `incast`: name of the edge node where all connections end. Absent: each round draws one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver: Option<String>,
    /// `incast`, `permutation`: time from one round to the next. The first round is at `start`.
    /// Absent: there is one round.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
    /// `incast`, `permutation`, `trace`: each connection begins later than its round or row by a
    /// random time, uniform below `spread`. With a larger value the connections of a round are
    /// further apart. With "0 s" they all begin at one instant, and `run.tie_break` decides their
    /// order. Absent: for a round, the time of a full segment at `access.rate`, which keeps the
    /// round together but favours no node by its number; for a trace "0 s".
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Span>,
    /// `trace`: the connections, in any order: when each begins, counted from `start`; the names
    /// of the edge nodes of its sender and its receiver; and how much application data it carries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<(Span, String, String, Bytes)>,
    /// `trace`: a file with a row for each connection, CSV or Parquet, with columns `start` (in s),
    /// `from`, `to` and `bytes`, or a list of flows of HPCC. `matrix`: a file of weights (SNDlib,
    /// TOTEM, REPETITA, columns or a square). Its path counts from the scenario's file; it is read
    /// before the engine sees the scenario, and takes the place of `trace` or `matrix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// All but `trace`: how much application data a connection carries.
    pub size: Size,
    /// Whether the application closes each connection after its last write. If all data have left
    /// by then, the FIN is a packet of its own. SACK reports it, so a lost tail is detected at
    /// once, as in Linux. False: the connection stays open. Without effect unless `variant` is
    /// `"linux"`.
    pub closes: bool,
    /// Class of the packets, from 0.
    #[schemars(range(max = CLASS_MAX))]
    pub class: u32,
    /// When arrivals begin.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
    /// When arrivals end. Absent, or later than `run.duration`: at `run.duration`.
    #[schemars(extend("x-default" = "`run.duration`"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// TCP parameters of these flows, over those of `[tcp]`.
    pub tcp: Overrides,
}

/// When connections come, and between which nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DemandPattern {
    /// As a Poisson process at each edge node.
    #[default]
    Poisson,
    /// In rounds: `senders` connections begin together, all to one edge node.
    Incast,
    /// In rounds: at each edge node a connection begins, and at each one ends, no two at the same
    /// and none where it began. The edge nodes in a circle, in an order that each round draws
    /// (Sattolo 1986): every cycle through all of them is equally likely.
    Permutation,
    /// As the rows of `trace` or `file` say.
    Trace,
}

/// The unit for which a rate or a load is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Each edge node as a source; with `gravity`, the mean of all of them; with `matrix`, a source
    /// whose weights sum to 1.
    #[default]
    Node,
    /// Each ordered pair of edge nodes; with `gravity`, the mean of all pairs; with `matrix`, a
    /// pair of weight 1.
    Pair,
    /// The whole network.
    Network,
}

/// The links that an offered load is a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadOf {
    /// Access links of senders: the data that start at an edge node over `access.rate`, as if all
    /// its senders shared one link (`access.shared`).
    #[default]
    Access,
    /// Access links of receivers: the data that end at an edge node over the rate of
    /// `access.receiver`, as if all its receivers shared one link.
    Receiver,
    /// Fibres: the data that cross a fibre over `network.link_rate` times its wavelengths. A pair
    /// of nodes that uses several routes sends as much on each. Failures do not count.
    Fibre,
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
}

impl DemandPattern {
    /// The fields that belong to some of these alone, except those whose default says nothing.
    pub(super) const FIELDS: Fields = &[
        ("weights", ""),
        ("matrix", ""),
        ("senders", "8"),
        ("receiver", "\"1\""),
        ("every", "\"10 ms\""),
        ("spread", "\"10 us\""),
        ("trace", "[[\"0 s\", \"1\", \"2\", \"10 KB\"]]"),
        ("file", "\"flows.csv\""),
    ];
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
            name: None,
            label: None,
            pattern: DemandPattern::Poisson,
            flows_per_second: None,
            load: None,
            load_of: LoadOf::Access,
            per: Per::Node,
            destination: Destination::Uniform,
            weights: Vec::new(),
            matrix: Vec::new(),
            senders: None,
            receiver: None,
            every: None,
            spread: None,
            trace: Vec::new(),
            file: None,
            size: Size::default(),
            closes: true,
            class: 0,
            start: Span::ZERO,
            stop: None,
            tcp: Overrides::default(),
        }
    }
}

/// Background bursts, which carry no packets of flows and arrive at their ingress as a Poisson
/// process, or at more regular times; needs a mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bursts {
    /// Name of the entry. It keys the draws of the entry: an entry that is put before it changes
    /// none of them. No two entries of a list have the same name. Absent: the place among entries
    /// without a name keys the draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Offered load in Erlang: mean number of wavelengths that the bursts would keep busy if none
    /// were lost, counted as `per` says.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub erlangs: f64,
    /// The unit for which the load is counted.
    pub per: Per,
    /// Name of the edge node where the bursts start. Absent: every edge node.
    #[schemars(extend("x-default" = "every edge node"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Name of the edge node where the bursts end. Absent: every other edge node, all equally
    /// likely.
    #[schemars(extend("x-default" = "every other edge node"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Length of a burst. A burst longer than 10,000 s is shortened to 10,000 s.
    pub length: Size,
    /// Packets of a burst. They arrive as a Poisson process and the last one completes the burst,
    /// so that the times between bursts are Erlang-distributed with this shape. By `per`, a burst
    /// has packets of a pair of nodes; of a node, and goes to any of the `to` nodes, all equally
    /// likely; or of the whole network. With 1 packet `per` makes no such difference.
    #[schemars(range(min = 1, max = 1000))]
    pub packets: u32,
    /// Class of the bursts, from 0.
    #[schemars(range(max = CLASS_MAX))]
    pub class: u32,
    /// When arrivals begin.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
    /// When arrivals end. Absent: at the end of the run.
    #[schemars(extend("x-default" = "`run.duration`"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
}

impl Default for Bursts {
    fn default() -> Self {
        Self {
            name: None,
            erlangs: 0.1,
            per: Per::Pair,
            from: None,
            to: None,
            length: Size::default(),
            packets: 1,
            class: 0,
            start: Span::ZERO,
            stop: None,
        }
    }
}
