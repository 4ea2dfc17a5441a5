//! Finds the published sources of quiche, of the version in the lock, and names its files as
//! modules.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../Cargo.lock");
    let source = source();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a directory"));
    write(&out, "root", &[("minmax", source.join("minmax.rs"))]);
    let recovery = source.join("recovery");
    write(&out, "recovery", &[("rtt", recovery.join("rtt.rs"))]);
    let parts = ["cubic", "hystart", "prr", "reno"];
    let parts = parts.map(|name| (name, recovery.join(format!("congestion/{name}.rs"))));
    write(&out, "congestion", &parts);
}

/// Where the sources of quiche are.
fn source() -> PathBuf {
    let cargo = env::var_os("CARGO").expect("cargo runs this");
    let asked = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--features", "burstlab-stacks/quiche", "--manifest-path", "../Cargo.toml"])
        .output()
        .expect("cargo can be run again");
    let error = String::from_utf8_lossy(&asked.stderr);
    assert!(
        asked.status.success(),
        "no sources of quiche: run `cargo fetch --locked` in stacks\n{error}"
    );
    let told: serde_json::Value = serde_json::from_slice(&asked.stdout).expect("cargo writes JSON");
    let packages = told["packages"].as_array().expect("there are packages");
    let quiche = packages.iter().find(|one| one["name"] == "quiche");
    let manifest = quiche.and_then(|one| one["manifest_path"].as_str());
    let manifest = Path::new(manifest.expect("the feature has quiche in it"));
    manifest.parent().expect("a manifest lies in a directory").join("src")
}

fn write(out: &Path, name: &str, modules: &[(&str, PathBuf)]) {
    let lines = modules
        .iter()
        .map(|(module, file)| format!("#[path = {file:?}]\npub(crate) mod {module};\n"));
    fs::write(out.join(format!("{name}.rs")), lines.collect::<String>())
        .expect("the directory is ours");
}
