//! Whether headers come in time: by how much they are ahead, and what loads their channels.

use burstlab_traffic::Sampler;
use burstlab_units::{Serializer, Span};

use super::check_mesh::error;
use super::error::Check;
use super::{IngressPort, Per, Scenario};
use crate::topology::{Graph, Routes};

/// Whether headers that wait nowhere come in time.
pub(super) fn offsets(
    scenario: &Scenario,
    lengths: &[Sampler],
    graph: &Graph,
    routes: &Routes,
) -> Check {
    let signalling = &scenario.signalling;
    let sending = sending(scenario);
    let edges = graph.edges();
    let pairs = edges.iter().flat_map(|&from| edges.iter().map(move |&to| (from, to)));
    let detour = scenario.core.detour();
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let Some(hops) = routes.of(from, to).iter().map(|route| route.len() + detour).max() else {
            continue;
        };
        let work = signalling.processing * hops as u64;
        // At an electronic port a burst has its wavelength before its header is processed.
        let first = hops == 1 && scenario.edge.port == IngressPort::Fifo;
        let needed = if first { Span::ZERO } else { work + sending * (hops as u64 - 1) };
        let needed = needed + signalling.switching;
        let offset = signalling.offset.unwrap_or(work + signalling.guard);
        if offset >= needed {
            continue;
        }
        let (field, value) = match signalling.offset {
            Some(offset) => ("signalling.offset", offset),
            None => ("signalling.guard", signalling.guard),
        };
        let short = Span::from_ps(needed.as_ps() - offset.as_ps());
        let (from, to) = (graph.name(from), graph.name(to));
        let fibres = if hops == 1 { "fibre".to_string() } else { format!("{hops} fibres") };
        return error(
            field,
            value.to_string(),
            format!("on the {fibres} from {from} to {to} every header would be late by {short}"),
            format!(
                "write more than {}, which is enough for headers that never wait; beyond it comes \
                 the time they wait{} for {}{}",
                value + short,
                if signalling.processors.is_some() { " for processors and" } else { "" },
                channels(signalling.channels),
                match busiest(scenario, lengths, graph, routes) {
                    Some((load, link)) => format!(
                        ", which the bursts of the scenario alone keep busy for {:.1} % of the \
                         time from {} to {}",
                        100.0 * load,
                        graph.name(graph.link(link).from),
                        graph.name(graph.link(link).to)
                    ),
                    None => ": the more, the more bursts there are in a second".to_string(),
                }
            ),
        );
    }
    Ok(())
}

/// Says so where the control channels of a fibre cannot keep up with the bursts of others.
pub(super) fn warning(
    scenario: &Scenario,
    lengths: &[Sampler],
    graph: &Graph,
    routes: &Routes,
) -> Option<String> {
    let (load, link) = busiest(scenario, lengths, graph, routes)?;
    if load < 1.0 {
        return None;
    }
    let link = graph.link(link);
    Some(format!(
        "signalling.channels = {}: the headers of bursts from {} to {} load them to {load:.2}, so \
         that headers wait ever longer and come late; fix: write more of them, or a higher \
         signalling.rate",
        scenario.signalling.channels,
        graph.name(link.from),
        graph.name(link.to),
    ))
}

fn channels(count: u32) -> String {
    match count {
        1 => "the one control channel of each fibre".into(),
        many => format!("one of the {many} control channels of each fibre"),
    }
}

/// Time of a header on a control channel.
fn sending(scenario: &Scenario) -> Span {
    let signalling = &scenario.signalling;
    let rate = signalling.rate.unwrap_or(scenario.network.link_rate);
    Serializer::new(rate).next(signalling.header_size)
}

/// The load that the headers of `[[bursts]]` put on the control channels of the fibre where it is
/// highest, if there are any; bursts that queues assemble are not known before the run.
fn busiest(
    scenario: &Scenario,
    lengths: &[Sampler],
    graph: &Graph,
    routes: &Routes,
) -> Option<(f64, u32)> {
    let edges = graph.edges();
    let mut rates = vec![0.0; graph.links.len()];
    for (load, length) in scenario.bursts.iter().zip(lengths) {
        let named = |name: &Option<String>, node: u32| {
            name.as_ref().is_none_or(|name| graph.find(name) == Some(node))
        };
        let tos: Vec<u32> = edges.iter().copied().filter(|&to| named(&load.to, to)).collect();
        let froms = edges.iter().copied().filter(|&from| named(&load.from, from));
        let of = |from: u32| tos.iter().map(move |&to| (from, to)).filter(|(a, b)| a != b);
        let pairs = froms.clone().flat_map(of).count();
        let bits = length.mean() * 8.0;
        let each = load.erlangs * scenario.network.link_rate.as_bps() as f64 / bits;
        for from in froms {
            let share = match load.per {
                Per::Pair => 1,
                Per::Network => pairs,
                Per::Node => of(from).count(),
            };
            for (from, to) in of(from) {
                let ways = routes.of(from, to);
                for &link in ways.iter().flatten() {
                    rates[link as usize] += each / (share * ways.len()) as f64;
                }
            }
        }
    }
    let header = sending(scenario).as_secs_f64() / f64::from(scenario.signalling.channels);
    let loads = (0..).zip(rates).map(|(link, rate): (u32, f64)| (rate * header, link));
    loads.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(load, _)| *load > 0.0)
}
