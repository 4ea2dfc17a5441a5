//! The page on CUBIC of the stacks (docs/howto/cubic.md) says the truth.

use std::sync::OnceLock;

use burstlab_laws::{
    Acked, Comparison, Departure, Event, Family, Law, Letter, Lost, Phase, STACKS, Stream,
    compare_all,
};

/// All streams of the page.
fn all() -> &'static [(Family, Comparison)] {
    static ALL: OnceLock<Vec<(Family, Comparison)>> = OnceLock::new();
    ALL.get_or_init(|| compare_all(1000))
}

fn law(name: &str) -> usize {
    STACKS.iter().position(|stack| stack.name == name).expect("the stack is in this build")
}

fn of(family: Family) -> impl Iterator<Item = &'static Comparison> {
    all().iter().filter(move |one| one.0 == family).map(|one| &one.1)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<_> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean window of a law as a part of the letter's.
fn window(name: &str, family: Family) -> f64 {
    let place = law(name);
    mean(of(family).map(|one| one.laws[place].mean))
}

/// The window with one departure alone, as a share of the letter's.
fn alone(departure: Departure, family: Family) -> f64 {
    let place = Departure::ALL.iter().position(|&one| one == departure).expect("it is listed");
    mean(of(family).map(|one| one.alone[place]))
}

/// How far the letter with the departures of a law is from it, in the median stream.
fn unexplained(name: &str, family: Family) -> f64 {
    let place = law(name);
    let mut all: Vec<_> = of(family).map(|one| one.laws[place].unexplained).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// The numbers of the table that follows the line of a page that begins with `head`.
fn table(head: &str) -> Vec<(String, Vec<f64>)> {
    let page = include_str!("../../../docs/howto/cubic.md");
    let lines = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|')).map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_string());
        let name = cells.next().expect("a row has a name").replace('`', "");
        (name, cells.filter_map(|cell| cell.parse().ok()).collect())
    });
    rows.collect()
}

#[test]
fn the_page_has_the_windows_of_these_streams() {
    let rows = table("| window / letter");
    assert_eq!(rows.len(), STACKS.len(), "a row a law");
    for (name, numbers) in rows {
        for (family, printed) in Family::ALL.into_iter().zip(numbers) {
            let found = window(&name, family);
            assert!((found - printed).abs() < 0.006, "{name}, {family:?}: {found}, not {printed}");
        }
    }
}

#[test]
fn the_page_has_what_each_departure_is_worth() {
    let rows = table("| departure alone / letter");
    assert_eq!(rows.len(), Departure::ALL.len());
    for (departure, (name, numbers)) in Departure::ALL.into_iter().zip(rows) {
        let what = departure.what();
        assert!(name.starts_with(departure.section()) && name.ends_with(what), "{name}: {what}");
        for (family, printed) in Family::ALL.into_iter().zip(numbers) {
            let found = alone(departure, family);
            assert!((found - printed).abs() < 0.006, "{name}, {family:?}: {found}, not {printed}");
        }
    }
}

#[test]
fn the_departures_explain_quinn_and_noq() {
    for family in Family::ALL {
        for name in ["quinn", "noq"] {
            let left = unexplained(name, family);
            assert!(left < 0.001, "{name}, {family:?}: {left}");
        }
    }
}

#[test]
fn whole_segments_and_ticks_are_what_is_left_of_ours() {
    for family in [Family::Single, Family::Bursts, Family::Limited, Family::Spurious] {
        let left = unexplained("ours, no HyStart", family);
        assert!(left < 0.05, "{family:?}: {left}");
        assert!(unexplained("ours", family) > 0.15, "HyStart is more: {family:?}");
    }
}

#[cfg(feature = "quiche")]
#[test]
fn quiche_takes_single_losses_back() {
    for family in [Family::Single, Family::Bursts, Family::Limited, Family::Spurious] {
        let left = unexplained("quiche, no HyStart++", family);
        assert!(left < 0.03, "{family:?}: {left}");
    }
    let (law, forgiven) = (
        window("quiche, no HyStart++", Family::Single),
        alone(Departure::FewLostForgiven, Family::Single),
    );
    assert!(law > 2.5 && forgiven > 2.5, "{law}, {forgiven}");
}

#[test]
fn without_a_loss_before_all_laws_but_those_with_hystart_are_one() {
    for number in 0..50 {
        let stream = Stream::new(number);
        let first = stream.first_loss.expect("the queue is full one day");
        for stack in STACKS.iter().filter(|stack| !["ours", "quiche"].contains(&stack.name)) {
            let (mut law, mut letter) = ((stack.law)(), Letter::new(&[]));
            for (event, _) in stream.events.iter().take_while(|one| one.0.now() < first) {
                event.tell(law.as_mut());
                event.tell(&mut letter);
            }
            assert_eq!(law.window(), letter.window(), "{}, stream {number}", stack.name);
        }
    }
}

#[test]
fn streams_are_the_same_each_time_and_of_all_families() {
    for number in 0..10 {
        let stream = Stream::new(number);
        assert_eq!(stream.events, Stream::new(number).events);
        assert_ne!(stream.events, Stream::new(number + 5).events);
        let times: Vec<_> = stream.events.iter().map(|one| one.0.now()).collect();
        assert!(times.is_sorted(), "stream {number}");
        let has = |wanted: fn(&Event) -> bool| stream.events.iter().any(|one| wanted(&one.0));
        let persistent = has(|event| matches!(event, Event::Lost { lost, .. } if lost.persistent));
        assert_eq!(persistent, stream.family == Family::Outages, "stream {number}");
        let limited = stream.events.iter().any(|one| one.1 == Phase::Limited);
        assert_eq!(limited, stream.family == Family::Limited, "stream {number}");
        let late = has(|event| matches!(event, Event::Spurious { .. }));
        assert!(stream.family == Family::Spurious || !late, "stream {number}");
    }
}

/// Sections 4.2, 4.6, 4.7 and 4.9, by hand.
#[test]
fn the_letter_is_that_of_the_rfc() {
    let mut letter = Letter::new(&[]);
    let ack = |sent| Acked { sent, number: 0, rtt: 100_000, smoothed_ms: 100, limited: false };
    for _ in 0..90 {
        letter.on_ack(100_000, &ack(0));
    }
    assert_eq!(letter.window(), 100.0, "slow start");
    let lost = |sent| Lost { sent, number: 0, packets: 1, persistent: false };
    letter.on_loss(200_000, &lost(150_000));
    assert!((letter.window() - 70.0).abs() < 1e-9, "beta is 0.7");
    letter.on_loss(250_000, &lost(190_000));
    letter.on_ack(300_000, &ack(200_000));
    assert!((letter.window() - 70.0).abs() < 1e-9, "one reduction a round trip, no growth in it");
    // K = (30 / 0.4)^(1/3) = 4.217 s after the repair the curve is at W_max again.
    for step in 0..42_u64 {
        for _ in 0..letter.window() as u64 {
            letter.on_ack(300_001 + step * 100_000, &ack(250_000 + step * 100_000));
        }
    }
    assert!((letter.window() - 100.0).abs() < 0.5, "{}", letter.window());
    // Below W_max, so that fast convergence counts: 0.7 of the window, and W_max 0.85 of it.
    letter.on_loss(4_600_000, &lost(4_550_000));
    let reduced = letter.window();
    letter.on_spurious(4_650_000);
    assert!((reduced / letter.window() - 0.7).abs() < 1e-9, "and it comes back");
}
