//! A mistake in a scenario, as it is reported to its writer.

use std::fmt;

use burstlab_tcp::{ConfigError, Overrides};
use serde::Serialize;
use serde_json::Value;

/// The answer of a check: nothing, or the first mistake.
pub(super) type Check = Result<(), ScenarioError>;

/// Refuses the field at `path` with `value`, and says what to write instead.
pub(super) fn refuse<T>(
    path: impl Into<String>,
    value: impl Into<String>,
    problem: impl Into<String>,
    fix: impl Into<String>,
) -> Result<T, ScenarioError> {
    Err(ScenarioError::new(path, value, problem, fix))
}

/// A mistake in a scenario: its field, the value there, why that cannot be, and the fix. There is
/// none without the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    path: String,
    value: String,
    problem: String,
    fix: String,
}

impl ScenarioError {
    /// The mistake in the field at `path` with `value`, and the text to write instead.
    #[must_use]
    pub fn new(
        path: impl Into<String>,
        value: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        let mut fix = fix.into();
        if fix.trim().is_empty() {
            fix = "see `burstlab schema` for what it may be".into();
        }
        Self { path: path.into(), value: value.into(), problem: problem.into(), fix }
    }

    /// Path of the field, such as `loss.data.probability` or `flows[1].start`; empty where it is
    /// the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value there, as JSON; empty where there is none.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Why that cannot be.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The text to write instead; never empty.
    #[must_use]
    pub fn fix(&self) -> &str {
        &self.fix
    }

    /// Path, value, problem and fix.
    #[must_use]
    pub fn into_parts(self) -> (String, String, String, String) {
        (self.path, self.value, self.problem, self.fix)
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

/// A value as an error shows it: a choice in quotes, as it is written, and a quantity without.
pub(super) fn brief(value: &Value) -> String {
    match value {
        Value::String(text) if text.starts_with(char::is_alphabetic) => word(text),
        Value::String(text) => text.clone(),
        Value::Array(entries) => format!("{} entries", entries.len()),
        other => other.to_string(),
    }
}
