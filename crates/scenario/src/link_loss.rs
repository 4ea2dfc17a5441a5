//! The losses of the access links of a scenario.

use burstlab_link::LossProcess;
use burstlab_units::Span;

use super::error::word;
use super::{Scenario, ScenarioError};

/// How long a run of `scenario` is at most.
pub(super) fn lasts(scenario: &Scenario) -> Span {
    scenario.run.duration + scenario.run.drain.unwrap_or_default()
}

/// The losses of the senders' access links, and those of the receivers'.
pub(super) fn of_links(scenario: &Scenario) -> Result<[Option<LossProcess>; 2], ScenarioError> {
    let access = &scenario.access;
    let receiver = access.receiver.as_ref().and_then(|own| own.loss.as_ref());
    let rules = [("access.loss", access.loss.as_ref()), ("access.receiver.loss", receiver)];
    let hosts = !scenario.flows().is_empty() || !scenario.demand.is_empty();
    let loaded = scenario.kind().is_path() && !scenario.traffic.is_empty();
    let lasts = lasts(scenario);
    let mut found = [None, None];
    for ((table, rule), found) in rules.into_iter().zip(&mut found) {
        let Some(rule) = rule else { continue };
        if !hosts && !loaded {
            let (problem, fix) = ("nothing crosses an access link", "remove it, or add [[flows]]");
            let path = format!("{table}.process");
            return Err(ScenarioError::new(path, word(&rule.process), problem, fix));
        }
        *found = Some(rule.process(table, lasts)?);
    }
    Ok(found)
}
