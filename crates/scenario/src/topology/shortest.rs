//! Shortest paths to a node, and the k shortest routes between two.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::{Graph, Link};

/// The quantity that the shortest route minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Routing")]
pub enum Metric {
    /// Propagation delay; of two routes alike in it, the one with fewer links.
    #[default]
    Delay,
    /// Links; of two routes alike in them, the one with less propagation delay.
    Hops,
}

/// The length of a route: the metric, then, in lower bits, the rule between equals.
///
/// A sum never carries into the metric: a route has fewer than 2^32 links, and their delays are
/// less than 2^64 ps each.
pub(super) type Cost = u128;

/// The next link of a node from which no path leads on, or which is the destination.
pub(super) const NONE: u32 = u32::MAX;

/// Stands for the distance of a node from which no path leads.
const FAR: Cost = Cost::MAX;

impl Metric {
    fn of(self, link: &Link) -> Cost {
        let delay = Cost::from(link.least_delay().as_ps());
        match self {
            Self::Delay => delay << 32 | 1,
            Self::Hops => 1 << 96 | delay,
        }
    }
}

/// A route as it is ranked: its length, then node for node the lower number, then the lower link.
type Ranked = (Cost, Vec<(u32, u32)>);

/// A graph to find paths in.
pub(super) struct Search<'a> {
    pub(super) graph: &'a Graph,
    /// Whether paths keep out of nodes that do not switch, except at their ends.
    pub(super) heed_roles: bool,
    /// Links that are taken for not there; empty: none are.
    closed: &'a [bool],
    /// By node, the links that end there and are open, each with where it begins.
    incoming: Vec<Vec<(u32, u32)>>,
    /// By link, its length.
    costs: Vec<Cost>,
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: &'a Graph, metric: Metric, heed_roles: bool) -> Self {
        Self::around(graph, metric, heed_roles, &[])
    }

    /// The shortest paths without some links: for each link whether it is closed; an empty list
    /// closes none.
    pub(super) fn around(
        graph: &'a Graph,
        metric: Metric,
        heed_roles: bool,
        closed: &'a [bool],
    ) -> Self {
        let costs = graph.links.iter().map(|link| metric.of(link)).collect();
        let mut search = Self { graph, heed_roles, closed, incoming: Vec::new(), costs };
        search.incoming = vec![Vec::new(); graph.nodes.len()];
        for (number, link) in (0..).zip(&graph.links) {
            if search.is_open(number) {
                search.incoming[link.to as usize].push((number, link.from));
            }
        }
        search
    }

    fn is_open(&self, link: u32) -> bool {
        self.closed.get(link as usize).is_none_or(|closed| !closed)
    }

    fn passes(&self, node: u32) -> bool {
        !self.heed_roles || self.graph.nodes[node as usize].role.switches()
    }

    /// Distances to `to` over nodes for which `open` holds (Dijkstra's algorithm, backwards).
    pub(super) fn tree(&'a self, to: u32, open: impl Fn(u32) -> bool) -> Tree<'a> {
        let mut distance = vec![FAR; self.graph.nodes.len()];
        let mut next = vec![NONE; self.graph.nodes.len()];
        let mut ahead = BinaryHeap::from([Reverse((0, to))]);
        distance[to as usize] = 0;
        while let Some(Reverse((cost, node))) = ahead.pop() {
            let settled = distance[node as usize] != cost;
            if settled || (node != to && !self.passes(node)) {
                continue;
            }
            for &(number, from) in &self.incoming[node as usize] {
                let through = cost + self.costs[number as usize];
                let known = &mut distance[from as usize];
                let link = &mut next[from as usize];
                if through < *known && open(from) {
                    (*known, *link) = (through, number);
                    ahead.push(Reverse((through, from)));
                } else if through == *known && through > 0 {
                    // Of two paths of one length the one over the lower node is first.
                    let head = |link: u32| (self.graph.link(link).to, link);
                    *link = if head(number) < head(*link) { number } else { *link };
                }
            }
        }
        Tree { search: self, to, distance, next }
    }

    /// The `count` shortest routes without loops, shortest first (Yen's algorithm); `first` is the
    /// shortest.
    pub(super) fn routes(&'a self, first: Vec<u32>, count: usize) -> Vec<Vec<u32>> {
        let Some(&last) = first.last() else { return vec![first] };
        let to = self.graph.link(last).to;
        let mut found = vec![first];
        let mut candidates: BTreeSet<Ranked> = BTreeSet::new();
        while let Some(last) = found.last().filter(|_| found.len() < count) {
            let nodes = self.graph.nodes_of(last);
            for turn in 0..last.len() {
                let root = &last[..turn];
                let same_root = found.iter().filter(|route| route.starts_with(root));
                let taken: Vec<u32> = same_root.map(|route| route[turn]).collect();
                let rest = self.tree(to, |node| !nodes[..=turn].contains(&node));
                if let Some(rest) = rest.path_without(nodes[turn], &taken) {
                    candidates.insert(self.ranked(&[root, &rest].concat()));
                }
            }
            let Some((_, steps)) = candidates.pop_first() else { break };
            found.push(steps.into_iter().map(|(_, link)| link).collect());
        }
        found
    }

    /// A route with its rank: routes are ordered by what this gives.
    pub(super) fn ranked(&self, route: &[u32]) -> Ranked {
        let total = route.iter().map(|&link| self.costs[link as usize]).sum();
        (total, route.iter().map(|&link| (self.graph.link(link).to, link)).collect())
    }
}

