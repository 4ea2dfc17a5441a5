//! Shapes, NSFNET, and routes against the enumeration of all.

use std::cell::Cell;
use std::iter;

use burstlab_optical::Fibre;
use burstlab_units::Span;
use proptest::prelude::*;

use super::shortest::Search;
use super::*;

const CABLE: Cable = Cable { fibre: Fibre::of(Span::from_ms(1)), wavelengths: 4, fibres: 1 };

fn the_nsfnet(lengths: Lengths) -> Graph {
    nsfnet(lengths, Span::from_us(5), 1)
}

fn shortest(graph: &Graph) -> Routes {
    Routes::new(graph, Metric::Delay, 1, &[]).expect("connected")
}

/// The names of the nodes that a route touches.
fn names(graph: &Graph, route: &[u32]) -> String {
    let names: Vec<&str> = graph.nodes_of(route).into_iter().map(|node| graph.name(node)).collect();
    names.join("-")
}

/// The route between two named nodes and its delay.
fn between(graph: &Graph, from: &str, to: &str) -> (String, Span) {
    let routes = shortest(graph);
    let ends = [from, to].map(|name| graph.find(name).expect(name));
    let [route] = routes.of(ends[0], ends[1]) else { panic!("one route") };
    (names(graph, route), graph.least_delay(route))
}

#[test]
fn shapes_are_what_they_are_called() {
    let ms = Span::from_ms;
    let along = |names: &str, delay| (names.to_owned(), ms(delay));
    let path = path(&[ms(1), ms(2), ms(3)], 1);
    assert_eq!(between(&path, "ingress", "egress"), along("ingress-core1-core2-egress", 6));
    assert_eq!(between(&path, "egress", "ingress"), along("egress-core2-core1-ingress", 6));
    assert_eq!(path.edges(), [0, 3]);
    assert_eq!(between(&line(4, CABLE), "4", "1"), along("4-3-2-1", 3));
    assert_eq!(between(&ring(6, CABLE), "1", "5"), along("1-6-5", 2));
    assert_eq!(between(&star(3, CABLE), "1", "3"), along("1-hub-3", 2));
    assert_eq!(star(3, CABLE).edges(), [1, 2, 3]);
    let dumbbell = dumbbell(2, CABLE);
    assert_eq!(between(&dumbbell, "left2", "right1"), along("left2-left-right-right1", 3));
    assert_eq!(between(&dumbbell, "left2", "left1"), along("left2-left-left1", 2));
    let martinez = martinez(7);
    assert_eq!(between(&martinez, "E1", "E2"), along("E1-C1-C2-E2", 7));
    assert_eq!(between(&martinez, "E4", "E2"), along("E4-C2-E2", 2));
    assert_eq!(martinez.edges(), [2, 3, 4, 5]);
    let counts = [path, line(4, CABLE), ring(6, CABLE), star(3, CABLE), dumbbell]
        .map(|graph| (graph.nodes.len(), graph.links.len()));
    assert_eq!(counts, [(4, 6), (4, 6), (6, 12), (4, 6), (6, 10)]);
}

/// All routes as short as the shortest, sixteen at most.
fn equal(graph: &Graph) -> Routes {
    let found = Routes::find_while(graph, Metric::Hops, Wanted::Equal(16), &[], &|| true);
    found.expect("connected")
}

/// How many routes lead from one named node to another, and of how many links.
fn equal_paths(graph: &Graph, routes: &Routes, from: &str, to: &str) -> (usize, usize) {
    let [from, to] = [from, to].map(|name| graph.find(name).expect(name));
    let found = routes.of(from, to);
    assert!(found.iter().all(|route| route.len() == found[0].len()));
    (found.len(), found[0].len())
}

