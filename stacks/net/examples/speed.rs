//! The cost of a packet with each stack: real time and packets a second, of a transfer without
//! loss.
//!
//! ```sh
//! cargo run --release --example speed
//! ```

use std::io::Write;
use std::time::Instant;

use burstlab_net::Lab;
use burstlab_stacks::AllStacks;

#[allow(clippy::disallowed_methods, reason = "it is the real time that is measured")]
fn main() {
    let bytes: u64 =
        std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20_000_000);
    let stacks = AllStacks::shared();
    let mut out = std::io::stdout().lock();
    let senders =
        stacks.names().into_iter().map(|stack| (stack, stacks.congestion_controls(stack)));
    for (stack, controls) in senders {
        for control in controls {
            let lab = Lab::path().carrying(bytes);
            let began = Instant::now();
            let run = lab.run(stacks.clone(), stack, Some(control)).expect("the scenario is sound");
            let took = began.elapsed().as_secs_f64();
            let counters = &run.summary().counters;
            let packets = counters.packets_sent + counters.acks_sent;
            let each = took / packets as f64;
            let (virtual_s, rate) = (run.summary().simulated_s, 1.0 / each);
            writeln!(
                out,
                "{stack:8} {control:10} {packets:7} packets {:6.2} us each {rate:9.0} a second \
                 {:6.2} virtual s a second",
                each * 1e6,
                virtual_s / took,
            )
            .expect("the output is open");
        }
    }
}
