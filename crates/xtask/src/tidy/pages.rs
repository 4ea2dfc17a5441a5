//! The pages that everybody reads stay short, and the map of the code stays whole.

use std::collections::BTreeSet;

use crate::tree::Tree;

const LINES_MAX: usize = 200;

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        match tree.get(page).map(|text| text.lines().count()) {
            None => problems.push(format!("{page}: is missing")),
            Some(lines) if lines > LINES_MAX => problems
                .push(format!("{page}: {lines} lines; at most {LINES_MAX}: move detail to docs/")),
            Some(_) => {}
        }
    }
    if !tree.get("CHANGELOG.md").is_some_and(|text| text.contains("## [Unreleased]")) {
        problems.push("CHANGELOG.md: needs a part `## [Unreleased]`".to_owned());
    }
    let map = tree.get("ARCHITECTURE.md").unwrap_or("");
    for folder in crates(tree) {
        let named = [format!("crates/{folder}"), format!("`{folder}`"), format!(" {folder}/ ")];
        if !named.iter().any(|name| map.contains(name)) {
            problems.push(format!("ARCHITECTURE.md: says nothing of crates/{folder}"));
        }
    }
    problems
}

fn crates(tree: &Tree) -> BTreeSet<&str> {
    tree.files()
        .filter_map(|(path, _)| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [(&str, &str); 4] = [
        ("ARCHITECTURE.md", "`tcp` is the endpoint\n"),
        ("CHANGELOG.md", "## [Unreleased]\n"),
        ("CONTRIBUTING.md", "Read.\n"),
        ("crates/tcp/Cargo.toml", ""),
    ];

    #[test]
    fn short_pages_and_a_whole_map_pass() {
        assert_eq!(check(&Tree::of(&GOOD)), Vec::<String>::new());
    }

    #[test]
    fn each_lack_is_named() {
        let long = "x\n".repeat(LINES_MAX + 1);
        for (at, bad) in [
            (0, ("ARCHITECTURE.md", "nothing\n")),
            (1, ("CHANGELOG.md", "")),
            (2, ("CONTRIBUTING.md", long.as_str())),
            (2, ("NOTHING.md", "")),
            (0, ("ARCHITECTURE.md", "  ftcp/   not it\n")),
            (3, ("crates/optical/Cargo.toml", "")),
        ] {
            let mut files = GOOD;
            files[at] = bad;
            assert_eq!(check(&Tree::of(&files)).len(), 1, "{bad:?}");
        }
    }
}
