//! `[run]`: how long and how often.

use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::DURATION_MAX;

/// How long to simulate, from which seed, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Simulated time. The run ends earlier if all flows are finite and done, or with `bursts`. It
    /// ends later with `drain`.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    pub duration: Span,
    /// Rates are measured from this time on, up to `duration`, which is later.
    pub warmup: Span,
    /// After `duration` no connection of `demand` and no flow begins. The run continues until all
    /// finite transfers are acknowledged, for at most this time. Not with `bursts`; `duration` and
    /// drain are together at most 2e6 s. Completion times then include all transfers that began. If
    /// the drain is absent or too short, transfers that are unfinished at the end are censored. All
    /// other sources continue, so these transfers meet the same background load. Counters, counts
    /// of flows, completion times and traces cover the whole run. Rates and the results of the
    /// network and of cells end at `duration`. Absent: the run ends at `duration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain: Option<Span>,
    /// End when this many data bursts have been closed.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<u64>,
    /// Interval at which the table `samples` records the open connections of `demand` at each edge
    /// node, at most 10,000,000 times; needs a mesh. Absent: no samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Span>,
    /// Interval at which the tables `queues`, `ports` and `wavelengths` record the backlog of each
    /// assembly queue and fibre, and the reserved time of each wavelength, at most 10,000,000
    /// times; needs a mesh of bursts. Absent: no records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Span>,
    /// The order of events of one instant, among timers and then among arrivals. `random` shows
    /// whether a result depends on ties.
    pub tie_break: TieBreak,
    /// Seed of all randomness.
    #[schemars(range(max = i64::MAX))]
    pub seed: u64,
    /// Independent repetitions.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub replications: u32,
    /// The memory that all simultaneous runs may use together. A scenario that certainly needs more
    /// is refused before it runs. A run that exceeds it is stopped, and its records are kept. A
    /// larger value changes no number. Absent: half of the memory of the machine.
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
