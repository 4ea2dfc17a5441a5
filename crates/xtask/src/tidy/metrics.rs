//! Every number of a run has a row in the page of metrics, and every row there is of a number: the
//! places of a summary as its types have them, and the columns of the tables as `table!` has them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::tree::Tree;

const PAGE: &str = "docs/reference/metrics.md";

/// Numbers from here on are made in Python, and its tests compare them.
const REST: &str = "## Made in Python";

/// Name, unit, definition, what it counts, over which time.
const CELLS: usize = 5;

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut metrics = BTreeSet::new();
    let schema = burstlab_sim::summary_schema();
    places(&schema, &schema, "", &mut metrics);
    metrics.extend(columns(tree));
    compare(tree.get(PAGE).unwrap_or(""), &metrics)
}

fn compare(page: &str, metrics: &BTreeSet<String>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    let engine = page.lines().take_while(|line| *line != REST);
    for (number, line) in engine.enumerate().filter(|(_, line)| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let at = format!("{PAGE}:{}", number + 1);
        if cells.len() != CELLS || cells.iter().any(|cell| cell.is_empty()) {
            problems.push(format!("{at}: a row has {CELLS} cells, and none is empty"));
        }
        for name in cells[0].split('`').skip(1).step_by(2).flat_map(expand) {
            if !metrics.contains(&name) {
                problems.push(format!("{at}: {name} is no metric: remove the row, or rename it"));
            }
            if !seen.insert(name.clone()) {
                problems.push(format!("{at}: {name} has a row already"));
            }
        }
    }
    let without = metrics.difference(&seen).map(|name| {
        format!("{PAGE}: {name} has no row: add its unit, definition, events and time")
    });
    problems.extend(without);
    problems
}

/// `a.{b,c}.d` stands for `a.b.d` and `a.c.d`.
fn expand(name: &str) -> Vec<String> {
    let parts = name.split_once('{').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('}')?;
        Some((before, inside, after))
    });
    let Some((before, inside, after)) = parts else { return vec![name.to_owned()] };
    inside.split(',').flat_map(|one| expand(&format!("{before}{}{after}", one.trim()))).collect()
}

/// The places below a schema, `flows[].goodput_bps`.
fn places(root: &Value, schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null);
        return places(root, target, path, found);
    }
    // One of several, of which one may be null.
    for choice in ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
        if choice["type"] != "null" {
            places(root, choice, path, found);
        }
    }
    if let Some(properties) = schema["properties"].as_object() {
        for (name, inner) in properties {
            let dot = if path.is_empty() { "" } else { "." };
            places(root, inner, &format!("{path}{dot}{name}"), found);
        }
    } else if schema["items"].is_object() {
        places(root, &schema["items"], &format!("{path}[]"), found);
    } else if schema["prefixItems"].is_array() {
        found.insert(format!("{path}[]"));
    } else if schema["type"].is_string() || schema["type"].is_array() {
        found.insert(path.to_owned());
    }
}

/// The columns of all tables of the engine, `packets.fate`.
fn columns(tree: &Tree) -> BTreeSet<String> {
    let sources = tree.sources().filter(|(path, _)| path.starts_with("crates/sim/src/"));
    let code = sources.map(|(_, text)| text.split("#[cfg(test)]").next().unwrap_or(text));
    let mut found = BTreeSet::new();
    for table in code.flat_map(|text| text.split("\ntable! {\n").skip(1)) {
        let name = table.split('"').nth(1).unwrap_or("?");
        let body = table.split_once("{\n").map_or("", |(_, body)| body);
        for line in body.lines().take_while(|line| line.trim() != "}") {
            if let Some((column, _)) = line.split_once(':') {
                found.insert(format!("{name}.{}", column.trim()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn each_number_has_a_row_and_each_row_a_number() {
        let metrics = set(&["a.x", "a.y", "b"]);
        let good = "| `a.{x,y}` | s | what | when | all |\n| `b` | 1 | so | it | all |\n";
        assert_eq!(compare(good, &metrics), Vec::<String>::new());
        assert_eq!(compare("", &metrics).len(), 3);
        for bad in [
            "| `c` | s | what | when | all |\n",
            "| `b` | s | what | when | all |\n",
            "| `b` | s |  | when | all |\n",
        ] {
            assert!(!compare(&format!("{good}{bad}"), &metrics).is_empty(), "{bad}");
        }
        let later = format!("{good}{REST}\n| `c` | s | what | when | all |\n");
        assert_eq!(compare(&later, &metrics), Vec::<String>::new());
    }

    #[test]
    fn places_are_those_of_the_types() {
        let schema = serde_json::json!({
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": ["number", "null"]},
                "c": {"type": "array", "items": {"$ref": "#/$defs/C"}},
                "d": {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "null"}]},
                "e": {"type": "array", "prefixItems": [{"type": "number"}]},
            },
            "$defs": {"C": {"properties": {"x": {"type": "integer"}}}},
        });
        let mut found = BTreeSet::new();
        places(&schema, &schema, "", &mut found);
        assert_eq!(found, set(&["a", "b", "c[].x", "d.x", "e[]"]));
        let schema = burstlab_sim::summary_schema();
        let mut found = BTreeSet::new();
        places(&schema, &schema, "", &mut found);
        let some = ["counters.packets_sent", "flows[].goodput_bps", "flows[].detector.true_kept"];
        assert!(set(&some).is_subset(&found), "{found:?}");
    }

    #[test]
    fn columns_are_those_of_the_tables() {
        let table = |name| {
            let columns = "        a: u8 => |codes| f(codes),\n        b_ps: u64 => Column::U64,\n";
            format!("\ntable! {{\n    /// A row.\n    T, \"{name}\" {{\n{columns}    }}\n}}\n")
        };
        let text = format!("x{}\n#[cfg(test)]\nmod tests {{{}}}\n", table("t"), table("u"));
        let text = text.as_str();
        let tree = Tree::of(&[("crates/sim/src/t.rs", text), ("crates/tcp/src/t.rs", text)]);
        assert_eq!(columns(&tree), set(&["t.a", "t.b_ps"]));
    }
}
