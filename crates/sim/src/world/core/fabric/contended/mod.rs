//! Fibres on which bursts meet. A header walks from node to node ahead of its burst and reserves;
//! the burst itself costs nothing until it lands.

mod contention;
mod converting;
mod cutting;
mod header;
mod ingress_port;
mod light;
mod light_headers;
mod pools;
mod wish;

use std::collections::VecDeque;

use burstlab_kernel::{Lane, RandomSource, Stream};
use burstlab_optical::delay_lines::DelayLines;
use burstlab_optical::scheduling::Port;
use burstlab_optical::signalling::{ControlChannels, HeaderProcessor};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::light::Light;
use self::pools::Pools;
use crate::measure::Step;
use crate::scenario::{Protocol, Resolved, RouteChoice};
use crate::world::core::burst::{Burst, BurstId, Fate};
use crate::world::core::fate::Met;
use crate::world::core::marks::Markers;
use crate::world::core::plan::Plan;
use crate::world::core::scope::Scope;
use crate::world::core::sites::Sites;

/// A signal on a control channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Signal {
    slot: u32,
    /// Which burst it is of: by now the slot may hold another one.
    id: BurstId,
    /// Of a trailer: the hop it comes to, and what is left of the burst.
    trailer: Option<(u32, Span)>,
}

/// The nodes and fibres of a mesh.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Contended {
    /// By fibre: its output, its control channels, and what travels on these.
    ports: Vec<Port>,
    control: Vec<ControlChannels>,
    signals: Vec<Lane<Signal>>,
    /// By fibre, the bursts without a slot whose headers travel there.
    light: Vec<VecDeque<Light>>,
    /// By node.
    processors: Vec<HeaderProcessor>,
    lines: Vec<DelayLines>,
    pools: Pools,
    /// By node, bursts of each kind that it sent as an ingress.
    sent: Vec<[u64; 3]>,
    /// By node, bytes of the copies that it keeps as an ingress.
    copies: Vec<u64>,
    /// Of ingress ports, by fibre.
    markers: Markers,
    sites: Sites,
    /// By pair of nodes with hosts: which of its routes comes next, where they take turns.
    turns: Vec<u32>,
    /// Draws of routes, and of the wavelengths on which bursts set out.
    choices: Stream,
    wavelengths: Stream,
}

/// Attempts to send a burst that have draws of their own.
const ATTEMPTS: u64 = 1 << 12;

impl Contended {
    pub(super) fn new(resolved: &Resolved, plan: &Plan, random: &RandomSource) -> Self {
        let (signalling, cores) = (&resolved.scenario.signalling, &resolved.cores);
        let (graph, rules) = (&plan.graph, &plan.rules);
        let (nodes, links) = (graph.nodes.len(), graph.links.len());
        let rate = signalling.rate.unwrap_or(rules.rate);
        let control = ControlChannels::new(signalling.channels, rate, signalling.header_size);
        let processor = HeaderProcessor::new(signalling.processors, signalling.processing);
        let lines = |node| {
            let lines = &cores.at(node).delay_lines;
            DelayLines::new(&lines.delays, lines.channels)
        };
        let port = |link: &crate::topology::Link| {
            Port::new(link.wavelengths, cores.at(link.from).scheduler)
        };
        Self {
            ports: graph.links.iter().map(port).collect(),
            control: vec![control; links],
            signals: vec![Lane::default(); links],
            light: vec![VecDeque::new(); links],
            processors: vec![processor; nodes],
            lines: (0..nodes as u32).map(lines).collect(),
            pools: Pools::new(graph, |node| cores.at(node).converters),
            sent: vec![[0; 3]; nodes],
            copies: vec![0; nodes],
            markers: Markers::of(resolved, links, random),
            sites: Sites::of(graph),
            turns: rules.turns(graph, &plan.routes, &random.stream("routes/turns")),
            choices: random.stream("routes"),
            wavelengths: random.stream("wavelengths"),
        }
    }

    /// A closed burst gets its copy, and is launched.
    #[inline]
    pub(super) fn offer(&mut self, (now, slot): (Time, u32), scope: &mut Scope) -> Fate {
        let burst = scope.common.bursts.get_mut(slot);
        let sent = &mut self.sent[burst.from as usize][burst.kind as usize];
        *sent += 1;
        burst.ordinal = *sent;
        if scope.common.plan.rules.resends > 0 {
            let used = &mut self.copies[burst.from as usize];
            let room = scope.common.plan.rules.buffer - *used;
            burst.copy = burst.bytes.get() <= room;
            if burst.copy {
                *used += burst.bytes.get();
            } else {
                scope.step((now, slot), Step::NoCopy, (None, Span::ZERO));
            }
        }
        self.launch((now, slot), scope)
    }

