//! Names the published file of BBR as a module.

use burstlab_published::{source, write};

fn main() {
    write("congestion", &[("bbr", source("quinn-proto").join("congestion/bbr/mod.rs"))]);
}
