//! Mistakes in a network are named with field, value and fix; a valid network becomes its graph.

use burstlab_units::Span;
use serde_json::{Value, json};

use super::super::{Scenario, ScenarioError};
use super::*;
use crate::topology::Graph;

fn resolve(network: &Value) -> Result<Network, ScenarioError> {
    let mesh = network.get("topology").is_some_and(|topology| topology != "path");
    let bursts = if mesh { json!([{"length": {"mean": "1 KB"}}]) } else { json!([]) };
    let text = json!({"network": network, "bursts": bursts}).to_string();
    let resolved = Scenario::from_json(&text).and_then(|scenario| scenario.resolve())?;
    Ok(resolved.scenario.network.clone())
}

fn graph(network: &Value) -> Graph {
    let network = resolve(network).unwrap_or_else(|error| panic!("{network}: {error}"));
    network.graph().expect("it was checked")
}

/// A custom network of nodes `a` to `d` in a row, 100 km apart; `change` replaces fields.
fn custom(change: &Value) -> Value {
    let mut network = json!({
        "topology": "custom",
        "node": [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}],
        "link": [
            {"from": "a", "to": "b", "length_km": 100},
            {"from": "b", "to": "c", "length_km": 100},
            {"from": "c", "to": "d", "delay": "1 ms", "wavelengths": 3},
        ],
    });
    for (field, value) in change.as_object().expect("a table") {
        network[field] = value.clone();
    }
    network
}

/// Each network must be refused with this path, this value and these words.
fn refused(cases: &[(Value, &str, &str, &str)]) {
    for (network, path, value, says) in cases {
        let error = resolve(network).err().unwrap_or_else(|| panic!("accepted: {network}"));
        let text = error.to_string();
        assert_eq!((error.path(), error.value()), (*path, *value), "{network}: {text}");
        assert!(text.contains(says), "{network}: {text}");
        assert!(!error.fix().is_empty(), "{network}: {text}");
    }
}

#[test]
fn a_path_is_written_as_before() {
    let resolved = serde_json::to_string(&resolve(&json!({})).expect("valid")).expect("written");
    let expected =
        r#"{"topology":"path","core_nodes":2,"link_rate":"10 Gb/s","link_delay":"10 ms"}"#;
    assert_eq!(resolved, expected);
    let graph = graph(&json!({"core_nodes": 1, "link_delays": ["1 ms", "3 ms"]}));
    assert_eq!(graph.edges(), [0, 2]);
    assert_eq!(graph.least_delay(&[0, 2]), Span::from_ms(4));
}

#[test]
fn what_is_resolved_resolves_to_itself() {
    let networks = [
        json!({"topology": "path", "link_length_km": 200}),
        json!({"topology": "line", "nodes": 2}),
        json!({"topology": "ring", "link_delay": "1 ms", "routes_per_pair": 2}),
        json!({"topology": "star", "link_length_km": 0.5, "wavelengths": 8}),
        json!({"topology": "dumbbell"}),
        json!({"topology": "fat-tree", "route_choice": "ecmp"}),
        json!({"topology": "fat-tree", "pods": 6, "link_delay": "500 ns"}),
        json!({"topology": "leaf-spine", "route_choice": "ecmp", "routes_per_pair": 2}),
        json!({"topology": "leaf-spine", "leaves": 8, "spines": 4, "link_length_km": 0.1}),
        json!({"topology": "torus"}),
        json!({"topology": "torus", "dimensions": [2, 2, 3]}),
        json!({"topology": "nsfnet", "delay_per_km": "4.9 us", "edges": ["1", "14"]}),
        json!({"topology": "nsfnet-8e6c", "route_choice": "random"}),
        json!({"topology": "nsfnet-deeprmsa", "routing": "hops"}),
        json!({"topology": "martinez", "wavelengths": 7}),
        custom(&json!({"route": [{"from": "a", "to": "c", "via": ["b"]}]})),
    ];
    for network in networks {
        let once = resolve(&network).unwrap_or_else(|error| panic!("{network}: {error}"));
        let written = serde_json::to_value(&once).expect("written");
        assert_eq!(resolve(&written).as_ref(), Ok(&once), "{network}");
        let (graph, again) = (graph(&network), graph(&written));
        assert_eq!(graph, again);
        assert_eq!(once.routes(&graph), once.routes(&again));
    }
}

