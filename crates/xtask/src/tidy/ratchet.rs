//! The list of what is longer than it should be. An entry holds the present size and may only
//! shrink, so that a file which was made shorter stays so.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::tree::Tree;

const PATH: &str = "crates/xtask/ratchet.toml";

/// Sizes by path, or by path and function.
type Sizes = BTreeMap<String, usize>;

/// Sizes in the tree, each with the line where to look.
pub(crate) type Measured = BTreeMap<String, (usize, usize)>;

/// The measures of the tree.
#[derive(Default)]
pub(crate) struct Measures {
    pub(crate) files: Measured,
    pub(crate) functions: Measured,
    pub(crate) widths: Measured,
    pub(crate) circles: Measured,
    pub(crate) methods: Measured,
    pub(crate) dialect: Measured,
}

/// The excused sizes.
#[derive(Default)]
pub(crate) struct Ratchet {
    files: Sizes,
    functions: Sizes,
    widths: Sizes,
    circles: Sizes,
    methods: Sizes,
    dialect: Sizes,
}

impl Ratchet {
    /// Reads the list of the tree; none is an empty one.
    pub(crate) fn read(tree: &Tree) -> Result<Self, String> {
        let text = tree.get(PATH).unwrap_or("");
        let mut table: Table = text.parse().map_err(|error| format!("{PATH}: {error}"))?;
        let mut take = |name: &str| sizes(name, table.remove(name));
        let ratchet = Self {
            files: take("files")?,
            functions: take("functions")?,
            widths: take("widths")?,
            circles: take("circles")?,
            methods: take("methods")?,
            dialect: take("dialect")?,
        };
        match table.keys().next() {
            None => Ok(ratchet),
            Some(key) => Err(format!("{PATH}: [{key}] is not a list of the ratchet")),
        }
    }

    pub(crate) fn hold(&self, measures: &Measures) -> Vec<String> {
        let mut problems = hold("lines of code", 600, &self.files, &measures.files);
        problems.extend(hold("lines", 70, &self.functions, &measures.functions));
        problems.extend(hold("characters wide", 100, &self.widths, &measures.widths));
        problems.extend(hold("files use one another", 0, &self.circles, &measures.circles));
        problems.extend(hold("methods", 60, &self.methods, &measures.methods));
        problems.extend(hold("lines say so", 0, &self.dialect, &measures.dialect));
        problems
    }
}

fn sizes(name: &str, value: Option<Value>) -> Result<Sizes, String> {
    let wrong = || format!("{PATH}: [{name}] holds paths with their sizes");
    let entries = match value {
        None => return Ok(Sizes::new()),
        Some(Value::Table(entries)) => entries,
        Some(_) => return Err(wrong()),
    };
    entries
        .into_iter()
        .map(|(key, value)| {
            let size = value.as_integer().and_then(|size| usize::try_from(size).ok());
            Ok((key, size.ok_or_else(wrong)?))
        })
        .collect()
}

fn hold(what: &str, most: usize, excused: &Sizes, measured: &Measured) -> Vec<String> {
    let mut problems = Vec::new();
    for (place, &(size, line)) in measured {
        let what = format!("{what} (line {line})");
        match excused.get(place) {
            None if size > most => {
                problems.push(format!("{place}: {size} {what}; at most {most}"));
            }
            Some(&was) if size > was => problems.push(format!(
                "{place}: {size} {what}; it had {was}, and what is in {PATH} only shrinks"
            )),
            Some(_) if size <= most => problems.push(format!(
                "{place}: {size} {what}, no more than others; take it out of {PATH}"
            )),
            Some(&was) if size < was => problems
                .push(format!("{place}: {size} {what}; write {size} instead of {was} in {PATH}")),
            _ => {}
        }
    }
    for place in excused.keys().filter(|place| !measured.contains_key(*place)) {
        problems.push(format!("{place}: is gone; take it out of {PATH}"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes_of(entries: &[(&str, usize)]) -> Sizes {
        entries.iter().map(|&(place, size)| (place.to_owned(), size)).collect()
    }

    fn measured(entries: &[(&str, usize)]) -> Measured {
        entries.iter().map(|&(place, size)| (place.to_owned(), (size, 1))).collect()
    }

    #[test]
    fn a_size_may_only_shrink_and_the_list_says_the_truth() {
        let excused = sizes_of(&[("a", 90), ("b", 90), ("c", 90), ("d", 90), ("gone", 90)]);
        let measured = measured(&[("a", 90), ("b", 91), ("c", 89), ("d", 70), ("e", 71), ("f", 3)]);
        let problems = hold("lines", 70, &excused, &measured);
        assert_eq!(problems.len(), 5);
        let starts = ["b: 91", "c: 89", "d: 70", "e: 71", "gone"];
        assert!(problems.iter().zip(starts).all(|(p, start)| p.starts_with(start)), "{problems:?}");
    }

    #[test]
    fn a_list_is_read_and_a_wrong_one_refused() {
        let read = |text: &str| Ratchet::read(&Tree::of(&[(PATH, text)]));
        let ratchet = read("[files]\n\"a.rs\" = 700\n").expect("a list");
        assert_eq!(ratchet.files, sizes_of(&[("a.rs", 700)]));
        for wrong in ["[files]\na = \"x\"\n", "[file]\n", "files = 3\n", "[files]\na = -1\n"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
