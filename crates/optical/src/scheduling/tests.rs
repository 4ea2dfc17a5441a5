//! The port against a twin that looks at every reservation there has ever been.

use burstlab_units::{Span, Time};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::{Conversion, Port, Reservation, Scheduler};

const ALL: [Scheduler; 6] = [
    Scheduler::FirstFit,
    Scheduler::Horizon,
    Scheduler::LaucVf,
    Scheduler::FfVf,
    Scheduler::MinEv,
    Scheduler::BestFit,
];

fn at(ps: u64) -> Time {
    Time::from_ps(ps)
}

/// Every reservation, in no order; nothing is forgotten.
struct Twin {
    scheduler: Scheduler,
    wavelengths: Vec<Vec<Reservation>>,
}

impl Twin {
    fn new(wavelengths: u32, scheduler: Scheduler) -> Self {
        Self { scheduler, wavelengths: vec![Vec::new(); wavelengths as usize] }
    }

    /// The cost that the rule minimises on this wavelength, if the burst may go there.
    fn cost(&self, wavelength: u32, start: Time, end: Time) -> Option<(u64, u64)> {
        let taken = &self.wavelengths[wavelength as usize];
        let horizon = taken.iter().map(|r| r.end).max().unwrap_or(Time::ZERO);
        let before = taken.iter().map(|r| r.end).filter(|&e| e <= start).max();
        let gap_before = start.since(before.unwrap_or(Time::ZERO)).as_ps();
        let after = taken.iter().map(|r| r.start).filter(|&s| s >= end).min();
        let gap_after = after.map(|after| after.since(end).as_ps());
        let behind_all = horizon <= start;
        let free = taken.iter().all(|r| r.end <= start || end <= r.start);
        match self.scheduler {
            Scheduler::FirstFit => behind_all.then_some((0, 0)),
            Scheduler::Horizon => behind_all.then_some((gap_before, 0)),
            Scheduler::FfVf => free.then_some((0, 0)),
            Scheduler::LaucVf => free.then_some((gap_before, 0)),
            Scheduler::MinEv => free.then_some((gap_after.unwrap_or(u64::MAX), 0)),
            Scheduler::BestFit => {
                let total = gap_after.map_or(u64::MAX, |gap| gap + gap_before);
                free.then_some((total, gap_before))
            }
        }
    }

    fn find(&self, start: Time, hold: Span, (low, high): (u32, u32)) -> Option<u32> {
        (low..=high)
            .filter_map(|w| Some((self.cost(w, start, start + hold)?, w)))
            .min()
            .map(|(_, wavelength)| wavelength)
    }

    fn earliest(&self, ready: Time, hold: Span) -> (Time, u32) {
        let all = (0, self.wavelengths.len() as u32 - 1);
        (ready.as_ps()..)
            .find_map(|ps| Some((at(ps), self.find(at(ps), hold, all)?)))
            .expect("some instant")
    }

    fn reserve(&mut self, wavelength: u32, start: Time, end: Time, owner: u128) {
        self.wavelengths[wavelength as usize].push(Reservation { start, end, owner });
    }

    fn overlapping(&self, wavelength: u32, start: Time, end: Time) -> Vec<Reservation> {
        let all = self.wavelengths[wavelength as usize].iter().copied();
        let mut found: Vec<_> = all.filter(|r| r.start < end && start < r.end).collect();
        found.sort_by_key(|r| r.start);
        found
    }

    /// One picosecond after the other.
    fn busy(&self, wavelength: u32, from: u64, until: u64) -> Span {
        let taken = &self.wavelengths[wavelength as usize];
        let is_taken = |&ps: &u64| taken.iter().any(|r| r.start <= at(ps) && at(ps) < r.end);
        Span::from_ps((from..until).filter(is_taken).count() as u64)
    }
}

/// A step of a random history: what, two lengths of time, and a wavelength or a pick.
type Step = (u8, u64, u64, u32);

