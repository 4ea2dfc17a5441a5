//! The routes of a graph: the next link of every node at once, routes when they are first used.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::graph::Graph;
use super::shortest::{Metric, NONE, Search, Tree};

/// The links of a route in the order in which they are crossed.
pub type Route = Vec<u32>;

/// Most links that all routes of a graph may have together where all of them are kept.
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
///
/// The shortest paths to a node are a tree, which is found at once and takes 4 B a node. If a pair
/// has one route, it is read off the tree when it is first used, and kept. When that is makes no
/// difference: a route depends on the graph alone. Several routes of a pair are found at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Routes {
    /// For each node its place among those with hosts.
    place: Vec<Option<usize>>,
    /// For each link the node where it ends.
    heads: Vec<u32>,
    /// The graph and its metric, to find turns in; None where all of them are there.
    source: Option<(Graph, Metric)>,
    /// For each node with hosts, the routes to it.
    ends: Vec<RoutesTo>,
    /// The links of all shortest paths together.
    steps: usize,
}

/// Routes, paths and detours to a node with hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RoutesTo {
    /// For each node the first link of its shortest path, or [`NONE`].
    next: Vec<u32>,
    /// Links out of each node, found when a burst is first deflected.
    turns: OnceLock<Turns>,
    /// For each node with hosts its routes; where none were found they are the path of the tree.
    routes: OnceLock<Vec<OnceLock<Box<Pair>>>>,
}

/// The routes from one node to another; a box of them takes 8 B where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair(Vec<Route>);

/// For each node the links out, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Turns {
    links: Vec<u32>,
    /// Where the links of each node end.
    until: Vec<u32>,
}

impl Turns {
    fn of(tree: &Tree<'_>, nodes: usize, to: u32) -> Self {
        let mut all = Self::default();
        for node in 0..nodes as u32 {
            if node != to {
                all.links.extend(tree.turns(node));
            }
            all.until.push(all.links.len() as u32);
        }
        all
    }

    fn at(&self, node: u32) -> &[u32] {
        let begin = node.checked_sub(1).map_or(0, |before| self.until[before as usize]);
        &self.links[begin as usize..self.until[node as usize] as usize]
    }
}

/// Routes as they are stored: all of them.
#[derive(Serialize, Deserialize)]
struct Stored {
    place: Vec<Option<usize>>,
    heads: Vec<u32>,
    ends: Vec<(Vec<u32>, Turns, Vec<Vec<Route>>)>,
    steps: usize,
}

impl From<Stored> for Routes {
    fn from(Stored { place, heads, ends, steps }: Stored) -> Self {
        let cell = |routes| OnceLock::from(Box::new(Pair(routes)));
        let end = |(next, turns, routes): (_, _, Vec<Vec<Route>>)| RoutesTo {
            next,
            turns: OnceLock::from(turns),
            routes: OnceLock::from(routes.into_iter().map(cell).collect::<Vec<_>>()),
        };
        let ends = ends.into_iter().map(end).collect();
        Self { place, heads, source: None, ends, steps }
    }
}

