//! Time per delivered packet over the path, tracing off: the work that `benches/compare` compares
//! with that of other simulators.

use burstlab_sim::scenario::{Resolved, Scenario};
use burstlab_sim::{Monitor, Simulation, Trace};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn resolved(variant: &str, flows: u32, probability: f64) -> Resolved {
    let scenario = format!(
        r#"{{"access": {{"rate": "100 Mb/s"}}, "edge": {{"assembly": "timer", "timer": "1 ms"}},
            "tcp": {{"profile": "ns2", "variant": "{variant}", "window": 200}},
            "flows": [{{"count": {flows}, "stagger": "1 ms"}}],
            "loss": {{"data": {{"process": "bernoulli", "probability": {probability}}}}},
            "run": {{"duration": "{} s"}}}}"#,
        100 / flows
    );
    let checked = Scenario::from_json(&scenario).and_then(|scenario| scenario.resolve());
    checked.expect("the benchmark's scenario is valid")
}

fn path(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("path, per delivered packet");
    group.sample_size(10);
    let cases = [
        ("reno", 1, 0.0, Trace::default()),
        ("sack", 1, 0.0, Trace::default()),
        ("sack", 1, 0.01, Trace::default()),
        ("sack", 10, 0.0, Trace::default()),
        ("sack", 100, 0.0, Trace::default()),
        ("sack", 1, 0.01, Trace { ledger: true, ..Trace::default() }),
        (
            "sack",
            1,
            0.01,
            Trace { packets: true, bursts: true, cwnd: true, ledger: true, ..Trace::default() },
        ),
    ];
    for (variant, flows, probability, trace) in cases {
        let resolved = resolved(variant, flows, probability);
        let run = || Simulation::new(&resolved, 1, 0, trace).run(&Monitor::default());
        let packets = run().summary.counters.packets_delivered;
        let traced = match (trace.packets, trace.ledger) {
            (true, _) => ", all tables",
            (false, true) => ", ledger",
            (false, false) => "",
        };
        let case = format!("{flows} flows, p = {probability}{traced}");
        group.throughput(Throughput::Elements(packets));
        group.bench_function(BenchmarkId::new(variant, case), |bencher| bencher.iter(run));
    }
    group.finish();
}

criterion_group!(benches, path);
criterion_main!(benches);
