//! `[core]`: the core nodes.

use burstlab_optical::Forwarding;
use burstlab_optical::scheduling::Scheduler;
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{PARALLEL_MAX, SPAN_MAX};
use super::{Injection, Scenario};

/// The core nodes. All but `forwarding` belongs to a mesh; on a `path` bursts never meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Core {
    /// How a core node forwards packets.
    pub forwarding: CoreForwarding,
    /// Which of the free wavelengths a burst takes.
    pub scheduler: Scheduler,
    /// Whether a node can change the wavelength of a burst.
    pub conversion: ConversionKind,
    /// `conversion` = `limited`: how far the wavelength out may lie from the wavelength in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversion_range: Option<u32>,
    /// The wavelength converters of each node. A burst that keeps its wavelength needs none; a
    /// burst that changes it holds one while it holds the new wavelength. Absent: there is always
    /// one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converters: Option<Converters>,
    /// Steps that a node tries, in this order, for a blocked burst. If all fail, the burst is
    /// dropped. If `conversion` is listed, a burst keeps its wavelength until this step; otherwise
    /// the scheduler converts from the start, as far as `core.conversion` allows.
    pub contention: Vec<Resolution>,
    /// Random contention without another burst.
    pub injection: Injection,
    /// The fibre delay lines of each node.
    pub delay_lines: DelayLines,
    /// Deflection to another fibre.
    pub deflection: Deflection,
    /// Segmentation of bursts.
    pub segmentation: Segmentation,
    /// Retransmission of bursts by the ingress edge.
    pub retransmission: Retransmission,
    /// Nodes that differ from the fields above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<CoreGroup>,
}

impl Scenario {
    /// Whether some node tries a step for a blocked burst.
    #[must_use]
    pub fn tries(&self, step: Resolution) -> bool {
        let own = self.network.node.iter().flatten().filter_map(|node| node.core.as_ref());
        let own = own.chain(self.core.group.iter().map(|group| &group.set));
        let lists = |steps: &Vec<Resolution>| steps.contains(&step);
        lists(&self.core.contention) || own.filter_map(|own| own.contention.as_ref()).any(lists)
    }

    /// Fibres that a burst may cross beyond those of its route.
    #[must_use]
    pub fn detour(&self) -> usize {
        let deflects = self.tries(Resolution::Deflection);
        if deflects { self.core.deflection.hop_limit as usize } else { 0 }
    }
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How a core node forwards packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoreForwarding {
    /// All-optically: a burst starts to leave as it starts to arrive, and its packets are released
    /// at the egress when all of it has arrived.
    #[default]
    CutThrough,
    /// Packet by packet, each received whole before it is sent on and released at the egress when
    /// it has arrived: an electronic packet network, as the ns-2 path of the oracle traces.
    StoreAndForward,
}

impl From<CoreForwarding> for Forwarding {
    fn from(core: CoreForwarding) -> Self {
        match core {
            CoreForwarding::CutThrough => Self::CutThrough,
            CoreForwarding::StoreAndForward => Self::StoreAndForward,
        }
    }
}

/// Whether a node can change the wavelength of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConversionKind {
    /// From any wavelength to any other.
    #[default]
    Full,
    /// Not at all: a burst keeps its wavelength from end to end.
    None,
    /// To wavelengths not further than `conversion_range` away.
    Limited,
}

/// The wavelength converters of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Converters {
    /// Converters of each pool: bursts that may change their wavelength at a time.
    pub number: u32,
    /// The outputs that share a pool.
    #[serde(default)]
    pub shared: ConverterSharing,
}

/// The outputs of a node that share a pool of converters (Lee and Li 1993).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConverterSharing {
    /// All outputs of a node share one pool: shared per node.
    #[default]
    Node,
    /// Each output has a pool of its own: shared per link.
    Output,
}