#[test]
fn a_fat_tree_has_as_much_above_as_below() {
    for pods in [2, 4, 6, 8] {
        let (graph, half) = (fat_tree(pods, CABLE), pods / 2);
        let count = |tier: &str| graph.nodes.iter().filter(|n| n.name.starts_with(tier)).count();
        let [tor, agg, core] = ["tor", "agg", "core"].map(count);
        // Al-Fares, Loukissas and Vahdat: k/2 of both kinds in each of k pods, (k/2)^2 above.
        let expected = [pods * half, pods * half, half * half].map(|n| n as usize);
        assert_eq!([tor, agg, core], expected, "{pods} pods");
        assert_eq!(graph.links.len(), 4 * (pods * half * half) as usize);
        assert_eq!(graph.edges().len(), tor);
        for node in 0..graph.nodes.len() as u32 {
            let tier = graph.name(node);
            let fibres = if tier.starts_with("tor") { half } else { pods };
            assert_eq!(graph.outgoing(node).len(), fibres as usize, "{tier}");
        }
    }
    let graph = fat_tree(4, CABLE);
    let routes = equal(&graph);
    assert_eq!(equal_paths(&graph, &routes, "tor1-1", "tor1-2"), (2, 2));
    assert_eq!(equal_paths(&graph, &routes, "tor1-1", "tor4-2"), (4, 4));
    assert_eq!(between(&graph, "tor1-1", "tor2-1").0, "tor1-1-agg1-1-core1-agg2-1-tor2-1");
    // The first of each pod meets the same core nodes, the second others.
    let core = |agg: &str| {
        let node = graph.find(agg).expect(agg);
        let heads = graph.outgoing(node).iter().map(|&link| graph.name(graph.link(link).to));
        heads.filter(|name| name.starts_with("core")).collect::<Vec<_>>()
    };
    assert_eq!((core("agg1-1"), core("agg3-2")), (vec!["core1", "core2"], vec!["core3", "core4"]));
}

#[test]
fn leaves_and_spines_are_all_joined() {
    let graph = leaf_spine(5, 3, CABLE);
    assert_eq!((graph.nodes.len(), graph.links.len()), (8, 30));
    assert_eq!(graph.edges(), [0, 1, 2, 3, 4]);
    assert_eq!(equal_paths(&graph, &equal(&graph), "leaf5", "leaf1"), (3, 2));
}

#[test]
fn a_torus_is_closed_in_each_dimension() {
    let graph = torus(&[3, 5], CABLE);
    assert_eq!((graph.nodes.len(), graph.links.len()), (15, 60));
    assert_eq!(between(&graph, "1-1", "1-5"), ("1-1-1-5".to_owned(), Span::from_ms(1)));
    assert_eq!(between(&graph, "1-1", "3-1"), ("1-1-3-1".to_owned(), Span::from_ms(1)));
    // As far as can be: 1 and 2 of 3 and 5, in any of 3 orders.
    assert_eq!(equal_paths(&graph, &equal(&graph), "1-1", "2-3"), (3, 3));
    // Of two dimensions of 2 each node has two fibres: a square, not a circle of doubled ones.
    let square = torus(&[2, 2], CABLE);
    assert_eq!((square.nodes.len(), square.links.len()), (4, 8));
    // A dimension alone is a ring, and four of two are a hypercube.
    let alone = torus(&[6], CABLE);
    assert_eq!(alone.links.len(), ring(6, CABLE).links.len());
    assert_eq!(between(&alone, "1", "5").0, between(&ring(6, CABLE), "1", "5").0);
    let cube = torus(&[2, 2, 2, 2], CABLE);
    assert_eq!((cube.nodes.len(), cube.links.len()), (16, 64));
    // 4! orders in which to turn four coordinates, of which sixteen are kept.
    assert_eq!(equal_paths(&cube, &equal(&cube), "1-1-1-1", "2-2-2-2"), (16, 4));
}

#[test]
fn nsfnet_has_the_distances_of_its_table() {
    let graph = the_nsfnet(Lengths::Common);
    assert_eq!((graph.nodes.len(), graph.links.len()), (14, 42));
    assert_eq!(between(&graph, "1", "14"), ("1-8-9-14".to_owned(), Span::from_ms(20)));
    let graph = the_nsfnet(Lengths::DeepRmsa);
    assert_eq!((graph.nodes.len(), graph.links.len()), (14, 44));
    let (_, delay) = between(&graph, "1", "13");
    assert_eq!(delay, Span::from_us(5 * (2400 + 750 + 300)));
    for graph in [the_nsfnet(Lengths::Common), graph] {
        assert_eq!(graph.separate(), None);
    }
}

/// How many shortest routes pass each node of NSFNET, by name.
fn transits(metric: Metric) -> Vec<(usize, u32)> {
    let graph = the_nsfnet(Lengths::Common);
    let routes = Routes::new(&graph, metric, 1, &[]).expect("connected");
    let mut passed = [0; 14];
    for (from, to) in pairs(&graph) {
        let nodes = graph.nodes_of(&routes.of(from, to)[0]);
        nodes[1..nodes.len() - 1].iter().for_each(|&node| passed[node as usize] += 1);
    }
    let mut ranked: Vec<(usize, u32)> = passed.into_iter().zip(1..).collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    ranked
}

