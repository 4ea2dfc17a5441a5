//! Sources of bursts that carry no packets of flows.

use burstlab_kernel::{RandomSource, Stream};
use burstlab_units::{Bytes, Rate, Time};
use serde::{Deserialize, Serialize};

use crate::scenario::{Per, Resolved, keys};
use crate::topology::Graph;
use crate::traffic::{Sampler, exponential_of, mean_ps};

/// A Poisson source of bursts from one edge node to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Background {
    from: u32,
    to: u32,
    class: u32,
    /// Mean time from one burst to the next, in ps.
    mean: f64,
    length: Sampler,
    stream: Stream,
    sent: u64,
    next: Time,
    stop: Time,
}

impl Background {
    /// When it sends next, if ever.
    pub(super) fn next(&self) -> Option<Time> {
        (self.next < self.stop).then_some(self.next)
    }

    /// Between which nodes its bursts go, and their class.
    pub(super) fn describe(&self) -> ((u32, u32), u32) {
        ((self.from, self.to), self.class)
    }

    /// It sends a burst: returns its length, and sets the time of the next one.
    pub(super) fn send(&mut self, now: Time, longest: Bytes) -> Bytes {
        self.sent += 1;
        let [wait, length] = self.stream.uniforms(self.sent);
        self.next = now.saturating_add(exponential_of(self.mean, wait));
        self.length.draw(length).min(longest)
    }
}

/// The sources of a scenario, one for each pair of edge nodes.
pub(super) fn sources(
    resolved: &Resolved,
    graph: &Graph,
    rate: Rate,
    random: &RandomSource,
) -> Vec<Background> {
    let mut sources = Vec::new();
    let loads = resolved.scenario.bursts.iter().zip(&resolved.lengths);
    let names = keys(resolved.scenario.bursts.iter().map(|one| one.name.as_ref()));
    for ((load, length), key) in loads.zip(names) {
        let froms = graph.edges_called(load.from.as_ref());
        let tos = graph.edges_called(load.to.as_ref());
        let pairs = froms.iter().flat_map(|&from| tos.iter().map(move |&to| (from, to)));
        let pairs: Vec<_> = pairs.filter(|(from, to)| from != to).collect();
        let hold = length.mean() * 8.0 / rate.as_bps() as f64;
        for &(from, to) in &pairs {
            if !resolved.watch.at(sources.len()) {
                break;
            }
            let share = match load.per {
                Per::Pair => 1.0,
                Per::Network => pairs.len() as f64,
                Per::Node => (tos.len() - usize::from(tos.contains(&from))) as f64,
            };
            if load.erlangs == 0.0 {
                continue;
            }
            let name = format!("bursts/{key}/{from}/{to}");
            let mut source = Background {
                from,
                to,
                class: load.class,
                mean: mean_ps(hold * share / load.erlangs),
                length: length.clone(),
                stream: random.stream(&name),
                sent: 0,
                next: Time::ZERO + load.start,
                stop: load.stop.map_or(Time::MAX, |stop| Time::ZERO + stop),
            };
            let [wait, _] = source.stream.uniforms(0);
            source.next = source.next.saturating_add(exponential_of(source.mean, wait));
            sources.push(source);
        }
    }
    sources
}
