//! CUBIC of all stacks compared with RFC 9438 by the letter, in 1,000 equal streams of ACKs and
//! losses. Prints tables; with a directory writes data for a figure there. The same each time:
//!
//! ```sh
//! cargo run --release -p burstlab-laws --example cubic [DIRECTORY [STREAMS]]
//! ```

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use burstlab_laws::{
    Comparison, Departure, Family, Phase, ROUNDS, STACKS, Stream, Told, compare_all, trace,
};

const STREAMS: u64 = 1000;
/// The streams of which windows are written, one of each family.
const SHOWN: u64 = 5;

fn main() {
    let directory = std::env::args().nth(1);
    let count = std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(STREAMS);
    let all = compare_all(count);
    let mut text = String::new();
    windows(&mut text, &all);
    partings(&mut text, &all);
    rounds(&mut text, &all);
    departures(&mut text, &all);
    std::io::stdout().lock().write_all(text.as_bytes()).expect("the output is open");
    if let Some(directory) = directory {
        let file = Path::new(&directory).join("cubic-windows.csv");
        std::fs::write(&file, traces())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

fn results(all: &[(Family, Comparison)], law: usize) -> impl Iterator<Item = (Family, &Told)> {
    all.iter().map(move |(family, one)| (*family, &one.laws[law]))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), one| (sum + one, count + 1));
    sum / f64::from(count)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The window as a part of the letter's, by family, and how far the letter with all departures of
/// the law is from it, in the median stream.
fn windows(text: &mut String, all: &[(Family, Comparison)]) {
    let heads = Family::ALL.map(|family| format!("{:>9}", family.name())).concat();
    line(text, &format!("{:21}{heads}{:>9}", "window / letter", "all"));
    for (law, stack) in STACKS.iter().enumerate() {
        let each = Family::ALL.map(|family| {
            let of = results(all, law).filter(|one| one.0 == family);
            format!("{:9.3}", mean(of.map(|one| one.1.mean)))
        });
        let sum = mean(results(all, law).map(|one| one.1.mean));
        line(text, &format!("{:21}{}{sum:9.3}", stack.name, each.concat()));
    }
    line(text, &format!("\n{:21}{heads}", "modelled - law, %"));
    for (law, stack) in STACKS.iter().enumerate() {
        let each = Family::ALL.map(|family| {
            let of = results(all, law).filter(|one| one.0 == family);
            format!("{:9.2}", 100.0 * median(of.map(|one| one.1.unexplained)))
        });
        line(text, &format!("{:21}{}", stack.name, each.concat()));
    }
}

/// In which phase a law first parts from the letter.
fn partings(text: &mut String, all: &[(Family, Comparison)]) {
    const PHASES: [(Phase, &str); 5] = [
        (Phase::SlowStart, "slow start"),
        (Phase::Repair, "repair"),
        (Phase::Friendly, "Reno"),
        (Phase::Curve, "curve"),
        (Phase::Limited, "limited"),
    ];
    let heads = PHASES.map(|(_, name)| format!("{name:>12}")).concat();
    line(text, &format!("\n{:21}{heads}{:>12}{:>14}", "parts first in", "never", "median RTTs"));
    for (law, stack) in STACKS.iter().enumerate() {
        let each = PHASES.map(|(phase, _)| {
            let here =
                results(all, law).filter(|one| one.1.parts.is_some_and(|parts| parts.1 == phase));
            format!("{:12}", here.count())
        });
        let never = results(all, law).filter(|one| one.1.parts.is_none()).count();
        let since = median(results(all, law).filter_map(|one| one.1.parts.map(|parts| parts.2)));
        line(text, &format!("{:21}{}{never:12}{since:14.1}", stack.name, each.concat()));
    }
}

/// The window so many round trips after the first loss.
fn rounds(text: &mut String, all: &[(Family, Comparison)]) {
    let heads = ROUNDS.map(|round| format!("{:>12}", format!("{round} RTTs"))).concat();
    line(text, &format!("\n{:21}{heads}", "after a loss"));
    for (law, stack) in STACKS.iter().enumerate() {
        let each = std::array::from_fn::<_, { ROUNDS.len() }, _>(|place| {
            let found = results(all, law).filter_map(|one| one.1.after[place]);
            format!("{:12.3}", mean(found))
        });
        line(text, &format!("{:21}{}", stack.name, each.concat()));
    }
}

/// The window with each departure alone, as a share of the letter's.
fn departures(text: &mut String, all: &[(Family, Comparison)]) {
    let heads = Family::ALL.map(|family| format!("{:>9}", family.name())).concat();
    line(text, &format!("\n{:52}{heads}", "RFC 9438 with one departure / without"));
    for (place, departure) in Departure::ALL.iter().enumerate() {
        let each = Family::ALL.map(|family| {
            let of = all.iter().filter(|one| one.0 == family);
            format!("{:9.3}", mean(of.map(|one| one.1.alone[place])))
        });
        let users: Vec<_> = STACKS
            .iter()
            .filter(|stack| stack.departures.contains(departure))
            .map(|stack| stack.name)
            .filter(|name| !name.contains(','))
            .collect();
        let what = format!("{} {}", departure.section(), departure.what());
        line(text, &format!("{what:52}{}  {}", each.concat(), users.join(", ")));
    }
}

fn line(text: &mut String, one: &str) {
    writeln!(text, "{one}").expect("a text takes more");
}

/// Windows over time of the first streams, as CSV.
fn traces() -> String {
    let mut text = String::from("family,time_s,law,window\n");
    let names = std::iter::once("RFC 9438").chain(STACKS.iter().map(|stack| stack.name));
    let names: Vec<_> = names.collect();
    for number in 0..SHOWN {
        let stream = Stream::new(number);
        for (time, windows) in trace(&stream) {
            for (name, window) in names.iter().zip(windows) {
                let family = stream.family.name();
                line(&mut text, &format!("{family},{time:.4},\"{name}\",{window:.3}"));
            }
        }
    }
    text
}
