//! Whether headers come in time: by how much they are ahead, and the load of their channels.

use burstlab_traffic::Sampler;
use burstlab_units::{Serializer, Span};

use super::error::{Check, refuse};
use super::limits::CONTROL_MAX;
use super::{IngressPort, Per, Scenario};
use crate::topology::{Graph, Routes};

/// The time for headers in the offset times of a mesh, where no guard is given and this is enough.
const USUAL_GUARD: Span = Span::from_us(1);

/// A pair of edge nodes, and the times that its headers need.
struct Need {
    from: u32,
    to: u32,
    /// Fibres of its longest route, detours included.
    hops: usize,
    /// Time for processing, in the offset time whatever the guard is.
    processing: Span,
    /// Offset time that is enough for a header that waits nowhere.
    offset: Span,
}

/// The times that the headers of each pair of edge nodes with a route need.
fn needs<'a>(
    scenario: &'a Scenario,
    graph: &Graph,
    routes: &'a Routes,
) -> impl Iterator<Item = Need> + use<'a> {
    let signalling = &scenario.signalling;
    let sending = sending(scenario);
    let detour = scenario.detour();
    let longest = move |to| routes.sums_to(to, detour, |hops, _| hops + 1, usize::max);
    let pairs = graph
        .edges()
        .into_iter()
        .flat_map(move |to| longest(to).into_iter().map(move |(from, hops)| (from, to, hops)));
    pairs.map(move |(from, to, hops)| {
        let processing = signalling.processing * hops as u64;
        // At an electronic port a burst has its wavelength before its header is processed.
        let first = hops == 1 && scenario.edge.port == IngressPort::Fifo;
        let sending_all = sending * (hops as u64 - 1);
        let offset = if first { Span::ZERO } else { processing + sending_all };
        Need { from, to, hops, processing, offset: offset + signalling.switching }
    })
}

/// The most nodes that schedule a burst on its path.
pub(super) fn longest(scenario: &Scenario, graph: &Graph, routes: &Routes) -> usize {
    needs(scenario, graph, routes).map(|need| need.hops).max().unwrap_or(0)
}

/// The default guard time: 1 us if that is enough for headers that wait nowhere, otherwise twice
/// their need, in whole microseconds. So there is as much time again for them to wait.
pub(super) fn default_guard(scenario: &Scenario, graph: &Graph, routes: &Routes) -> Span {
    let needed = needs(scenario, graph, routes)
        .map(|need| need.offset.as_ps().saturating_sub(need.processing.as_ps()))
        .max()
        .unwrap_or(0);
    if needed <= USUAL_GUARD.as_ps() {
        return USUAL_GUARD;
    }
    let micros = needed.saturating_mul(2).div_ceil(Span::from_us(1).as_ps());
    Span::from_ps(micros.saturating_mul(Span::from_us(1).as_ps())).min(CONTROL_MAX)
}

/// Whether headers that wait nowhere come in time. The guard time is there already.
pub(super) fn offsets(
    scenario: &Scenario,
    lengths: &[Sampler],
    graph: &Graph,
    routes: &Routes,
) -> Check {
    let signalling = &scenario.signalling;
    let guard = signalling.guard();
    let offset = |need: &Need| signalling.offset.unwrap_or(need.processing + guard);
    let late = needs(scenario, graph, routes).filter(|need| offset(need) < need.offset);
    if let Some(need) = late.min_by_key(|need| (need.from, need.to)) {
        let offset = offset(&need);
        let Need { from, to, hops, offset: needed, .. } = need;
        let (field, value) = match signalling.offset {
            Some(offset) => ("signalling.offset", offset),
            None => ("signalling.guard", guard),
        };
        let short = Span::from_ps(needed.as_ps() - offset.as_ps());
        let (from, to) = (graph.name(from), graph.name(to));
        let fibres = if hops == 1 { "fibre".to_string() } else { format!("{hops} fibres") };
        return refuse(
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

/// Warns where the control channels of a fibre cannot keep up with the background bursts.
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
                let all = routes.peek(from, to);
                for &link in all.iter().flatten() {
                    rates[link as usize] += each / (share * all.len()) as f64;
                }
            }
        }
    }
    let header = sending(scenario).as_secs_f64() / f64::from(scenario.signalling.channels);
    let loads = (0..).zip(rates).map(|(link, rate): (u32, f64)| (rate * header, link));
    loads.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(load, _)| *load > 0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn guard(network: &Value, more: &Value) -> Span {
        let mut written = json!({"network": network});
        for (table, fields) in more.as_object().into_iter().flatten() {
            written[table] = fields.clone();
        }
        let scenario = Scenario::from_json(&written.to_string()).expect("it reads");
        let resolved = scenario.resolve().unwrap_or_else(|error| panic!("{written}: {error}"));
        resolved.scenario.signalling.guard.expect("it was filled in")
    }

    #[test]
    fn a_guard_that_suffices_stays_what_it_is() {
        for topology in ["nsfnet", "ring", "star", "leaf-spine", "fat-tree"] {
            let found = guard(&json!({"topology": topology}), &json!({}));
            assert_eq!(found, Span::from_us(1), "{topology}");
        }
    }

    #[test]
    fn a_slow_network_has_twice_what_a_header_needs() {
        // Four fibres: the header of 64 B is sent on three of them, 512 ns each.
        let line = json!({"topology": "line", "nodes": 5, "link_rate": "1 Gb/s"});
        assert_eq!(guard(&line, &json!({})), Span::from_us(4));
        let switching = json!({"signalling": {"switching": "20 us"}});
        assert_eq!(guard(&line, &switching), Span::from_us(44));
    }

    #[test]
    fn long_routes_have_what_they_need() {
        let line = json!({"topology": "line", "nodes": 30, "link_rate": "10 Gb/s"});
        // Sent on 28 of 29 fibres, 51.2 ns each.
        assert_eq!(guard(&line, &json!({})), Span::from_us(3));
    }

    #[test]
    fn all_shapes_run_at_every_rate() {
        for topology in
            ["line", "ring", "star", "dumbbell", "fat-tree", "leaf-spine", "torus", "nsfnet"]
        {
            for rate in ["1 Mb/s", "100 Mb/s", "1 Gb/s", "2.5 Gb/s"] {
                guard(&json!({"topology": topology, "link_rate": rate}), &json!({}));
            }
        }
    }

    #[test]
    fn a_guard_that_is_written_holds() {
        let line = json!({"network": {"topology": "line", "nodes": 5, "link_rate": "1 Gb/s"},
                          "signalling": {"guard": "1 us"}});
        let scenario = Scenario::from_json(&line.to_string()).expect("it reads");
        let error = scenario.resolve().expect_err("headers come late").to_string();
        assert!(error.contains("signalling.guard"), "{error}");
    }
}
