//! The scenario: the one definition of every parameter. The Python classes, the editor schema and
//! the reference page are generated from these types. This crate also resolves a scenario: it fills
//! in the defaults and builds the [topology] of the network. Nothing here runs.

mod access;
mod ack_pacing;
mod batches;
mod both_ways;
mod check;
mod check_core;
mod check_mesh;
mod check_ops;
mod choice;
mod control;
mod core_network;
mod course;
mod defaults;
mod demand;
mod demand_law;
mod edge;
mod ends;
mod error;
mod extremes;
mod failure;
mod fill;
mod flow;
mod hosts;
mod idle_classes;
mod idle_fields;
mod idle_switches;
mod idle_tables;
mod idle_tcp;
mod injection;
mod interrupt;
mod kind;
mod limits;
mod link_loss;
mod live;
mod loss;
mod marking;
mod names;
mod network;
mod node_core;
mod offered;
mod ops;
mod ranges;
mod read;
mod resolved;
mod reverse;
mod run;
mod signalling;
mod size;
mod spells;
mod stack;
mod stored;
mod surgery;
mod ticks;
pub mod topology;
mod traffic;
mod unused;
mod wlan;
mod write;

use std::collections::BTreeSet;

use burstlab_tcp::Overrides;
use burstlab_units::{Bytes, Rate, Span, UnitError};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

pub use access::{Access, AccessSide};
pub use ack_pacing::{AckInterval, AckPacing};
pub use batches::Batches;
pub use core_network::{
    ConversionKind, ConverterSharing, Converters, Core, CoreForwarding, CoreGroup, Deflection,
    DelayLines, NodeCore, NodeOrder, Resolution, Retransmission, Segmentation,
};
pub use course::{Course, Traced};
pub use demand::{Bursts, Demand, DemandPattern, Destination, LoadOf, NodeWeight, PairWeight, Per};
pub use demand_law::{DemandLaw, Weights};
pub use edge::{
    Assembly, DataAssembly, Edge, EdgeAck, EdgeAssembly, FirstWavelength, IngressPort,
    NoticeTransport, Queues,
};
pub use error::ScenarioError;
pub use failure::{Failure, Outage};
pub use flow::Flow;
pub use injection::{InjectedPer, Injection};
pub use interrupt::Interrupt;
pub use kind::NetworkKind;
pub use live::{LIVE, Live, LivePair};
pub use loss::{Losing, Loss, LossKind, LossRule, LossScript, Losses};
pub use marking::{MarkRule, Marks, NotEct};
pub use names::{keys, named};
pub use network::{
    FileLengths, Network, NetworkLink, NetworkNode, NetworkRoute, RouteChoice, Topology,
};
pub use node_core::Cores;
pub use offered::Offered;
pub use ops::{
    AckWay, Congestion, Dlcc, Notification, Ops, Order, Phase, Reroute, Share, Smoothing,
};
pub use resolved::{Resolved, Settled};
pub use reverse::Reverse;
pub use run::{Run, TieBreak};
pub use signalling::{Protocol, Signalling};
pub use size::{Distribution, Size, SizePart};
pub use spells::{LinkLoss, LinkLossKind, SpellLengths};
pub use stack::{
    Back, Cargo, Carries, Connection, Ecn, Ending, ExternalClock, Host, HostEvent, HostState,
    Packet, StackCrate, Stacks, Wakeup,
};
pub use surgery::{Direction, Operation, Surgery};
pub use traffic::{Pattern, Side, Traffic};
pub use wlan::{Wlan, WlanFrames, WlanLaw, WlanLoss, WlanPreamble};
pub use write::Write;

