//! Published files of a crate as modules of another, for build scripts: a stack keeps some of what
//! it has to itself, and its files, unchanged, are compiled in a frame of what they ask for.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// Where the sources of a crate are, of the one version that a member of this workspace asks for: a
/// release, or a checkout that the workspace names in its table `metadata.checkouts`.
///
/// # Panics
/// Where they are not on this machine, or no member asks for one.
#[must_use]
#[allow(clippy::print_stdout, reason = "a build script reports to cargo on stdout")]
pub fn source(name: &str) -> PathBuf {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../Cargo.toml");
    println!("cargo:rerun-if-changed=../stacks/Cargo.toml");
    let workspace = metadata(Path::new("../Cargo.toml"), &["--no-deps"]);
    if let Some(checkout) = workspace["metadata"]["checkouts"][name].as_str() {
        return Path::new(checkout).join("src");
    }
    let version = version(&workspace, name);
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

/// The version of a crate that members of this workspace ask for, and its source: `registry`,
/// `git`, or `path`, where a checkout or a patch takes the place of the release.
///
/// # Panics
/// Where no member asks for exactly one version of it.
#[must_use]
#[allow(clippy::print_stdout, reason = "a build script tells cargo so")]
pub fn origin(name: &str) -> (String, &'static str) {
    println!("cargo:rerun-if-changed=../Cargo.toml");
    println!("cargo:rerun-if-changed=../stacks/Cargo.toml");
    let workspace = metadata(Path::new("../Cargo.toml"), &["--no-deps"]);
    let version = version(&workspace, name).trim_start_matches('=').to_string();
    let lock = Path::new("../Cargo.lock");
    if lock.exists() {
        println!("cargo:rerun-if-changed=../Cargo.lock");
    }
    let checkout = !workspace["metadata"]["checkouts"][name].is_null();
    let source = match locked(&fs::read_to_string(lock).unwrap_or_default(), name, &version) {
        _ if checkout => "path",
        Some("") => "path",
        Some(source) if source.starts_with("git") => "git",
        _ => "registry",
    };
    (version, source)
}

/// The source of a crate in the text of a lock: empty for one that lies in a directory.
fn locked<'a>(lock: &'a str, name: &str, version: &str) -> Option<&'a str> {
    let is = |entry: &&str| {
        field(entry, "name") == Some(name) && field(entry, "version") == Some(version)
    };
    let entry = lock.split("[[package]]").find(is)?;
    Some(field(entry, "source").unwrap_or_default())
}

/// The text that a line of an entry of a lock gives a key.
fn field<'a>(entry: &'a str, key: &str) -> Option<&'a str> {
    let of_key = |line: &'a str| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"');
    entry.lines().find_map(of_key)
}

/// Writes modules to a file that the frame includes.
///
/// # Panics
/// Where it cannot, or a file of a module is not there.
pub fn write(file: &str, modules: &[(&str, PathBuf)]) {
    for (_, path) in modules {
        assert!(path.is_file(), "{path:?}: there is no such file in these sources of the crate");
    }
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
fn version(workspace: &Value, name: &str) -> String {
    let members = workspace["packages"].as_array().expect("there are members");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_tells_releases_from_checkouts_and_repositories() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\
                    source = \"registry+https://example.org\"\n\n\
                    [[package]]\nname = \"a\"\nversion = \"2.0.0\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"1.0.0\"\n\
                    source = \"git+https://example.org\"\n";
        assert_eq!(locked(lock, "a", "1.0.0"), Some("registry+https://example.org"));
        assert_eq!(locked(lock, "a", "2.0.0"), Some(""));
        assert_eq!(locked(lock, "b", "1.0.0"), Some("git+https://example.org"));
        assert_eq!(locked(lock, "b", "3.0.0"), None);
    }
}
