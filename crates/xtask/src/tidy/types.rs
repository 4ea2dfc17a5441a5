//! In a crate a type's name is for one thing.

use std::collections::BTreeMap;

use crate::tree::Tree;

/// The begin of a type; `type` only where it is no part of a trait or of its implementation.
const KINDS: [&str; 5] = ["struct", "enum", "trait", "union", "type"];

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    let mut first: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for (path, text) in tree.sources().filter(|(path, _)| path.ends_with(".rs")) {
        let Some((place, _)) = path.split_once("/src/") else { continue };
        // Tests, which stand last in a file, have words of their own.
        let code = text.split("#[cfg(test)]").next().unwrap_or(text);
        for (index, name) in
            code.lines().enumerate().filter_map(|(index, line)| Some((index, declared(line)?)))
        {
            let other = *first.entry((place, name)).or_insert(path);
            if other != path {
                problems.push(format!("{path}:{}: {name} is another type in {other}", index + 1));
            }
        }
    }
    problems
}

/// The name of the type that a line at the left edge declares.
fn declared(line: &str) -> Option<&str> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let mut word = words.next()?;
    // `pub(in crate::world)` is two words.
    if word == "crate::world)" || word.ends_with(')') {
        word = words.next()?;
    }
    let name = KINDS.contains(&word).then(|| words.next())??;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_for_one_type_of_a_crate() {
        let one = ("crates/a/src/x.rs", "pub(in crate::world) struct Law<T> {\n");
        let same = ("crates/a/src/y/z.rs", "pub enum Law {\n    type Law = u8;\n");
        assert_eq!(
            check(&Tree::of(&[one, same])),
            ["crates/a/src/y/z.rs:1: Law is another type in crates/a/src/x.rs"]
        );
        let elsewhere = ("crates/b/src/x.rs", "struct Law;\n");
        let of_a_trait = ("crates/a/src/t.rs", "impl Host for X {\n    type Law = u8;\n");
        let of_tests = ("crates/a/src/u.rs", "#[cfg(test)]\nmod tests {}\nstruct Law;\n");
        assert!(check(&Tree::of(&[one, elsewhere, of_a_trait, of_tests])).is_empty());
    }
}
