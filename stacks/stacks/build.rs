//! Names the versions of the stacks. Calls of BoringSSL's generator go to this crate
//! (`src/chance.rs`), in its own tests.

const STACKS: [(&str, &str); 4] =
    [("QUINN", "quinn-proto"), ("NOQ", "noq-proto"), ("QUICHE", "quiche"), ("SMOLTCP", "smoltcp")];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for (stack, name) in STACKS {
        let (version, source) = burstlab_published::origin(name);
        println!("cargo:rustc-env=BURSTLAB_{stack}={name} {version} {source}");
    }
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg=-Wl,--wrap=RAND_bytes");
    }
}