/// Fields of `[core]` that differ at some nodes. An absent field is as in `[core]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeCore {
    /// In place of `core.scheduler`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Scheduler>,
    /// In place of `core.conversion`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversion: Option<ConversionKind>,
    /// In place of `core.conversion_range`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversion_range: Option<u32>,
    /// In place of `core.converters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converters: Option<Converters>,
    /// In place of `core.contention`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contention: Option<Vec<Resolution>>,
    /// In place of all of `core.delay_lines` except `passes_on_path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_lines: Option<DelayLines>,
}

/// Nodes that differ from `[core]`, named or counted. Of several groups with a node, the last that
/// sets a field holds; `core` of the node itself comes before all groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CoreGroup {
    /// Names of the nodes. In place of `first`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<String>>,
    /// Number of nodes that switch, taken in the order of `by`. In place of `nodes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u32>,
    /// With `first`: the order of the nodes. Of equal nodes the first of the topology comes first.
    /// Absent: `degree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<NodeOrder>,
    /// The fields that differ at these nodes.
    pub set: NodeCore,
}

/// An order of nodes, the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeOrder {
    /// The number of fibres that leave the node.
    #[default]
    Degree,
    /// The number of pairs of nodes with hosts whose first route passes through the node.
    Routes,
}

/// A resolution that a node tries for a burst that is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resolution {
    /// Another wavelength of the same fibre.
    Conversion,
    /// A fibre delay line.
    DelayLine,
    /// Another fibre.
    Deflection,
    /// Cutting the tail of whichever of the two bursts started earlier.
    Segmentation,
    /// A message to the ingress, which sends its copy.
    Retransmission,
}

/// The fibre delay lines of a node, a pool that all its outputs share. A burst occupies the entry
/// of a line for the duration of the burst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DelayLines {
    /// Delay of each line of a node.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    pub delays: Vec<Span>,
    /// Bursts that may enter a line at a time, each on its own wavelength.
    #[schemars(range(min = 1, max = PARALLEL_MAX))]
    pub channels: u32,
    /// How often a burst may pass a line at a node. If no wavelength is free after any line, the
    /// burst passes the shortest free line, and asks again.
    #[schemars(range(min = 1, max = 100))]
    pub passes: u32,
    /// How often a burst may pass a line on its whole path, each attempt to send it counted by
    /// itself: light loses power in each line. Absent: no bound beyond `passes`.
    #[schemars(range(min = 1, max = 100))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes_on_path: Option<u32>,
}

impl Default for DelayLines {
    fn default() -> Self {
        Self { delays: Vec::new(), channels: 1, passes: 1, passes_on_path: None }
    }
}

/// Deflection to another fibre.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Deflection {
    /// Number of fibres that a burst may cross in addition to its route. The offset time has room
    /// for this many further headers.
    #[schemars(range(max = 1000))]
    pub hop_limit: u32,
}

impl Default for Deflection {
    fn default() -> Self {
        Self { hop_limit: 2 }
    }
}

/// Segmentation of bursts. The tail of the burst that started earlier is cut off where the other
/// burst begins (Vokkarane and Jue 2003). The node takes the wavelength with the smallest cut
/// (2005) that leaves the new burst a packet. Data packets lie in a burst in the order of arrival,
/// ACKs behind them. A packet that is cut is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Segmentation {
    /// Whether a trailer follows a burst that was cut, so that later nodes release the reservation
    /// for its tail.
    pub trailer: bool,
}

impl Default for Segmentation {
    fn default() -> Self {
        Self { trailer: true }
    }
}

/// Retransmission of bursts by the ingress edge (Zhang, Vokkarane, Wang and Jue 2005).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retransmission {
    /// How often a burst is retransmitted.
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// Bytes of copies that an edge node keeps; a burst without room for a copy is not
    /// retransmitted. Absent: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// Time from the arrival of the message at the ingress until the burst is offered again.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub wait: Span,
}

impl Default for Retransmission {
    fn default() -> Self {
        Self { attempts: 1, buffer: None, wait: Span::ZERO }
    }
}