#[test]
fn lengths_and_defaults_reach_the_links() {
    let one = |network: &Value| *graph(network).link(0);
    let per_km = |km: u64| Span::from_us(5 * km);
    assert_eq!(one(&json!({"topology": "ring"})).least_delay(), Span::from_ms(10));
    assert_eq!(one(&json!({"topology": "ring", "link_length_km": 70})).least_delay(), per_km(70));
    assert_eq!(one(&json!({"link_length_km": 70})).least_delay(), per_km(70));
    let slower = json!({"topology": "nsfnet", "delay_per_km": "10 us", "wavelengths": 8});
    assert_eq!((one(&slower).least_delay(), one(&slower).wavelengths), (per_km(2200), 8));
    let graph = graph(&custom(&json!({"wavelengths": 2})));
    let (first, last) = (graph.link(0), graph.link(5));
    assert_eq!((first.least_delay(), last.least_delay()), (per_km(100), Span::from_ms(1)));
    assert_eq!((first.wavelengths, last.wavelengths), (2, 3));
    assert_eq!((last.from, last.to), (3, 2));
}

#[test]
fn hosts_are_where_they_are_said_to_be() {
    let names = |network: &Value| -> Vec<String> {
        let graph = graph(network);
        graph.edges().into_iter().map(|edge| graph.name(edge).to_owned()).collect()
    };
    let eight = ["1", "2", "3", "6", "10", "11", "13", "14"];
    assert_eq!(names(&json!({"topology": "nsfnet-8e6c"})), eight);
    assert_eq!(
        graph(&json!({"topology": "nsfnet", "edges": eight})),
        graph(&json!({"topology": "nsfnet-8e6c"})),
    );
    assert_eq!(names(&json!({"topology": "star", "edges": ["hub", "2"]})), ["hub", "2"]);
    let roles = json!([{"name": "a", "role": "edge"}, {"name": "b", "role": "core"},
        {"name": "c"}, {"name": "d", "role": "edge"}]);
    assert_eq!(names(&custom(&json!({"node": roles}))), ["a", "c", "d"]);
}

#[test]
fn routes_are_as_asked() {
    let network = resolve(&json!({
        "topology": "nsfnet", "routes_per_pair": 2,
        "route": [{"from": "1", "to": "14", "via": ["2", "4", "11"]}],
    }));
    let network = network.expect("valid");
    let graph = network.graph().expect("valid");
    let routes = network.routes(&graph).expect("valid");
    let named = |from: u32, to: u32| -> Vec<String> {
        let words = |route: &Vec<u32>| {
            let nodes = graph.nodes_of(route);
            nodes.into_iter().map(|node| graph.name(node)).collect::<Vec<_>>().join("-")
        };
        routes.of(from, to).iter().map(words).collect()
    };
    assert_eq!(named(0, 13), ["1-2-4-11-14", "1-8-9-14"]);
    assert_eq!(named(13, 0), ["14-9-8-1", "14-13-12-9-8-1"]);
}

