//! Checks of a network that the types alone cannot make.

use std::sync::Arc;

use burstlab_units::Span;

use super::super::error::{Check, brief, word};
use super::super::limits::DURATION_MAX;
use super::super::{Interrupt, ScenarioError};
use super::{Network, Topology};
use crate::topology::{Graph, Routes};

/// Fields that each shape may have in addition to `topology` and `link_rate`.
const UNIFORM: [&str; 3] = ["link_delay", "link_length_km", "delay_per_km"];
const PATH: [&str; 2] = ["core_nodes", "link_delays"];
const CUSTOM: [&str; 5] = ["node", "link", "file", "lengths", "delay_per_km"];
const MESH: [&str; 6] =
    ["wavelengths", "edges", "routing", "routes_per_pair", "route_choice", "route"];

const ALL: [Topology; 13] = [
    Topology::Path,
    Topology::Line,
    Topology::Ring,
    Topology::Star,
    Topology::Dumbbell,
    Topology::FatTree,
    Topology::LeafSpine,
    Topology::Torus,
    Topology::Nsfnet,
    Topology::Nsfnet8e6c,
    Topology::NsfnetDeeprmsa,
    Topology::Martinez,
    Topology::Custom,
];

fn uses(topology: Topology, field: &str) -> bool {
    let path = topology == Topology::Path;
    let uniform = topology.is_uniform();
    ["topology", "link_rate"].contains(&field)
        || uniform && UNIFORM.contains(&field)
        || topology.is_counted() && field == "nodes"
        || topology == Topology::FatTree && field == "pods"
        || topology == Topology::LeafSpine && ["leaves", "spines"].contains(&field)
        || topology == Topology::Torus && field == "dimensions"
        || path && PATH.contains(&field)
        || !path && MESH.contains(&field)
        || topology.is_nsfnet() && field == "delay_per_km"
        || topology == Topology::Custom && CUSTOM.contains(&field)
}

/// Checks `network`; returns the graph and the routes of a mesh.
pub(in super::super) fn check(
    network: &Network,
    watch: &Interrupt,
) -> Result<Option<(Graph, Arc<Routes>)>, ScenarioError> {
    used(network)?;
    lengths(network)?;
    if network.topology == Topology::Path {
        return path(network).map(|()| None);
    }
    let graph = network.graph()?;
    let routes = network.routes_while(&graph, watch)?;
    Ok(Some((graph, Arc::new(routes))))
}

fn used(network: &Network) -> Check {
    let given = serde_json::to_value(network).unwrap_or_default();
    for (field, value) in given.as_object().into_iter().flatten() {
        if uses(network.topology, field) {
            continue;
        }
        let users: Vec<String> = ALL.iter().filter(|one| uses(**one, field)).map(word).collect();
        return Err(ScenarioError::new(
            format!("network.{field}"),
            brief(value),
            format!("topology = {} does not use it", word(&network.topology)),
            format!("remove it, or write topology = {}", users.join(" or ")),
        ));
    }
    Ok(())
}

fn lengths(network: &Network) -> Check {
    if let Some(per_km) = network.delay_per_km
        && network.topology.is_uniform()
        && network.link_length_km.is_none()
    {
        return Err(ScenarioError::new(
            "network.delay_per_km",
            per_km.to_string(),
            "no length is given",
            "add link_length_km = ..., or remove it",
        ));
    }
    let Some(km) = network.link_length_km else { return Ok(()) };
    let others = [
        ("link_delay", network.link_delay.is_some()),
        ("link_delays", network.link_delays.is_some()),
    ];
    if let Some((other, _)) = others.into_iter().find(|&(_, given)| given) {
        return Err(ScenarioError::new(
            "network.link_length_km",
            km.to_string(),
            format!("{other} is given too"),
            "keep one of the two",
        ));
    }
    network.delay_over("network.link_length_km", km).map(|_| ())
}

fn path(network: &Network) -> Check {
    let each = network.uniform_delay();
    let fibres = network.core_nodes() + 1;
    let Some(delays) = &network.link_delays else {
        let field = if network.link_delay.is_some() { "link_delay" } else { "link_length_km" };
        return in_time(&format!("network.{field}"), &vec![each; fibres]);
    };
    if delays.len() == fibres {
        return in_time("network.link_delays", delays);
    }
    Err(ScenarioError::new(
        "network.link_delays",
        format!("{} delays", delays.len()),
        format!("{} core nodes lie between {fibres} fibres", network.core_nodes()),
        format!("write {fibres} delays, or one link_delay for all"),
    ))
}

/// Whether a path of these fibres is crossed in less time than the longest run has.
fn in_time(field: &str, delays: &[Span]) -> Check {
    let whole: u128 = delays.iter().map(|delay| u128::from(delay.as_ps())).sum();
    if whole <= u128::from(DURATION_MAX.as_ps()) {
        return Ok(());
    }
    let longest = delays.iter().max().copied().unwrap_or_default();
    let most = DURATION_MAX / delays.len() as u64;
    Err(ScenarioError::new(
        field,
        longest.to_string(),
        format!("a burst over {} such fibres takes longer than any run", delays.len()),
        format!("write at most \"{most}\" for each, or fewer core_nodes"),
    ))
}
