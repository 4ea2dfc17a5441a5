//! Calls of BoringSSL's generator go to this crate (`src/chance.rs`), in its own tests.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg=-Wl,--wrap=RAND_bytes");
    }
}
