//! `[[failures]]`: fibres and nodes that are down for a while.

use std::sync::Arc;

use burstlab_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::DURATION_MAX;
use super::{NetworkKind, Scenario, ScenarioError};
use crate::topology::{Graph, Routes};

/// A fibre or a node that goes down and comes back, in a mesh of bursts. Bursts on the fibre when
/// it goes down are lost, and so are bursts with a reservation of it while it is down. A node that
/// finds its own fibre down tries deflection or retransmission, if `core.contention` lists them.
/// All of these losses have the cause `failure`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Failure {
    /// The names of two nodes: the fibre between them goes down, in both directions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<(String, String)>,
    /// Name of a node: all fibres that begin or end there go down. Its hosts continue, and their
    /// packets are lost at the first fibre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Whether only the direction of `link` from the first node to the second goes down.
    pub one_way: bool,
    /// Time at which the fibre or node goes down.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub down: Span,
    /// Time at which the fibre or node comes back. Absent: never.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<Span>,
    /// Time after `down` and after `up` at which routes change, for bursts that start from then on
    /// and for the detours of deflection. Two nodes that no path joins keep their routes. Absent:
    /// routes do not change.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reroute: Option<Span>,
}

/// A failure, by the numbers of the links that go down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The links, rising.
    pub links: Vec<u32>,
    /// When they go down.
    pub down: Span,
    /// When they come back.
    pub up: Option<Span>,
    /// How long after that routes follow.
    pub reroute: Option<Span>,
}

/// Reads the failures of a scenario on the mesh of this graph; none may be on a path.
pub(super) fn read(
    scenario: &Scenario,
    mesh: Option<&(Graph, Arc<Routes>)>,
) -> Result<Vec<Outage>, ScenarioError> {
    if let Some((graph, routes)) = mesh.filter(|_| scenario.kind() == NetworkKind::Mesh) {
        let failures = scenario.failures.iter().enumerate();
        return failures
            .map(|(index, one)| one.outage(&format!("failures[{index}]"), graph, routes))
            .collect();
    }
    if scenario.failures.is_empty() {
        return Ok(Vec::new());
    }
    let (problem, fix) = match scenario.kind() {
        NetworkKind::Slots => ("fibres fail in a mesh of bursts", "remove it, or remove [ops]"),
        _ => (
            "a path has no other route to take",
            "remove it, or choose a mesh, such as network.topology = \"line\"",
        ),
    };
    Err(ScenarioError::new("failures", "", problem, fix))
}

impl Failure {
    fn outage(&self, at: &str, graph: &Graph, routes: &Routes) -> Result<Outage, ScenarioError> {
        let at = |field: &str| format!("{at}.{field}");
        if let Some(up) = self.up.filter(|&up| up <= self.down) {
            let fix = format!("write a time after {}, or remove it", self.down);
            return Err(ScenarioError::new(at("up"), up.to_string(), "it is not after down", fix));
        }
        let links = match (&self.link, &self.node) {
            (Some((from, to)), None) => {
                let from = node(graph, &at("link[0]"), from)?;
                let to = node(graph, &at("link[1]"), to)?;
                let back = graph.link_between(to, from).filter(|_| !self.one_way);
                let mut links: Vec<u32> =
                    graph.link_between(from, to).into_iter().chain(back).collect();
                links.sort_unstable();
                if links.is_empty() {
                    let value = format!("{} to {}", graph.name(from), graph.name(to));
                    let fix = "name the two ends of a fibre";
                    return Err(ScenarioError::new(
                        at("link"),
                        value,
                        "there is no such fibre",
                        fix,
                    ));
                }
                links
            }
            (None, Some(name)) => {
                let node = node(graph, &at("node"), name)?;
                let ends = (0..).zip(&graph.links);
                let here = ends.filter(|(_, link)| link.from == node || link.to == node);
                here.map(|(number, _)| number).collect()
            }
            (None, None) => {
                let fix = "add link = [\"1\", \"2\"], or node = \"1\"";
                return Err(ScenarioError::new(at("link"), "", "nothing is named that fails", fix));
            }
            (Some(_), Some(name)) => {
                let problem = "link is given too";
                let fix = "keep one of the two; several failures are several entries";
                return Err(ScenarioError::new(at("node"), &**name, problem, fix));
            }
        };
        if self.one_way && self.node.is_some() {
            let problem = "all fibres of a node go down";
            return Err(ScenarioError::new(at("one_way"), "true", problem, "remove it, or node"));
        }
        if let Some(after) = self.reroute.filter(|_| !routes.are_few()) {
            let problem =
                format!("the routes of {} nodes are too many to be found anew", graph.nodes.len());
            let fix = "remove it, or have fewer nodes with hosts (network.edges = [...])";
            return Err(ScenarioError::new(at("reroute"), after.to_string(), problem, fix));
        }
        Ok(Outage { links, down: self.down, up: self.up, reroute: self.reroute })
    }
}

fn node(graph: &Graph, path: &str, name: &str) -> Result<u32, ScenarioError> {
    graph.find(name).ok_or_else(|| {
        let known: Vec<String> = graph.nodes.iter().map(|node| node.name.clone()).collect();
        let fix = super::read::suggestion(name, &known);
        ScenarioError::new(path, format!("{name:?}"), "there is no such node", fix)
    })
}
