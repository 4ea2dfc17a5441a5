//! Which crate may depend on which:
//! `units → {kernel → traffic, tcp, link, optical} → scenario → {sim, live} → python`.
//!
//! The table is held against the manifests, so that a new arrow is a visible change of one line.

use toml::{Table, Value};

use crate::tree::Tree;

const HERE: &str = "crates/xtask/src/tidy/arrows.rs";
const PREFIX: &str = "burstlab-";

/// A crate and the crates of the project that it may depend on. `units` speaks for all, so it is
/// below every other.
const ARROWS: [(&str, &[&str]); 12] = [
    ("units", &[]),
    ("kernel", &["units"]),
    ("tcp", &["units"]),
    ("link", &["units"]),
    ("optical", &["units"]),
    ("traffic", &["units", "kernel"]),
    ("scenario", &["units", "tcp", "link", "optical", "traffic"]),
    ("sim", &["units", "kernel", "tcp", "link", "optical", "traffic", "scenario"]),
    ("live", &["units", "scenario"]),
    ("python", &["tcp", "sim", "live"]),
    ("xtask", &["scenario", "sim"]),
    ("bench", &["units", "kernel", "tcp", "optical", "sim"]),
];

/// Arrows that tests alone may use, in addition to those above.
const TEST_ARROWS: [(&str, &[&str]); 0] = [];

/// Outside crates with a single user, so that the rest builds and tests without them.
const SOLE_USERS: [(&str, &str); 5] = [
    ("pyo3", "python"),
    ("numpy", "python"),
    ("postcard", "sim"),
    ("toml", "xtask"),
    ("criterion", "bench"),
];

/// Refused everywhere: draws are keyed, by the kernel's own generator.
const REFUSED: [&str; 4] = ["rand", "fastrand", "getrandom", "oorandom"];

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in tree.files() {
        let Some(folder) = path.strip_prefix("crates/").and_then(|p| p.strip_suffix("/Cargo.toml"))
        else {
            continue;
        };
        match text.parse::<Table>() {
            Ok(manifest) => problems.extend(check_manifest(path, folder, &manifest)),
            Err(error) => problems.push(format!("{path}: {error}")),
        }
    }
    problems
}

fn check_manifest(path: &str, folder: &str, manifest: &Table) -> Vec<String> {
    let Some(allowed) = of(&ARROWS, folder) else {
        return vec![format!("{path}: crate {folder} is not in the table of arrows ({HERE})")];
    };
    let mut problems = Vec::new();
    let name = manifest.get("package").and_then(|p| p.get("name")).and_then(Value::as_str);
    if name != Some(folder) && name != Some(&format!("{PREFIX}{folder}")) {
        problems.push(format!("{path}: a crate is called {PREFIX}{folder}, after its folder"));
    }
    for (target, for_tests) in dependencies(manifest) {
        if REFUSED.contains(&target.as_str()) {
            problems.push(format!("{path}: {target} is refused; draws are keyed by the kernel"));
        }
        if let Some((_, user)) = SOLE_USERS.iter().find(|(crate_, _)| *crate_ == target)
            && *user != folder
        {
            problems.push(format!("{path}: only {user} may use {target} ({HERE})"));
        }
        let Some(target) = target.strip_prefix(PREFIX) else { continue };
        let in_tests = for_tests && of(&TEST_ARROWS, folder).is_some_and(|a| a.contains(&target));
        if !allowed.contains(&target) && !in_tests {
            problems.push(format!(
                "{path}: the arrow {target} → {folder} is not in the table of arrows ({HERE})"
            ));
        }
    }
    problems
}

fn of<'a>(arrows: &[(&str, &'a [&'a str])], folder: &str) -> Option<&'a [&'a str]> {
    arrows.iter().find(|(name, _)| *name == folder).map(|(_, targets)| *targets)
}

/// Package names that a manifest depends on, and whether only for its tests.
fn dependencies(manifest: &Table) -> Vec<(String, bool)> {
    let mut tables = vec![manifest];
    if let Some(Value::Table(targets)) = manifest.get("target") {
        tables.extend(targets.values().filter_map(Value::as_table));
    }
    let kinds =
        [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)];
    let mut found = Vec::new();
    for table in tables {
        for (key, for_tests) in kinds {
            let Some(Value::Table(entries)) = table.get(key) else { continue };
            for (name, entry) in entries {
                let package = entry.get("package").and_then(Value::as_str).unwrap_or(name);
                found.push((package.to_owned(), for_tests));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(folder: &str, rest: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"burstlab-{folder}\"\n{rest}");
        check(&Tree::of(&[(&format!("crates/{folder}/Cargo.toml"), &text)]))
    }

    #[test]
    fn an_arrow_of_the_table_passes() {
        let rest = "[dependencies]\nburstlab-units.workspace = true\nserde = \"1\"\n";
        assert_eq!(sample("tcp", rest), Vec::<String>::new());
    }

    #[test]
    fn any_other_arrow_is_named_with_the_place_of_the_table() {
        for rest in [
            "[dependencies]\nburstlab-optical.workspace = true\n",
            "[dev-dependencies]\nburstlab-optical = { path = \"../optical\" }\n",
            "[target.'cfg(unix)'.dependencies]\nburstlab-optical = \"1\"\n",
            "[dependencies]\nlight = { package = \"burstlab-optical\", version = \"1\" }\n",
        ] {
            let problems = sample("tcp", rest);
            assert_eq!(problems.len(), 1, "{rest}");
            assert!(problems[0].contains("optical → tcp") && problems[0].contains(HERE));
        }
    }

    #[test]
    fn strangers_and_wrong_names_are_refused() {
        assert!(sample("new", "")[0].contains("not in the table"));
        assert!(sample("sim", "[dependencies]\npyo3 = \"1\"\n")[0].contains("only python"));
        assert!(sample("sim", "[dependencies]\nrand = \"1\"\n")[0].contains("refused"));
        let named = check(&Tree::of(&[("crates/tcp/Cargo.toml", "[package]\nname = \"t\"\n")]));
        assert!(named[0].contains("burstlab-tcp"));
        assert!(!check(&Tree::of(&[("crates/tcp/Cargo.toml", "[")])).is_empty());
    }
}