/// `indexed`: the least number of wavelengths of which the port keeps an index.
fn replay(
    scheduler: Scheduler,
    conversion: Conversion,
    (wavelengths, indexed): (u32, u32),
    steps: &[Step],
) {
    let mut port = Port::indexed_from(indexed, wavelengths, scheduler);
    let mut twin = Twin::new(wavelengths, scheduler);
    let (mut now, mut origin) = (0, 0);
    for (owner, &(what, ahead, length, pick)) in (0u128..).zip(steps) {
        let (start, hold) = (at(now + ahead), Span::from_ps(length));
        let wavelength = pick % wavelengths;
        match what {
            0..=4 => {
                let allowed = conversion.allowed(wavelength, wavelengths);
                let found = port.find(start, hold, allowed);
                assert_eq!(found, twin.find(start, hold, allowed));
                if let Some(found) = found {
                    port.reserve(found, start, start + hold, owner);
                    twin.reserve(found, start, start + hold, owner);
                }
            }
            5 => {
                let (start, found) = port.earliest(start, hold);
                assert_eq!((start, found), twin.earliest(at(now + ahead), hold));
                port.reserve(found, start, start + hold, owner);
                twin.reserve(found, start, start + hold, owner);
            }
            6 => {
                let taken = &mut twin.wavelengths[wavelength as usize];
                let open: Vec<usize> =
                    (0..taken.len()).filter(|&k| taken[k].end > at(now)).collect();
                if !open.is_empty() {
                    let k = open[pick as usize % open.len()];
                    let cut = taken[k];
                    let new_end = cut.end.min(cut.start + Span::from_ps(length - 1));
                    assert!(!port.shorten(wavelength, cut.start, cut.owner + 1, new_end));
                    assert!(port.shorten(wavelength, cut.start, cut.owner, new_end));
                    taken[k].end = new_end;
                    taken.retain(|r| r.start < r.end);
                }
            }
            7 => {
                now += ahead / 2;
                port.forget(at(now));
            }
            _ => {
                let seen: Vec<_> =
                    port.overlapping(wavelength, start, start + hold).copied().collect();
                assert_eq!(seen, twin.overlapping(wavelength, start, start + hold));
                assert_eq!(
                    port.busy(wavelength, start),
                    twin.busy(wavelength, origin, now + ahead)
                );
                if length == 1 {
                    origin = now + ahead / 4;
                    port.measure_from(at(origin));
                }
            }
        }
    }
}

/// The same for many wavelengths, whose index is compared with a scan.
fn replay_many(
    scheduler: Scheduler,
    wavelengths: u32,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let mut ports = [1, u32::MAX].map(|least| Port::indexed_from(least, wavelengths, scheduler));
    let (mut now, mut taken) = (0, Vec::new());
    for (owner, &(what, ahead, length, pick)) in (0u128..).zip(steps) {
        let (start, hold) = (at(now + ahead), Span::from_ps(length));
        match what {
            0..=5 => {
                // Any wavelength, or one of some in the middle.
                let low = if what == 5 { pick % wavelengths } else { 0 };
                let high = if what == 5 { wavelengths - 1 - low / 2 } else { wavelengths - 1 };
                let range = (low.min(high), high);
                let [found, scanned] = ports.each_ref().map(|port| port.find(start, hold, range));
                prop_assert_eq!(found, scanned);
                let Some(found) = found else { continue };
                ports.iter_mut().for_each(|port| port.reserve(found, start, start + hold, owner));
                taken.push((found, start, owner));
            }
            6 if !taken.is_empty() => {
                let (wavelength, start, owner) = taken.swap_remove(pick as usize % taken.len());
                let end = (start + Span::from_ps(length / 3)).max(at(now));
                let kept = ports[0].overlapping(wavelength, start, Time::MAX).next();
                let end = kept.map_or(end, |kept| end.min(kept.end));
                let cut = |port: &mut Port| port.shorten(wavelength, start, owner, end);
                let [one, other] = ports.each_mut().map(cut);
                prop_assert_eq!(one, other);
            }
            _ => {
                now += ahead / 20;
                ports.iter_mut().for_each(|port| port.forget(at(now)));
            }
        }
    }
    if scheduler.takes_the_latest() {
        let [indexed, all] = ports[0].indexed_and_all();
        prop_assert_eq!(indexed, all);
    }
    Ok(())
}

fn conversions() -> impl Strategy<Value = Conversion> {
    let limited = (0u32..4).prop_map(Conversion::Limited);
    prop_oneof![Just(Conversion::Full), Just(Conversion::None), limited]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_port_decides_as_its_twin_does(
        conversion in conversions(),
        wavelengths in 1u32..6,
        steps in proptest::collection::vec((0u8..9, 0u64..40, 1u64..12, 0u32..8), 1..90),
    ) {
        for scheduler in ALL {
            replay(scheduler, conversion, (wavelengths, u32::MAX), &steps);
            if scheduler.takes_the_latest() || scheduler == Scheduler::FirstFit {
                replay(scheduler, conversion, (wavelengths, 1), &steps);
            }
        }
    }

    #[test]
    fn an_index_of_many_wavelengths_decides_as_a_scan_does(
        wavelengths in 100u32..300,
        steps in proptest::collection::vec((0u8..8, 0u64..999, 1u64..400, any::<u32>()), 1..2_000),
    ) {
        for scheduler in [Scheduler::FirstFit, Scheduler::Horizon, Scheduler::LaucVf] {
            replay_many(scheduler, wavelengths, &steps)?;
        }
    }

    #[test]
    fn with_equal_offsets_there_is_no_void_to_fill(
        wavelengths in 1u32..6,
        bursts in proptest::collection::vec((0u64..20, 1u64..30), 1..100),
    ) {
        let pairs = [
            (Scheduler::FirstFit, Scheduler::FfVf),
            (Scheduler::Horizon, Scheduler::LaucVf),
        ];
        for (plain, filling) in pairs {
            let mut ports = [Port::new(wavelengths, plain), Port::new(wavelengths, filling)];
            let mut now = 0;
            for &(wait, hold) in &bursts {
                now += wait;
                let (start, hold) = (at(now + 1000), Span::from_ps(hold));
                let found = ports.each_ref().map(|p| p.find(start, hold, (0, wavelengths - 1)));
                prop_assert_eq!(found[0], found[1]);
                if let Some(found) = found[0] {
                    ports.iter_mut().for_each(|p| p.reserve(found, start, start + hold, 0));
                }
            }
        }
    }
}

