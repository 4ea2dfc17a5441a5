//! The scenario: the one definition of every parameter. The Python classes, the editor schema and
//! the reference page are generated from these types. What they mean together is resolved here, the
//! [topology] of the network included; nothing here runs.

mod access;
mod batches;
mod check;
mod check_mesh;
mod check_ops;
mod choice;
mod control;
mod core_network;
mod demand;
mod edge;
mod error;
mod flow;
mod injection;
mod interrupt;
mod limits;
mod loss;
mod network;
mod ops;
mod ranges;
mod read;
mod run;
mod signalling;
mod size;
pub mod topology;
mod traffic;
mod wlan;

use std::sync::Arc;

use burstlab_tcp::{Classes, Config, Listens, Overrides};
use burstlab_units::{Bytes, Rate, Span, UnitError};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use self::topology::{Graph, Routes};

pub use access::{Access, AccessSide};
pub use batches::Batches;
pub use core_network::{
    ConversionKind, Core, CoreForwarding, Deflection, DelayLines, Resolution, Retransmission,
    Segmentation,
};
pub use demand::{Bursts, Demand, Destination, NodeWeight, PairWeight, Per};
pub use edge::{Assembly, Edge, EdgeAck, FirstWavelength, IngressPort, NoticeTransport, Queues};
pub use error::ScenarioError;
pub use flow::{Flow, Write};
pub use injection::{InjectedPer, Injection};
pub use interrupt::Interrupt;
pub use loss::{Loss, LossKind, LossRule};
pub use network::{Network, NetworkLink, NetworkNode, NetworkRoute, RouteChoice, Topology};
pub use ops::{AckWay, Congestion, Dlcc, Notification, Ops, Order, Share, Smoothing};
pub use run::{Run, TieBreak};
pub use signalling::{Protocol, Signalling};
pub use size::{Distribution, Size};
pub use traffic::{Pattern, Side, Traffic};
pub use wlan::{Wlan, WlanFrames, WlanLoss, WlanPreamble};

/// What is simulated: TCP flows over a burst-switched network, a path between two edge nodes or a
/// mesh, or over a mesh of switched slots.
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
    #[serde(skip_serializing_if = "core_network::is_default")]
    pub signalling: Signalling,
    /// The core nodes.
    pub core: Core,
    /// A slotted network of optical packets, instead of bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<Ops>,
    /// TCP parameters of all flows; those not given follow the profile.
    pub tcp: Overrides,
    /// The flows that are there from the beginning. Absent: one, or none where there is `demand`,
    /// `bursts` or `batches`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<Flow>>,
    /// Connections that come and go in a mesh.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub demand: Vec<Demand>,
    /// Packets of others: on the access links of a path, which needs `access.shared`, or through a
    /// mesh.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<Traffic>,
    /// Bursts of others in a mesh.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bursts: Vec<Bursts>,
    /// Packets of others in a mesh, which enter the assembly queues in batches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<Batches>,
    /// What the core loses.
    pub loss: Loss,
    /// How long to run, and how often.
    pub run: Run,
}

/// A scenario that was checked, with every default filled in.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The scenario; each flow carries all its TCP parameters.
    pub scenario: Scenario,
    /// TCP parameters of each entry of `scenario.flows`.
    pub tcp: Vec<Config>,
    /// TCP parameters of each entry of `scenario.demand`.
    pub demand_tcp: Vec<Config>,
    /// The mesh and its routes; absent for a path.
    pub mesh: Option<(Graph, Routes)>,
    /// What is allowed but probably not meant.
    pub warnings: Vec<String>,
    /// Who makes the laws and detectors that are classes of Python, if there are any. Whoever runs
    /// the scenario has to say.
    pub classes: Option<Arc<dyn Classes>>,
    /// Looked at where a world of many parts is made: once it is cancelled, the rest is left out.
    pub watch: Interrupt,
}

