//! The nodes and fibres that bursts cross, the routes over them, and the scenario's rules for all.
//! Everybody reads it; only failures change it: fibres, and routes as they are found anew.

use burstlab_optical::Fibres;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::burst::Burst;
use super::routing::CurrentRoutes;
use super::rules::Rules;
use crate::scenario::{Resolved, Scenario};
use crate::topology::Graph;
use crate::world::surgery::Named;

/// The network as a scenario describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Not stored: no event changes it.
    #[serde(skip)]
    pub(super) scenario: Scenario,
    /// Not stored: the scenario has its nodes and fibres, which no event changes.
    #[serde(skip)]
    pub(super) graph: Graph,
    pub(super) fibres: Fibres,
    /// Not stored: the scenario has them, and no event changes them.
    #[serde(skip)]
    pub(super) rules: Rules,
    pub(super) routes: CurrentRoutes,
}

impl Plan {
    pub(super) fn new(resolved: &Resolved) -> Self {
        let (graph, routes) = resolved.graph_and_routes();
        Self {
            scenario: resolved.scenario.clone(),
            fibres: graph.fibres(),
            graph,
            rules: Rules::new(&resolved.scenario, &resolved.assembly, &resolved.cores),
            routes: CurrentRoutes::new(routes),
        }
    }

    /// Takes what is not stored from that of the same scenario.
    pub(super) fn adopt(&mut self, fresh: Self) {
        (self.scenario, self.graph, self.rules) = (fresh.scenario, fresh.graph, fresh.rules);
        self.routes.adopt(fresh.routes);
    }

    /// Finds the routes anew, around the fibres that they are to keep away from.
    pub(super) fn reroute(&mut self, avoided: &[bool]) {
        let network = &self.scenario.network;
        self.routes.follow(network.routes_around(&self.graph, avoided, &self.routes));
    }

    /// The direction of the bursts of a path from one node to another: forward, or reverse.
    #[inline]
    pub(super) fn way(&self, (from, to): (u32, u32)) -> usize {
        usize::from(from > to)
    }

    /// The node at which the header of a burst stands that has `hop` fibres behind it.
    #[inline]
    pub(super) fn node_at(&self, burst: &Burst, hop: usize) -> u32 {
        match hop {
            0 => burst.from,
            _ => self.graph.link(burst.route[hop - 1]).to,
        }
    }

    /// The number of a node in tables: from 1, and on a path from the first core node on, behind
    /// the ingress.
    pub(super) fn number_of(&self, node: u32) -> usize {
        node as usize + usize::from(self.rules.control)
    }

    /// The nodes that a fibre joins, counted from 1.
    pub(super) fn joined_by(&self, link: u32) -> (u32, u32) {
        let link = self.graph.link(link);
        (link.from + 1, link.to + 1)
    }

    /// When a signal that a node sends at `sent` is at the ingress of a burst, `hops` fibres back.
    pub(super) fn back(&self, burst: &Burst, hops: usize, sent: Time) -> Time {
        self.fibres.signal_back(&burst.route[..hops], sent)
    }

    /// The name of a burst in surgery.
    #[inline]
    pub(super) fn named(&self, burst: &Burst) -> Named {
        (self.rules.counter(burst.from), burst.label)
    }
}
