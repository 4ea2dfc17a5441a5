//! `flows.reverse`: data in the other direction of a connection too.

use burstlab_tcp::{Config, Listens, Overrides};
use burstlab_traffic::SIZE_MAX;
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Check;
use super::flow::{WRITES_MAX, Write};
use super::limits::DURATION_MAX;
use super::{Flow, Scenario, ScenarioError, Topology, error::word};

/// What the host that is called sends back over the same connection. Without `bytes` and `script`
/// it always has data to send.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reverse {
    /// Name of this direction in tables and figures; absent: that of the flow, and `(back)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// When it begins to write, counted from the start of the connection; where it replies, from
    /// the arrival of what it replies to.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
    /// A finite transfer of this many bytes of application data.
    #[schemars(extend(
        "x-minimum" = "1 B",
        "x-maximum" = SIZE_MAX,
        "x-or" = "remove it for a direction without end"
    ))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Writes of the application at given times after `start`, in order; takes the place of
    /// `bytes`.
    #[schemars(length(max = WRITES_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Vec<Write>>,
    /// Whether it writes only when all data of the other direction have arrived.
    pub reply: bool,
}

impl Flow {
    /// How many flows its connections are: one in each direction that has data. Those of a
    /// connection are numbered next to each other, the one that opens it first.
    #[must_use]
    pub fn flows(&self) -> u32 {
        self.count.saturating_mul(1 + u32::from(self.reverse.is_some()))
    }
}

impl Scenario {
    /// Whether a connection has data in both directions.
    #[must_use]
    pub fn goes_both_ways(&self) -> bool {
        self.flows().iter().any(|flow| flow.reverse.is_some())
    }
}

/// Refuses what an entry with data in both directions cannot have.
pub(super) fn check(scenario: &Scenario, index: usize, flow: &Flow) -> Check {
    let Some(reverse) = &flow.reverse else { return Ok(()) };
    let at = |field: &str| format!("flows[{index}].{field}");
    let refuse = |field: &str, value: String, problem: &str, fix: &str| {
        Err(ScenarioError::new(at(field), value, problem, fix))
    };
    if scenario.ops.is_some() {
        let problem = "a slotted network has data in one direction of a connection";
        return refuse("reverse", String::new(), problem, "remove it, or remove [ops]");
    }
    if let Some(stack) = &flow.stack {
        let problem = "a stack of others sends data in one direction of a connection";
        return refuse("stack", word(stack), problem, "remove it, or remove reverse");
    }
    if reverse.script.as_ref().is_some_and(Vec::is_empty) {
        let fix = "list writes, or remove reverse";
        return refuse("reverse.script", "[]".into(), "nothing is written", fix);
    }
    if reverse.reply && flow.bytes.is_none() && flow.script.is_none() {
        let (problem, fix) = ("what it replies to never ends", "add bytes to the flow");
        return refuse("reverse.reply", "true".into(), problem, fix);
    }
    if !scenario.edge.spacing.is_zero() {
        let (value, problem) = (scenario.edge.spacing.to_string(), "bursts share their way");
        let fix = "remove it, or remove reverse";
        return Err(ScenarioError::new("edge.spacing", value, problem, fix));
    }
    if !scenario.surgery.is_empty() && scenario.network.topology == Topology::Path {
        let problem = "with data in both directions, bursts of a path are numbered together";
        let fix = "remove it, or choose a mesh, such as network.topology = \"line\"";
        return Err(ScenarioError::new("surgery", "", problem, fix));
    }
    Ok(())
}

/// Refuses endpoints that send in one direction only.
pub(super) fn endpoint(at: &str, flow: &Flow, own: &Overrides, tcp: &Config) -> Check {
    if flow.reverse.is_none() {
        return Ok(());
    }
    let refuse = |field: &str, value: String, problem: &str, fix: &str| {
        let table = ScenarioError::table_of(at, own, field);
        Err(ScenarioError::new(format!("{table}.{field}"), value, problem, fix))
    };
    if Listens::of(tcp).at_all() {
        let problem = "it hears of bursts in one direction of a connection";
        let fix = "remove it, write \"ble\", or remove reverse";
        return refuse("detector", word(&tcp.detector), problem, fix);
    }
    Ok(())
}
