//! When connections of a demand come, between which nodes, and how large they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use burstlab_kernel::{RandomSource, Stream};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::scenario::{Course, Demand, DemandLaw, Traced};
use crate::topology::Graph;
use crate::traffic::{Sampler, exponential_of, mean_ps};

/// A connection that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::world) struct Arriving {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Application data.
    pub(super) bytes: u64,
}

/// Arrivals of one demand: all of them, or where they are random those at one edge node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Arrivals {
    pub(super) demand: u32,
    kind: ArrivalKind,
    times: Stream,
    sizes: Stream,
    /// The draws of how much later than its round or its row a connection begins, below `spread`.
    later: Stream,
    spread: Span,
    /// Connections of rounds and rows that have come and are still to begin, by time, and those of
    /// one instant as they came. Where rounds follow one another within `spread`, millions wait.
    waiting: BTreeMap<(Time, u64), Arriving>,
    /// When the next round or row comes.
    due: Time,
    /// The draws of the next connection; of a Poisson process the first are for its wait alone.
    arrived: u64,
    pub(super) next: Time,
    pub(super) stop: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum ArrivalKind {
    Poisson {
        from: u32,
        /// Where connections go, with the share of those that go there or to one before it.
        targets: Vec<(f64, u32)>,
        /// Mean time from one arrival to the next, in ps.
        mean: f64,
    },
    Rounds {
        /// Of an incast: connections, and where they end.
        incast: Option<(u32, Option<u32>)>,
        every: Option<Span>,
        round: u64,
        /// The edge nodes, in the order that the last round drew.
        nodes: Vec<u32>,
    },
    Trace {
        start: Time,
        /// Rows that have come.
        row: usize,
        /// Not stored: the scenario lists them, and no event changes them.
        #[serde(skip)]
        rows: Arc<[Traced]>,
    },
}

impl Arrivals {
    /// All of a demand.
    pub(super) fn of(
        (number, key): (u32, &str),
        (demand, law): (&Demand, &DemandLaw),
        graph: &Graph,
        random: &RandomSource,
    ) -> Vec<Self> {
        let start = Time::ZERO + demand.start;
        let one = |kind: ArrivalKind, next: Time, name: &str| Self {
            demand: number,
            kind,
            times: random.stream(name),
            sizes: random.stream(&format!("{name}/size")),
            later: random.stream(&format!("{name}/spread")),
            spread: demand.spread.unwrap_or_default(),
            waiting: BTreeMap::new(),
            due: next,
            arrived: 0,
            next,
            stop: demand.stop.map_or(Time::MAX, |stop| Time::ZERO + stop),
        };
        let nodes = || graph.edges();
        let kind = match &law.course {
            Course::Poisson => {
                let sources = poisson(demand, law, graph);
                let source = |(from, targets, mean)| {
                    let name = format!("demand/{key}/{from}");
                    let mut source =
                        one(ArrivalKind::Poisson { from, targets, mean }, start, &name);
                    let [wait, _] = source.times.uniforms(0);
                    source.next = start.saturating_add(exponential_of(mean, wait));
                    source.arrived = 1;
                    source
                };
                return sources.into_iter().map(source).collect();
            }
            &Course::Incast { senders, receiver, every } => {
                let incast = Some((senders, receiver));
                ArrivalKind::Rounds { incast, every, round: 0, nodes: nodes() }
            }
            &Course::Permutation { every } => {
                ArrivalKind::Rounds { incast: None, every, round: 0, nodes: nodes() }
            }
            Course::Trace(rows) => ArrivalKind::Trace { start, row: 0, rows: Arc::clone(rows) },
        };
        let first = match &law.course {
            Course::Trace(rows) => rows.first().map_or(Time::MAX, |row| start + row.start),
            _ => start,
        };
        vec![one(kind, first, &format!("demand/{key}"))]
    }

    /// Takes what is not stored from the same arrivals of another world.
    pub(super) fn adopt(&mut self, fresh: Self) {
        if let (ArrivalKind::Trace { rows, .. }, ArrivalKind::Trace { rows: listed, .. }) =
            (&mut self.kind, fresh.kind)
        {
            *rows = listed;
        }
    }