/// A simulation: TCP flows over a burst-switched network, a path between two edge nodes or a mesh,
/// or over a mesh of switched slots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// The optical path between the two edge nodes.
    pub network: Network,
    /// The links between hosts and edge nodes.
    pub access: Access,
    /// Wireless cells between hosts and their access links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wlan: Vec<Wlan>,
    /// Burst assembly at the edge nodes.
    pub edge: Edge,
    /// The control plane of a mesh.
    pub signalling: Signalling,
    /// The core nodes.
    pub core: Core,
    /// A slotted network of optical packets, instead of bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<Ops>,
    /// TCP parameters of all flows and of `demand`; parameters that are not given follow the
    /// profile. A flow or a demand may override them in its own `tcp`.
    pub tcp: Overrides,
    /// The flows that exist from the beginning. Absent: one flow if nothing else sends, and none if
    /// there is `live`, `demand`, `traffic`, `bursts` or `batches`.
    #[schemars(extend("x-default" = "one, where nothing else sends"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<Flow>>,
    /// Hosts that run programs of the machine over a Linux kernel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub live: Vec<Live>,
    /// Connections that begin and end during the run of a mesh.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub demand: Vec<Demand>,
    /// Background packets: on the access links of a path, which needs `access.shared`, or through a
    /// mesh.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<Traffic>,
    /// Background bursts in a mesh.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bursts: Vec<Bursts>,
    /// Background packets in a mesh, which enter the assembly queues in batches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<Batches>,
    /// Fibres and nodes of a mesh that go down, and come back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Losses of the core.
    pub loss: Loss,
    /// Operations on single bursts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub surgery: Vec<Surgery>,
    /// How long to run, and how often.
    pub run: Run,
}

impl Scenario {
    /// Reads a scenario from JSON (the tables and keys are those of the TOML file).
    ///
    /// # Errors
    /// The first mistake, with the path of its field, its value and the fix.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        read::from_json(text)
    }

    /// Checks the scenario and fills in every default.
    ///
    /// # Errors
    /// The first mistake, with the path of its field, its value and the fix.
    pub fn resolve(&self) -> Result<Resolved, ScenarioError> {
        self.resolve_while(&Interrupt::default())
    }

    /// As [`resolve`](Self::resolve), unless `watch` is cancelled meanwhile: then there is an error
    /// of no meaning.
    ///
    /// # Errors
    /// As there.
    pub fn resolve_while(&self, watch: &Interrupt) -> Result<Resolved, ScenarioError> {
        resolved::resolve(self, watch)
    }

    /// The flows that exist from the beginning.
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        self.flows.as_deref().unwrap_or_default()
    }

    /// Whether anything sends that is not one of `flows`; a wireless cell does not.
    #[must_use]
    pub(crate) fn others_send(&self) -> bool {
        let bursts = self.bursts.len() + self.batches.len();
        self.live.len() + self.demand.len() + self.traffic.len() + bursts > 0
    }

    /// Classes of the packets that are sent, rising.
    #[must_use]
    pub fn packet_classes(&self) -> BTreeSet<u32> {
        let flows = self.flows().iter().map(|flow| flow.class);
        let demand = self.demand.iter().map(|demand| demand.class);
        let traffic = self.traffic.iter().map(|traffic| traffic.class);
        let batches = self.batches.iter().map(|batches| batches.class);
        flows.chain(demand).chain(traffic).chain(batches).collect()
    }

    /// How many classes of packets there are, counted from 0.
    #[must_use]
    pub fn classes(&self) -> u32 {
        1 + self.packet_classes().last().unwrap_or(&0)
    }
}

/// A time as a scenario writes it, such as `"60 s"`, in s.
///
/// # Errors
/// The mistake in the text, and the fix.
pub fn seconds(text: &str) -> Result<f64, UnitError> {
    text.parse::<Span>().map(Span::as_secs_f64)
}

/// A time, size or rate such as `"60 s"` in its base unit, and that unit: `s`, `B` or `b/s`; or
/// nothing, where it is none of them.
#[must_use]
pub fn quantity(text: &str) -> Option<(f64, &'static str)> {
    if let Ok(time) = text.parse::<Span>() {
        return Some((time.as_secs_f64(), "s"));
    }
    if let Ok(size) = text.parse::<Bytes>() {
        return Some((size.get() as f64, "B"));
    }
    text.parse::<Rate>().ok().map(|rate| (rate.as_bps() as f64, "b/s"))
}

/// The JSON schema of a scenario, with the defaults that are filled in as it is resolved.
#[must_use]
pub fn schema_json() -> serde_json::Value {
    defaults::described(schema_for!(Scenario).to_value())
}