#[test]
fn the_core_of_nsfnet_is_what_most_routes_pass() {
    let mut six: Vec<u32> = transits(Metric::Delay)[..6].iter().map(|&(_, node)| node).collect();
    six.sort_unstable();
    assert_eq!(six, NSFNET_CORE, "{:?}", transits(Metric::Delay));
}

#[test]
fn what_is_apart_is_named() {
    let nodes = ["a", "b", "c", "d"].map(|name| Node::new(name, Role::Both));
    let graph = Graph::of_pairs(nodes.to_vec(), [(0, 1, CABLE), (2, 3, CABLE)]);
    assert_eq!(graph.separate(), Some(2));
    let one_way = Graph::new(nodes[..2].to_vec(), vec![Link::new(0, 1, CABLE)]);
    assert_eq!(one_way.separate(), None);
    let error = Routes::new(&one_way, Metric::Hops, 1, &[]);
    assert_eq!(error, Err(RouteError::Unreachable { from: 1, to: 0, blocked: None }));
}

#[test]
fn edge_nodes_do_not_switch() {
    let mut graph = line(3, CABLE);
    graph.nodes[1].role = Role::Edge;
    let error = Routes::new(&graph, Metric::Delay, 1, &[]);
    // The routes are found by destination, the lowest first.
    assert_eq!(error, Err(RouteError::Unreachable { from: 2, to: 0, blocked: Some(1) }));
    let mut graph = ring(4, CABLE);
    graph.nodes[1].role = Role::Edge;
    assert_eq!(between(&graph, "1", "3").0, "1-4-3");
    assert_eq!(between(&graph, "2", "3").0, "2-3");
    let routes = shortest(&graph);
    let heads: Vec<u32> = routes.detours(0, 2).map(|link| graph.link(link).to).collect();
    assert_eq!(heads, [3], "node 2 is no detour to node 3");
}

#[test]
fn explicit_routes_come_first() {
    let graph = ring(5, CABLE);
    let hop = |from, to| graph.link_between(from, to).expect("adjacent");
    let around = vec![hop(0, 4), hop(4, 3), hop(3, 2), hop(2, 1)];
    for (count, expected) in
        [(1, vec!["1-5-4-3-2"]), (2, vec!["1-5-4-3-2", "1-2"]), (3, vec!["1-5-4-3-2", "1-2"])]
    {
        let routes = Routes::new(&graph, Metric::Delay, count, std::slice::from_ref(&around));
        let routes = routes.expect("connected");
        let found: Vec<String> = routes.of(0, 1).iter().map(|route| names(&graph, route)).collect();
        assert_eq!(found, expected, "{count}");
        let path = routes.path(0, 1).map(Vec::from_iter);
        assert_eq!(path, Some(vec![hop(0, 1)]), "the shortest all the same");
    }
}

#[test]
fn hops_and_delay_differ_where_a_chord_is_long() {
    let chord = Cable { fibre: Fibre::of(Span::from_ms(10)), ..CABLE };
    let nodes = line(4, CABLE).nodes;
    let graph =
        Graph::of_pairs(nodes, [(0, 1, CABLE), (1, 2, CABLE), (2, 3, CABLE), (0, 3, chord)]);
    let by = |metric| {
        let routes = Routes::new(&graph, metric, 1, &[]).expect("connected");
        names(&graph, &routes.of(0, 3)[0])
    };
    assert_eq!((by(Metric::Delay), by(Metric::Hops)), ("1-2-3-4".into(), "1-4".into()));
}

#[test]
fn what_does_not_fit_is_refused() {
    assert_eq!(Routes::new(&star(400, CABLE), Metric::Delay, 9, &[]), Err(RouteError::TooMany));
}

#[test]
fn all_routes_of_a_long_ring_are_too_many_to_be_kept() {
    assert!(shortest(&ring(100, CABLE)).are_few());
    assert!(!shortest(&ring(1000, CABLE)).are_few());
}

#[test]
fn routes_that_are_only_looked_at_are_not_kept() {
    let graph = ring(6, CABLE);
    let (one, other) = (shortest(&graph), shortest(&graph));
    for (from, to) in pairs(&graph) {
        assert_eq!(*one.peek(from, to), *other.of(from, to), "{from} {to}");
        assert_eq!(one.peek(from, to), one.peek(from, to));
    }
    assert_eq!(one, shortest(&graph));
    assert_ne!(other, one, "a route that was used is kept");
}

