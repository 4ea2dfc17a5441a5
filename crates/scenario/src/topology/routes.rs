//! The routes of a graph, computed once.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::graph::Graph;
use super::shortest::{Metric, Search};

/// The links of a route in the order in which they are crossed.
pub type Route = Vec<u32>;

/// Most links that all routes of a graph may have together: they are kept in memory.
const STEPS_MAX: usize = 20_000_000;
/// Most links looked at to find alternative routes: a few seconds.
const WORK_MAX: usize = 2_000_000_000;

/// The routes that are found for each pair of nodes with hosts, in addition to given routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// This number of shortest routes, or fewer if there are not enough.
    Shortest(usize),
    /// At most this number of routes, all as short as the shortest.
    Equal(usize),
}

impl Wanted {
    fn count(self) -> usize {
        match self {
            Self::Shortest(count) | Self::Equal(count) => count,
        }
    }
}

/// Routes between nodes with hosts, and paths there from every other node.
///
/// Routes are ordered by metric, then by the order of [`Metric`], then by the number of the node at
/// which two routes part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routes {
    /// For each node its place among those with hosts.
    place: Vec<Option<usize>>,
    hosts: usize,
    /// For each node with hosts, for each other: the routes.
    routes: Vec<Vec<Route>>,
    /// For each node, the shortest path to each node with hosts.
    paths: Vec<Option<Route>>,
    /// For each node, for each with hosts: the links out, best first.
    detours: Vec<Vec<u32>>,
}