    /// Drops the copy of a burst that its ingress kept.
    #[inline]
    pub(super) fn forget_copy(&mut self, burst: &mut Burst) {
        if std::mem::take(&mut burst.copy) {
            self.copies[burst.from as usize] -= burst.bytes.get();
        }
    }

    /// The ingress sends a burst, for the first time or again.
    pub(crate) fn launch(&mut self, (now, slot): (Time, u32), scope: &mut Scope) -> Fate {
        let pick = self.pick(scope.common.bursts.get(slot), &scope.common.plan);
        let (plan, burst) = (&scope.common.plan, scope.common.bursts.get_mut(slot));
        let rules = &plan.rules;
        burst.route.clear();
        burst.route.extend_from_slice(&plan.routes.of(burst.from, burst.to)[pick]);
        burst.planned = burst.route.len();
        burst.reservations.clear();
        (burst.hop, burst.wavelength, burst.delayed) = (0, 0, 0);
        if rules.random_wavelength {
            // Each attempt has a draw of its own.
            let attempt = u64::from(burst.attempts).min(ATTEMPTS - 1);
            let share = burst.draws(self.wavelengths, (attempt, ATTEMPTS));
            let first = plan.graph.link(burst.route[0]);
            let all = first.wavelength_of(first.wavelengths);
            burst.wavelength = (share * f64::from(all)) as u32;
        }
        burst.hold = rules.hold(burst.bytes);
        burst.left = burst.hold;
        if burst.packets == 0 {
            // A retransmitted burst is the whole burst; packets that were cut off are not in it.
            burst.load_left = burst.load;
        }
        burst.arrives = now + rules.offset(burst.planned, burst.class);
        if rules.protocol == Protocol::TwoWay {
            let route = &burst.route[..burst.planned - 1];
            let there = plan.fibres.signal_over(route, burst.arrives);
            burst.arrives = plan.fibres.signal_back(route, there);
        }
        let met = scope.common.fates.meets(burst, &plan.fibres);
        if let Some(Met::Loss(cause)) = met {
            return Fate::Lost(now, cause);
        }
        if rules.fifo {
            return self.queue_up((now, slot), scope);
        }
        burst.departs = burst.arrives;
        self.header_arrives((now, slot), scope)
    }

    /// Which of the routes of its pair a burst takes.
    fn pick(&mut self, burst: &Burst, plan: &Plan) -> usize {
        let routes = plan.routes.of(burst.from, burst.to).len();
        match plan.rules.choice {
            RouteChoice::First => 0,
            RouteChoice::RoundRobin => {
                let turn = &mut self.turns[self.sites.pair((burst.from, burst.to)) as usize];
                // After a failure there may be fewer.
                let pick = *turn as usize % routes;
                *turn = (*turn + 1) % routes as u32;
                pick
            }
            RouteChoice::Ecmp if burst.packets > 0 => burst.route_index as usize % routes,
            RouteChoice::Random | RouteChoice::Ecmp => {
                (burst.draws(self.choices, (0, 1)) * routes as f64) as usize
            }
        }
    }

    /// Measuring begins.
    pub(super) fn measure_from(&mut self, now: Time) {
        for port in &mut self.ports {
            port.forget(now);
            port.measure_from(now);
        }
        self.pools.measure_from(now);
    }

    /// By node: its converters, and how long they were taken by `now`, together; empty if no node
    /// has a limited number.
    pub(super) fn converters(&self, now: Time, plan: &Plan) -> Vec<Option<(u64, Span)>> {
        self.pools.busy(now, &plan.graph)
    }

    /// By fibre and wavelength, how long that was reserved by `now`.
    pub(super) fn busy(&self, now: Time) -> Vec<Vec<Span>> {
        let busy = |port: &Port| {
            (0..port.wavelengths()).map(|wavelength| port.busy(wavelength, now)).collect()
        };
        self.ports.iter().map(busy).collect()
    }

    /// By fibre, how many wavelengths are reserved at `now`.
    pub(super) fn taken(&self, now: Time) -> Vec<u32> {
        let after = now + Span::from_ps(1);
        let taken = |port: &Port| {
            let all = 0..port.wavelengths();
            all.filter(|&one| port.overlapping(one, now, after).next().is_some()).count() as u32
        };
        self.ports.iter().map(taken).collect()
    }

    /// The bursts without a slot: of each its bytes.
    pub(super) fn light_under_way(&self) -> impl Iterator<Item = u64> {
        self.light.iter().flatten().map(|burst| burst.bytes.get())
    }

    /// Bytes of copies that edge nodes keep.
    #[cfg(test)]
    pub(crate) fn copied(&self) -> u64 {
        self.copies.iter().sum()
    }
}
