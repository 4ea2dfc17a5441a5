//! Every source file begins by saying what it is.

use crate::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in tree.sources() {
        let (documented, fix) = if path.ends_with(".rs") {
            (rust_head(text), "begin with a `//!` line that says what the file is")
        } else {
            (python_head(text), "begin with a docstring that says what the module is")
        };
        if !documented {
            problems.push(format!("{path}:1: {fix}"));
        }
    }
    problems
}

/// Attributes of the whole file may stand first.
fn rust_head(text: &str) -> bool {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with("#!["));
    lines.next().is_some_and(|line| line.starts_with("//! "))
}

/// Comments may stand first.
fn python_head(text: &str) -> bool {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
    lines.next().is_some_and(|line| line.trim_start_matches('r').starts_with("\"\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_head_is_named() {
        let bad = [("a.rs", "// Text.\n"), ("b.rs", ""), ("c.py", "import x\n"), ("d.py", "# x\n")];
        assert_eq!(check(&Tree::of(&bad)).len(), bad.len());
        let good = [
            ("a.rs", "#![no_std]\n\n//! Text.\n"),
            ("b.py", "#!/usr/bin/env python\n\"\"\"Text.\"\"\"\n"),
            ("c.py", "r\"\"\"Text.\n\"\"\"\n"),
        ];
        assert!(check(&Tree::of(&good)).is_empty());
    }
}
