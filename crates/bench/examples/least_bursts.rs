//! The least that a burst costs a simulator of the burst core: Poisson sources between all pairs of
//! a scenario's nodes, headers ahead of their bursts (JET), LAUC with void filling on each fibre,
//! and sums of what is lost. A fibre is a lane: its headers arrive in the order in which they left.
//! No other feature, no trace, no check. `docs/benchmarks.md` compares its time with the engine's.
//!
//! usage: least_bursts SCENARIO.json SECONDS

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use std::error::Error;
use std::hint::black_box;
use std::io::Write;

use burstlab_sim::scenario::{Resolved, Scenario};
use burstlab_sim::topology::Link;

/// Reservations of a wavelength that are kept.
const KEPT: usize = 8;

/// The last reservations of a wavelength as (start, end), in ps and in order of time.
#[derive(Clone, Default)]
struct Wavelength {
    taken: [(u64, u64); KEPT],
    count: usize,
}

impl Wavelength {
    /// Where a burst fits: the end of the reservation before it, and its place.
    fn fits(&self, start: u64, end: u64) -> Option<(u64, usize)> {
        let mut place = self.count;
        while place > 0 && self.taken[place - 1].0 > start {
            place -= 1;
        }
        let since = place.checked_sub(1).map_or(0, |before| self.taken[before].1);
        let until = if place < self.count { self.taken[place].0 } else { u64::MAX };
        (since <= start && end <= until).then_some((since, place))
    }

    /// Enters a reservation; the oldest is forgotten, which must be past.
    fn reserve(&mut self, place: usize, (start, end): (u64, u64), now: u64) {
        let mut place = place;
        if self.count == KEPT {
            assert!(self.taken[0].1 <= now, "a wavelength has more reservations than are kept");
            self.taken.copy_within(1.., 0);
            (self.count, place) = (KEPT - 1, place - 1);
        }
        self.taken.copy_within(place..self.count, place + 1);
        self.taken[place] = (start, end);
        self.count += 1;
    }
}

/// A fibre: its wavelengths, its delay, and the headers on it with their times.
struct Fibre {
    wavelengths: Vec<Wavelength>,
    delay: u64,
    headers: VecDeque<(u64, Header)>,
}

impl Fibre {
    /// LAUC-VF: the wavelength whose reservation before the burst ends latest.
    fn reserve(&mut self, burst: (u64, u64), now: u64) -> bool {
        let found = self.wavelengths.iter().enumerate().filter_map(|(number, wavelength)| {
            let (since, place) = wavelength.fits(burst.0, burst.1)?;
            Some((Reverse(since), number, place))
        });
        let Some((_, number, place)) = found.min() else { return false };
        self.wavelengths[number].reserve(place, burst, now);
        true
    }
}

/// A header: the route of its burst, the hop that comes next, and the burst itself.
#[derive(Clone, Copy)]
struct Header {
    source: u32,
    hop: u32,
    arrives: u64,
    hold: u64,
}

struct Source {
    route: Vec<u32>,
    next: u64,
}

/// The network of a scenario: its fibres, and a source for each pair of its nodes.
fn network(scenario: &Resolved) -> (Vec<Fibre>, Vec<Source>) {
    let (graph, routes) = scenario.graph_and_routes();
    let fibre = |link: &Link| Fibre {
        wavelengths: vec![Wavelength::default(); link.wavelengths as usize],
        delay: link.least_delay().as_ps(),
        headers: VecDeque::new(),
    };
    let nodes = 0..graph.nodes.len() as u32;
    let pairs = nodes.clone().flat_map(|from| nodes.clone().map(move |to| (from, to)));
    let source = |(from, to)| Source { route: routes.of(from, to)[0].to_vec(), next: 0 };
    let sources = pairs.filter(|(from, to)| from != to).map(source).collect();
    (graph.links.iter().map(fibre).collect(), sources)
}

/// An exponential number with this mean, from a generator of one multiplication (Steele, Lea and
/// Flood: SplitMix64, 2014).
fn exponential(state: &mut u64, mean: f64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    let share = ((word ^ word >> 31) >> 11) as f64 / (1u64 << 53) as f64;
    1 + (-mean * (-share).ln_1p()) as u64
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(seconds)) = (arguments.next(), arguments.next()) else {
        return Err("usage: least_bursts SCENARIO.json SECONDS".into());
    };
    let duration = (seconds.parse::<f64>()? * 1e12) as u64;
    let scenario = Scenario::from_json(&std::fs::read_to_string(file)?)
        .and_then(|scenario| scenario.resolve())
        .map_err(|error| error.to_string())?;
    let (mut fibres, mut sources) = network(&scenario);
    let [load] = &scenario.scenario.bursts[..] else {
        return Err("the scenario has one entry of [[bursts]]".into());
    };
    let rate = scenario.scenario.network.link_rate.as_bps() as f64;
    let mean = scenario.lengths[0].mean() * 8e12 / rate;
    let (offset, header, random) = (black_box(10_000_000), black_box(512_000), &mut 1);
    // Sources, then fibres.
    let mut queue = BinaryHeap::new();
    for (number, source) in sources.iter_mut().enumerate() {
        source.next = exponential(random, mean / load.erlangs);
        queue.push(Reverse((source.next, number)));
    }
    let (mut sent, mut lost, mut hops) = (0u64, 0u64, 0u64);
    loop {
        let (now, burst) = {
            let Some(mut first) = queue.peek_mut() else { break };
            let Reverse((now, event)) = *first;
            if now >= duration {
                break;
            }
            if let Some(source) = sources.get_mut(event) {
                source.next += exponential(random, mean / load.erlangs);
                *first = Reverse((source.next, event));
                sent += 1;
                let hold = exponential(random, mean);
                (now, Header { source: event as u32, hop: 0, arrives: now + offset, hold })
            } else {
                let lane = &mut fibres[event - sources.len()].headers;
                let (_, burst) = lane.pop_front().ok_or("a header that was announced")?;
                match lane.front() {
                    Some(&(at, _)) => *first = Reverse((at, event)),
                    None => drop(PeekMut::pop(first)),
                }
                (now, burst)
            }
        };
        let route = &sources[burst.source as usize].route;
        let link = route[burst.hop as usize] as usize;
        let fibre = &mut fibres[link];
        hops += 1;
        if !fibre.reserve((burst.arrives, burst.arrives + burst.hold), now) {
            lost += 1;
        } else if burst.hop as usize + 1 < route.len() {
            let at = now + header + fibre.delay;
            if fibre.headers.is_empty() {
                queue.push(Reverse((at, sources.len() + link)));
            }
            let arrives = burst.arrives + fibre.delay;
            fibre.headers.push_back((at, Header { hop: burst.hop + 1, arrives, ..burst }));
        }
    }
    writeln!(std::io::stdout(), "{{\"sent\":{sent},\"lost\":{lost},\"hops\":{hops}}}")?;
    Ok(())
}
