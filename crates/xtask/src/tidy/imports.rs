//! The layers of the Python package: `analytic` is the independent judge and imports nothing of the
//! package, `papers` uses what a user could use, `cli` is thin.

use crate::tree::Tree;

const PACKAGE: &str = "python/burstlab/";
const CLI_LINES_MAX: usize = 300;

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| path.ends_with(".py")) {
        let Some(module) = path.strip_prefix(PACKAGE) else { continue };
        match module.split(['/', '.']).next() {
            Some("analytic") => {
                for import in imports(module, text).iter().filter(|i| !i.is_in("analytic")) {
                    problems.push(import.problem(path, "analytic imports nothing of the package"));
                }
            }
            Some("papers") => problems.extend(check_paper(path, module, text)),
            Some("cli") if text.lines().count() > CLI_LINES_MAX => problems.push(format!(
                "{path}: {} lines; a command is thin, at most {CLI_LINES_MAX}: move the work into \
                 the package",
                text.lines().count()
            )),
            _ => {}
        }
    }
    problems
}

fn check_paper(path: &str, module: &str, text: &str) -> Vec<String> {
    let mut problems: Vec<String> = imports(module, text)
        .iter()
        .filter(|i| i.is_private() || i.is_in("cli"))
        .map(|i| i.problem(path, "papers use only the public interface"))
        .collect();
    for (index, line) in text.lines().enumerate() {
        let imports = ["import ", "from ", "#"].iter().any(|w| line.trim_start().starts_with(w));
        if !imports && ["burstlab._", "bl._"].iter().any(|name| line.contains(name)) {
            problems.push(format!("{path}:{}: papers use only the public interface", index + 1));
        }
    }
    problems
}

/// One name that a module takes from the package: `burstlab.run`, `burstlab.papers.tables`.
struct Import {
    line: usize,
    name: String,
}

impl Import {
    fn is_in(&self, module: &str) -> bool {
        self.name.split('.').nth(1) == Some(module)
    }

    fn is_private(&self) -> bool {
        self.name.split('.').any(|part| part.starts_with('_') && !part.starts_with("__"))
    }

    fn problem(&self, path: &str, rule: &str) -> String {
        format!("{path}:{}: imports {}, but {rule}", self.line, self.name)
    }
}

/// The names that a module (a path below the package) takes from the package.
pub(crate) fn imported(module: &str, text: &str) -> Vec<String> {
    imports(module, text).into_iter().map(|import| import.name).collect()
}

/// The imports of the package in a module, wherever they stand in it.
fn imports(module: &str, text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let mut statement = line.split('#').next().unwrap_or("").trim().to_owned();
        if !statement.starts_with("import ") && !statement.starts_with("from ") {
            continue;
        }
        while statement.contains('(') && !statement.contains(')') {
            let Some((_, more)) = lines.next() else { break };
            statement.push(' ');
            statement.push_str(more.split('#').next().unwrap_or("").trim());
        }
        let statement = statement.replace(['(', ')'], " ");
        let names = match statement.split_once(" import ") {
            Some((from, names)) => {
                let base = absolute(module, from.trim_start_matches("from").trim());
                split_names(names).map(|name| format!("{base}.{name}")).collect::<Vec<_>>()
            }
            None => split_names(statement.trim_start_matches("import")).collect(),
        };
        let ours = names.into_iter().filter(|n| n == "burstlab" || n.starts_with("burstlab."));
        found.extend(ours.map(|name| Import { line: index + 1, name }));
    }
    found
}

/// The names of `a as b, c`, without their new names.
fn split_names(names: &str) -> impl Iterator<Item = String> {
    names.split(',').filter_map(|name| name.split_whitespace().next()).map(str::to_owned)
}

/// `..x` as seen from a module (a path below the package) in full.
fn absolute(module: &str, from: &str) -> String {
    let rest = from.trim_start_matches('.');
    let dots = from.len() - rest.len();
    if dots == 0 {
        return from.to_owned();
    }
    let path = format!("burstlab/{module}");
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.truncate(parts.len().saturating_sub(dots).max(1));
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(module: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(&format!("{PACKAGE}{module}"), text)]))
    }

    #[test]
    fn the_judge_imports_nothing_of_the_package() {
        for good in [
            "import numpy as np\nfrom . import erlang\nfrom .erlang import loss\n",
            "from burstlab.analytic import erlang\nimport burstlab.analytic.erlang\n",
            "from math import (\n    exp,\n    log,\n)\n",
        ] {
            assert_eq!(sample("analytic/yu2004.py", good), Vec::<String>::new());
        }
        for bad in [
            "import burstlab\n",
            "import burstlab as bl\n",
            "import math, burstlab.run\n",
            "from burstlab import run\n",
            "from .. import results\n",
            "from ..results import Result\n",
            "def f():\n    from burstlab.plot import (\n        a,\n    )\n",
        ] {
            let problems = sample("analytic/yu2004.py", bad);
            assert_eq!(problems.len(), 1, "{bad}: {problems:?}");
        }
    }

    #[test]
    fn papers_use_the_public_interface() {
        let good = "import burstlab as bl\nfrom burstlab import plot\nfrom ..tables import row\n";
        assert_eq!(sample("papers/yu2004_fec/reproduce.py", good), Vec::<String>::new());
        for bad in [
            "from burstlab import _core\n",
            "import burstlab._core\n",
            "from ... import _core\n",
            "from burstlab.cli import main\n",
            "x = bl._core.run()\n",
        ] {
            assert_eq!(sample("papers/yu2004_fec/reproduce.py", bad).len(), 1, "{bad}");
        }
    }

    #[test]
    fn commands_are_thin() {
        assert!(sample("cli/run.py", &"x = 1\n".repeat(CLI_LINES_MAX)).is_empty());
        assert_eq!(sample("cli/run.py", &"x = 1\n".repeat(CLI_LINES_MAX + 1)).len(), 1);
        assert!(sample("climate.py", &"x = 1\n".repeat(CLI_LINES_MAX + 1)).is_empty());
    }
}
