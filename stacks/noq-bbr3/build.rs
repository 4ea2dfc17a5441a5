//! Names the published file of BBRv3 as a module.

use burstlab_published::{source, write};

fn main() {
    write("congestion", &[("bbr3", source("noq-proto").join("congestion/bbr3/mod.rs"))]);
}
