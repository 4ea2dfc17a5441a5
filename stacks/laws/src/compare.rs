//! Holds the windows of laws against that of the letter, stream by stream.

use std::thread;

use crate::{Departure, Event, Family, Law, Letter, Phase, STACKS, Stream};

/// Round trips after the first loss at which windows are reported.
pub const ROUNDS: [u64; 4] = [1, 5, 20, 50];

/// Windows are one as long as they are apart by less than this: packets, and part of a window.
const APART: (f64, f64) = (1.5, 0.02);

/// The results of one law in one stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// Where it first parts from the letter, and how many round trips after the last loss, 0 where
    /// there was none.
    pub parts: Option<(u64, Phase, f64)>,
    /// The window as a part of the letter's, so many round trips after the first loss.
    pub after: [Option<f64>; ROUNDS.len()],
    /// The mean over time of that part, sampled each round trip.
    pub mean: f64,
    /// The mean over time of how far the letter with all departures of the law is from it.
    pub unexplained: f64,
}

/// Laws compared with the letter in one stream.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Of each law, as in [`STACKS`].
    pub laws: Vec<Told>,
    /// Of the letter with one of [`Departure::ALL`], its mean as in [`Told::mean`].
    pub alone: [f64; Departure::ALL.len()],
}

/// Feeds a stream to all laws.
#[must_use]
pub fn compare(stream: &Stream) -> Comparison {
    let letter = samples(stream, &mut Letter::new(&[]));
    let laws = STACKS.iter().map(|stack| {
        let windows = samples(stream, (stack.law)().as_mut());
        let modelled = samples(stream, &mut Letter::new(stack.departures));
        let both = windows.each.iter().zip(&modelled.each);
        Told {
            parts: parting(stream, &letter.all, &windows.all),
            after: ROUNDS.map(|round| part_after(stream, round, &letter, &windows)),
            mean: ratio(&windows, &letter),
            unexplained: mean(both.map(|(law, modelled)| (modelled / law - 1.0).abs())),
        }
    });
    let alone = Departure::ALL.map(|departure| {
        let windows = samples(stream, &mut Letter::new(&[departure]));
        ratio(&windows, &letter)
    });
    Comparison { laws: laws.collect(), alone }
}

/// The first `count` streams, on as many threads as there are processors; the same each time.
///
/// # Panics
///
/// Where a law does.
#[must_use]
pub fn compare_all(count: u64) -> Vec<(Family, Comparison)> {
    let workers = thread::available_parallelism().map_or(1, usize::from) as u64;
    thread::scope(|scope| {
        let each: Vec<_> = (0..workers)
            .map(|worker| {
                let mine = (worker..count).step_by(workers as usize);
                scope.spawn(move || {
                    let one = |number| {
                        let stream = Stream::new(number);
                        (number, (stream.family, compare(&stream)))
                    };
                    mine.map(one).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut all: Vec<_> =
            each.into_iter().flat_map(|one| one.join().expect("a worker ends")).collect();
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, one)| one).collect()
    })
}

/// Time in seconds and windows of the letter and of all laws, once a round trip.
#[must_use]
pub fn trace(stream: &Stream) -> Vec<(f64, Vec<f64>)> {
    let mut all = vec![samples(stream, &mut Letter::new(&[]))];
    all.extend(STACKS.iter().map(|stack| samples(stream, (stack.law)().as_mut())));
    let rows = all[0].times.iter().enumerate().map(|(place, &now)| {
        (now as f64 / 1e6, all.iter().map(|windows| windows.each[place]).collect())
    });
    rows.collect()
}

/// The windows of one law in one stream.
struct Windows {
    /// After each event.
    all: Vec<f32>,
    /// Once a round trip.
    each: Vec<f64>,
    times: Vec<u64>,
}

fn samples(stream: &Stream, law: &mut dyn Law) -> Windows {
    let all = Vec::with_capacity(stream.events.len());
    let mut windows = Windows { all, each: Vec::new(), times: Vec::new() };
    let mut due = stream.rtt;
    for (event, _) in &stream.events {
        event.tell(law);
        let window = law.window();
        windows.all.push(window as f32);
        if event.now() >= due {
            windows.each.push(window);
            windows.times.push(event.now());
            due = event.now() + stream.rtt;
        }
    }
    windows
}

/// The mean over time of one window as a part of another.
fn ratio(law: &Windows, letter: &Windows) -> f64 {
    mean(law.each.iter().zip(&letter.each).map(|(law, letter)| law / letter))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

/// The first event after which a window is another one than the letter's.
fn parting(stream: &Stream, letter: &[f32], law: &[f32]) -> Option<(u64, Phase, f64)> {
    let mut loss = None;
    for (place, (event, phase)) in stream.events.iter().enumerate() {
        if let Event::Lost { now, .. } = event {
            loss = Some(*now);
        }
        let (here, there) = (f64::from(letter[place]), f64::from(law[place]));
        let apart = (here - there).abs();
        if apart > APART.0 && apart > APART.1 * here {
            let since = loss.map_or(0.0, |loss| (event.now() - loss) as f64 / stream.rtt as f64);
            return Some((event.now(), *phase, since));
        }
    }
    None
}

/// A window as a part of the letter's, `round` round trips after the first loss, if there was no
/// other loss between.
fn part_after(stream: &Stream, round: u64, letter: &Windows, law: &Windows) -> Option<f64> {
    let first = stream.first_loss?;
    let until = first + round * stream.rtt;
    let reaches = stream.events.last().is_some_and(|(event, _)| event.now() >= until);
    let place = stream.events.partition_point(|(event, _)| event.now() <= until).checked_sub(1)?;
    let others = stream.events[..=place].iter().any(|(event, _)| match event {
        Event::Lost { lost, .. } => lost.sent > first,
        Event::Spurious { .. } => true,
        _ => false,
    });
    let part = || f64::from(law.all[place]) / f64::from(letter.all[place]);
    (reaches && !others).then(part)
}
