//! Connections with data in both directions: how they are counted, and the fields that they
//! cannot have.

use burstlab_link::Room;

use super::error::{Check, word};
use super::{Flow, Marks, NotEct, Scenario, ScenarioError};

impl Flow {
    /// How many flows its connections are: one in each direction that has data. The two flows of a
    /// connection have consecutive numbers, beginning with the flow that opens it.
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

    /// Whether links to receivers may drop data: with data in both directions, those of either
    /// side.
    #[must_use]
    pub fn drops_behind(&self) -> bool {
        let bounded = |room: Room| room.packets.is_some() || room.bytes.is_some();
        let (_, _, far) = self.access.receiver_side();
        let own = self.access.receiver.as_ref().and_then(|own| own.marking.as_ref());
        let drops = |marking: Option<&Marks>| {
            marking.is_some_and(|marking| marking.not_ect == NotEct::Drop)
        };
        let near = || bounded(self.access.room()) || drops(self.access.marking.as_ref());
        bounded(far) || drops(own) || self.goes_both_ways() && near()
    }
}

/// Refuses fields that an entry with data in both directions cannot have.
pub(super) fn check(scenario: &Scenario, index: usize, flow: &Flow) -> Check {
    let Some(reverse) = &flow.reverse else { return Ok(()) };
    let at = |field: &str| format!("flows[{index}].{field}");
    let refuse = |field: &str, value: String, problem: &str, fix: &str| {
        Err(ScenarioError::new(at(field), value, problem, fix))
    };
    if scenario.ops.as_ref().and_then(|ops| ops.dlcc.as_ref()).is_some_and(|dlcc| dlcc.acks) {
        let problem = "edge nodes that write ACKs do not see the ACKs on data packets";
        let fix = "write false, or remove reverse";
        return Err(ScenarioError::new("ops.dlcc.acks", "true", problem, fix));
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
        let value = scenario.edge.spacing.to_string();
        let problem = "it applies to bursts from the ingress, but data start at both ends";
        let fix = "remove it, or remove reverse";
        return Err(ScenarioError::new("edge.spacing", value, problem, fix));
    }
    let on_path = scenario.kind().is_path();
    let directions = scenario.surgery.iter().map(|entry| entry.direction);
    let mut entries = (0..).zip(directions);
    if let Some((index, direction)) = entries.find(|(_, one)| on_path && one.is_some()) {
        let (path, value) = (format!("surgery[{index}].direction"), word(&direction));
        let problem = "with data in both directions bursts are numbered together";
        return Err(ScenarioError::new(path, value, problem, "remove it"));
    }
    Ok(())
}
