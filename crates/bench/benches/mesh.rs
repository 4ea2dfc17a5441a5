//! Time per delivered packet over NSFNET, tracing off: flows that never end between all pairs of
//! nodes, with and without contention.

use burstlab_sim::scenario::{Resolved, Scenario};
use burstlab_sim::{Monitor, Simulation, Trace};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const NODES: u32 = 14;

fn resolved(flows: u32, wavelengths: u32) -> Resolved {
    // The other end is 1 to 13 nodes further on; 5 and 13 have no common divisor.
    let listed = (0..flows).map(|flow| {
        let (from, further) = (flow % NODES, 1 + flow * 5 % (NODES - 1));
        let (to, start) = ((from + further) % NODES, flow * 300_000 / flows);
        format!(r#"{{"from": "{}", "to": "{}", "start": "{start} us"}}"#, from + 1, to + 1)
    });
    let scenario = format!(
        r#"{{"network": {{"topology": "nsfnet", "wavelengths": {wavelengths}}},
            "access": {{"rate": "100 Mb/s", "delay": "1 ms"}},
            "edge": {{"assembly": "timer", "timer": "5 ms",
                "ack": {{"assembly": "timer", "timer": "5 ms"}}}},
            "tcp": {{"profile": "ns2", "variant": "sack", "window": 100}},
            "flows": [{}], "run": {{"duration": "800 ms"}}}}"#,
        listed.collect::<Vec<_>>().join(", ")
    );
    let checked = Scenario::from_json(&scenario).and_then(|scenario| scenario.resolve());
    checked.expect("the benchmark's scenario is valid")
}

fn mesh(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mesh, per delivered packet");
    group.sample_size(10);
    for (flows, wavelengths) in [(100, 16), (800, 16), (800, 1), (3000, 16)] {
        let resolved = resolved(flows, wavelengths);
        let run = || Simulation::new(&resolved, 1, 0, Trace::default()).run(&Monitor::default());
        let packets = run().summary.counters.packets_delivered;
        group.throughput(Throughput::Elements(packets));
        let case = format!("{flows} flows, wavelengths: {wavelengths}");
        group.bench_function(BenchmarkId::new("sack", case), |bencher| bencher.iter(run));
    }
    group.finish();
}

criterion_group!(benches, mesh);
criterion_main!(benches);
