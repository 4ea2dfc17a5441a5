//! Tables in which one field, a choice, decides which of the others there are.

use serde::Serialize;

use super::ScenarioError;
use super::error::{Check, brief};

/// Fields that there are for some choices only, and an example of how each is written.
pub(super) type Fields = &'static [(&'static str, &'static str)];

/// Checks of the table at `path` that of the `fields` that depend on the choice in `key` it has
/// those that are `needed`, and no other that is not `optional`.
pub(super) fn check(
    path: &str,
    table: &impl Serialize,
    key: &str,
    fields: Fields,
    needed: &[&str],
    optional: &[&str],
) -> Check {
    let table = serde_json::to_value(table).unwrap_or_default();
    let name = &table[key];
    for &(field, _) in fields {
        let path = || format!("{path}.{field}");
        match table.get(field) {
            None if needed.contains(&field) => {
                let problem = format!("{key} = {name} needs it");
                let fix = format!("add {}", written(fields, field));
                return Err(ScenarioError::new(path(), "", problem, fix));
            }
            Some(value) if ![needed, optional].concat().contains(&field) => {
                let problem = format!("{key} = {name} does not use it");
                let fix = format!("remove it, or change {key}");
                return Err(ScenarioError::new(path(), brief(value), problem, fix));
            }
            _ => {}
        }
    }
    Ok(())
}

/// How `field` might be written.
pub(super) fn written(fields: Fields, field: &str) -> String {
    let example =
        fields.iter().find(|(one, _)| *one == field).map_or("...", |(_, example)| example);
    format!("{field} = {example}")
}