#[test]
fn with_unequal_offsets_a_void_lets_a_short_burst_pass() {
    for scheduler in ALL {
        let mut port = Port::new(1, scheduler);
        port.reserve(0, at(100), at(200), 1);
        let found = port.find(at(50), Span::from_ps(50), (0, 0));
        assert_eq!(found, scheduler.fills_voids().then_some(0), "{scheduler:?}");
        assert_eq!(port.find(at(51), Span::from_ps(50), (0, 0)), None, "does not fit");
    }
}

#[test]
fn each_rule_takes_a_wavelength_of_its_own() {
    let taken: [&[(u64, u64)]; 5] =
        [&[(0, 10), (40, 50)], &[(0, 18)], &[(0, 5), (32, 40)], &[(0, 15), (35, 45)], &[(0, 20)]];
    let chosen = ALL.map(|scheduler| {
        let mut port = Port::new(5, scheduler);
        for (wavelength, bursts) in (0..).zip(taken) {
            for &(start, end) in bursts {
                port.reserve(wavelength, at(start), at(end), 0);
            }
        }
        port.find(at(20), Span::from_ps(10), (0, 4))
    });
    // In the order of `ALL`: first behind its horizon, latest horizon, the same, first with a void,
    // next burst at 32, void of 20.
    assert_eq!(chosen, [Some(1), Some(4), Some(4), Some(0), Some(2), Some(3)]);
}

#[test]
fn a_burst_at_the_very_end_of_another_is_accepted() {
    for scheduler in ALL {
        let mut port = Port::new(1, scheduler);
        port.reserve(0, at(10), at(20), 1);
        assert_eq!(port.find(at(19), Span::from_ps(5), (0, 0)), None, "{scheduler:?}");
        assert_eq!(port.find(at(20), Span::from_ps(5), (0, 0)), Some(0), "{scheduler:?}");
        assert_eq!(port.earliest(at(12), Span::from_ps(5)), (at(20), 0), "{scheduler:?}");
    }
}

#[test]
fn lauc_vf_remembers_the_end_of_what_it_forgot() {
    let mut port = Port::new(3, Scheduler::LaucVf);
    for (wavelength, end) in [(0, 10), (1, 30), (2, 20)] {
        port.reserve(wavelength, at(0), at(end), 0);
        port.reserve(wavelength, at(90), at(100), 1);
    }
    port.forget(at(50));
    for wavelength in 0..3 {
        assert!(port.shorten(wavelength, at(90), 1, at(95)));
        assert!(!port.shorten(wavelength, at(0), 0, at(1)), "forgotten");
    }
    assert_eq!(port.outstanding(), 3);
    assert_eq!(port.find(at(50), Span::from_ps(10), (0, 2)), Some(1));
    port.forget(at(95));
    assert_eq!(port.overlapping(0, at(0), at(200)).count(), 0, "kept, but past");
}

#[test]
fn use_is_exact_when_bursts_are_cut_and_when_warm_up_ends() {
    let mut port = Port::new(1, Scheduler::FfVf);
    port.reserve(0, at(0), at(10), 1);
    port.reserve(0, at(20), at(40), 2);
    port.forget(at(15));
    assert!(port.shorten(0, at(20), 2, at(30)));
    assert_eq!(port.busy(0, at(25)), Span::from_ps(15));
    assert_eq!(port.busy(0, at(1000)), Span::from_ps(20));
    port.measure_from(at(22));
    assert_eq!(port.busy(0, at(25)), Span::from_ps(3));
    port.forget(at(40));
    port.reserve(0, at(40), at(41), 3);
    assert_eq!(port.busy(0, at(50)), Span::from_ps(9));
}

#[test]
#[should_panic(expected = "overlaps")]
fn an_overlap_is_a_bug() {
    let mut port = Port::new(1, Scheduler::FfVf);
    port.reserve(0, at(10), at(20), 1);
    port.reserve(0, at(5), at(11), 2);
}

#[test]
#[should_panic(expected = "is past")]
fn the_past_cannot_be_asked_for() {
    let mut port = Port::new(1, Scheduler::FfVf);
    port.forget(at(10));
    let _ = port.find(at(9), Span::from_ps(1), (0, 0));
}