impl Scenario {
    /// Reads a scenario from JSON (the tables and keys are those of the TOML file).
    ///
    /// # Errors
    /// The first mistake, with the path of its field, its value and the mend.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        read::from_json(text)
    }

    /// Checks the scenario and fills in every default.
    ///
    /// # Errors
    /// The first mistake, with the path of its field, its value and the mend.
    pub fn resolve(&self) -> Result<Resolved, ScenarioError> {
        self.resolve_while(&Interrupt::default())
    }

    /// As [`resolve`](Self::resolve), unless `watch` is told to cancel meanwhile: then there is an
    /// error of no meaning.
    ///
    /// # Errors
    /// As there.
    pub fn resolve_while(&self, watch: &Interrupt) -> Result<Resolved, ScenarioError> {
        ranges::check("", self)?;
        let mut scenario = self.clone();
        let others = self.bursts.is_empty() && self.batches.is_empty();
        let alone = self.demand.is_empty() && others;
        let usual = if alone { vec![Flow::default()] } else { Vec::new() };
        scenario.flows.get_or_insert(usual);
        let mesh = network::check(&scenario.network, watch)?;
        let mut warnings = check::check(&scenario)?;
        let mesh = check_mesh::mesh(&mut scenario, mesh)?;
        if let Some((graph, routes)) = mesh.as_ref().filter(|_| scenario.ops.is_none()) {
            warnings.extend(control::warning(&scenario, graph, routes));
        }
        wlan::check(&mut scenario, mesh.as_ref().map(|(graph, _)| graph))?;
        scenario.network.fill();
        let (mut tcp, mut demand_tcp) = (Vec::new(), Vec::new());
        for (index, flow) in scenario.flows().iter().enumerate() {
            let at = format!("flows[{index}]");
            let config = self.endpoint(&at, &flow.tcp)?;
            let table = ScenarioError::table_of(&at, &flow.tcp, "segment_size");
            wlan::fits(&scenario, index, &table, &config)?;
            tcp.push(config);
        }
        for (flow, config) in scenario.flows.iter_mut().flatten().zip(&tcp) {
            flow.tcp = written_out(config);
        }
        for (index, demand) in scenario.demand.iter_mut().enumerate() {
            let config = self.endpoint(&format!("demand[{index}]"), &demand.tcp)?;
            demand.tcp = written_out(&config);
            demand_tcp.push(config);
        }
        let watch = watch.clone();
        Ok(Resolved { scenario, tcp, demand_tcp, mesh, warnings, classes: None, watch })
    }

    /// The TCP parameters of the entry `at`, which has parameters `own`.
    fn endpoint(&self, at: &str, own: &Overrides) -> Result<Config, ScenarioError> {
        let config = Config::resolve(&own.over(&self.tcp))
            .map_err(|error| ScenarioError::of_tcp(at, own, &error))?;
        let table = ScenarioError::table_of(at, own, "detector");
        check::detector(self, &table, &config)?;
        Ok(config)
    }

    /// The flows that are there from the beginning.
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        self.flows.as_deref().unwrap_or_default()
    }

    /// How many classes of packets there are.
    #[must_use]
    pub fn classes(&self) -> u32 {
        let flows = self.flows().iter().map(|flow| flow.class);
        let demand = self.demand.iter().map(|demand| demand.class);
        let traffic = self.traffic.iter().map(|traffic| traffic.class);
        let batches = self.batches.iter().map(|batches| batches.class);
        1 + flows.chain(demand).chain(traffic).chain(batches).max().unwrap_or(0)
    }
}

impl Resolved {
    /// The nodes of a flow; both 0 on a path.
    #[must_use]
    pub fn ends(&self, flow: &Flow) -> (u32, u32) {
        self.nodes(flow.from.as_ref(), flow.to.as_ref())
    }

    /// The nodes between which traffic of others crosses a mesh; both 0 on a path.
    #[must_use]
    pub fn ends_of_traffic(&self, traffic: &Traffic) -> (u32, u32) {
        self.nodes(traffic.from.as_ref(), traffic.to.as_ref())
    }

    /// The pairs of different nodes with hosts that have these names; every name where none is
    /// given.
    #[must_use]
    pub fn pairs(&self, from: Option<&String>, to: Option<&String>) -> Vec<(u32, u32)> {
        let Some((graph, _)) = &self.mesh else { return Vec::new() };
        let (froms, tos) = (graph.edges_called(from), graph.edges_called(to));
        let pairs = froms.iter().flat_map(|&from| tos.iter().map(move |&to| (from, to)));
        pairs.filter(|(from, to)| from != to).collect()
    }

    fn nodes(&self, from: Option<&String>, to: Option<&String>) -> (u32, u32) {
        let Some((graph, _)) = &self.mesh else { return (0, 0) };
        let node = |name: Option<&String>| {
            name.and_then(|name| graph.find(name)).expect("a checked scenario names its nodes")
        };
        (node(from), node(to))
    }

    /// Whether a class of Python takes part, for which [`classes`](Self::classes) is needed.
    #[must_use]
    pub fn needs_classes(&self) -> bool {
        self.tcp.iter().chain(&self.demand_tcp).any(Config::needs_classes)
    }

    /// Whether a sender listens to what becomes of its bursts.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.tcp.iter().chain(&self.demand_tcp).any(|tcp| Listens::of(tcp).at_all())
    }
}

/// Every parameter of `config`, as a scenario writes it.
fn written_out(config: &Config) -> Overrides {
    serde_json::to_value(config)
        .and_then(serde_json::from_value)
        .expect("the parameters of an endpoint are read as they are written")
}

/// A time as a scenario writes it, such as `"60 s"`, in s.
///
/// # Errors
/// What is wrong with the text, and the mend.
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

/// The JSON schema of a scenario.
#[must_use]
pub fn schema_json() -> serde_json::Value {
    schema_for!(Scenario).to_value()
}
