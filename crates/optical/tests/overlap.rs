//! No two bursts overlap on a wavelength: a million random bursts for every scheduler, with offsets
//! that differ, bursts that are cut or withdrawn, and a past that is forgotten.

use burstlab_optical::scheduling::{Conversion, Port, Scheduler};
use burstlab_units::{Span, Time};

const WAVELENGTHS: u32 = 8;
const BURSTS: u32 = 1_000_000;

/// A number that depends on `counter` alone (the finaliser of SplitMix64; Steele, Lea and Flood
/// 2014).
fn mixed(counter: u64) -> u64 {
    let mut z = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A port and a separate list of all that was granted: (wavelength, start, end).
struct Run {
    port: Port,
    granted: Vec<(u32, Time, Time)>,
    offered: u32,
}

/// Offers bursts until a million are granted.
fn run(scheduler: Scheduler, conversion: Conversion) -> Run {
    let port = Port::new(WAVELENGTHS, scheduler);
    let mut run = Run { port, granted: Vec::with_capacity(BURSTS as usize), offered: 0 };
    let mut now = Time::ZERO;
    while (run.granted.len() as u32) < BURSTS {
        let draw = mixed(u64::from(run.offered));
        run.offered += 1;
        // Bursts of 1 to 256 units every 16 on the mean: eight wavelengths offered their capacity.
        now += Span::from_ps(draw & 31);
        let start = now + Span::from_ps(draw >> 8 & 0x3ff);
        let hold = Span::from_ps(1 + (draw >> 24 & 0xff));
        let allowed = conversion.allowed((draw >> 40) as u32 % WAVELENGTHS, WAVELENGTHS);
        run.port.forget(now);
        let Some(wavelength) = run.port.find(start, hold, allowed) else { continue };
        let owner = run.granted.len() as u64;
        run.port.reserve(wavelength, start, start + hold, owner.into());
        run.granted.push((wavelength, start, start + hold));
        if draw >> 56 < 32 {
            run.cut(owner - owner.min(draw >> 48 & 7), now, draw >> 32);
        }
    }
    run
}

impl Run {
    /// Cuts burst `owner` where it has not ended at `now`; sometimes nothing is left of it.
    fn cut(&mut self, owner: u64, now: Time, draw: u64) {
        let (wavelength, start, end) = &mut self.granted[owner as usize];
        let new_end = (*start + Span::from_ps(draw & 0x7f)).min(*end);
        let open = *start < *end && now < *end;
        assert_eq!(self.port.shorten(*wavelength, *start, owner.into(), new_end), open);
        if open {
            *end = new_end;
        }
    }
}

fn hold(scheduler: Scheduler) {
    for conversion in [Conversion::Full, Conversion::Limited(1)] {
        let Run { port, mut granted, offered } = run(scheduler, conversion);
        assert!(granted.len() as u32 >= BURSTS && offered > BURSTS + BURSTS / 10, "some were lost");
        assert!(port.outstanding() < 2000, "the past is dropped");
        let last = granted.iter().map(|burst| burst.2).max().expect("a million");
        let mut used = vec![Span::ZERO; WAVELENGTHS as usize];
        for &(wavelength, start, end) in &granted {
            used[wavelength as usize] += end.since(start);
        }
        for (wavelength, used) in (0..).zip(used) {
            assert_eq!(port.busy(wavelength, last), used);
        }
        granted.retain(|&(_, start, end)| start < end);
        granted.sort_unstable();
        let overlap =
            granted.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[1].1 < pair[0].2);
        assert_eq!(overlap, None, "{scheduler:?}");
    }
}

#[test]
fn first_fit() {
    hold(Scheduler::FirstFit);
}

#[test]
fn horizon() {
    hold(Scheduler::Horizon);
}

#[test]
fn lauc_vf() {
    hold(Scheduler::LaucVf);
}

#[test]
fn ff_vf() {
    hold(Scheduler::FfVf);
}

#[test]
fn min_ev() {
    hold(Scheduler::MinEv);
}

#[test]
fn best_fit() {
    hold(Scheduler::BestFit);
}
