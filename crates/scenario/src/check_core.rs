//! What the types of `[core]` do not check: fields that belong together, and bounds of the network.

use super::error::{Check, refuse, word};
use super::{ConversionKind, ConverterSharing, Protocol, Resolution, Scenario};
use crate::topology::Graph;

/// Checks `[core]` of a mesh.
pub(super) fn check(scenario: &Scenario, graph: &Graph) -> Check {
    let core = &scenario.core;
    let limited = core.conversion == ConversionKind::Limited;
    if limited != core.conversion_range.is_some() {
        let (value, problem, fix) = match core.conversion_range {
            None => {
                (String::new(), "conversion = \"limited\" needs it", "add conversion_range = 1")
            }
            Some(range) => (
                range.to_string(),
                "only conversion = \"limited\" uses it",
                "remove it, or change conversion",
            ),
        };
        return refuse("core.conversion_range", value, problem, fix);
    }
    let two_way = scenario.signalling.protocol == Protocol::TwoWay;
    for (index, step) in core.contention.iter().enumerate() {
        let path = format!("core.contention[{index}]");
        if core.contention[..index].contains(step) {
            return refuse(path, word(step), "it is listed twice", "list each once");
        }
        let helps = matches!(step, Resolution::Conversion | Resolution::DelayLine);
        if two_way && !helps {
            let problem = "bursts with a two-way reservation meet no contention";
            return refuse(path, word(step), problem, "remove it, or use jet or jit");
        }
    }
    let lists = |what: Resolution| core.contention.contains(&what);
    let lines = &core.delay_lines;
    if lists(Resolution::DelayLine) == lines.delays.is_empty() {
        let (problem, fix) = if lines.delays.is_empty() {
            ("contention lists delay-line and there is none", "write delays = [\"0.1 ms\"]")
        } else {
            ("contention does not list delay-line", "add \"delay-line\" to core.contention")
        };
        return refuse("core.delay_lines.delays", "", problem, fix);
    }
    if let Some(most) = lines.passes_on_path.filter(|&most| most < lines.passes) {
        let problem = format!("a burst may pass a line {} times at one node", lines.passes);
        let fix = "write at least core.delay_lines.passes, or fewer passes";
        return refuse("core.delay_lines.passes_on_path", most.to_string(), problem, fix);
    }
    converters(scenario, graph)
}

/// Whether bursts change their wavelength, and converters may run out.
fn converters(scenario: &Scenario, graph: &Graph) -> Check {
    let Some(pool) = &scenario.core.converters else { return Ok(()) };
    if scenario.core.conversion == ConversionKind::None {
        let problem = "conversion = \"none\" changes no wavelength";
        return refuse(
            "core.converters.number",
            pool.number.to_string(),
            problem,
            "remove it, or change core.conversion",
        );
    }
    let links = graph.links.iter();
    if links.clone().all(|link| link.wavelength_of(link.wavelengths) == 1) {
        let problem = "every fibre has one wavelength";
        let fix = "remove it, or write more network.wavelengths";
        return refuse("core.converters.number", pool.number.to_string(), problem, fix);
    }
    let (whose, most) = match pool.shared {
        ConverterSharing::Output => {
            ("the fibres of an output", links.map(|link| link.wavelengths).max())
        }
        ConverterSharing::Node => {
            let outputs = |node| graph.outgoing(node).iter();
            let all = |node| outputs(node).map(|&link| graph.link(link).wavelengths).sum();
            ("all outputs of a node together", (0..graph.nodes.len() as u32).map(all).max())
        }
    };
    let most = most.unwrap_or_default();
    if pool.number > most {
        let problem = format!("{whose} have at most {most} wavelengths");
        let fix = format!("write at most {most}, or remove it: then a converter is always free");
        return refuse("core.converters.number", pool.number.to_string(), problem, fix);
    }
    Ok(())
}
