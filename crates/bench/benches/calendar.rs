//! Time of one burst at a port: a wavelength is looked for and reserved while as many reservations
//! as before are outstanding. Offsets differ, so that bursts are put between others.

use std::hint::black_box;

use burstlab_optical::scheduling::{Port, Scheduler};
use burstlab_units::{Span, Time};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};

const HOLD: Span = Span::from_us(10);

/// Bursts are due every `2 * HOLD / wavelengths` and vary by 16 holds, at an offset which keeps
/// about `outstanding` of them reserved.
fn hold(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    scheduler: Scheduler,
    wavelengths: u32,
    outstanding: u64,
) {
    let spacing = HOLD * 2 / u64::from(wavelengths);
    let all = (0, wavelengths - 1);
    // Multiples of an odd number visit the 4096 values in a scattered order.
    let jitter: Vec<Span> = (0..4096u64).map(|k| HOLD * (k * 1327 % 4096) / 256).collect();
    let mut port = Port::new(wavelengths, scheduler);
    let offset = spacing * outstanding;
    let (mut now, mut k, mut lost) = (Time::ZERO, 0u64, 0u64);
    let mut burst = move || {
        now += spacing;
        k = k.wrapping_add(1);
        let start = now + offset + jitter[k as usize % 4096];
        port.forget(now);
        match black_box(port.find(start, HOLD, all)) {
            Some(wavelength) => port.reserve(wavelength, start, start + HOLD, k.into()),
            None => lost += 1,
        }
        lost
    };
    for _ in 0..outstanding + 4096 {
        burst();
    }
    group.bench_function(id, |bencher| bencher.iter(&mut burst));
}

fn outstanding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reservations outstanding");
    for outstanding in [10, 100, 1_000, 10_000, 100_000] {
        let id = BenchmarkId::from_parameter(outstanding);
        hold(&mut group, id, Scheduler::LaucVf, 8, outstanding);
    }
    group.finish();
}

fn wavelengths(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wavelengths");
    for scheduler in [Scheduler::Horizon, Scheduler::LaucVf] {
        for wavelengths in [1, 8, 32, 128] {
            let id = BenchmarkId::new(format!("{scheduler:?}"), wavelengths);
            hold(&mut group, id, scheduler, wavelengths, 1_000);
        }
    }
    group.finish();
}

fn rules(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rule, 8 wavelengths");
    for scheduler in [Scheduler::FirstFit, Scheduler::FfVf, Scheduler::MinEv, Scheduler::BestFit] {
        let id = BenchmarkId::from_parameter(format!("{scheduler:?}"));
        hold(&mut group, id, scheduler, 8, 1_000);
    }
    group.finish();
}

/// A pure search anywhere among the reservations of one wavelength: cost of finding a void.
fn voids(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("void anywhere");
    for outstanding in [10u64, 100, 1_000, 10_000, 100_000] {
        let mut port = Port::new(1, Scheduler::LaucVf);
        for k in 0..outstanding {
            let start = Time::ZERO + HOLD * 2 * k;
            port.reserve(0, start, start + HOLD, 0);
        }
        let id = BenchmarkId::from_parameter(outstanding);
        group.bench_with_input(id, &outstanding, |bencher, &n| {
            let mut k = 0;
            bencher.iter(|| {
                k = (k + 48_271) % n;
                port.find(Time::ZERO + HOLD * (2 * k + 1), HOLD, (0, 0))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, outstanding, wavelengths, rules, voids);
criterion_main!(benches);