    /// Moves to the next instant at which connections come, and takes those of the present one;
    /// returns how many were drawn, or begin.
    pub(super) fn draw(&mut self, sampler: &Sampler, coming: &mut Vec<Arriving>) -> usize {
        let (now, before) = (self.next, self.arrived);
        if let ArrivalKind::Poisson { .. } = &self.kind {
            self.draw_one(now, sampler, coming);
            return coming.len();
        }
        if now == self.due {
            self.arrive(now, sampler, coming);
            self.wait_for(now, coming);
        }
        while let Some(first) = self.waiting.first_entry().filter(|first| first.key().0 == now) {
            coming.push(first.remove());
        }
        let waits = self.waiting.first_key_value();
        self.next = waits.map_or(self.due, |(&(at, _), _)| at.min(self.due));
        coming.len() + (self.arrived - before) as usize
    }

    /// The next connection of a Poisson process.
    fn draw_one(&mut self, now: Time, sampler: &Sampler, coming: &mut Vec<Arriving>) {
        let ArrivalKind::Poisson { from, ref targets, mean } = self.kind else { return };
        let [wait, place] = self.times.uniforms(self.arrived);
        let [size, _] = self.sizes.uniforms(self.arrived);
        let last = targets.len() - 1;
        let target = targets.partition_point(|&(share, _)| share <= place).min(last);
        let (to, bytes) = (targets[target].1, sampler.draw(size).get());
        coming.push(Arriving { from, to, bytes });
        self.arrived += 1;
        self.next = now.saturating_add(exponential_of(mean, wait));
    }

    /// Those that came begin each at a time of its own.
    fn wait_for(&mut self, now: Time, coming: &mut Vec<Arriving>) {
        let first = self.arrived - coming.len() as u64;
        for (ordinal, one) in (first..).zip(coming.drain(..)) {
            let [share, _] = self.later.uniforms(ordinal);
            let later = Span::from_ps((share * self.spread.as_ps() as f64) as u64);
            self.waiting.insert((now.saturating_add(later), ordinal), one);
        }
    }

    /// A round comes, or rows of a trace do, and it is `now`.
    fn arrive(&mut self, now: Time, sampler: &Sampler, coming: &mut Vec<Arriving>) {
        match &mut self.kind {
            ArrivalKind::Poisson { .. } => {}
            ArrivalKind::Rounds { incast, every, round, nodes } => {
                let place = coming.len();
                let count = nodes.len() as u64;
                // Each round has as many draws as there are nodes, and one more.
                let first = *round * (count + 1);
                let draw = |nth: u64, below: usize| {
                    let [share, _] = self.times.uniforms(first + nth);
                    (share * below as f64) as usize
                };
                match *incast {
                    None => cycle(nodes, draw, coming),
                    Some((senders, to)) => {
                        let to = to.unwrap_or_else(|| nodes[draw(count, nodes.len())]);
                        gather(nodes, (senders, to), draw, coming);
                    }
                }
                for one in &mut coming[place..] {
                    let [size, _] = self.sizes.uniforms(self.arrived);
                    one.bytes = sampler.draw(size).get();
                    self.arrived += 1;
                }
                *round += 1;
                self.due = every.map_or(Time::MAX, |every| now.saturating_add(every));
            }
            ArrivalKind::Trace { start, row, rows } => {
                let here = |one: &&Traced| *start + one.start == now;
                let due = rows[*row..].iter().take_while(here);
                let one = |&Traced { from, to, bytes, .. }: &Traced| Arriving { from, to, bytes };
                let before = coming.len();
                coming.extend(due.map(one));
                *row += coming.len() - before;
                self.arrived += (coming.len() - before) as u64;
                self.due = rows.get(*row).map_or(Time::MAX, |row| *start + row.start);
            }
        }
    }
}

/// The connections of a permutation: the nodes in a circle, in a random order (Sattolo's shuffle),
/// each with the next.
fn cycle(nodes: &mut [u32], draw: impl Fn(u64, usize) -> usize, coming: &mut Vec<Arriving>) {
    nodes.sort_unstable();
    let from: Vec<u32> = nodes.to_vec();
    for last in (1..nodes.len()).rev() {
        // Never with itself: one cycle is left of all.
        nodes.swap(last, draw(last as u64, last));
    }
    coming.extend(from.iter().zip(&*nodes).map(|(&from, &to)| Arriving { from, to, bytes: 0 }));
}

