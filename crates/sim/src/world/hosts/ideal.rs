//! The least time that a transfer would take alone, with which slow-down compares.

use std::sync::Arc;

use burstlab_units::{Rate, Span};

use super::connection::FlowKind;
use crate::scenario::Resolved;
use crate::topology::{Link, Route, Routes};

/// The ideal times of transfers between the nodes of a network.
#[derive(Clone, Debug, Default)]
pub(super) struct Ideal {
    /// That of the slowest of a sender's link, a wavelength and a receiver's link.
    slowest: Option<Rate>,
    /// Outside the network, in one direction.
    outside: Span,
    /// In the network, by link.
    links: Vec<Span>,
    routes: Arc<Routes>,
}

impl Ideal {
    /// The delays of a scenario with demands; no other scenario needs them.
    pub(super) fn new(resolved: &Resolved) -> Self {
        let scenario = &resolved.scenario;
        let Some((graph, routes)) = &resolved.mesh else { return Self::default() };
        if scenario.demand.is_empty() {
            return Self::default();
        }
        let (rate, delay, _) = scenario.access.receiver_side();
        let outside = scenario.access.delay + delay;
        let links = graph.links.iter().map(Link::least_delay).collect();
        let slowest = scenario.access.rate.min(rate).min(scenario.network.link_rate);
        Self { slowest: Some(slowest), outside, links, routes: Arc::clone(routes) }
    }

    /// That of `bytes` of application data between two nodes: the bytes and the headers of their
    /// segments at the slowest rate, rounded up to a picosecond, and the delay.
    pub(super) fn of(&self, kind: &FlowKind, (from, to): (u32, u32), bytes: u64) -> Span {
        let Some(rate) = self.slowest else { return Span::ZERO };
        let bits = u128::from(kind.on_wire(bytes)) * 8;
        let ps = (bits * 1_000_000_000_000).div_ceil(u128::from(rate.as_bps()));
        // A transfer that would take longer than any run is as good as one that never ends.
        let ps = u64::try_from(ps).map_or(i64::MAX as u64, |ps| ps.min(i64::MAX as u64));
        let over = |route: &Route| -> Span {
            route.iter().fold(self.outside, |sum, &link| sum + self.links[link as usize])
        };
        let delay = self.routes.of(from, to).iter().map(over).min();
        Span::from_ps(ps) + delay.unwrap_or(self.outside)
    }
}
