//! Names published files of quiche as modules.

use burstlab_published::{source, write};

fn main() {
    let source = source("quiche");
    write("root", &[("minmax", source.join("minmax.rs"))]);
    let recovery = source.join("recovery");
    write("recovery", &[("rtt", recovery.join("rtt.rs"))]);
    let parts = ["cubic", "hystart", "prr", "reno"];
    let parts = parts.map(|name| (name, recovery.join(format!("congestion/{name}.rs"))));
    write("congestion", &parts);
}
