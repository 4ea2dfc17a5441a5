//! `[[surgery]]`: operations on single bursts of a run, to see their effects.

use burstlab_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::{Choice, Fields};
use super::error::Check;
use super::limits::SPAN_MAX;
use super::{NetworkKind, Scenario, ScenarioError};

/// Most entries of a scenario.
const ENTRIES_MAX: usize = 100_000;

/// An operation on a burst of the run, or on all bursts. Everything else is as without the
/// operation: draws are keyed, and an operated burst takes no resource from other bursts. Burst
/// numbers hold for one seed, replication and version. With `run.tie_break` = `random` the ties
/// after an operated burst are drawn again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Surgery {
    /// Number of the burst in the tables `bursts` and `packets`; in a slotted network, number of
    /// the optical packet. Absent: every burst.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u64>,
    /// On a `path`, where each direction has its own burst numbers: the direction. Absent: `data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The operation.
    pub operation: Operation,
    /// `delay`: the delay of the landing.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
}

/// A direction of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the ingress, with data.
    #[default]
    Data,
    /// From the egress, with ACKs.
    Ack,
}

/// An operation on a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// It is not lost, and not cut. On a path it sets out as any burst; from the node of a mesh
    /// where it would be lost, or whose switch would drop it, it travels on a wavelength that is
    /// there for it alone, and takes nobody's. A burst that would be lost and is also to be killed
    /// is not spared: it is lost as it would be.
    #[default]
    Spare,
    /// It is lost, unless it is lost by itself before. On a path it is lost where the scenario's
    /// losses are (`loss.data.node`). In a mesh it is lost at the last node of its route, whose
    /// fibre it then leaves free. In slots, and where bursts are cut (`segmentation`), it is lost
    /// at its egress.
    Kill,
    /// It lands later, by `delay`; until then all is as it was. In slots by whole slots, rounded
    /// up; where nodes store and forward, all its packets together behind the last.
    Delay,
    /// In a mesh: every node can convert its wavelength to any other. It takes any free wavelength.
    Convert,
}

impl Operation {
    /// The fields that belong to some operations alone.
    const FIELDS: Fields = &[("delay", "\"2 ms\"")];
}

/// Refuses operations that the network of the scenario does not have.
pub(super) fn check(scenario: &Scenario) -> Check {
    if scenario.surgery.len() > ENTRIES_MAX {
        let problem = format!("a scenario has at most {ENTRIES_MAX} entries");
        let value = format!("{} entries", scenario.surgery.len());
        return Err(ScenarioError::new("surgery", value, problem, "write fewer"));
    }
    let kind = scenario.kind();
    for (index, entry) in scenario.surgery.iter().enumerate() {
        let at = format!("surgery[{index}]");
        let mut given = Choice::of(&at, entry, "operation", Operation::FIELDS);
        if entry.operation == Operation::Delay {
            given.needs("delay", entry.delay)?;
        }
        given.done()?;
        if entry.direction.is_some() && !kind.is_path() {
            let problem = "bursts of a mesh are numbered together, in both directions";
            let path = format!("{at}.direction");
            return Err(ScenarioError::new(path, "", problem, "remove it"));
        }
        if entry.operation == Operation::Convert && kind != NetworkKind::Mesh {
            let problem = format!("no burst of {} is blocked by a wavelength", kind.words());
            let path = format!("{at}.operation");
            return Err(ScenarioError::new(path, "\"convert\"", problem, "write \"spare\""));
        }
    }
    Ok(())
}