/// The distance of every node from one, and hence the paths there.
pub(super) struct Tree<'a> {
    search: &'a Search<'a>,
    to: u32,
    /// [`FAR`]: no path leads from there.
    distance: Vec<Cost>,
    /// For each node the first link of its shortest path, or [`NONE`].
    pub(super) next: Vec<u32>,
}

impl Tree<'_> {
    /// The links out of `node` by which its destination can be reached, by the length of the path
    /// through them, then by the number of the node they lead to.
    pub(super) fn turns(&self, node: u32) -> Vec<u32> {
        let mut turns: Vec<(Cost, u32, u32)> = self.unsorted(node).collect();
        turns.sort_unstable();
        turns.into_iter().map(|(_, _, link)| link).collect()
    }

    /// The shortest path from `node`, where there is one.
    pub(super) fn path(&self, node: u32) -> Option<Vec<u32>> {
        if node == self.to { Some(Vec::new()) } else { self.path_without(node, &[]) }
    }

    /// The paths from `node` that are as short as the shortest, `count` at most, as they are
    /// ranked.
    pub(super) fn equal(&self, node: u32, count: usize) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        // Paths begun, the best last, each with the node it has come to.
        let mut begun = vec![(Vec::new(), node)];
        while let Some((path, here)) = begun.pop() {
            if here == self.to {
                found.push(path);
                if found.len() == count {
                    break;
                }
                continue;
            }
            let mut turns: Vec<(u32, u32)> = self
                .unsorted(here)
                .filter(|&(cost, ..)| self.distance[here as usize] == cost)
                .map(|(_, head, link)| (head, link))
                .collect();
            turns.sort_unstable_by(|a, b| b.cmp(a));
            begun.extend(
                turns.into_iter().map(|(head, link)| ([&path[..], &[link]].concat(), head)),
            );
        }
        found
    }

    /// The shortest path from `node` whose first link is none of `taken`.
    fn path_without(&self, node: u32, taken: &[u32]) -> Option<Vec<u32>> {
        let open = |&(_, _, link): &(Cost, u32, u32)| !taken.contains(&link);
        let (_, mut here, first) = self.unsorted(node).filter(open).min()?;
        let mut path = vec![first];
        while here != self.to {
            // Each link adds a hop, so that the distance falls with every step.
            let next = self.unsorted(here).min();
            let (_, head, link) = next.expect("a node with a distance has a next link");
            path.push(link);
            here = head;
        }
        Some(path)
    }

    /// For each link out of `node` that leads on: the length of the path through it, where it ends,
    /// and its number.
    fn unsorted(&self, node: u32) -> impl Iterator<Item = (Cost, u32, u32)> {
        self.search.graph.outgoing(node).iter().filter_map(|&number| {
            let head = self.search.graph.link(number).to;
            let rest = self.distance[head as usize];
            let leads_on = rest != FAR && self.search.is_open(number);
            let passes = leads_on && (head == self.to || self.search.passes(head));
            passes.then(|| (rest + self.search.costs[number as usize], head, number))
        })
    }
}
