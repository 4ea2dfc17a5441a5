//! Checks of `[core]` that the types do not make: fields that belong together, and bounds.

use super::error::{Check, refuse, word};
use super::node_core::{self, Cores, Kind, is_limited};
use super::{
    ConversionKind, ConverterSharing, IngressPort, Protocol, Resolution, Scenario, ScenarioError,
};
use crate::topology::{Graph, Routes};

/// Checks `[core]` of a mesh, and the core of each node; returns the cores.
pub(super) fn check(
    scenario: &Scenario,
    graph: &Graph,
    routes: &Routes,
) -> Result<Cores, ScenarioError> {
    let sources = node_core::sources(scenario)?;
    let kinds = node_core::kinds(scenario, &sources, (graph, routes))?;
    for kind in &kinds {
        conversion(kind, &kinds)?;
        steps(scenario, kind)?;
        lines(kind, &kinds)?;
        converters(kind, graph)?;
    }
    passes(scenario, &kinds, graph, routes)?;
    Ok(node_core::cores(kinds, graph.nodes.len()))
}

fn conversion(kind: &Kind, kinds: &[Kind]) -> Check {
    let path = kind.path("conversion_range");
    match (is_limited(&kind.core), kind.core.conversion_range) {
        (true, None) => {
            let problem = "conversion = \"limited\" needs it";
            refuse(path, "", problem, "add conversion_range = 1")
        }
        // A node without a range of its own may use the general one.
        (false, Some(range))
            if kind.own("conversion_range") || !kinds.iter().any(|kind| is_limited(&kind.core)) =>
        {
            let fix = "remove it, or change conversion";
            refuse(path, range.to_string(), "only conversion = \"limited\" uses it", fix)
        }
        _ => Ok(()),
    }
}

fn steps(scenario: &Scenario, kind: &Kind) -> Check {
    let two_way = scenario.signalling.protocol == Protocol::TwoWay;
    let steps = &kind.core.contention;
    for (index, step) in steps.iter().enumerate() {
        let path = format!("{}[{index}]", kind.path("contention"));
        if steps[..index].contains(step) {
            return refuse(path, word(step), "it is listed twice", "list each once");
        }
        let helps = matches!(step, Resolution::Conversion | Resolution::DelayLine);
        if two_way && !helps {
            let problem = "bursts with a two-way reservation meet no contention";
            return refuse(path, word(step), problem, "remove it, or use jet or jit");
        }
    }
    Ok(())
}

/// Whether nodes that use delay lines have some, and are the only ones.
fn lines(kind: &Kind, kinds: &[Kind]) -> Check {
    let lists = |kind: &Kind| kind.core.contention.contains(&Resolution::DelayLine);
    let (lines, path) = (&kind.core.delay_lines, kind.path("delay_lines.delays"));
    if lists(kind) && lines.delays.is_empty() {
        let problem = "contention lists delay-line and there is none";
        return refuse(path, "", problem, "write delays = [\"0.1 ms\"]");
    }
    let used = lists(kind) || !kind.own("delay_lines") && kinds.iter().any(lists);
    if !used && !lines.delays.is_empty() {
        let fix = "add \"delay-line\" to core.contention";
        return refuse(path, "", "contention does not list delay-line", fix);
    }
    Ok(())
}

/// Whether a burst may pass more delay lines on its path than at one node, and fewer than there
/// are on its path.
fn passes(scenario: &Scenario, kinds: &[Kind], graph: &Graph, routes: &Routes) -> Check {
    let Some(most) = scenario.core.delay_lines.passes_on_path else { return Ok(()) };
    let path = "core.delay_lines.passes_on_path";
    let uses = |kind: &&Kind| kind.core.contention.contains(&Resolution::DelayLine);
    let passes = kinds.iter().filter(uses).map(|kind| kind.core.delay_lines.passes);
    let Some(passes) = passes.max() else { return Ok(()) };
    if most < passes {
        let problem = format!("a burst may pass a line {passes} times at one node");
        let fix = "write at least core.delay_lines.passes, or fewer passes";
        return refuse(path, most.to_string(), problem, fix);
    }
    // At an electronic port no burst needs a line.
    let port = usize::from(scenario.edge.port == IngressPort::Fifo);
    let nodes = super::control::longest(scenario, graph, routes).saturating_sub(port) as u32;
    let all = nodes.saturating_mul(passes);
    if most >= all {
        let problem = format!(
            "no burst passes more than {all} lines: {passes} at each of the {nodes} nodes that \
             may delay it on its path"
        );
        let fix = match all > passes {
            true => format!("write at most {}, or remove it", all - 1),
            false => "remove it".to_string(),
        };
        return refuse(path, most.to_string(), problem, fix);
    }
    Ok(())
}

/// Whether bursts change their wavelength, and converters may run out.
fn converters(kind: &Kind, graph: &Graph) -> Check {
    let Some(pool) = &kind.core.converters else { return Ok(()) };
    let (path, value) = (kind.path("converters.number"), pool.number.to_string());
    if kind.core.conversion == ConversionKind::None {
        let problem = "conversion = \"none\" changes no wavelength";
        let fix = format!("remove it, or change {}", kind.path("conversion"));
        return refuse(path, value, problem, fix);
    }
    let outputs = || kind.nodes.iter().map(|&node| graph.outgoing(node));
    let links = || outputs().flatten().map(|&link| graph.link(link));
    if links().all(|link| link.wavelength_of(link.wavelengths) == 1) {
        let problem = "every fibre has one wavelength";
        return refuse(path, value, problem, "remove it, or write more network.wavelengths");
    }
    let all = |links: &[u32]| links.iter().map(|&link| graph.link(link).wavelengths).sum();
    let (whose, most) = match pool.shared {
        ConverterSharing::Output => {
            ("the fibres of an output", links().map(|link| link.wavelengths).max())
        }
        ConverterSharing::Node => ("all outputs of a node together", outputs().map(all).max()),
    };
    let most: u32 = most.unwrap_or_default();
    if pool.number > most {
        let problem = format!("{whose} have at most {most} wavelengths");
        let fix = format!("write at most {most}, or remove it: then a converter is always free");
        return refuse(path, value, problem, fix);
    }
    Ok(())
}
