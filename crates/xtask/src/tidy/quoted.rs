//! Text in back-ticks on the pages is in the source: functions, `Type::method`, names with an
//! underscore, and paths of files. So a page does not speak of a renamed part.

use std::collections::BTreeSet;

use crate::tree::Tree;

const HERE: &str = "crates/xtask/src/tidy/quoted.rs";

/// Names that are not ours, or not there yet, and whose they are.
const FOREIGN: [(&str, &str); 22] = [
    ("Config::SetDefault", "ns-3"),
    ("RngSeedManager::SetRun", "ns-3"),
    ("RngSeedManager::SetSeed", "ns-3"),
    ("Simulator::Stop", "ns-3"),
    ("TcpRateLinux::SkbSent", "ns-3"),
    ("TcpSocketBase::SetCongestionControlAlgorithm", "ns-3"),
    ("parse_output", "scripts around ns-2"),
    ("simtime_t", "OMNeT++"),
    ("max_duration", "noq-proto"),
    ("max_interval", "noq-proto"),
    ("pto_time_and_space", "noq-proto"),
    ("src/connection/mod.rs", "noq-proto"),
    ("time_of_last_ack_eliciting_packet", "noq-proto"),
    ("tcp_fin", "Linux"),
    ("tcp_nagle_check", "Linux"),
    ("window_full", "tshark"),
    ("id_1", "a column that DuckDB names"),
    ("delay_max_ms", "an example of a name with its unit"),
    ("docs/papers/today", "a folder of figures, which are no text"),
    ("tcp/src/congestion/scalable.rs", "a file that a reader is to add"),
    ("tcp/src/detection/first.rs", "a file that a reader is to add"),
    ("crates/tcp/src/detection/first.rs", "a file that a reader is to add"),
];

/// Folders of the top, and the ends of files in them that the tree has; none is that of a folder.
const TOP: [&str; 5] = ["crates/", "python/", "docs/", "benches/", "stacks/"];
const TEXT: [&str; 5] = ["", "rs", "py", "toml", "md"];

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    check_with(tree, &FOREIGN)
}

fn check_with(tree: &Tree, foreign: &[(&str, &str)]) -> Vec<String> {
    let source = Source::of(tree);
    let mut problems = Vec::new();
    let mut excused = BTreeSet::new();
    for (path, text) in tree.files().filter(|(path, _)| is_page(path)) {
        for (line, name) in quoted(text) {
            if source.has(tree, name) != Some(false) {
                continue;
            }
            match foreign.iter().find(|(known, _)| *known == name) {
                Some((known, _)) => drop(excused.insert(*known)),
                None => problems.push(format!("{path}:{line}: there is no `{name}`")),
            }
        }
    }
    for (name, _) in foreign.iter().filter(|(name, _)| !excused.contains(name)) {
        problems.push(format!("{HERE}: no page needs the exception {name}; take it out"));
    }
    problems
}

fn is_page(path: &str) -> bool {
    let top = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].contains(&path);
    top || path.starts_with("docs/") && path.ends_with(".md")
}

/// Text in back-ticks outside of blocks of code, with its line.
fn quoted(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            found.extend(line.split('`').skip(1).step_by(2).map(|name| (index + 1, name)));
        }
    }
    found
}

/// The words of the source.
struct Source<'a> {
    all: BTreeSet<&'a str>,
    rust: Vec<BTreeSet<&'a str>>,
}

impl<'a> Source<'a> {
    fn of(tree: &'a Tree) -> Self {
        let mut source = Self { all: BTreeSet::new(), rust: Vec::new() };
        for (path, text) in tree.files() {
            if path == HERE || path.ends_with(".md") {
                continue;
            }
            let words = words(text);
            source.all.extend(&words);
            if path.ends_with(".rs") {
                source.rust.push(words);
            }
        }
        source
    }

    /// Whether a name is in the source; none if it is no name of code.
    fn has(&self, tree: &Tree, name: &str) -> Option<bool> {
        let plain = name.strip_suffix("()").unwrap_or(name);
        let parts: Vec<&str> = plain.split("::").collect();
        if parts.len() > 1 && parts.iter().all(|part| is_word(part)) {
            let last = &parts[parts.len() - 2..];
            return Some(self.rust.iter().any(|words| last.iter().all(|one| words.contains(one))));
        }
        if is_word(plain) && (plain != name || is_snake(plain)) {
            return Some(self.all.contains(plain));
        }
        is_path(name).then(|| tree.files().any(|(path, _)| is_at(path, name)))
    }
}

fn is_word(text: &str) -> bool {
    let letters = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    letters && text.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn is_snake(text: &str) -> bool {
    let parts = |part: &str| !part.is_empty() && part.chars().all(|c| !c.is_ascii_uppercase());
    text.contains('_') && text.split('_').all(parts)
}

/// Whether a name is that of a source file, or begins with a folder of the top.
fn is_path(name: &str) -> bool {
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let (file, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let source = ["rs", "py"].contains(&end) && !file.is_empty();
    letters && (source || TOP.iter().any(|top| name.starts_with(top)) && TEXT.contains(&end))
}

fn is_at(path: &str, name: &str) -> bool {
    let name = name.trim_end_matches('/');
    let inside = path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
    let ends = path.strip_suffix(name);
    inside || ends.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(page: &str, foreign: &[(&str, &str)]) -> Vec<String> {
        let lines = "impl Burst {\n    fn close_as(self) {}\n}\n";
        let source = ("crates/optical/src/burst.rs", lines);
        let python = ("python/burstlab/run.py", "def begin():\n    the_end = 1\n");
        check_with(&Tree::of(&[("docs/page.md", page), source, python]), foreign)
    }

    #[test]
    fn names_of_the_source_and_other_words_pass() {
        for good in [
            "`begin()`, `close_as`, `close_as()`, `the_end` and `Burst::close_as`\n",
            "`burst.rs`, `src/burst.rs`, `burstlab/run.py`, `crates/optical/`, `gone.toml`\n",
            "`gone`, `tcp.window_gone`, `--no_flag`, `*_gone`, `[gone_too]`, `GONE_TOO`\n",
            "```sh\n`gone_too()`\n```\n",
        ] {
            assert_eq!(problems(good, &[]), Vec::<String>::new());
        }
    }

    #[test]
    fn each_kind_of_name_that_is_gone_is_found() {
        for bad in ["gone()", "is_gone", "Burst::begin", "Gone::close_as", "urst.rs", "src/run.py"]
        {
            let found = problems(&format!("Text,\n`{bad}`\n"), &[]);
            assert_eq!(found, [format!("docs/page.md:2: there is no `{bad}`")]);
        }
    }

    #[test]
    fn an_exception_is_needed() {
        let foreign = [("is_gone", "another program")];
        assert_eq!(problems("`is_gone`\n", &foreign), Vec::<String>::new());
        assert_eq!(problems("Nothing.\n", &foreign).len(), 1);
    }
}
