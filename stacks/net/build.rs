//! In the tests and examples here quiche draws the random numbers that follow from the seed
//! (`stacks/src/chance.rs`).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg=-Wl,--wrap=RAND_bytes");
    }
}
