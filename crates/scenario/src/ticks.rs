//! Round trips that are shorter than a tick of the clock of Linux.

use std::sync::Arc;

use burstlab_optical::AssemblyPolicy;
use burstlab_tcp::{Config, Variant, WindowLaw};
use burstlab_units::{Serializer, Span};

use super::{EdgeAssembly, Scenario};
use crate::topology::{Graph, Routes};

/// `HZ` is 1000.
const TICK: Span = Span::from_ms(1);

/// Says so of each entry with CUBIC of Linux whose round trip is shorter than a tick: CUBIC counts
/// time in ticks.
pub(super) fn warnings(
    scenario: &Scenario,
    assembly: &EdgeAssembly,
    mesh: Option<&(Graph, Arc<Routes>)>,
    (flows, ends, demands): (&[Config], &[(u32, u32)], &[Config]),
) -> Vec<String> {
    let delay = |ends: Option<(u32, u32)>| match mesh {
        None => scenario.network.delays().into_iter().fold(Span::ZERO, |sum, delay| sum + delay),
        Some((graph, routes)) => {
            let add = |sum, link| sum + graph.link(link).least_delay();
            let to = |to| routes.sums_to(to, Span::ZERO, add, Span::min).into_iter();
            let all = || graph.edges().into_iter().flat_map(to).map(|(_, delay)| delay).min();
            let of =
                |(from, to)| routes.of(from, to).iter().map(|one| graph.least_delay(one)).min();
            ends.map_or_else(all, of).unwrap_or_default()
        }
    };
    let listed = (flows.iter().zip(ends).enumerate())
        .map(|(index, (config, &ends))| (format!("flows[{index}]"), config, Some(ends)));
    let drawn = (demands.iter().enumerate())
        .map(|(index, config)| (format!("demand[{index}]"), config, None));
    let mut found = Vec::new();
    for (entry, config, ends) in listed.chain(drawn) {
        if config.variant != Variant::Linux || config.window_law != WindowLaw::Cubic {
            continue;
        }
        let rtt = outside(scenario, assembly, config) + delay(ends) * 2;
        if rtt < TICK {
            found.push(format!(
                "{entry}: its round trip is about {rtt}, and CUBIC of Linux counts time in ticks \
                 of {TICK}: its window grows in steps that depend on the phase of the clock; fix: \
                 take tcp.window_law = \"dctcp\" or \"aimd\", which count no time, or longer links"
            ));
        }
    }
    found
}

/// The part of a round trip outside the fibres: access links, a full segment on each, and the
/// shortest timers of assembly.
fn outside(scenario: &Scenario, assembly: &EdgeAssembly, config: &Config) -> Span {
    let (rate, delay, _) = scenario.access.receiver_side();
    let sent = |rate| Serializer::new(rate).next(config.segment_size);
    let timer = |policy: AssemblyPolicy| match policy {
        AssemblyPolicy::Timer(timer) => timer,
        _ => Span::ZERO,
    };
    let timers = timer(assembly.data.policy(0)) + timer(assembly.ack);
    (scenario.access.delay + delay) * 2 + sent(scenario.access.rate) + sent(rate) + timers
}
