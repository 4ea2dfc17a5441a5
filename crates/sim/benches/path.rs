//! Delivered packets per CPU-second over the path, tracing off: the work that `benches/compare`
//! sets beside other simulators. Run with `cargo bench -p burstlab-sim`.

use std::hint::black_box;

use burstlab_sim::scenario::Scenario;
use burstlab_sim::{Monitor, Simulation, Trace};

#[allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark times and prints")]
fn main() {
    let variants = ["tahoe", "reno", "new-reno", "sack"];
    let cases = [("no loss", 0.0), ("1 % of bursts lost", 0.01)];
    println!("one flow, W = 200, 100 Mb/s access, 10 Gb/s core, T_b = 1 ms, 1000 s");
    for (name, probability) in cases {
        for variant in variants {
            let scenario = format!(
                r#"{{"access": {{"rate": "100 Mb/s"}},
                    "edge": {{"assembly": "timer", "timer": "1 ms"}},
                    "tcp": {{"profile": "ns2", "variant": "{variant}", "window": 200}},
                    "loss": {{"data": {{"process": "bernoulli", "probability": {probability}}}}},
                    "run": {{"duration": "1000 s"}}}}"#
            );
            let resolved = Scenario::from_json(&scenario).and_then(|s| s.resolve());
            let resolved = resolved.expect("the benchmark's scenario is valid");
            let mut best = f64::INFINITY;
            let mut delivered = 0;
            let mut events = 0;
            for _ in 0..3 {
                let begin = std::time::Instant::now();
                let simulation = Simulation::new(black_box(&resolved), 1, 0, Trace::default());
                let output = black_box(simulation.run(&Monitor::default()));
                best = best.min(begin.elapsed().as_secs_f64());
                delivered = output.summary.counters.packets_delivered;
                events = output.summary.counters.events;
            }
            println!(
                "{name:>20} {variant:>9}: {delivered:>9} packets, {:>6.2} M packets/s, \
                 {:>5.1} ns a packet, {:.2} events a packet",
                delivered as f64 / best / 1e6,
                best * 1e9 / delivered as f64,
                events as f64 / delivered as f64,
            );
        }
    }
}
