//! Words that do not belong in the project: places of one machine, and work put off in the source
//! instead of being stated as a limitation.

use crate::tree::Tree;

/// Written in pieces, as this file is looked at too.
const EVERYWHERE: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/tm", "p/"),
    concat!("pyth", "onhosted"),
    concat!("pypi", ".org/simple"),
];
const IN_SOURCES: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("for ", "now"),
    concat!("For ", "now"),
];

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in tree.files() {
        let source = path.ends_with(".rs") || path.ends_with(".py") || path.ends_with(".pyi");
        for (index, line) in text.lines().enumerate() {
            let place = format!("{path}:{}", index + 1);
            for word in EVERYWHERE.iter().filter(|word| line.contains(*word)) {
                problems
                    .push(format!("{place}: {word} belongs to one machine, not to the project"));
            }
            for word in IN_SOURCES.iter().filter(|word| source && has_word(line, word)) {
                problems.push(format!(
                    "{place}: {word:?} puts off work; do it, or state the limitation in the docs"
                ));
            }
        }
    }
    problems
}

/// Whether the word stands in the line by itself, not as a part of a longer one.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        ![before, after].iter().flatten().any(|c| c.is_alphanumeric() || *c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_found() {
        for word in EVERYWHERE {
            let line = format!("see {word}x\n");
            assert_eq!(check(&Tree::of(&[("a.md", &line)])).len(), 1, "{word}");
        }
        for word in IN_SOURCES {
            let line = format!("// {word}: more\n");
            assert_eq!(check(&Tree::of(&[("a.rs", &line)])).len(), 1, "{word}");
            assert!(check(&Tree::of(&[("a.md", &line)])).is_empty(), "{word}");
        }
    }

    #[test]
    fn parts_of_other_words_are_left_alone() {
        let line = format!("{}here {}_LIST\n", IN_SOURCES[3], IN_SOURCES[0]);
        assert!(check(&Tree::of(&[("a.rs", &line)])).is_empty());
    }
}