/// Why a graph has no routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// No path leads from one node with hosts to another.
    Unreachable {
        /// Where a route should begin.
        from: u32,
        /// Where it should end.
        to: u32,
        /// The edge node that would have to switch, where that is what is missing.
        blocked: Option<u32>,
    },
    /// The routes are more than memory or patience hold.
    TooMany,
    /// Nobody waits for them any more.
    Stopped,
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { from, to, .. } => write!(f, "no path from node {from} to {to}"),
            Self::TooMany => f.write_str("too many routes"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for RouteError {}

impl Routes {
    /// Finds `count` routes for each ordered pair of nodes with hosts, or fewer if there are not
    /// enough. The given routes of `explicit`, lists of links, all come first, in the order given.
    /// Each counts as one route.
    ///
    /// # Errors
    /// When a pair has no route, or the graph is too large.
    ///
    /// # Panics
    /// When `count` is 0, or an explicit route is empty, broken, or does not join two nodes with
    /// hosts.
    pub fn new(
        graph: &Graph,
        metric: Metric,
        count: usize,
        explicit: &[Route],
    ) -> Result<Self, RouteError> {
        Self::find_while(graph, metric, Wanted::Shortest(count), explicit, &|| true)
    }

    /// As [`new`](Self::new), with the routes that are wanted and as long as `goes_on` holds.
    ///
    /// # Errors
    /// As there, and where it no longer holds.
    ///
    /// # Panics
    /// As there.
    pub fn find_while(
        graph: &Graph,
        metric: Metric,
        wanted: Wanted,
        explicit: &[Route],
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Self, RouteError> {
        Self::find(graph, metric, wanted, explicit, (&[], None), goes_on)
    }

    /// The routes without some links: by number, whether each is closed. Routes of `explicit` over
    /// a closed link are left out. Two nodes that no path joins keep their routes in `before`.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn around(
        graph: &Graph,
        metric: Metric,
        wanted: Wanted,
        explicit: &[Route],
        closed: &[bool],
        before: &Self,
    ) -> Self {
        let found = Self::find(graph, metric, wanted, explicit, (closed, Some(before)), &|| true);
        found.expect("every pair has the routes that it had")
    }

    fn find(
        graph: &Graph,
        metric: Metric,
        wanted: Wanted,
        explicit: &[Route],
        (closed, before): (&[bool], Option<&Self>),
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Self, RouteError> {
        let count = wanted.count();
        assert!(count > 0, "a pair has at least one route");
        let edges = graph.edges();
        let nodes = graph.nodes.len();
        let mut found = Self::of_none(&edges, nodes);
        let is_closed = |&link: &u32| closed.get(link as usize).copied().unwrap_or(false);
        for route in explicit.iter().filter(|route| !route.iter().any(is_closed)) {
            let pair = found.pair(graph, route);
            found.routes[pair].push(route.clone());
        }
        let search = Search::around(graph, metric, true, closed);
        let mut steps = 0;
        for &to in &edges {
            steps += found.find_paths(&search, to);
            if !goes_on() {
                return Err(RouteError::Stopped);
            }
            if before.is_none() && steps > STEPS_MAX / count {
                return Err(RouteError::TooMany);
            }
        }
        let alternatives = count > 1 && matches!(wanted, Wanted::Shortest(_));
        if alternatives
            && before.is_none()
            && steps.saturating_mul(graph.links.len()) > WORK_MAX / count
        {
            return Err(RouteError::TooMany);
        }
        for &to in &edges {
            let tree = matches!(wanted, Wanted::Equal(_)).then(|| search.tree(to, |_| true));
            for &from in edges.iter().filter(|&&from| from != to) {
                if !goes_on() {
                    return Err(RouteError::Stopped);
                }
                let path = match (found.path(from, to), before) {
                    (Some(path), _) => path.to_vec(),
                    (None, Some(before)) => {
                        let pair = found.index(from) * found.hosts + found.index(to);
                        found.routes[pair] = before.of(from, to).to_vec();
                        continue;
                    }
                    (None, None) => return Err(unreachable(graph, metric, from, to)),
                };
                let routes = match &tree {
                    Some(tree) => tree.equal(from, count),
                    None if count == 1 => vec![path],
                    None => search.routes(path, count),
                };
                found.fill(from, to, count, routes);
            }
        }
        Ok(found)
    }

    /// No routes yet, between nodes with hosts out of so many nodes.
    fn of_none(edges: &[u32], nodes: usize) -> Self {
        let mut place = vec![None; nodes];
        for (index, &edge) in edges.iter().enumerate() {
            place[edge as usize] = Some(index);
        }
        let hosts = edges.len();
        Self {
            place,
            hosts,
            routes: vec![Vec::new(); hosts * hosts],
            paths: vec![None; nodes * hosts],
            detours: vec![Vec::new(); nodes * hosts],
        }
    }

    /// The routes from one node with hosts to another, at least one; none where the two are one.
    ///
    /// # Panics
    /// When a node has no hosts.
    #[must_use]
    pub fn of(&self, from: u32, to: u32) -> &[Route] {
        &self.routes[self.index(from) * self.hosts + self.index(to)]
    }

    /// The shortest path from any node to one with hosts; None where there is none, empty where the
    /// two are one.
    ///
    /// # Panics
    /// When `to` has no hosts.
    #[must_use]
    pub fn path(&self, node: u32, to: u32) -> Option<&[u32]> {
        self.paths[self.slot(node, to)].as_deref()
    }

    /// The links out of `node` from which `to` can be reached over nodes that switch, by rising
    /// length of the shortest path through them. The first path equals [`Routes::path`]; the others
    /// may lead back through `node`.
    ///
    /// # Panics
    /// When `to` has no hosts.
    pub fn detours(&self, node: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        self.detours[self.slot(node, to)].iter().copied()
    }

    fn index(&self, node: u32) -> usize {
        self.place[node as usize].expect("the node has hosts")
    }

    fn slot(&self, node: u32, to: u32) -> usize {
        node as usize * self.hosts + self.index(to)
    }

    /// Where the routes between the ends of `route` are kept.
    fn pair(&self, graph: &Graph, route: &[u32]) -> usize {
        let broken = route.windows(2).any(|two| graph.link(two[0]).to != graph.link(two[1]).from);
        let (&[first, ..], &[.., last]) = (route, route) else { panic!("a route without links") };
        let (from, to) = (graph.link(first).from, graph.link(last).to);
        assert!(!broken && from != to, "a route leads link by link from one node to another");
        self.index(from) * self.hosts + self.index(to)
    }

    /// Enters the paths and the detours to `to`; returns how many links the paths have.
    fn find_paths(&mut self, search: &Search<'_>, to: u32) -> usize {
        let tree = search.tree(to, |_| true);
        let mut steps = 0;
        for from in 0..self.place.len() as u32 {
            let slot = self.slot(from, to);
            let path = tree.path(from);
            steps += path.as_ref().map_or(0, Vec::len);
            self.paths[slot] = path;
            if from != to {
                self.detours[slot] = tree.turns(from);
            }
        }
        steps
    }

    fn fill(&mut self, from: u32, to: u32, count: usize, shortest: Vec<Route>) {
        let pair = self.index(from) * self.hosts + self.index(to);
        let routes = &mut self.routes[pair];
        for route in shortest {
            if routes.len() < count && !routes.contains(&route) {
                routes.push(route);
            }
        }
    }
}

/// Names the reason why no path joins `from` and `to`.
fn unreachable(graph: &Graph, metric: Metric, from: u32, to: u32) -> RouteError {
    let search = Search::new(graph, metric, false);
    let path = search.tree(to, |_| true).path(from).unwrap_or_default();
    let blocked = graph
        .nodes_of(&path)
        .into_iter()
        .find(|&node| node != from && node != to && !graph.nodes[node as usize].role.switches());
    RouteError::Unreachable { from, to, blocked }
}
