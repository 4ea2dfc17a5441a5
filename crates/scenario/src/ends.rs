//! The edge nodes that a scenario names.

use super::ScenarioError;
use super::error::refuse;
use crate::topology::Graph;

/// The edge node called `name`.
pub(super) fn host(graph: &Graph, path: &str, name: &str) -> Result<u32, ScenarioError> {
    let problem = match graph.find(name) {
        Some(node) if graph.nodes[node as usize].role.has_hosts() => return Ok(node),
        Some(_) => "hosts do not attach to a core node",
        None => "there is no such node",
    };
    let names: Vec<&str> = graph.edges().iter().take(20).map(|&node| graph.name(node)).collect();
    let fix = format!("write the name of an edge node: {}", names.join(", "));
    refuse(path, format!("{name:?}"), problem, fix)
}

/// The edge nodes where packets start and end, which are two.
pub(super) fn two_ends(
    graph: &Graph,
    at: &str,
    from: &str,
    to: &str,
) -> Result<(u32, u32), ScenarioError> {
    let ends = (host(graph, &format!("{at}.from"), from)?, host(graph, &format!("{at}.to"), to)?);
    if ends.0 == ends.1 {
        let fix = "name two different edge nodes";
        let value = format!("{to:?}");
        return refuse(format!("{at}.to"), value, "it is where the packets start", fix);
    }
    Ok(ends)
}
