//! Tables in which one field, a choice, decides which of the others there are.

use serde::Serialize;

use super::ScenarioError;
use super::check::{Check, brief};

/// Checks that the table at `path` has the fields that are `needed` by what it chooses in `key`,
/// and no other that is not `allowed`; `example` is how a field is written.
pub(super) fn check(
    path: &str,
    table: &impl Serialize,
    key: &str,
    needed: &[&str],
    allowed: impl Fn(&str) -> bool,
    example: impl Fn(&str) -> String,
) -> Check {
    let given = serde_json::to_value(table).unwrap_or_default();
    let name = &given[key];
    if let Some(field) = needed.iter().find(|&&field| given.get(field).is_none()) {
        let (problem, fix) = (format!("{key} = {name} needs it"), format!("add {}", example(field)));
        return Err(ScenarioError::new(format!("{path}.{field}"), "", problem, fix));
    }
    let mut others = given.as_object().into_iter().flatten();
    match others.find(|(field, _)| *field != key && !needed.contains(&&***field) && !allowed(field)) {
        None => Ok(()),
        Some((field, value)) => {
            let problem = format!("{key} = {name} does not use it");
            let fix = format!("remove it, or change {key}");
            Err(ScenarioError::new(format!("{path}.{field}"), brief(value), problem, fix))
        }
    }
}
