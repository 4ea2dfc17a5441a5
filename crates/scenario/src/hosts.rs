//! Third-party stacks and live hosts of a resolved scenario.

use std::sync::Arc;

use super::stack::{StackCrate, Stacks};
use super::{Flow, LivePair, Resolved, ScenarioError};

impl Resolved {
    /// The flows between live hosts.
    #[must_use]
    pub fn live_pairs(&self) -> Vec<LivePair> {
        let flows = self.scenario.flows();
        let first: u32 = flows.iter().filter(|flow| !flow.is_live()).map(Flow::flows).sum();
        let live = (first..).zip(flows.iter().filter(|flow| flow.is_live()));
        live.map(|(flow, entry)| LivePair { flow, hosts: self.hosts_of(entry) }).collect()
    }

    fn hosts_of(&self, flow: &Flow) -> [u32; 2] {
        let label = flow.label.as_deref().unwrap_or_default();
        let mut names = label.split(" - ");
        [(); 2].map(|()| {
            let name = names.next();
            let hosts = &self.scenario.live;
            let place = hosts.iter().position(|host| Some(host.address.as_str()) == name);
            place.expect("a flow between live hosts is labelled with both") as u32
        })
    }

    /// Whether a flow has a stack, for which [`stacks`](Self::stacks) is needed.
    #[must_use]
    pub fn needs_stacks(&self) -> bool {
        self.scenario.flows().iter().any(|flow| flow.stack.is_some())
    }

    /// The stacks that flows have whose crates are known, each once, in the order of the flows.
    #[must_use]
    pub fn stack_crates(&self) -> Vec<(String, StackCrate)> {
        let mut found: Vec<(String, StackCrate)> = Vec::new();
        let Some(stacks) = &self.stacks else { return found };
        for stack in self.scenario.flows().iter().filter_map(|flow| flow.stack.as_ref()) {
            let known = found.iter().any(|(name, _)| name == stack);
            if let Some(of) = stacks.crate_of(stack).filter(|_| !known) {
                found.push((stack.clone(), of));
            }
        }
        found
    }

    /// This scenario, with the stacks that `stacks` makes, if it is given. Stacks of live hosts are
    /// looked up when a run begins.
    ///
    /// # Errors
    /// Where a flow names a stack that nobody makes, or a congestion control that it has not.
    pub fn with_stacks(mut self, stacks: Option<Arc<dyn Stacks>>) -> Result<Self, ScenarioError> {
        let found = Arc::clone(&self.found);
        for (index, flow) in found.scenario.flows().iter().enumerate() {
            let Some(stack) = flow.stack.as_ref().filter(|_| !flow.is_live()) else { continue };
            let control = flow.congestion_control.as_ref();
            self.warnings.extend(known(index, stack, control, stacks.as_deref())?);
            able(index, flow, stack, stacks.as_deref())?;
        }
        self.stacks = stacks;
        Ok(self)
    }
}

/// Refuses more streams than a stack has, and ECN for a stack without ECN.
fn able(
    index: usize,
    flow: &Flow,
    stack: &str,
    stacks: Option<&dyn Stacks>,
) -> Result<(), ScenarioError> {
    let Some(stacks) = stacks else { return Ok(()) };
    let at = |field: &str| format!("flows[{index}].{field}");
    let most = stacks.streams(stack);
    if flow.streams > most {
        let problem = format!("a connection of {stack} has at most {most} in each direction");
        let fix = if most == 1 { "remove it, or name a stack of QUIC" } else { "write fewer" };
        return Err(ScenarioError::new(at("streams"), flow.streams.to_string(), problem, fix));
    }
    if flow.ecn && !stacks.has_ecn(stack) {
        let problem = format!("{stack} has no ECN");
        let fix = "remove it, or name a stack that has, such as quinn";
        return Err(ScenarioError::new(at("ecn"), "true", problem, fix));
    }
    Ok(())
}

/// Refuses a stack that nobody makes, and a congestion control that it has not; returns a warning
/// of one with which a run does not repeat.
fn known(
    index: usize,
    stack: &str,
    control: Option<&String>,
    stacks: Option<&dyn Stacks>,
) -> Result<Option<String>, ScenarioError> {
    let at = |field: &str| format!("flows[{index}].{field}");
    let Some(stacks) = stacks else {
        let problem = "this engine was built without third-party stacks";
        let fix = "build it with the crate burstlab-stacks (make stacks), or remove stack";
        return Err(ScenarioError::new(at("stack"), stack, problem, fix));
    };
    let names = stacks.names();
    if !names.contains(&stack) {
        let fix = format!("write one of {}", names.join(", "));
        return Err(ScenarioError::new(at("stack"), stack, "no such stack", fix));
    }
    let controls = stacks.congestion_controls(stack);
    if let Some(control) = control.filter(|control| !controls.contains(&control.as_str())) {
        let problem = format!("{stack} has no such congestion control");
        let fix = format!("write one of {}", controls.join(", "));
        return Err(ScenarioError::new(at("congestion_control"), control, problem, fix));
    }
    let used = control.map(String::as_str).or_else(|| controls.first().copied());
    Ok(used.filter(|control| !stacks.repeats(stack, control)).map(|control| {
        format!(
            "{} = {control:?}: that of {stack} draws from a generator of the process, so that a \
             run with the same seed may have other numbers",
            at("congestion_control")
        )
    }))
}
