//! How long files, functions and lines may be. Tests are not counted, but for the width of lines;
//! what is longer stands in the ratchet.
//!
//! Functions are found by their indentation, which the formatters guarantee.

use super::ratchet::{self, Measures};
use super::{circles, dialect, methods};
use crate::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    match ratchet::Ratchet::read(tree) {
        Ok(ratchet) => ratchet.hold(&measure(tree)),
        Err(problem) => vec![problem],
    }
}

fn measure(tree: &Tree) -> Measures {
    let (circles, methods) = (circles::measure(tree), methods::measure(tree));
    let dialect = dialect::measure(tree);
    let mut measures = Measures { circles, methods, dialect, ..Measures::default() };
    for (path, text) in tree.sources() {
        let widths = text.lines().zip(1..).map(|(line, at)| (line.chars().count(), at));
        measures.widths.insert(path.to_owned(), widths.max().unwrap_or_default());
        if is_test(path) {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        let (code, functions) = if path.ends_with(".rs") {
            let code = without_tests(&lines);
            (code.len(), rust_functions(code))
        } else {
            (lines.len(), python_functions(&lines))
        };
        measures.files.insert(path.to_owned(), (code, 1));
        for (name, length, line) in functions {
            let longest = measures.functions.entry(format!("{path}:{name}")).or_default();
            *longest = (length, line).max(*longest);
        }
    }
    measures
}

fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    folders.split('/').any(|folder| folder == "tests") || name == "tests.rs"
}

/// The lines before `#[cfg(test)] mod tests {`.
fn without_tests<'a>(lines: &'a [&'a str]) -> &'a [&'a str] {
    let tests = lines.windows(2).position(|pair| {
        pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    });
    &lines[..tests.unwrap_or(lines.len())]
}

/// Names with lengths and first lines.
fn rust_functions(lines: &[&str]) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = rust_function(line) else { continue };
        let rest = &lines[start..];
        // A signature without a body ends with `;` before any brace.
        if rest.iter().find(|l| l.ends_with([';', '{', '}'])).is_none_or(|l| l.ends_with(';')) {
            continue;
        }
        let on_one_line = line.ends_with('}');
        let closes = |l: &&str| l.trim_start().starts_with('}') && indent(l) == indent(line);
        let end = if on_one_line { Some(0) } else { rest.iter().position(closes) };
        found.extend(end.map(|end| (name, end + 1, start + 1)));
    }
    found
}

/// The name of the function that a line begins, if it does.
fn rust_function(line: &str) -> Option<String> {
    const BEFORE: [&str; 8] =
        ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "extern", "\"C\""];
    let mut words = line.split_whitespace().skip_while(|word| BEFORE.contains(word));
    (words.next() == Some("fn")).then(|| identifier(words.next().unwrap_or("")))
}

fn python_functions(lines: &[&str]) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let Some(rest) =
            trimmed.strip_prefix("async def ").or_else(|| trimmed.strip_prefix("def "))
        else {
            continue;
        };
        let body = lines[start..].iter().position(|l| l.trim_end().ends_with(':'));
        let first = start + body.map_or(1, |at| at + 1);
        let is_body = |l: &&&str| l.trim().is_empty() || indent(l) > indent(line);
        let rest_of_file = lines.get(first..).unwrap_or(&[]);
        let mut inside: Vec<&str> = rest_of_file.iter().take_while(is_body).copied().collect();
        while inside.last().is_some_and(|l| l.trim().is_empty()) {
            inside.pop();
        }
        let length = first - start + inside.len() - docstring(&inside);
        found.push((identifier(rest), length, start + 1));
    }
    found
}

/// How many lines the docstring takes that a body begins with.
fn docstring(body: &[&str]) -> usize {
    let Some(first) = body.first().map(|line| line.trim()) else { return 0 };
    let Some(text) = first.trim_start_matches('r').strip_prefix("\"\"\"") else { return 0 };
    if text.ends_with("\"\"\"") {
        return 1;
    }
    body.iter().skip(1).position(|line| line.trim_end().ends_with("\"\"\"")).map_or(0, |at| at + 2)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_functions_are_measured_by_their_braces() {
        let text = [
            "trait T {",
            "    fn declared(",
            "        self,",
            "    );",
            "}",
            "impl X {",
            "    pub(crate) const fn a<T>(",
            "        x: T,",
            "    ) -> u8 {",
            "        if x {",
            "        }",
            "        1",
            "    }",
            "",
            "    fn b() {}",
            "}",
            "fn c() {",
            "    fn inner() {",
            "    }",
            "}",
        ];
        let found = rust_functions(&text);
        let expected = [("a", 7, 7), ("b", 1, 15), ("c", 4, 17), ("inner", 2, 18)];
        assert_eq!(found, expected.map(|(name, length, line)| (name.to_owned(), length, line)));
    }

    #[test]
    fn python_functions_are_measured_without_their_docstring() {
        let text = [
            "class A:",
            "    def a(",
            "        self,",
            "    ) -> int:",
            "        \"\"\"Say.",
            "",
            "        More.",
            "        \"\"\"",
            "        return 1",
            "",
            "    async def b(self):",
            "        \"\"\"Say.\"\"\"",
            "",
            "        return 2",
            "",
            "",
            "x = 1",
        ];
        let found = python_functions(&text);
        assert_eq!(found, [("a".to_owned(), 4, 2), ("b".to_owned(), 3, 11)]);
    }

    #[test]
    fn tests_are_not_counted() {
        let text = ["fn a() {}", "", "#[cfg(test)]", "mod tests {", "    fn b() {}", "}"];
        assert_eq!(without_tests(&text).len(), 2);
        assert!(is_test("crates/tcp/tests/script.rs") && is_test("python/tests/test_a.py"));
        assert!(!is_test("crates/tcp/src/attest.rs"));
    }

    #[test]
    fn what_is_too_long_is_named() {
        let long = format!("fn a() {{\n{}}}\n", "    b();\n".repeat(700));
        let wide = format!("//! {}\n", "x".repeat(100));
        let tree = Tree::of(&[("a.rs", &long), ("b.rs", &wide)]);
        let problems = check(&tree).join("\n");
        for part in ["a.rs: 702 lines", "a.rs:a: 702 lines", "b.rs: 104 characters"] {
            assert!(problems.contains(part), "{part} in\n{problems}");
        }
    }
}
