//! Time of one event: the earliest is taken out and a later one put in, as in a running world.

use std::hint::black_box;

use burstlab_kernel::{EventQueue, RandomSource, Rank};
use burstlab_units::{Span, Time};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn hold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pop and push");
    for waiting in [8u64, 64, 1024, 65_536] {
        group.bench_with_input(BenchmarkId::from_parameter(waiting), &waiting, |bencher, &n| {
            let stream = RandomSource::new(1, 0).stream("bench");
            let ahead: Vec<Span> =
                (0..4096).map(|k| Span::from_secs_f64(stream.uniforms(k)[0])).collect();
            let mut queue = EventQueue::new();
            for k in 0..n {
                queue.push(Time::ZERO + ahead[k as usize % 4096], Rank::Arrival, k);
            }
            let mut k = 0;
            bencher.iter(|| {
                let (now, event) = queue.pop().expect("events wait");
                k = (k + 1) % 4096;
                queue.push(now + ahead[k], Rank::Arrival, black_box(event));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
