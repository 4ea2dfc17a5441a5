//! Modules of the Python package import one another in one direction, imports within functions and
//! for types included: two that import each other are one thing in two places.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::imports::imported;
use crate::tree::Tree;

const HERE: &str = "crates/xtask/src/tidy/python_circles.rs";
const ROOT: &str = "burstlab";

/// Arrows upward that stay: who imports whom, and why.
const DOORS: [(&str, &str, &str); 3] = [
    ("burstlab.cli", "burstlab.cli.app", "the entry point `burstlab.cli:main` answers --version"),
    ("burstlab.results", "burstlab.export", "`Result.export` is public: users call it on a result"),
    (
        "burstlab.results",
        "burstlab.plot.of_result",
        "`Result.plot` is public: users call it on a result",
    ),
];

type Imports<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    check_doors(tree, &DOORS)
}

fn check_doors(tree: &Tree, doors: &[(&str, &str, &str)]) -> Vec<String> {
    let modules = modules(tree);
    let mut arrows = arrows(tree, &modules);
    let mut problems = Vec::new();
    for (from, to, _) in doors {
        if !arrows.get_mut(from).is_some_and(|targets| targets.remove(to)) {
            problems.push(format!("{HERE}: {from} does not import {to}; take the door out"));
        }
    }
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for &module in arrows.keys() {
        let Some(circle) = circle(&arrows, module) else { continue };
        if circle.iter().all(|one| told.insert(one)) {
            problems.push(format!(
                "{}: modules import one another: {} → {module}; let the lower one know nothing of \
                 the upper",
                modules[module],
                circle.join(" → ")
            ));
        }
    }
    problems
}

/// The modules of the package by their names, with their files.
fn modules(tree: &Tree) -> BTreeMap<String, &str> {
    let mut found = BTreeMap::new();
    for (path, _) in tree.files() {
        let Some(file) = path.strip_prefix("python/").and_then(|file| file.strip_suffix(".py"))
        else {
            continue;
        };
        let name = file.strip_suffix("/__init__").unwrap_or(file).replace('/', ".");
        if name == ROOT || name.starts_with("burstlab.") {
            found.insert(name, path);
        }
    }
    found
}

fn arrows<'a>(tree: &Tree, modules: &'a BTreeMap<String, &str>) -> Imports<'a> {
    let homes = homes(tree);
    let mut arrows = Imports::new();
    for (name, path) in modules {
        let text = tree.get(path).unwrap_or("");
        let inside = path.strip_prefix("python/burstlab/").unwrap_or(path);
        let targets = imported(inside, text).into_iter().filter_map(|import| {
            let import = homes.get(&import).map_or(import.as_str(), String::as_str);
            module_of(modules, import).filter(|target| target != name && *target != ROOT)
        });
        arrows.insert(name.as_str(), targets.collect());
    }
    arrows
}

/// The names that `burstlab` offers, with their modules: lines `from MODULE import NAME as NAME`.
fn homes(tree: &Tree) -> BTreeMap<String, String> {
    let text = tree.get("python/burstlab/__init__.pyi").unwrap_or("");
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["from", module, "import", name, ..] = words[..] {
            found.insert(format!("{ROOT}.{name}"), format!("{module}.{name}"));
        }
    }
    found
}

/// The module that a name is, or is in.
fn module_of<'a>(modules: &'a BTreeMap<String, &str>, name: &str) -> Option<&'a str> {
    let mut name = name;
    loop {
        if let Some((module, _)) = modules.get_key_value(name) {
            return Some(module);
        }
        name = name.rsplit_once('.')?.0;
    }
}

/// The shortest circle through a module, beginning with it.
fn circle<'a>(arrows: &Imports<'a>, from: &'a str) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut next = std::collections::VecDeque::from([from]);
    while let Some(module) = next.pop_front() {
        for &target in arrows.get(module).into_iter().flatten() {
            if target == from {
                let mut found = vec![module];
                while let Some(&one) = before.get(found[found.len() - 1]) {
                    found.push(one);
                }
                found.reverse();
                return Some(found);
            }
            if !before.contains_key(target) {
                before.insert(target, module);
                next.push_back(target);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(files: &[(&str, &str)], doors: &[(&str, &str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("python/burstlab/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        check_doors(&Tree::of(&files), doors)
    }

    #[test]
    fn modules_in_one_direction_pass() {
        let upper = ("upper.py", "from burstlab.lower import Low\nfrom burstlab import lower\n");
        let folder = ("folder/__init__.py", "from burstlab.folder.part import Part\n");
        let part = ("folder/part.py", "from burstlab import upper\nimport numpy\n");
        let files = [upper, ("lower.py", "import json\n"), folder, part];
        assert_eq!(problems(&files, &[]), Vec::<String>::new());
    }

    #[test]
    fn each_kind_of_import_closes_a_circle_which_is_named_once() {
        let offered = ("__init__.pyi", "from burstlab.upper import Up as Up\n");
        let between = ("between.py", "from burstlab.upper import Up\n");
        for lower in [
            "from burstlab.upper import Up\n",
            "from .upper import Up\n",
            "import burstlab.upper\n",
            "from burstlab import Up\n",
            "from burstlab import (\n    upper,\n)\n",
            "def f():\n    from burstlab import upper\n",
            "if TYPE_CHECKING:\n    from burstlab.upper import Up\n",
            "from burstlab.between import Up\n",
        ] {
            let upper = ("upper.py", "from burstlab.lower import Low\n");
            let found = problems(&[upper, offered, between, ("lower.py", lower)], &[]);
            assert_eq!(found.len(), 1, "{lower}: {found:?}");
            assert!(found[0].contains("burstlab.lower"), "{found:?}");
        }
    }

    #[test]
    fn a_door_is_used() {
        let upper = ("upper.py", "from burstlab.lower import Low\n");
        let lower = ("lower.py", "def f():\n    from burstlab.upper import Up\n");
        let door = [("burstlab.lower", "burstlab.upper", "users call it")];
        assert_eq!(problems(&[upper, lower], &door), Vec::<String>::new());
        let stale = problems(&[upper, ("lower.py", "")], &door);
        assert_eq!(stale.len(), 1, "{stale:?}");
        assert!(stale[0].contains("take the door out"));
    }
}