/// The connections of an incast: as many as `senders` says, from other nodes, in a random order
/// (Fisher and Yates), to one.
fn gather(
    nodes: &mut [u32],
    (senders, to): (u32, u32),
    draw: impl Fn(u64, usize) -> usize,
    coming: &mut Vec<Arriving>,
) {
    nodes.sort_unstable();
    let place = nodes.binary_search(&to).expect("it ends at a node with hosts");
    let end = nodes.len() - 1;
    nodes.swap(place, end);
    let others = &mut nodes[..end];
    for first in 0..others.len().min(senders as usize) {
        let chosen = first + draw(first as u64, others.len() - first);
        others.swap(first, chosen);
    }
    let around = others.iter().cycle().take(senders as usize);
    coming.extend(around.map(|&from| Arriving { from, to, bytes: 0 }));
}

/// A node where connections start, where they go, and the mean time from one to the next, in ps.
type Origin = (u32, Vec<(f64, u32)>, f64);

/// The nodes where connections of a demand start.
fn poisson(demand: &Demand, law: &DemandLaw, graph: &Graph) -> Vec<Origin> {
    let edges = graph.edges();
    let origin = |(from, rate): (u32, f64)| {
        let row = || edges.iter().map(|&to| (law.weights.of(from, to), to));
        let own = row().map(|(weight, _)| weight).sum::<f64>();
        let mut shares = 0.0;
        let targets = row().filter(|(weight, _)| *weight > 0.0).map(|(weight, to)| {
            shares += weight / own;
            (shares, to)
        });
        (from, targets.collect(), mean_ps(1.0 / rate))
    };
    law.sources(demand.per, graph).into_iter().map(origin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(random: &RandomSource, round: u64) -> impl Fn(u64, usize) -> usize {
        let stream = random.stream("test");
        move |nth, below| (stream.uniforms(round * 100 + nth)[0] * below as f64) as usize
    }

    #[test]
    fn a_permutation_goes_round_all_nodes_and_each_target_is_equally_likely() {
        let random = RandomSource::new(1, 0);
        let mut counts = [[0u32; 5]; 5];
        for round in 0..10_000 {
            let mut coming = Vec::new();
            cycle(&mut [3, 0, 4, 1, 2], draws(&random, round), &mut coming);
            let mut here = 0;
            for step in 1..=5 {
                here = coming[here as usize].to;
                assert_eq!(here == 0, step == 5, "one cycle: {coming:?}");
            }
            for one in &coming {
                counts[one.from as usize][one.to as usize] += 1;
            }
        }
        for (from, row) in counts.iter().enumerate() {
            for (to, &count) in row.iter().enumerate() {
                // Binomial of 10,000 and 1/4: mean 2500, standard deviation 43.
                let expected = if from == to { 0..1 } else { 2300..2700 };
                assert!(expected.contains(&count), "{from} to {to}: {count}");
            }
        }
    }

    #[test]
    fn an_incast_has_each_other_node_as_often_as_can_be() {
        let random = RandomSource::new(1, 0);
        let mut chosen = [0u32; 5];
        for round in 0..10_000 {
            let mut coming = Vec::new();
            gather(&mut [0, 1, 2, 3, 4], (2, 3), draws(&random, round), &mut coming);
            assert!(coming.len() == 2 && coming[0].from != coming[1].from, "{coming:?}");
            assert!(coming.iter().all(|one| one.to == 3 && one.from != 3), "{coming:?}");
            coming.iter().for_each(|one| chosen[one.from as usize] += 1);
        }
        // Each of four is one of two in half of all rounds; standard deviation 50.
        assert!(
            [0, 1, 2, 4].iter().all(|&node| (4750..5250).contains(&chosen[node])),
            "{chosen:?}"
        );
        let mut coming = Vec::new();
        gather(&mut [0, 1, 2], (5, 1), draws(&random, 0), &mut coming);
        let from = |node: u32| coming.iter().filter(|one| one.from == node).count();
        assert_eq!(from(0) + from(2), 5);
        assert_eq!(from(0).abs_diff(from(2)), 1);
    }
}
