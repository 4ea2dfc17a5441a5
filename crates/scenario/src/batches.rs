//! `[[batches]]`: background packets that enter the assembly queues of a mesh in batches.

use burstlab_traffic::{BatchLaw, HURST_MAX};
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ends::host;
use super::error::word;
use super::limits::{CLASS_MAX, DURATION_MAX, span_of};
use super::{ScenarioError, Size};
use crate::topology::Graph;

/// Background traffic at the edge nodes: batches of packets, which enter the same assembly queues
/// as the packets of flows and leave the network where their burst lands; needs a mesh. The cost of
/// a batch is small for any number of packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Batches {
    /// Name of the entry. It keys the draws of the entry: an entry that is put before it changes
    /// none of them. No two entries of a list have the same name. Absent: the place among entries
    /// without a name keys the draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the edge node where the batches enter. Absent: every edge node.
    #[schemars(extend("x-default" = "every edge node"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Name of the edge node where the batches leave. Absent: every other edge node, each with
    /// batches of its own.
    #[schemars(extend("x-default" = "every other edge node"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Mean number of batches a second from each of the `from` nodes to each of the `to` nodes. The
    /// times between batches are exponentially distributed.
    #[schemars(range(min = 1e-9, max = 1e9))]
    pub batches_per_second: f64,
    /// Size of a batch, all its packets together. A batch above 1 GB is shortened to 1 GB.
    pub size: Size,
    /// Hurst exponent of the times between batches. At 0.5 they are independent, and
    /// batches a Poisson process; above, they are long-range dependent.
    #[schemars(range(min = 0.5, max = HURST_MAX))]
    pub hurst_arrivals: f64,
    /// Hurst exponent of the sizes. At 0.5 they are independent.
    #[schemars(range(min = 0.5, max = HURST_MAX))]
    pub hurst_sizes: f64,
    /// Size of the packets of a batch. The last packet has the rest of the batch.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = "1 MB"))]
    pub packet_size: Bytes,
    /// Class of the packets, from 0.
    #[schemars(range(max = CLASS_MAX))]
    pub class: u32,
    /// When batches begin.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
    /// When batches end. Absent: at the end of the run.
    #[schemars(extend("x-default" = "`run.duration`"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
}

impl Default for Batches {
    fn default() -> Self {
        Self {
            name: None,
            from: None,
            to: None,
            batches_per_second: 10_000.0,
            size: Size::default(),
            hurst_arrivals: 0.5,
            hurst_sizes: 0.5,
            packet_size: Bytes::new(1500),
            class: 0,
            start: Span::ZERO,
            stop: None,
        }
    }
}

impl Batches {
    /// The law of the batches of an entry, for each pair of its nodes. `path` is the path of the
    /// entry.
    pub(super) fn law(&self, path: &str) -> Result<BatchLaw, ScenarioError> {
        Ok(BatchLaw {
            per_second: self.batches_per_second,
            sizes: self.size.sampler(&format!("{path}.size"))?,
            hurst_arrivals: self.hurst_arrivals,
            hurst_sizes: self.hurst_sizes,
            packet: self.packet_size.get() as u32,
            start: self.start,
            stop: self.stop,
        })
    }
}

/// The laws of the batches of the entry `index`.
pub(super) fn read(
    index: usize,
    batches: &Batches,
    graph: &Graph,
) -> Result<BatchLaw, ScenarioError> {
    let at = format!("batches[{index}]");
    span_of(&at, batches.start, batches.stop)?;
    for (field, name) in [("from", &batches.from), ("to", &batches.to)] {
        if let Some(name) = name {
            host(graph, &format!("{at}.{field}"), name)?;
        }
    }
    if batches.from.is_some() && batches.from == batches.to {
        let fix = "name two different edge nodes";
        let (path, problem) = (format!("{at}.to"), "it is where the batches start");
        return Err(ScenarioError::new(path, word(&batches.to), problem, fix));
    }
    batches.law(&at)
}
