//! `[run]`: how long and how often.

use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::DURATION_MAX;

/// How long to simulate, from which seed, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Simulated time; the run ends earlier when every finite flow is done, or with
    /// `bursts`, and later with `drain`.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    pub duration: Span,
    /// Rates are measured from here to `duration`, which is longer.
    pub warmup: Span,
    /// After `duration` no connection of `demand` and no flow begins. The run goes on until all
    /// finite transfers are acknowledged, at most this much longer; not with `bursts`, and with
    /// `duration` up to 2e6 s. Completion times are then those of all transfers that began. Without
    /// it, or where it is too short, transfers that are unfinished at the end are censored. All
    /// other sources go on sending, so that these transfers meet the same load. Counters, counts of
    /// flows, completion times and traces are of the whole run. All other results end at
    /// `duration`, as without it: rates, and those of the network and of cells. Absent: the run
    /// ends at `duration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain: Option<Span>,
    /// End when this many data bursts have been closed.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<u64>,
    /// Records this often how many connections of `demand` are open at each edge node, in the table
    /// `samples`, at most 10,000,000 times; needs a mesh. Absent: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Span>,
    /// Records this often the backlog of each assembly queue and of each fibre, and how long each
    /// wavelength was reserved, in the tables `queues`, `ports` and `wavelengths`, at most
    /// 10,000,000 times; needs a mesh of bursts. Absent: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Span>,
    /// Which of several events of one instant comes first, among timers and then among arrivals.
    /// `random` shows whether a result depends on ties.
    pub tie_break: TieBreak,
    /// Seed of all randomness.
    #[schemars(range(max = i64::MAX))]
    pub seed: u64,
    /// Independent repetitions.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub replications: u32,
    /// The memory that a run may take, together with all runs at the same time. A scenario that is
    /// bound to need more is refused before it runs. A run that comes to need more is stopped, and
    /// its records are kept. A larger value changes no number. Absent: half of the memory of the
    /// machine.
    #[schemars(extend("x-default" = "half of the memory"))]
    #[schemars(extend("x-minimum" = "1 MB"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_memory: Option<Bytes>,
}

/// How ties are broken: events of one instant of which none is a timer and the other an arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TieBreak {
    /// In an order that repeats: the event that was queued first comes first. In a mesh the events
    /// of hosts and queues are ordered by place, the lower number first.
    #[default]
    Fixed,
    /// By a draw for each event, from `seed` and the number of the replication. Slower: no host is
    /// ahead of the clock. Frames on the air and the slots of `[ops]` keep their order.
    Random,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            duration: Span::from_secs(10),
            warmup: Span::ZERO,
            drain: None,
            bursts: None,
            sample: None,
            occupancy: None,
            tie_break: TieBreak::Fixed,
            seed: 1,
            replications: 1,
            max_memory: None,
        }
    }
}