#[test]
fn fields_that_have_no_use_are_refused() {
    refused(&[
        (json!({"nodes": 3}), "network.nodes", "3", "\"line\" or \"ring\""),
        (json!({"wavelengths": 3}), "network.wavelengths", "3", "\"path\" does not use it"),
        (json!({"edges": ["a"]}), "network.edges", "1 entries", "does not use it"),
        (
            json!({"topology": "ring", "core_nodes": 2}),
            "network.core_nodes",
            "2",
            "\"ring\" does not use it; remove it, or write topology = \"path\"",
        ),
        (
            json!({"topology": "nsfnet", "link_delay": "5 ms"}),
            "network.link_delay",
            "5 ms",
            "does not use it",
        ),
        (custom(&json!({"topology": "star"})), "network.node", "4 entries", "\"custom\""),
        (json!({"file": "a.gml"}), "network.file", "\"a.gml\"", "\"custom\""),
        (
            json!({"topology": "ring", "delay_per_km": "5 us"}),
            "network.delay_per_km",
            "5 us",
            "no length",
        ),
        (
            json!({"link_length_km": 5.5, "link_delay": "1 ms"}),
            "network.link_length_km",
            "5.5",
            "link_delay is given too",
        ),
    ]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let ring = |field: &str, value: Value| json!({"topology": "ring", field: value});
    refused(&[
        (ring("nodes", json!(2)), "network.nodes", "2", "3 to 10000"),
        (json!({"topology": "star", "nodes": 10000}), "network.nodes", "10000", "2 to 9999"),
        (ring("wavelengths", json!(0)), "network.wavelengths", "0", "1 to 1000"),
        (ring("routes_per_pair", json!(0)), "network.routes_per_pair", "0", "1 to 100"),
        (ring("link_length_km", json!(-1)), "network.link_length_km", "-1", "at least 0"),
        (
            ring("link_length_km", json!(1e300)),
            "network.link_length_km",
            &1e300.to_string(),
            "light",
        ),
        (
            json!({"topology": "ring", "nodes": 50, "link_delay": "1e5 s"}),
            "network",
            "100000 s",
            "longer than any run",
        ),
        (
            json!({"topology": "ring", "nodes": 1000, "routes_per_pair": 2}),
            "network.routes_per_pair",
            "2",
            "too many",
        ),
        (
            json!({"topology": "nsfnet", "delay_per_km": "100 s"}),
            "network.delay_per_km",
            "100 s",
            "too long",
        ),
    ]);
}

#[test]
fn mistakes_in_a_custom_network_are_named() {
    let link = |link: Value| custom(&json!({"link": [link]}));
    let both =
        |other: Value| custom(&json!({"link": [{"from": "a", "to": "b", "length_km": 1}, other]}));
    refused(&[
        (json!({"topology": "custom"}), "network.node", "", "[[network.node]]"),
        (json!({"topology": "custom", "file": "x.gml"}), "network.file", "x.gml", "reads no files"),
        (
            custom(&json!({"node": [{"name": "a"}, {"name": "a"}]})),
            "network.node[1].name",
            "a",
            "network.node[0] is called so too",
        ),
        (custom(&json!({"node": [{"name": ""}]})), "network.node[0].name", "\"\"", "has a name"),
        (
            custom(&json!({"node": [{"name": "a", "role": "egde"}]})),
            "network.node[0].role",
            "\"egde\"",
            "did you mean \"edge\"?",
        ),
        (
            link(json!({"from": "a", "to": "x9", "length_km": 1})),
            "network.link[0].to",
            "\"x9\"",
            "no such node",
        ),
        (
            link(json!({"from": "a", "to": "a", "length_km": 1})),
            "network.link[0].to",
            "a",
            "leads to where it begins",
        ),
        (link(json!({"from": "a", "to": "b"})), "network.link[0]", "", "add length_km"),
        (
            link(json!({"from": "a", "to": "b", "length_km": 1, "delay": "1 ms"})),
            "network.link[0].delay",
            "1 ms",
            "keep one",
        ),
        (
            link(json!({"from": "a", "to": "b", "length_km": 1, "wavelengths": 0})),
            "network.link[0].wavelengths",
            "0",
            "1 to 1000",
        ),
        (
            both(json!({"from": "b", "to": "a", "length_km": 1, "one_way": true})),
            "network.link[1]",
            "b to a",
            "network.link[0] joins the two already",
        ),
        (
            both(json!({"from": "c", "to": "d", "length_km": 1})),
            "network.link",
            "",
            "not connected: no fibres join node \"c\" to \"a\"",
        ),
    ]);
}

#[test]
fn nodes_out_of_reach_are_named() {
    let links = json!([
        {"from": "a", "to": "b", "length_km": 1},
        {"from": "b", "to": "c", "length_km": 1},
        {"from": "c", "to": "d", "length_km": 1, "one_way": true},
    ]);
    let roles = json!([{"name": "a"}, {"name": "b", "role": "edge"}, {"name": "c", "role": "core"},
        {"name": "d"}]);
    refused(&[
        (
            custom(&json!({"link": links})),
            "network.link",
            "d to a",
            "no route leads from \"d\" to \"a\": links on the path are one_way",
        ),
        (
            custom(&json!({"node": roles})),
            "network.node",
            "d to a",
            "node \"b\" is an edge node, which forwards no transit bursts; give \"b\"",
        ),
        (custom(&json!({"edges": ["a"]})), "network.edges", "[a]", "two nodes"),
        (custom(&json!({"edges": []})), "network.edges", "[]", "two nodes"),
        (custom(&json!({"edges": ["a", "a"]})), "network.edges[1]", "a", "twice"),
        (
            json!({"topology": "dumbbell", "edges": ["left1", "rihgt1"]}),
            "network.edges[1]",
            "\"rihgt1\"",
            "did you mean \"right1\"?",
        ),
    ]);
}

#[test]
fn mistakes_in_a_route_are_named() {
    let route = |from: &str, via: &[&str], to: &str| {
        let route = json!({"from": from, "via": via, "to": to});
        json!({"topology": "nsfnet-8e6c", "route": [route.clone(), route]})
    };
    refused(&[
        (
            route("1", &["2", "9"], "14"),
            "network.route[0].via",
            "1 to 14",
            "no link leads from \"2\" to \"9\"",
        ),
        (route("1", &[], "14"), "network.route[0].via", "1 to 14", "name every node on the path"),
        (route("1", &["8", "x"], "14"), "network.route[0].via[1]", "\"x\"", "no such node"),
        (route("1", &["2", "1", "8", "9"], "14"), "network.route[0].via[1]", "1", "twice"),
        (
            route("1", &["8", "9", "14"], "14"),
            "network.route[0].via[2]",
            "14",
            "only those between",
        ),
        (route("1", &[], "1"), "network.route[0].to", "1", "twice"),
        (route("4", &["2"], "1"), "network.route[0].from", "4", "no hosts"),
        (route("1", &["8", "9"], "14"), "network.route[1]", "1 to 14", "network.route[0] again"),
        (
            json!({"topology": "star", "route": [{"from": "1", "via": ["2"], "to": "3"}]}),
            "network.route[0].via[0]",
            "2",
            "forwards no transit bursts",
        ),
    ]);
}
