//! The glossary leads where it says: each row names a file that is there, and a name in it.

use crate::tree::Tree;

const PAGE: &str = "docs/glossary.md";

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.get(PAGE) else { return vec![format!("{PAGE}: is missing")] };
    let mut problems = Vec::new();
    for (index, line) in page.lines().enumerate().filter(|(_, line)| line.starts_with("| ")) {
        let Some(cell) = line.trim_end_matches([' ', '|']).rsplit(" | ").next() else { continue };
        let mut quoted = cell.split('`').skip(1).step_by(2);
        let (Some(path), Some(name)) = (quoted.next(), quoted.next()) else { continue };
        let place = format!("{PAGE}:{}", index + 1);
        match tree.get(path) {
            None => problems.push(format!("{place}: there is no {path}")),
            Some(text) if !text.contains(name) => {
                problems.push(format!("{place}: {path} has no {name}"));
            }
            Some(_) => {}
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_lead_nowhere_are_found() {
        let row = |cell: &str| format!("| term | in the code |\n|---|---|\n| burst | {cell} |\n");
        let problems = |cell: &str| {
            check(&Tree::of(&[(PAGE, row(cell).as_str()), ("a.rs", "struct Burst;")])).len()
        };
        assert_eq!(problems("`a.rs` `Burst`"), 0);
        assert_eq!(problems("`b.rs` `Burst`"), 1);
        assert_eq!(problems("`a.rs` `Slot`"), 1);
        assert_eq!(check(&Tree::of(&[])).len(), 1);
    }
}
