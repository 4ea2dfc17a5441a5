//! Fields that a checkpoint leaves out. A field that depends on the past must be stored, or a run
//! that is resumed gives other numbers; so each field that is left out says why it does not.

use crate::tree::Tree;

/// The begin of the reason, in the comment of the field.
const REASON: &str = "Not stored: ";

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    let rust =
        tree.files().filter(|(path, _)| path.starts_with("crates/") && path.ends_with(".rs"));
    for (path, text) in rust {
        let mut comment = String::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(words) = line.strip_prefix("///") {
                comment.push_str(words.trim_end());
            } else if line == "#[serde(skip)]" || line.starts_with("#[serde(skip,") {
                if !comment.contains(REASON) {
                    let place = format!("{path}:{}", index + 1);
                    let fix = "say in the comment why it does not hang on the past";
                    problems.push(format!("{place}: a field is not stored; {fix} (`{REASON}...`)"));
                }
            } else if !line.starts_with("#[") {
                comment.clear();
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(lines: &str) -> usize {
        check(&Tree::of(&[("crates/sim/src/world/mod.rs", lines)])).len()
    }

    #[test]
    fn a_field_that_is_left_out_says_why() {
        for attribute in ["#[serde(skip)]", "#[serde(skip, default = \"nobody\")]"] {
            let field =
                |comment: &str| format!("struct World {{\n{comment}{attribute}\n    a: u8,");
            assert_eq!(problems(&field("")), 1);
            assert_eq!(problems(&field("    /// A buffer.\n")), 1);
            assert_eq!(problems(&field("    /// It is. Not stored: a\n    /// buffer.\n")), 0);
            assert_eq!(problems(&field("    /// It is. Not\n    /// stored: a buffer.\n")), 0);
        }
    }

    #[test]
    fn each_field_has_a_reason_of_its_own() {
        let one = "    /// Not stored: a buffer.\n    #[serde(skip)]\n    a: u8,\n";
        assert_eq!(problems(one), 0);
        assert_eq!(problems(&format!("{one}    #[serde(skip)]\n    b: u8,\n")), 1);
    }
}