#[test]
fn a_search_for_several_routes_stops_between_two_pairs() {
    let graph = ring(6, CABLE);
    let found = |wanted, looks: u32| {
        let left = Cell::new(looks);
        let goes_on = || left.replace(left.get().saturating_sub(1)) > 0;
        Routes::find_while(&graph, Metric::Hops, wanted, &[], &goes_on).map(|_| left.get())
    };
    // A look for each of six trees, then one for each pair.
    assert_eq!(found(Wanted::Shortest(1), 6), Ok(0));
    assert_eq!(found(Wanted::Shortest(1), 5), Err(RouteError::Stopped));
    for wanted in [Wanted::Shortest(2), Wanted::Equal(1), Wanted::Equal(2)] {
        assert_eq!(found(wanted, 6 + 36), Ok(0));
        assert_eq!(found(wanted, 6 + 35), Err(RouteError::Stopped));
    }
}

/// All pairs of different nodes with hosts.
fn pairs(graph: &Graph) -> Vec<(u32, u32)> {
    let edges = graph.edges();
    let to = |from: u32| edges.iter().filter(move |&&to| to != from).map(move |&to| (from, to));
    edges.iter().flat_map(|&from| to(from)).collect()
}

/// Every route without loops, in the order in which routes are ranked.
fn all_routes(graph: &Graph, metric: Metric, from: u32, to: u32) -> Vec<Route> {
    let search = Search::new(graph, metric, true);
    let mut all = Vec::new();
    let mut begun = vec![Vec::new()];
    while let Some(route) = begun.pop() {
        let mut nodes = graph.nodes_of(&route);
        if nodes.is_empty() {
            nodes.push(from);
        }
        let here = nodes[nodes.len() - 1];
        if here == to {
            all.push(search.ranked(&route));
        } else if here == from || graph.nodes[here as usize].role.switches() {
            let fresh = |&&link: &&u32| !nodes.contains(&graph.link(link).to);
            let on = graph.outgoing(here).iter().filter(fresh);
            begun.extend(on.map(|&link| [&route[..], &[link]].concat()));
        }
    }
    all.sort();
    all.into_iter().map(|(_, steps)| steps.into_iter().map(|step| step.1).collect()).collect()
}

/// Small graphs with few different delays, so that many routes are equally long. Parallel links,
/// nodes of all roles and, where `one_way` says so, links of one direction occur.
fn graphs(one_way: bool) -> impl Strategy<Value = Graph> {
    let role = prop_oneof![Just(Role::Both), Just(Role::Both), Just(Role::Edge), Just(Role::Core)];
    prop::collection::vec(role, 2..7).prop_flat_map(move |roles| {
        let count = roles.len() as u32;
        let link = (0..count, 0..count, 0u64..4, any::<bool>().prop_map(move |one| one && one_way));
        prop::collection::vec(link, 1..14).prop_map(move |raw| {
            let nodes =
                (0..count).zip(&roles).map(|(n, &role)| Node::new(n.to_string(), role)).collect();
            let mut links = Vec::new();
            for (from, to, ms, one) in raw.into_iter().filter(|link| link.0 != link.1) {
                let cable = Cable { fibre: Fibre::of(Span::from_ms(ms)), ..CABLE };
                links.push(Link::new(from, to, cable));
                links.extend((!one).then(|| Link::new(to, from, cable)));
            }
            Graph::new(nodes, links)
        })
    })
}

