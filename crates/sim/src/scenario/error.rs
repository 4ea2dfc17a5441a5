//! A mistake in a scenario, as its writer is told of it.

use std::fmt;

use burstlab_tcp::{ConfigError, Overrides};
use serde::Serialize;
use serde_json::Value;

/// What a check answers: nothing, or the first mistake.
pub(super) type Check = Result<(), ScenarioError>;

/// What is wrong with a scenario: where, what stands there, why that cannot be, what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// Path of the field, such as `loss.data.probability` or `flows[1].start`.
    pub path: String,
    /// What stands there, as JSON; empty where nothing does.
    pub value: String,
    /// Why that cannot be.
    pub problem: String,
    /// What to write instead.
    pub fix: String,
}

impl ScenarioError {
    pub(super) fn new(
        path: impl Into<String>,
        value: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), value: value.into(), problem: problem.into(), fix: fix.into() }
    }

    /// A mistake in the TCP parameters `own` of the entry `at`, placed where its writer wrote it.
    pub(super) fn of_tcp(at: &str, own: &Overrides, error: &ConfigError) -> Self {
        let table = Self::table_of(at, own, error.field);
        Self::new(format!("{table}.{}", error.field), &*error.value, &*error.problem, &*error.fix)
    }

    /// The table that gives the entry `at`, with parameters `own`, its TCP parameter `field`.
    pub(super) fn table_of(at: &str, own: &Overrides, field: &str) -> String {
        let written = serde_json::to_value(own).is_ok_and(|own| own.get(field).is_some());
        if written { format!("{at}.tcp") } else { "tcp".into() }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "scenario" } else { &self.path };
        write!(f, "{place}")?;
        if !self.value.is_empty() {
            write!(f, " = {}", self.value)?;
        }
        write!(f, ": {}; {}", self.problem, self.fix)
    }
}

impl std::error::Error for ScenarioError {}

/// How a choice is written in a scenario.
pub(super) fn word(choice: &impl Serialize) -> String {
    serde_json::to_value(choice).as_ref().map(Value::to_string).unwrap_or_default()
}

/// A value as an error shows it.
pub(super) fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(entries) => format!("{} entries", entries.len()),
        other => other.to_string(),
    }
}
