//! The rules of the tree. Each is a file of its own with a function from a tree to the list of what
//! is to be fixed, and with tests that show it can fail.

mod arrows;
mod circles;
pub(crate) mod dialect;
mod glossary;
mod heads;
mod imports;
mod lengths;
mod methods;
mod metrics;
mod names;
mod pages;
mod python_circles;
mod quoted;
mod ratchet;
mod rooms;
mod stored;
mod types;
mod words;

use crate::tree::Tree;

/// Problems to fix, one line each: place and fix.
pub(crate) fn problems(tree: &Tree) -> Vec<String> {
    let checks: [fn(&Tree) -> Vec<String>; 14] = [
        arrows::check,
        imports::check,
        lengths::check,
        metrics::check,
        names::check,
        glossary::check,
        heads::check,
        pages::check,
        python_circles::check,
        quoted::check,
        rooms::check,
        stored::check,
        types::check,
        words::check,
    ];
    checks.iter().flat_map(|check| check(tree)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let tree = Tree::read(&crate::root()).expect("readable");
        let problems = problems(&tree);
        assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    }
}
