//! Work on the source tree itself: `cargo run -p xtask -- tidy`, `... -- codegen [--check]` and
//! `... -- dialect AREA`, which lists the lines that the ratchet counts.
//!
//! `tidy` holds what no compiler checks: the arrows between crates and modules, lengths, names and
//! documentation. `codegen` writes what follows from the scenario's schema. Both exit with 1 when
//! something is to be fixed, and with 2 when they were called wrongly.

mod codegen;
mod tidy;
mod tree;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- tidy | codegen [--check] | dialect AREA\n";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["tidy"] => run_tidy(),
        ["codegen"] => codegen::write(&root()),
        ["codegen", "--check"] => codegen::check(&root()),
        ["dialect", area] => list_dialect(area),
        ["help" | "--help" | "-h"] => Ok(USAGE.to_owned()),
        _ => {
            say(&mut std::io::stderr(), USAGE);
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(text) => {
            say(&mut std::io::stdout(), &text);
            ExitCode::SUCCESS
        }
        Err(text) => {
            say(&mut std::io::stderr(), &text);
            ExitCode::FAILURE
        }
    }
}

fn run_tidy() -> Result<String, String> {
    let tree = tree::Tree::read(&root()).map_err(|error| format!("{error}\n"))?;
    let problems = tidy::problems(&tree);
    if problems.is_empty() {
        return Ok(format!("tidy: {} files, nothing to fix\n", tree.len()));
    }
    Err(format!("{}\ntidy: {} to fix\n", problems.join("\n"), problems.len()))
}

fn list_dialect(area: &str) -> Result<String, String> {
    let tree = tree::Tree::read(&root()).map_err(|error| format!("{error}\n"))?;
    let lines = tidy::dialect::list(&tree, area);
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The top of the project: two folders above this crate, as cargo reports it when it runs this. The
/// path at build time may be another checkout, where they share a target folder.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR");
    let here = here.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.ancestors().nth(2).unwrap_or(&here).to_owned()
}

/// A closed pipe is the reader's choice, not a failure of the check.
fn say(to: &mut dyn Write, text: &str) {
    let _ = to.write_all(text.as_bytes());
}
