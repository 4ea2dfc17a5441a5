//! Names of the entries of a list. An entry with a name draws by that name, so that its numbers do
//! not depend on which entries stand before it.

use std::collections::BTreeMap;

use super::error::Check;
use super::{Scenario, ScenarioError};

/// Most characters of a name.
const LENGTH_MAX: usize = 100;

/// The keys for the draws of each entry: its name, or its place among entries without one. No key
/// of a name is one of a place.
#[must_use]
pub fn keys<'a>(names: impl IntoIterator<Item = Option<&'a String>>) -> Vec<String> {
    let mut place = 0;
    let mut key = |name: Option<&String>| match name {
        Some(name) => named(name),
        None => {
            place += 1;
            (place - 1).to_string()
        }
    };
    names.into_iter().map(&mut key).collect()
}

/// The key of a name.
#[must_use]
pub fn named(name: &str) -> String {
    format!(":{name}")
}

/// Refuses names that are none, and names that two entries of one list have.
pub(super) fn check(scenario: &Scenario) -> Check {
    let flows = scenario.flows().iter().map(|one| one.name.as_ref());
    list("flows", flows)?;
    list("demand", scenario.demand.iter().map(|one| one.name.as_ref()))?;
    list("traffic", scenario.traffic.iter().map(|one| one.name.as_ref()))?;
    list("bursts", scenario.bursts.iter().map(|one| one.name.as_ref()))?;
    list("batches", scenario.batches.iter().map(|one| one.name.as_ref()))
}

fn list<'a>(table: &str, names: impl Iterator<Item = Option<&'a String>>) -> Check {
    let mut first: BTreeMap<&String, usize> = BTreeMap::new();
    for (index, name) in names.enumerate() {
        let Some(name) = name else { continue };
        let refuse = |problem: String, fix: String| {
            let path = format!("{table}[{index}].name");
            Err(ScenarioError::new(path, format!("{name:?}"), problem, fix))
        };
        let plain = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
        let length = name.chars().count();
        if !(1..=LENGTH_MAX).contains(&length) || !name.chars().all(plain) {
            let problem = format!(
                "a name has 1 to {LENGTH_MAX} characters: letters, digits, spaces, '_', '-' and '.'"
            );
            return refuse(problem, "write such a name".to_string());
        }
        if let Some(before) = first.insert(name, index) {
            let problem = format!("{table}[{before}] has this name too");
            return refuse(problem, "give each entry a name of its own".to_string());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_without_a_name_counts_those_like_it_alone() {
        let (a, b) = ("a".to_string(), "0".to_string());
        let found = keys([None, Some(&a), None, Some(&b)]);
        assert_eq!(found, ["0", ":a", "1", ":0"]);
    }
}