impl From<Routes> for Stored {
    fn from(routes: Routes) -> Self {
        let edges = routes.edges();
        let row = |&to: &u32| edges.iter().map(|&from| routes.of(from, to).to_vec()).collect();
        let turns = |&to: &u32| routes.turns(to).clone();
        let next = |to: &u32| routes.to(*to).next.clone();
        let ends = edges.iter().map(|to| (next(to), turns(to), row(to))).collect();
        Self { ends, place: routes.place, heads: routes.heads, steps: routes.steps }
    }
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
        let search = Search::new(graph, metric, true);
        let count = wanted.count();
        assert!(count > 0, "a pair has at least one route");
        // A single route is found when it is first used, so that not all need room.
        let single = wanted == Wanted::Shortest(1);
        let most = if single { usize::MAX } else { STEPS_MAX / count };
        let mut found = Self::of_none(graph, &search, most, goes_on)?;
        let looks = found.steps.saturating_mul(graph.links.len());
        if count > 1 && matches!(wanted, Wanted::Shortest(_)) && looks > WORK_MAX / count {
            return Err(RouteError::TooMany);
        }
        let edges = found.edges();
        for &to in &edges {
            let next = &found.to(to).next;
            let apart = edges.iter().find(|&&from| from != to && next[from as usize] == NONE);
            if let Some(&from) = apart {
                return Err(unreachable(graph, metric, from, to));
            }
        }
        found.source = Some((graph.clone(), metric));
        found.give(graph, wanted, explicit, &search);
        if !single {
            found.find_all(wanted, &search, None, goes_on)?;
        }
        Ok(found)
    }

    /// The routes without some links: by number, whether each is closed. Routes of `explicit` over
    /// a closed link are left out. Two nodes that no path joins keep their routes in `before`. All
    /// routes are found at once: [`are_few`](Self::are_few) says whether memory holds them.
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
        let search = Search::around(graph, metric, true, closed);
        let found = Self::of_none(graph, &search, usize::MAX, &|| true);
        let found = found.expect("nobody stops it");
        let is_closed = |&link: &u32| closed.get(link as usize).copied().unwrap_or(false);
        let open = explicit.iter().filter(|route| !route.iter().any(is_closed));
        let open: Vec<Route> = open.cloned().collect();
        found.give(graph, wanted, &open, &search);
        found.find_all(wanted, &search, Some(before), &|| true).expect("nobody stops it");
        for to in found.edges() {
            let tree = search.tree(to, |_| true);
            found.to(to).turns.get_or_init(|| Turns::of(&tree, graph.nodes.len(), to));
        }
        found
    }

    /// Finds the routes of all pairs that have none; two nodes that no path joins keep the routes
    /// that they have in `before`.
    fn find_all(
        &self,
        wanted: Wanted,
        search: &Search<'_>,
        before: Option<&Self>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), RouteError> {
        let edges = self.edges();
        for &to in &edges {
            let tree = matches!(wanted, Wanted::Equal(_)).then(|| search.tree(to, |_| true));
            for &from in &edges {
                if !goes_on() {
                    return Err(RouteError::Stopped);
                }
                let apart = from != to && self.to(to).next[from as usize] == NONE;
                let find = || self.find(from, to, wanted, search, tree.as_ref(), Vec::new());
                let kept = before.filter(|_| apart).map(|before| before.of(from, to).to_vec());
                self.cell(from, to).get_or_init(|| Box::new(Pair(kept.unwrap_or_else(find))));
            }
        }
        Ok(())
    }

    /// The trees of shortest paths, which have so many links together at most, and no routes yet.
    fn of_none(
        graph: &Graph,
        search: &Search<'_>,
        most: usize,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Self, RouteError> {
        let mut place = vec![None; graph.nodes.len()];
        let edges = graph.edges();
        for (index, &edge) in edges.iter().enumerate() {
            place[edge as usize] = Some(index);
        }
        let heads = graph.links.iter().map(|link| link.to).collect();
        let mut found = Self { place, heads, source: None, ends: Vec::new(), steps: 0 };
        for &to in &edges {
            if !goes_on() {
                return Err(RouteError::Stopped);
            }
            let tree = search.tree(to, |_| true);
            let end = RoutesTo { next: tree.next, ..RoutesTo::default() };
            found.steps +=
                found.sums(&end.next, 0, |steps, _| steps + 1).iter().flatten().sum::<usize>();
            if found.steps > most {
                return Err(RouteError::TooMany);
            }
            found.ends.push(end);
        }
        Ok(found)
    }

    /// Enters the given routes, and those that make their pairs complete.
    fn give(&self, graph: &Graph, wanted: Wanted, explicit: &[Route], search: &Search<'_>) {
        let ends = |route: &&Route| ends_of(graph, route);
        let mut given: Vec<&Route> = explicit.iter().collect();
        given.sort_by_key(ends);
        for given in given.chunk_by(|one, other| ends(one) == ends(other)) {
            let (from, to) = ends(&given[0]);
            let given = given.iter().copied().cloned().collect();
            let all = self.find(from, to, wanted, search, None, given);
            self.cell(from, to).get_or_init(|| Box::new(Pair(all)));
        }
    }

    /// The routes of a pair, of which some are given already.
    fn find(
        &self,
        from: u32,
        to: u32,
        wanted: Wanted,
        search: &Search<'_>,
        tree: Option<&Tree<'_>>,
        given: Vec<Route>,
    ) -> Vec<Route> {
        let mut routes = given;
        if from == to || self.to(to).next[from as usize] == NONE {
            return routes;
        }
        let count = wanted.count();
        let path = || self.walk(from, to).collect();
        let shortest = match (wanted, tree) {
            (Wanted::Equal(count), Some(tree)) => tree.equal(from, count),
            (Wanted::Equal(count), None) => search.tree(to, |_| true).equal(from, count),
            (Wanted::Shortest(1), _) => vec![path()],
            (Wanted::Shortest(count), _) => search.routes(path(), count),
        };
        for route in shortest {
            if routes.len() < count && !routes.contains(&route) {
                routes.push(route);
            }
        }
        routes
    }

    /// The routes from one node with hosts to another, at least one; none where the two are one.
    ///
    /// # Panics
    /// When a node has no hosts.
    #[inline]
    #[must_use]
    pub fn of(&self, from: u32, to: u32) -> &[Route] {
        let cell = self.cell(from, to);
        match cell.get() {
            Some(pair) => &pair.0,
            None => self.keep(from, to),
        }
    }

    /// Reads the only route of a pair off the tree, and keeps it.
    #[cold]
    #[inline(never)]
    fn keep(&self, from: u32, to: u32) -> &[Route] {
        let path = || (from != to).then(|| self.walk(from, to).collect());
        &self.cell(from, to).get_or_init(|| Box::new(Pair(Vec::from_iter(path())))).0
    }

    /// As [`of`](Self::of), but routes that nothing has used yet are not kept: for those who look
    /// at every pair.
    ///
    /// # Panics
    /// As there.
    #[must_use]
    pub fn peek(&self, from: u32, to: u32) -> Cow<'_, [Route]> {
        if from != to && self.is_path(from, to) {
            return Cow::Owned(vec![self.walk(from, to).collect()]);
        }
        Cow::Borrowed(self.of(from, to))
    }

    /// Whether the only route of a pair is the shortest path, and not kept.
    fn is_path(&self, from: u32, to: u32) -> bool {
        let row = self.to(to).routes.get();
        row.is_none_or(|row| row[self.index(from)].get().is_none())
    }

    /// For each other node with hosts, a sum over the links of its routes to `to`: `worst` chooses
    /// among several routes.
    ///
    /// # Panics
    /// When `to` has no hosts.
    pub fn sums_to<T: Copy>(
        &self,
        to: u32,
        zero: T,
        add: impl Fn(T, u32) -> T,
        worst: impl Fn(T, T) -> T,
    ) -> Vec<(u32, T)> {
        let sums = self.sums(&self.to(to).next, zero, &add);
        let others = self.edges().into_iter().filter(|&from| from != to);
        let paths = self.to(to).routes.get().is_none();
        let sum = |from: u32| {
            let path = || sums[from as usize];
            let of = |route: &Route| route.iter().fold(zero, |sum, &link| add(sum, link));
            let routes = || self.of(from, to).iter().map(of).reduce(&worst);
            let value = if paths || self.is_path(from, to) { path() } else { routes() };
            value.map(|value| (from, value))
        };
        others.filter_map(sum).collect()
    }

    /// For each node a sum over the links of its path, along a tree; None where there is none.
    fn sums<T: Copy>(&self, next: &[u32], zero: T, add: impl Fn(T, u32) -> T) -> Vec<Option<T>> {
        let mut sums = vec![None; next.len()];
        let mut stack = Vec::new();
        for node in 0..next.len() {
            let mut here = node;
            while sums[here].is_none() && next[here] != NONE {
                stack.push(here);
                here = self.heads[next[here] as usize] as usize;
            }
            // A path ends at the destination, which has no next link, or where another was.
            let mut sum = sums[here].or_else(|| (!stack.is_empty()).then_some(zero));
            while let Some(here) = stack.pop() {
                sum = sum.map(|sum| add(sum, next[here]));
                sums[here] = sum;
            }
        }
        sums
    }

    /// Whether all routes may be kept: 20 million links at most.
    #[must_use]
    pub fn are_few(&self) -> bool {
        self.steps <= STEPS_MAX
    }

    /// The shortest path from any node to one with hosts; None where there is none, empty where the
    /// two are one.
    ///
    /// # Panics
    /// When `to` has no hosts.
    #[must_use]
    pub fn path(&self, node: u32, to: u32) -> Option<PathLinks<'_>> {
        let joined = node == to || self.to(to).next[node as usize] != NONE;
        joined.then(|| self.walk(node, to))
    }

    fn walk(&self, node: u32, to: u32) -> PathLinks<'_> {
        PathLinks { heads: &self.heads, next: &self.to(to).next, node }
    }

    /// The links out of `node` from which `to` can be reached over nodes that switch, by rising
    /// length of the shortest path through them. The first path equals [`Routes::path`]; the others
    /// may lead back through `node`.
    ///
    /// # Panics
    /// When `to` has no hosts.
    pub fn detours(&self, node: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        self.turns(to).at(node).iter().copied()
    }

    fn turns(&self, to: u32) -> &Turns {
        self.to(to).turns.get_or_init(|| {
            let (graph, metric) = self.source.as_ref().expect("without a source turns are there");
            let search = Search::new(graph, *metric, true);
            Turns::of(&search.tree(to, |_| true), self.place.len(), to)
        })
    }

    /// The nodes with hosts.
    fn edges(&self) -> Vec<u32> {
        let host = |(node, place): (u32, &Option<usize>)| place.map(|_| node);
        (0..).zip(&self.place).filter_map(host).collect()
    }

    #[inline]
    fn index(&self, node: u32) -> usize {
        self.place[node as usize].expect("the node has hosts")
    }

    #[inline]
    fn to(&self, node: u32) -> &RoutesTo {
        &self.ends[self.index(node)]
    }

    /// Where the routes of a pair are kept.
    #[inline]
    fn cell(&self, from: u32, to: u32) -> &OnceLock<Box<Pair>> {
        let row = self.to(to).routes.get_or_init(|| vec![OnceLock::new(); self.ends.len()]);
        &row[self.index(from)]
    }
}

/// The links of a path, from a node to a destination.
#[derive(Clone, Debug)]
pub struct PathLinks<'a> {
    heads: &'a [u32],
    next: &'a [u32],
    node: u32,
}

impl Iterator for PathLinks<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let link = self.next[self.node as usize];
        (link != NONE).then(|| {
            self.node = self.heads[link as usize];
            link
        })
    }
}

/// The ends of a route.
fn ends_of(graph: &Graph, route: &[u32]) -> (u32, u32) {
    let broken = route.windows(2).any(|two| graph.link(two[0]).to != graph.link(two[1]).from);
    let (&[first, ..], &[.., last]) = (route, route) else { panic!("a route without links") };
    let (from, to) = (graph.link(first).from, graph.link(last).to);
    assert!(!broken && from != to, "a route leads link by link from one node to another");
    (from, to)
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
