//! Files generated from the one definition of a scenario: the ranges that the engine checks, the
//! Python classes, the schema for editors and the reference page; and from the definition of a
//! summary, its types in Python. With `--check`, files that are out of date are an error.

mod markdown;
mod model;
mod python;
mod ranges;
mod summaries;

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A generated file: its path from the top and its text.
type Generated = (&'static str, String);

/// Writes what is out of date and says what that was.
pub(crate) fn write(root: &Path) -> Result<String, String> {
    let mut said = String::new();
    for (path, text) in stale(root, &generate(&schema(), &burstlab_sim::summary_schema())?) {
        let file = root.join(path);
        let made = file.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&file, text)).map_err(|e| format!("{path}: {e}\n"))?;
        said.push_str(&format!("wrote {path}\n"));
    }
    Ok(if said.is_empty() { "codegen: nothing changed\n".to_owned() } else { said })
}

/// Fails when a file is not what would be written.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let files = generate(&schema(), &burstlab_sim::summary_schema())?;
    let stale = stale(root, &files);
    if stale.is_empty() {
        return Ok(format!("codegen: {} files are up to date\n", files.len()));
    }
    let paths: Vec<&str> = stale.iter().map(|(path, _)| *path).collect();
    Err(format!("out of date: {}; run cargo run -p xtask -- codegen\n", paths.join(", ")))
}

/// The schema that everything follows from.
fn schema() -> Value {
    burstlab_scenario::schema_json()
}

fn generate(schema: &Value, summary: &Value) -> Result<Vec<Generated>, String> {
    let numbers = model::read(summary, "Summary").map_err(|e| format!("{e}\n"))?;
    let model = model::read(schema, "Scenario").map_err(|e| format!("{e}\n"))?;
    let json = serde_json::to_string_pretty(schema).map_err(|e| format!("{e}\n"))?;
    Ok(vec![
        ("crates/scenario/src/ranges.json", ranges::file(schema)),
        ("python/burstlab/scenario.py", python::module(&model).map_err(|e| format!("{e}\n"))?),
        ("python/burstlab/data/scenario.schema.json", json + "\n"),
        ("docs/reference/scenario.md", markdown::page(&model)),
        (
            "python/burstlab/summaries.py",
            summaries::module(&numbers).map_err(|e| format!("{e}\n"))?,
        ),
    ])
}

fn stale<'a>(root: &Path, files: &'a [Generated]) -> Vec<&'a Generated> {
    files
        .iter()
        .filter(|(path, text)| fs::read_to_string(root.join(path)).ok().as_ref() != Some(text))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SAMPLE: &str = include_str!("codegen/sample.schema.json");

    fn files() -> Vec<Generated> {
        let summary = burstlab_sim::summary_schema();
        generate(&SAMPLE.parse().expect("a schema"), &summary).expect("understood")
    }

    #[test]
    fn the_classes_are_in_the_form_of_the_formatter() {
        let ruff = crate::root().join(".venv/bin/ruff");
        if !ruff.exists() {
            return; // `make lint` holds the committed file in any case.
        }
        let folder = std::env::temp_dir().join(format!("burstlab-ruff-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("made");
        for (path, text) in files().iter().filter(|(path, _)| path.ends_with(".py")) {
            let file = folder.join(path.replace('/', "-"));
            fs::write(&file, text).expect("written");
            for words in [["format", "--check"], ["check", "--quiet"]] {
                let mut ruff = Command::new(&ruff);
                ruff.args(words).arg("--no-cache").arg("--config");
                let done = ruff.arg(crate::root().join("pyproject.toml")).arg(&file).output();
                let done = done.expect("ruff runs");
                let said = String::from_utf8_lossy(&done.stdout).into_owned();
                assert!(done.status.success(), "{words:?}: {said}\n{text}");
            }
        }
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_stale_file_is_found_and_a_fresh_one_left_alone() {
        let files = files();
        let root = std::env::temp_dir().join(format!("burstlab-xtask-{}", std::process::id()));
        assert_eq!(stale(&root, &files).len(), files.len());
        for (path, text) in &files {
            fs::create_dir_all(root.join(path).parent().expect("a folder")).expect("made");
            fs::write(root.join(path), text).expect("written");
        }
        assert!(stale(&root, &files).is_empty());
        fs::write(root.join(files[0].0), "old").expect("written");
        let paths: Vec<&str> = stale(&root, &files).iter().map(|(path, _)| *path).collect();
        fs::remove_dir_all(&root).expect("removed");
        assert_eq!(paths, [files[0].0]);
    }
}
