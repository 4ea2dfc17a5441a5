//! Files of a crate use one another in one direction: two that use each other are one thing in two
//! places.
//!
//! An arrow goes from a file to the file of each name that it imports, or writes with `crate::` or
//! `super::`. A name that is exported again is that of the file where it is from.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::ratchet::Measured;
use crate::tree::Tree;

/// A file, by its place in the crate: `["world", "core"]`; the top is empty.
type Module = Vec<String>;
/// The names that a module exports from others, each with the module that has it.
type Exports = BTreeMap<Module, BTreeMap<String, Module>>;
type Arrows = BTreeMap<Module, BTreeSet<Module>>;

/// How many files of each crate are in a circle.
pub(crate) fn measure(tree: &Tree) -> Measured {
    let mut crates: BTreeMap<&str, BTreeMap<Module, String>> = BTreeMap::new();
    for (path, text) in tree.sources().filter(|(path, _)| path.ends_with(".rs")) {
        let Some((place, file)) = path.split_once("/src/") else { continue };
        if !file.split('/').any(|part| part == "tests" || part == "tests.rs") {
            crates.entry(place).or_default().insert(module(file), code(text));
        }
    }
    let in_circles = |files: &BTreeMap<Module, String>| {
        let arrows = arrows(files);
        arrows.keys().filter(|file| reached(&arrows, file).contains(*file)).count()
    };
    crates.iter().map(|(place, files)| ((*place).to_owned(), (in_circles(files), 1))).collect()
}

fn module(file: &str) -> Module {
    let mut parts: Module = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// The text without comments, and without the tests that stand last.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

fn arrows(files: &BTreeMap<Module, String>) -> Arrows {
    let mut exports = Exports::new();
    // An export may be of an export: three rounds are enough for any chain of the project.
    for _ in 0..3 {
        for (here, text) in files {
            for (path, _) in uses(text).into_iter().filter(|(_, exported)| *exported) {
                let from = resolve(files, &exports, here, &path).filter(|from| from != here);
                if let Some(from) = from {
                    let name = path.rsplit("::").next().unwrap_or("").to_owned();
                    exports.entry(here.clone()).or_default().insert(name, from);
                }
            }
        }
    }
    let to = |here: &Module, text: &String| {
        let imported = uses(text).into_iter().filter(|(_, exported)| !exported);
        let paths = imported.map(|(path, _)| path).chain(written(text));
        let found = paths.filter_map(|path| resolve(files, &exports, here, &path));
        found.filter(|file| file != here).collect()
    };
    files.iter().map(|(here, text)| (here.clone(), to(here, text))).collect()
}

/// The file of this crate that a path is of, seen from `here`.
fn resolve(
    files: &BTreeMap<Module, String>,
    exports: &Exports,
    here: &Module,
    path: &str,
) -> Option<Module> {
    let mut at = here.clone();
    let mut parts = path.split("::").peekable();
    match parts.next()? {
        "crate" => at.clear(),
        "super" => drop(at.pop()),
        "self" => {}
        // A module of this file, or another crate.
        first => {
            at.push(first.to_owned());
            files.get(&at)?;
        }
    }
    while parts.next_if_eq(&"super").is_some() {
        at.pop();
    }
    while let Some(part) = parts.peek() {
        at.push((*part).to_owned());
        if !files.contains_key(&at) {
            at.pop();
            break;
        }
        parts.next();
    }
    let name = parts.next().unwrap_or("");
    let from = exports.get(&at).and_then(|exported| exported.get(name));
    from.cloned().or_else(|| files.contains_key(&at).then_some(at))
}

/// The paths of all `use` statements, one by one, and whether they export.
fn uses(text: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for statement in text.split(';') {
        let Some(start) = statement.rfind("use ") else { continue };
        let (before, path) = (statement[..start].trim_end(), &statement[start + 4..]);
        let exported = before.ends_with("pub") || before.ends_with(')');
        let begins = before.is_empty() || exported || before.ends_with(['}', ']', '{']);
        if begins {
            let path: String = path.split_whitespace().collect::<Vec<_>>().join(" ");
            expand(&path, &mut |one| found.push((one, exported)));
        }
    }
    found
}

/// Calls `each` for every path of a tree of paths such as `super::{a::{B, C}, D as E}`.
fn expand(path: &str, each: &mut impl FnMut(String)) {
    let Some(open) = path.find('{') else {
        let plain = path.split(" as ").next().unwrap_or("").trim();
        if !plain.is_empty() {
            each(plain.to_owned());
        }
        return;
    };
    let (prefix, rest) =
        (path[..open].trim(), &path[open + 1..path.rfind('}').unwrap_or(open + 1)]);
    let (mut depth, mut from) = (0_usize, 0);
    for (at, letter) in rest.char_indices().chain([(rest.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                expand(&format!("{prefix}{}", rest[from..at].trim()), each);
                from = (at + 1).min(rest.len());
            }
            _ => {}
        }
    }
}

/// Paths that are written where they are used.
fn written(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.contains("use ")) {
        for start in ["crate::", "super::"] {
            for (at, _) in line.match_indices(start) {
                let named = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                let inside = line[..at].ends_with([':', '_']) || line[..at].ends_with("(in ");
                if !inside {
                    found.push(line[at..].chars().take_while(|&c| named(c)).collect());
                }
            }
        }
    }
    found
}

/// The modules that a file reaches by one arrow or more.
fn reached(arrows: &Arrows, from: &Module) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&Module> = arrows[from].iter().collect();
    while let Some(file) = next.pop() {
        if found.insert(file.clone()) {
            next.extend(arrows.get(file).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_circles(files: &[(&str, &str)]) -> usize {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        measure(&Tree::of(&files))["crates/a"].0
    }

    #[test]
    fn files_in_one_direction_are_in_no_circle() {
        let top = ("lib.rs", "mod x;\nmod y;\npub use x::X;\nuse self::y::Y;\n");
        let below = ("x.rs", "use super::y::{Y, Z as W};\n");
        assert_eq!(in_circles(&[top, below, ("y.rs", "use std::fmt;\n")]), 0);
        // Of tests nobody needs to know.
        let tested = ("y.rs", "struct Y;\n\n#[cfg(test)]\nmod tests {\n    use crate::x::X;\n}\n");
        assert_eq!(in_circles(&[top, below, tested]), 0);
    }

    #[test]
    fn each_kind_of_arrow_closes_a_circle() {
        for text in [
            "use crate::x::X;\n",
            "use super::x::{\n    X, // a remark\n};\n",
            "use super::X;\n",
            "use super::z::X;\n",
            "fn f() {\n    crate::x::f();\n}\n",
            "pub(super) struct Y(super::x::X);\n",
        ] {
            let top = ("lib.rs", "mod x;\nmod y;\nmod z;\npub use x::X;\n");
            let exported = ("z.rs", "pub(crate) use crate::X;\n");
            let x = ("x.rs", "use super::y::Y;\n");
            let found = in_circles(&[top, x, ("y.rs", text), exported]);
            assert_eq!(found, 2, "{text}");
        }
    }

    #[test]
    fn a_value_and_what_its_folder_adds_to_it_are_a_circle() {
        let room = ("room/mod.rs", "mod part;\nuse part::Part;\nstruct Room(Part);\n");
        let part = ("room/part.rs", "use super::Room;\nimpl Room {}\npub(super) struct Part;\n");
        assert_eq!(in_circles(&[("lib.rs", "mod room;\n"), room, part]), 2);
    }
}
