//! Sources of bursts that carry no packets of flows.

use burstlab_kernel::{RandomSource, Stream};
use burstlab_units::{Bytes, Rate, Time};
use serde::{Deserialize, Serialize};

use crate::scenario::{Bursts as BurstLoad, Per, Resolved, keys};
use crate::topology::Graph;
use crate::traffic::{Sampler, exponential_of, mean_ps};

/// A source of bursts between edge nodes: each has so many packets of a Poisson process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Background {
    /// From where to where a burst may go, all equally likely.
    ends: Box<[(u32, u32)]>,
    class: u32,
    packets: u32,
    /// Mean time from one packet to the next, in ps.
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

    /// The class of its bursts.
    pub(super) fn class(&self) -> u32 {
        self.class
    }

    /// It sends a burst: returns from where to where, and its length, and sets the time of the next
    /// one.
    pub(super) fn send(&mut self, longest: Bytes) -> ((u32, u32), Bytes) {
        self.sent += 1;
        let ordinal = self.sent * u64::from(self.packets);
        let length = self.await_packets(ordinal);
        let ends = match &*self.ends {
            &[ends] => ends,
            all => {
                // A burst of several packets has several draws; of a pair alone goes any burst.
                let [_, share] = self.stream.uniforms(ordinal + 1);
                all[(share * all.len() as f64) as usize]
            }
        };
        (ends, self.length.draw(length).min(longest))
    }

    /// The packets of the next burst come, with the draws from `ordinal` on. Returns the second
    /// number of the first draw.
    fn await_packets(&mut self, ordinal: u64) -> f64 {
        let [wait, second] = self.stream.uniforms(ordinal);
        self.await_packet(wait);
        for packet in 1..u64::from(self.packets) {
            let [wait, _] = self.stream.uniforms(ordinal + packet);
            self.await_packet(wait);
        }
        second
    }

    fn await_packet(&mut self, wait: f64) {
        self.next = self.next.saturating_add(exponential_of(self.mean, wait));
    }
}

/// The sources of a scenario: one for each pair of edge nodes, or for all whose packets make a
/// burst together.
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
        let hold = length.mean() * 8.0 / rate.as_bps() as f64;
        if load.erlangs == 0.0 {
            continue;
        }
        for (place, share, ends) in units(load, graph) {
            if !resolved.watch.at(sources.len()) {
                break;
            }
            let mut source = Background {
                ends,
                class: load.class,
                packets: load.packets,
                mean: mean_ps(hold * share / load.erlangs / f64::from(load.packets)),
                length: length.clone(),
                stream: random.stream(&format!("bursts/{key}{place}")),
                sent: 0,
                next: Time::ZERO + load.start,
                stop: load.stop.map_or(Time::MAX, |stop| Time::ZERO + stop),
            };
            source.await_packets(0);
            sources.push(source);
        }
    }
    sources
}

/// A source: its place in names of draws, the number of sources that share its load, and its ends.
type Unit = (String, f64, Box<[(u32, u32)]>);

/// The sources of an entry. Where a burst has one packet, each pair has one, whatever the load is
/// counted for: that is the same process.
fn units(load: &BurstLoad, graph: &Graph) -> Vec<Unit> {
    let froms = graph.edges_called(load.from.as_ref());
    let tos = graph.edges_called(load.to.as_ref());
    let pairs_of =
        |from: u32| tos.iter().map(move |&to| (from, to)).filter(|(from, to)| from != to);
    let all: Vec<(u32, u32)> = froms.iter().flat_map(|&from| pairs_of(from)).collect();
    match load.per {
        Per::Network if load.packets > 1 => vec![(String::new(), 1.0, all.into())],
        Per::Node if load.packets > 1 => {
            let unit = |&from: &u32| (format!("/{from}"), 1.0, pairs_of(from).collect());
            froms.iter().map(unit).filter(|(.., ends): &Unit| !ends.is_empty()).collect()
        }
        per => {
            let share = |from: u32| match per {
                Per::Pair => 1.0,
                Per::Network => all.len() as f64,
                Per::Node => (tos.len() - usize::from(tos.contains(&from))) as f64,
            };
            let unit = |&(from, to): &(u32, u32)| {
                (format!("/{from}/{to}"), share(from), Box::from([(from, to)]))
            };
            all.iter().map(unit).collect()
        }
    }
}
