//! Words that the project wrote in a sense of its own, where the field and plain English have
//! others, and pronouns in place of a noun. The lines that have them are counted in the ratchet, by
//! area, and may only become fewer.

use super::ratchet::Measured;
use super::words::has_word;
use crate::tree::Tree;

/// A phrase, the words to write in its place, and phrases around it that are standard terms.
const PHRASES: [(&str, &str, &[&str]); 9] = [
    ("of others", "background, third-party, of other ...", &[]),
    ("told", "reported, notified, given", &["told apart"]),
    ("tells", "reports, says, notifies", &["tells apart"]),
    ("beside", "compared with, together with, next to", &[]),
    ("way", "path, direction, method", &TERMS),
    ("ways", "paths, directions, methods", &["both ways"]),
    ("resend", "retransmit", &[]),
    ("resends", "retransmits", &[]),
    ("resent", "retransmitted", &["`resent`"]),
];
const TERMS: [&str; 6] = ["two-way", "one-way", "Two-way", "One-way", "one way delay", "half way"];

/// Pronouns that stand for a noun of an earlier clause; a reader of a page has to look for it.
const PRONOUNS: [&str; 5] = ["those of", "that of", "one that", "those that", "of what"];

/// A heading of the count of sentences with `What ...` as their subject.
const WHAT: &str = "What ... as a subject";

/// How many lines of each area have each phrase, and the first of them.
pub(crate) fn measure(tree: &Tree) -> Measured {
    let mut counts = Measured::new();
    for (area, phrase, (_, at)) in found(tree) {
        counts.entry(format!("{area}: {phrase}")).or_insert((0, at)).0 += 1;
    }
    counts
}

/// The lines of an area that are counted, each with its place and the words to write.
pub(crate) fn list(tree: &Tree, area: &str) -> Vec<String> {
    let of_area = found(tree).into_iter().filter(|(of, ..)| *of == area);
    of_area.map(|(_, phrase, (path, at))| format!("{path}:{at}: {phrase}")).collect()
}

/// Area, phrase and place of each.
fn found(tree: &Tree) -> Vec<(&str, String, (&str, usize))> {
    let mut found = Vec::new();
    for (path, text) in tree.files() {
        let Some(area) = area(path) else { continue };
        for (line, at) in text.lines().zip(1..) {
            for (phrase, better, terms) in PHRASES {
                // A word in quotes is spoken of, or a value that is fixed.
                let spoken_of = line.replace(&format!("\"{phrase}\""), "");
                let left = terms.iter().fold(spoken_of, |line, term| line.replace(term, ""));
                if has_word(&left, phrase) {
                    found.push((area, format!("{phrase} (write {better})"), (path, at)));
                }
            }
            for phrase in PRONOUNS.into_iter().filter(|_| area == "docs") {
                if has_word(&line.replace(&format!("\"{phrase}\""), ""), phrase) {
                    found.push((area, format!("{phrase} (write the noun)"), (path, at)));
                }
            }
            if begins_with_what(line) {
                found.push((area, WHAT.to_owned(), (path, at)));
            }
        }
    }
    found
}

/// The part of the project that a text belongs to. What was recorded, is quoted, or tells of the
/// past stays as it is.
fn area(path: &str) -> Option<&str> {
    let recorded = path.contains("/data/");
    if recorded || path == "CHANGELOG.md" || path.starts_with("crates/xtask") {
        return None;
    }
    let (first, rest) = path.split_once('/').unwrap_or(("docs", path));
    match first {
        "docs" | "crates" | "stacks" => Some(first),
        "python" if rest.starts_with("tests/") => Some("python/tests"),
        "python" => Some("python/burstlab"),
        _ => None,
    }
}

/// Whether a sentence of the line has a clause with `what` as its subject; questions may.
fn begins_with_what(line: &str) -> bool {
    let text = line.trim_start_matches([' ', '/', '!', '#', ':', '*', '"', '-']);
    !line.contains('?')
        && (text.starts_with("What ") || line.contains(". What ") || line.contains("; what "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, line: &str) -> usize {
        measure(&Tree::of(&[(path, line)])).values().map(|&(count, _)| count).sum()
    }

    #[test]
    fn a_phrase_is_found_as_a_word_and_outside_of_standard_terms() {
        for line in ["the way of a burst", "it was told", "bursts of others", "/// What is lost."] {
            assert_eq!(count("docs/a.md", line), 1, "{line}");
        }
        for line in ["a two-way reservation", "always", "they are told apart", "What is a burst?"] {
            assert_eq!(count("docs/a.md", line), 0, "{line}");
        }
    }

    #[test]
    fn a_pronoun_in_place_of_a_noun_is_found_on_pages_alone() {
        for line in ["the rate of a path and that of a mesh", "a loss is one that costs little"] {
            assert_eq!(count("docs/a.md", line), 1, "{line}");
            assert_eq!(count("crates/a.rs", line), 0, "{line}");
        }
        assert_eq!(count("docs/a.md", "the network that offers none of whatever"), 0);
    }

    #[test]
    fn areas_are_counted_apart_and_what_tells_of_the_past_is_not() {
        let line = "it was told";
        let tree = Tree::of(&[("README.md", line), ("docs/a.md", line), ("crates/a.rs", line)]);
        let counts: Vec<usize> = measure(&tree).values().map(|&(count, _)| count).collect();
        assert_eq!(counts, [1, 2]);
        assert_eq!(count("CHANGELOG.md", line), 0);
        assert_eq!(count("python/burstlab/data/notes.md", line), 0);
    }
}
