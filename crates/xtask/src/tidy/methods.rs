//! How many methods the types of a crate have. A limit on files alone cuts a large type into many
//! files, each of which may touch everything.

use crate::tidy::ratchet::Measured;
use crate::tree::Tree;

/// The methods of each type, those of traits not counted; by crate and name, which is that of one
/// type of a crate.
pub(crate) fn measure(tree: &Tree) -> Measured {
    let mut found = Measured::new();
    for (path, text) in tree.sources().filter(|(path, _)| path.ends_with(".rs")) {
        let Some((place, _)) = path.split_once("/src/") else { continue };
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
        let mut lines = code.lines().zip(1..);
        while let Some((line, at)) = lines.next() {
            let Some(name) = implemented(line) else { continue };
            let methods = lines.by_ref().take_while(|(line, _)| *line != "}");
            let methods = methods.filter(|(line, _)| is_method(line)).count();
            found.entry(format!("{place}:{name}")).or_insert((0, at)).0 += methods;
        }
    }
    found
}

/// The type that a line at the left edge begins to implement, unless it is a trait for it.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl").filter(|rest| rest.starts_with([' ', '<']))?;
    let (mut depth, mut end) = (0_usize, 0);
    if rest.starts_with('<') {
        // The text between the brackets may have brackets itself, or the arrow of a function.
        for (index, letter) in rest.char_indices() {
            match letter {
                '<' => depth += 1,
                '>' if !rest[..index].ends_with('-') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = index + 1;
                break;
            }
        }
    }
    let of = rest[end..].trim();
    let path = of.split(['<', ' ', '{']).next().unwrap_or("");
    let of_trait = of.contains(" for ") || of.ends_with('{') && line.ends_with("{}");
    path.rsplit("::").next().filter(|name| !of_trait && !name.is_empty())
}

/// Whether a line begins a function of an implementation.
fn is_method(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("    ").filter(|rest| !rest.starts_with(' ')) else {
        return false;
    };
    let rest = match rest.strip_prefix("pub(") {
        Some(scope) => scope.split_once(") ").map_or("", |(_, rest)| rest),
        None => rest,
    };
    rest.split(' ').find(|word| !["pub", "const", "async"].contains(word)) == Some("fn")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_counted_over_all_files_of_a_crate() {
        let one = "impl Mesh {\n    pub(in crate::world) fn a() {\n        fn inner() {}\n    }\n\n\
                   \x20   const fn b() {}\n}\n\nfn free() {}\n";
        let two = "impl<'a, F: Fn(u8) -> u8> super::Mesh<F> {\n    fn c() {}\n}\n\n\
                   impl Outlet for Mesh {\n    fn d() {}\n}\n\nimpl Plan {\n    fn e() {}\n}\n";
        let tests = "#[cfg(test)]\nmod tests {\nimpl Mesh {\n    fn f() {}\n}\n}\n";
        let found = measure(&Tree::of(&[
            ("crates/a/src/x.rs", one),
            ("crates/a/src/y.rs", two),
            ("crates/a/src/z.rs", tests),
            ("crates/b/src/x.rs", two),
        ]));
        let expected = [("crates/a:Mesh", 3, 1), ("crates/a:Plan", 1, 9)];
        let expected = [expected[0], expected[1], ("crates/b:Mesh", 1, 1), ("crates/b:Plan", 1, 9)];
        let expected = expected.map(|(name, count, line)| (name.to_owned(), (count, line)));
        assert_eq!(found, Measured::from(expected));
    }
}
