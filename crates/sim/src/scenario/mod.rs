//! The scenario: the one definition of every parameter. The Python classes, the editor schema and
//! the reference page are generated from these types.

mod access;
mod check;
mod core_network;
mod edge;
mod error;
mod flow;
mod loss;
mod network;
mod read;
mod run;
mod traffic;

use burstlab_tcp::{Config, Overrides};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

pub use access::{Access, AccessSide};
pub use core_network::{Core, CoreForwarding};
pub use edge::{Assembly, Edge, EdgeAck, NoticeTransport};
pub use error::ScenarioError;
pub use flow::{Flow, Write};
pub use loss::{Loss, LossKind, LossRule};
pub use network::{Network, NetworkLink, NetworkNode, NetworkRoute, RouteChoice, Topology};
pub use run::Run;
pub use traffic::{Pattern, Side, Traffic};

/// What is simulated: TCP flows over a path of burst-switched fibres between two edge nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// The optical path between the two edge nodes.
    pub network: Network,
    /// The links between hosts and edge nodes.
    pub access: Access,
    /// Burst assembly at the edge nodes.
    pub edge: Edge,
    /// The core nodes.
    pub core: Core,
    /// TCP parameters of all flows; those not given follow the profile.
    pub tcp: Overrides,
    /// The flows, at least one.
    #[serde(default = "one_flow")]
    pub flows: Vec<Flow>,
    /// Packets of others on the access links; needs `access.shared`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<Traffic>,
    /// What the core loses.
    pub loss: Loss,
    /// How long to run, and how often.
    pub run: Run,
}

fn one_flow() -> Vec<Flow> {
    vec![Flow::default()]
}

/// A scenario that was checked, with every default filled in.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The scenario; each flow carries all its TCP parameters.
    pub scenario: Scenario,
    /// TCP parameters of each entry of `scenario.flows`.
    pub tcp: Vec<Config>,
    /// What is allowed but probably not meant.
    pub warnings: Vec<String>,
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
        let warnings = check::check(self)?;
        let mut scenario = self.clone();
        scenario.network.fill();
        let mut tcp = Vec::with_capacity(self.flows.len());
        for (index, flow) in scenario.flows.iter_mut().enumerate() {
            let config = Config::resolve(&flow.tcp.over(&self.tcp))
                .map_err(|error| ScenarioError::of_tcp(self, index, &error))?;
            let table = ScenarioError::table_of(self, index, "detector");
            check::detector(self, &table, config.detector)?;
            flow.tcp = written_out(&config);
            tcp.push(config);
        }
        Ok(Resolved { scenario, tcp, warnings })
    }
}

/// Every parameter of `config`, as a scenario writes it.
fn written_out(config: &Config) -> Overrides {
    serde_json::to_value(config)
        .and_then(serde_json::from_value)
        .expect("the parameters of an endpoint are read as they are written")
}

/// The JSON schema of a scenario.
#[must_use]
pub fn schema_json() -> serde_json::Value {
    schema_for!(Scenario).to_value()
}