fn metrics() -> impl Strategy<Value = Metric> {
    prop_oneof![Just(Metric::Delay), Just(Metric::Hops)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn routes_are_the_first_of_all(graph in graphs(true), metric in metrics(), count in 1usize..6) {
        let all: Vec<Vec<Route>> =
            pairs(&graph).iter().map(|&(a, b)| all_routes(&graph, metric, a, b)).collect();
        let routes = Routes::new(&graph, metric, count, &[]);
        if all.iter().any(Vec::is_empty) {
            let refused = matches!(routes, Err(RouteError::Unreachable { .. }));
            prop_assert!(refused, "{routes:?}");
            return Ok(());
        }
        let routes = routes.expect("every pair has a route");
        for ((from, to), all) in pairs(&graph).into_iter().zip(all) {
            prop_assert_eq!(routes.of(from, to), &all[..count.min(all.len())]);
            prop_assert_eq!(routes.path(from, to).map(Vec::from_iter), Some(all[0].clone()));
        }
    }

    #[test]
    fn equal_routes_are_those_of_all_that_are_as_short(
        graph in graphs(true), metric in metrics(), count in 1usize..6,
    ) {
        let found = Routes::find_while(&graph, metric, Wanted::Equal(count), &[], &|| true);
        let Ok(routes) = found else { return Ok(()) };
        let search = Search::new(&graph, metric, true);
        for (from, to) in pairs(&graph) {
            let mut all = all_routes(&graph, metric, from, to);
            let shortest = search.ranked(&all[0]).0;
            all.retain(|route| search.ranked(route).0 == shortest);
            all.truncate(count);
            prop_assert_eq!(routes.of(from, to), &all[..]);
        }
    }

    #[test]
    fn ways_and_detours_agree(graph in graphs(true), metric in metrics()) {
        let Ok(routes) = Routes::new(&graph, metric, 1, &[]) else { return Ok(()) };
        let search = Search::new(&graph, metric, true);
        for (node, to) in (0..graph.nodes.len() as u32)
            .flat_map(|node| graph.edges().into_iter().map(move |to| (node, to)))
        {
            let detours: Vec<u32> = routes.detours(node, to).collect();
            let path = routes.path(node, to).map(Vec::from_iter);
            if node == to {
                prop_assert_eq!((path, detours), (Some(vec![]), vec![]));
                continue;
            }
            prop_assert_eq!(path.and_then(|path| path.first().copied()), detours.first().copied());
            // The rest of a detour is the path from its end.
            let through = |&link: &u32| {
                let rest = routes.path(graph.link(link).to, to).expect("a detour arrives");
                search.ranked(&Vec::from_iter(iter::once(link).chain(rest))).0
            };
            prop_assert!(detours.iter().map(through).is_sorted());
            let leads_on = |&&link: &&u32| {
                let head = graph.link(link).to;
                let switches = graph.nodes[head as usize].role.switches();
                head == to || (switches && routes.path(head, to).is_some())
            };
            prop_assert_eq!(graph.outgoing(node).iter().filter(leads_on).count(), detours.len());
        }
    }

    #[test]
    fn stored_routes_and_sums_are_those_that_are_found_when_used(
        graph in graphs(true), metric in metrics(), count in 1usize..4, equal in any::<bool>(),
        closed in prop::collection::vec(any::<bool>(), 0..28),
    ) {
        let wanted = if equal { Wanted::Equal(count) } else { Wanted::Shortest(count) };
        let found = Routes::find_while(&graph, metric, wanted, &[], &|| true);
        let Ok(routes) = found else { return Ok(()) };
        let text = serde_json::to_string(&routes).expect("it is stored");
        let stored: Routes = serde_json::from_str(&text).expect("it is read");
        let open = Routes::around(&graph, metric, wanted, &[], &[], &routes);
        let closed = &closed[..closed.len().min(graph.links.len())];
        let around = Routes::around(&graph, metric, wanted, &[], closed, &routes);
        for (from, to) in pairs(&graph) {
            prop_assert_eq!(routes.of(from, to), stored.of(from, to));
            prop_assert_eq!(routes.of(from, to), open.of(from, to));
            prop_assert_eq!(Vec::from_iter(routes.detours(from, to)),
                Vec::from_iter(stored.detours(from, to)));
            let shut = |link: &u32| closed.get(*link as usize).is_some_and(|&closed| closed);
            match around.path(from, to) {
                None => prop_assert_eq!(around.of(from, to), routes.of(from, to)),
                Some(mut path) => {
                    prop_assert!(!path.any(|link| shut(&link)));
                    prop_assert!(!around.of(from, to).iter().flatten().any(shut));
                }
            }
            let longest = routes.of(from, to).iter().map(Vec::len).max();
            let sums = routes.sums_to(to, 0, |hops, _| hops + 1, usize::max);
            let sum = sums.into_iter().find(|one| one.0 == from).map(|one| one.1);
            prop_assert_eq!(sum, longest);
        }
    }

    #[test]
    fn the_way_back_is_as_long(graph in graphs(false), metric in metrics()) {
        let Ok(routes) = Routes::new(&graph, metric, 3, &[]) else { return Ok(()) };
        let search = Search::new(&graph, metric, true);
        for (from, to) in pairs(&graph) {
            // Lengths, not nodes: where two are equal, each end decides by the numbers it sees.
            let costs = |from, to| -> Vec<_> {
                routes.of(from, to).iter().map(|route| search.ranked(route).0).collect()
            };
            prop_assert_eq!(costs(from, to), costs(to, from));
        }
    }
}
