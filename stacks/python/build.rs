//! The clock of quiche is a function of the C library that this extension takes over for itself
//! (`stacks/src/virtual_clock.rs`): its own calls go to its own function, and nobody else's. So do
//! those of BoringSSL's generator (`stacks/src/chance.rs`).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
        println!("cargo:rustc-cdylib-link-arg=-Wl,--wrap=RAND_bytes");
    }
}
