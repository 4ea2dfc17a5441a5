//! No module is named after having no subject.

use crate::tree::Tree;

const EMPTY_NAMES: [&str; 8] =
    ["util", "utils", "common", "helper", "helpers", "misc", "shared", "stuff"];

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in tree.sources() {
        for part in path.split('/') {
            let name = part.split('.').next().unwrap_or(part).trim_start_matches('_');
            if EMPTY_NAMES.contains(&name) {
                problems.push(format!("{path}: name {part} after what is in it"));
            }
        }
        if path.ends_with(".rs") {
            for (index, line) in text.lines().enumerate() {
                if inline_module(line).is_some_and(|name| EMPTY_NAMES.contains(&name)) {
                    problems.push(format!("{path}:{}: name the module after its parts", index + 1));
                }
            }
        }
    }
    problems
}

/// The name of `mod name {`.
fn inline_module(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let module = words.any(|word| word == "mod").then(|| words.next())??;
    line.ends_with('{').then_some(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_names_are_refused() {
        for path in ["a/utils.rs", "a/helpers/x.rs", "b/_common.py", "b/misc/__init__.py"] {
            assert_eq!(check(&Tree::of(&[(path, "")])).len(), 1, "{path}");
        }
        let inline = Tree::of(&[("a/lib.rs", "pub(crate) mod utils {\n}\n")]);
        assert_eq!(check(&inline).len(), 1);
        let good = Tree::of(&[("a/common_mode.rs", "mod tests {\n// common {\n")]);
        assert!(check(&good).is_empty());
    }
}
