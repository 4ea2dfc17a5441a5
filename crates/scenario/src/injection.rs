//! `[core.injection]`: contention that no other burst makes.

use burstlab_units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IngressPort, Protocol, Scenario, ScenarioError};
use crate::topology::{Graph, Routes};

/// Random contention in addition to contention with other bursts, as in Shihada, Zhang and Ho
/// (2006). A burst that meets it is blocked even if a wavelength is free, and `core.contention` is
/// tried. Each attempt to send a burst has its own draw. In a mesh, with one-way reservation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Injection {
    /// Chance that a burst with data meets injected contention. Default: 0.
    pub data: Probability,
    /// Chance that a burst of ACKs alone meets injected contention. Default: 0.
    pub ack: Probability,
    /// The unit that the chance refers to.
    pub per: InjectedPer,
}

/// The unit that the chance of injected contention refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InjectedPer {
    /// Of an attempt to send a burst; where is drawn evenly among the nodes of its route at which
    /// it asks for a fibre. With `edge.port` = `fifo` its ingress is none of them.
    #[default]
    Burst,
    /// Of each such node of its route, detours included.
    Node,
}

/// Refuses chances that no burst would be held against.
pub(super) fn check(
    scenario: &Scenario,
    graph: &Graph,
    routes: &Routes,
) -> Result<(), ScenarioError> {
    let rule = &scenario.core.injection;
    let chances = [("core.injection.data", rule.data), ("core.injection.ack", rule.ack)];
    let Some((field, chance)) = chances.into_iter().find(|(_, chance)| chance.get() > 0.0) else {
        return Ok(());
    };
    let refuse = |problem: &str, fix: &str| {
        Err(ScenarioError::new(field, chance.get().to_string(), problem, fix))
    };
    if scenario.signalling.protocol == Protocol::TwoWay {
        let fix = "remove it, or use jet or jit";
        return refuse("bursts with a two-way reservation meet no contention", fix);
    }
    let longest = |to| routes.sums_to(to, 0, |hops, _| hops + 1, usize::max);
    let none = graph.edges().into_iter().flat_map(longest).all(|(_, hops)| hops <= 1);
    if scenario.edge.port == IngressPort::Fifo && none {
        let problem = "a burst waits for the only fibre of its route and meets no contention there";
        return refuse(problem, "remove it, or write edge.port = \"shared\"");
    }
    Ok(())
}
