//! Published files of a crate as modules of another, for build scripts: a stack keeps some of what
//! it has to itself, and its files, unchanged, are compiled in a frame of what they ask for.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// Where the sources of a crate are, of the one version that a member of this workspace asks for.
///
/// # Panics
/// Where they are not on this machine, or no member asks for one.
#[must_use]
#[allow(clippy::print_stdout, reason = "a build script reports to cargo on stdout")]
pub fn source(name: &str) -> PathBuf {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../stacks/Cargo.toml");
    let version = version(name);
    // It alone is looked for, so that nothing else of the workspace has to be on the machine.
    let asking = out().join(format!("asks-for-{name}"));
    let manifest = asking.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"asks\"\nedition = \"2024\"\n[workspace]\n[dependencies.{name}]\n\
         version = \"{version}\"\ndefault-features = false\n"
    );
    fs::create_dir_all(asking.join("src")).expect("the directory is ours");
    fs::write(asking.join("src/lib.rs"), "").expect("the directory is ours");
    fs::write(&manifest, text).expect("the directory is ours");
    let platform = env::var("TARGET").expect("cargo names the target");
    let known = metadata(&manifest, &["--filter-platform", &platform]);
    let packages = known["packages"].as_array().expect("there are packages");
    let found = packages.iter().find(|one| one["name"] == name);
    let manifest = found.and_then(|one| one["manifest_path"].as_str());
    let manifest = Path::new(manifest.expect("it was asked for"));
    manifest.parent().expect("a manifest lies in a directory").join("src")
}

/// Writes modules to a file that the frame includes.
///
/// # Panics
/// Where it cannot.
pub fn write(file: &str, modules: &[(&str, PathBuf)]) {
    let lines = modules
        .iter()
        .map(|(module, file)| format!("#[path = {file:?}]\npub(crate) mod {module};\n"));
    fs::write(out().join(format!("{file}.rs")), lines.collect::<String>())
        .expect("the directory is ours");
}

fn out() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a directory"))
}

/// The version that members of the workspace ask for.
fn version(name: &str) -> String {
    let known = metadata(Path::new("../Cargo.toml"), &["--no-deps"]);
    let members = known["packages"].as_array().expect("there are members");
    let needs = members.iter().filter_map(|member| member["dependencies"].as_array()).flatten();
    let mut asked = needs.filter(|one| one["name"] == name).filter_map(|one| one["req"].as_str());
    asked.find(|version| version.starts_with('=')).expect("a member asks for it").to_string()
}

/// The metadata of a manifest as cargo reports them, without a network.
fn metadata(manifest: &Path, arguments: &[&str]) -> Value {
    let cargo = env::var_os("CARGO").expect("cargo runs this");
    let asked = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--manifest-path"])
        .arg(manifest)
        .args(arguments)
        .output()
        .expect("cargo can be run again");
    let error = String::from_utf8_lossy(&asked.stderr);
    assert!(
        asked.status.success(),
        "no sources here: run `cargo fetch --locked` in stacks\n{error}"
    );
    serde_json::from_slice(&asked.stdout).expect("cargo writes JSON")
}
