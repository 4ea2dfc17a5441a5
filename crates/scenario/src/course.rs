//! When the connections of a `[[demand]]` come, and between which nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use burstlab_traffic::{Law, SIZE_MAX, Sampler};
use burstlab_units::Span;

use super::choice::{Choice, Either, listed};
use super::core_network::is_default;
use super::demand::RATE;
use super::ends::host;
use super::error::Check;
use super::limits::DURATION_MAX;
use super::{Demand, DemandPattern, ScenarioError};
use crate::topology::Graph;

/// Most connections of a trace.
const TRACE_MAX: usize = 5_000_000;

/// When connections come. Rounds are at the start of the demand, and as often after that as says
/// `every`; `None`: there is one.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// As Poisson processes, between nodes as the weights say.
    Poisson,
    /// So many together, to one node.
    Incast {
        /// Connections of a round.
        senders: u32,
        /// Where they end; `None`: each round draws it.
        receiver: Option<u32>,
        /// Time from round to round.
        every: Option<Span>,
    },
    /// One from each node and one to each.
    Permutation {
        /// Time from round to round.
        every: Option<Span>,
    },
    /// As listed, by rising start.
    Trace(Arc<[Traced]>),
}

/// A connection of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When it begins, counted from the start of its demand.
    pub start: Span,
    /// Node of its sender.
    pub from: u32,
    /// Node of its receiver.
    pub to: u32,
    /// Application data, in bytes.
    pub bytes: u64,
}

/// Reads the course of `demand` in `graph`; `at` is the path of the entry.
pub(super) fn read(
    demand: &Demand,
    at: &str,
    graph: &Graph,
    given: &mut Choice<'_>,
) -> Result<Course, ScenarioError> {
    match demand.pattern {
        DemandPattern::Poisson => {
            // Whether they are of use, the destination says.
            given.may("weights", Some(()));
            given.may("matrix", Some(()));
            Ok(Course::Poisson)
        }
        DemandPattern::Incast => {
            let senders = given.needs("senders", demand.senders)?;
            let name = given.may("receiver", demand.receiver.as_deref());
            let receiver = name.map(|name| host(graph, &format!("{at}.receiver"), name));
            let every = given.may("every", demand.every);
            given.may("spread", demand.spread);
            Ok(Course::Incast { senders, receiver: receiver.transpose()?, every })
        }
        DemandPattern::Permutation => {
            given.may("spread", demand.spread);
            Ok(Course::Permutation { every: given.may("every", demand.every) })
        }
        DemandPattern::Trace => {
            given.may("spread", demand.spread);
            let trace = ("trace", listed(&demand.trace));
            match given.either(trace, ("file", demand.file.as_deref()))? {
                Either::First(rows) => traced(rows, at, graph),
                Either::Second(file) => {
                    let fix = "load the scenario with `burstlab` or `bl.load`, which read the file";
                    let problem = "the engine reads no files";
                    Err(ScenarioError::new(format!("{at}.file"), file, problem, fix))
                }
            }
        }
    }
}

/// Refuses fields of Poisson processes, and the sizes where a trace has its own.
pub(super) fn unused(demand: &Demand, at: &str) -> Check {
    let traced = demand.pattern == DemandPattern::Trace;
    let fields = [
        ("flows_per_second", demand.flows_per_second.is_none_or(|rate| rate == RATE)),
        ("load", demand.load.is_none()),
        ("load_of", is_default(&demand.load_of)),
        ("per", is_default(&demand.per)),
        ("destination", is_default(&demand.destination)),
        ("size", !traced || is_default(&demand.size)),
    ];
    let Some((field, _)) = fields.into_iter().find(|(_, plain)| !plain) else { return Ok(()) };
    let pattern = super::error::word(&demand.pattern);
    let problem = format!("pattern = {pattern} does not use it");
    let fix = "remove it, or change pattern";
    Err(ScenarioError::new(format!("{at}.{field}"), "", problem, fix))
}

/// The sampler in place of the sizes of a trace: their mean.
pub(super) fn sizes(rows: &[Traced]) -> Sampler {
    let sum: f64 = rows.iter().map(|row| row.bytes as f64).sum();
    Sampler::new(Law::Fixed((sum / rows.len().max(1) as f64).max(1.0)))
}

fn traced(
    rows: &[(Span, String, String, burstlab_units::Bytes)],
    at: &str,
    graph: &Graph,
) -> Result<Course, ScenarioError> {
    if rows.len() > TRACE_MAX {
        let (value, fix) = (format!("{} rows", rows.len()), "cut it into several runs");
        let problem = format!("a trace has at most {TRACE_MAX}");
        return Err(ScenarioError::new(format!("{at}.trace"), value, problem, fix));
    }
    let numbers: BTreeMap<&str, u32> =
        graph.edges().into_iter().map(|node| (graph.name(node), node)).collect();
    let mut found = Vec::with_capacity(rows.len());
    for (index, (start, from, to, bytes)) in rows.iter().enumerate() {
        let refuse = |value: String, problem: &str, fix: String| {
            Err(ScenarioError::new(format!("{at}.trace[{index}]"), value, problem, fix))
        };
        if *start > DURATION_MAX {
            let fix = format!("write at most {DURATION_MAX}");
            return refuse(start.to_string(), "it begins after any run", fix);
        }
        if bytes.get() == 0 || *bytes > SIZE_MAX {
            let fix = format!("write 1 B to {SIZE_MAX}");
            return refuse(bytes.to_string(), "no size of a transfer", fix);
        }
        let node = |name: &String| match numbers.get(&**name) {
            Some(&node) => Ok(node),
            // It is none: this says why.
            None => host(graph, &format!("{at}.trace[{index}]"), name),
        };
        let (from, to) = (node(from)?, node(to)?);
        if from == to {
            let fix = "name two different edge nodes".to_string();
            return refuse(format!("{:?}", graph.name(to)), "it ends where it starts", fix);
        }
        found.push(Traced { start: *start, from, to, bytes: bytes.get() });
    }
    // Those of one instant stay in order.
    found.sort_by_key(|row| row.start);
    Ok(Course::Trace(found.into()))
}
