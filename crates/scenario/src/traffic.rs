//! `[[traffic]]`: background packets, on the access links or through the network.

use burstlab_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{CLASS_MAX, DURATION_MAX, RATE_MIN, SPAN_MAX};

/// UDP sources. On a `path` they share an access link with the flows. Their packets fill its queue,
/// leave at the far end of the link, and never enter the optical network. In a mesh their packets
/// start at an edge node, without an access link, and travel to another edge node in bursts or
/// slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Traffic {
    /// Name of the entry. It keys the draws of the entry: an entry that is put before it changes
    /// none of them. No two entries of a list have the same name. Absent: the place among entries
    /// without a name keys the draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// On a `path`: the access link that the sources load. Absent: the senders'.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// In a mesh: name of the edge node where the packets enter. Absent: the first.
    #[schemars(extend("x-default" = "the first edge node"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// In a mesh: name of the edge node where the packets leave. Absent: the last.
    #[schemars(extend("x-default" = "the last edge node"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// In a mesh: class of their packets, from 0.
    #[schemars(range(max = CLASS_MAX))]
    pub class: u32,
    /// How the sources send.
    pub pattern: Pattern,
    /// Number of equal sources.
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Rate of a source, or of a session, while it sends.
    #[schemars(extend("x-minimum" = RATE_MIN))]
    pub rate: Rate,
    /// Size of a packet.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = "65535 B"))]
    pub packet_size: Bytes,
    /// `sessions`: mean number of sessions that a source begins a second.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions_per_second: Option<f64>,
    /// `pareto`: mean time that a source sends. If a spell ends between two packets, the rest of
    /// the interval continues in the next spell. `sessions`: mean time that a session lasts.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    pub on_mean: Span,
    /// `pareto`: mean time that a source is silent.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    pub off_mean: Span,
    /// `pareto`: shape of both times. `sessions`: shape of the time a session lasts.
    /// Between 1 and 2 the sum of many sources, or sessions, is long-range dependent, with Hurst
    /// exponent (3 - `shape`) / 2.
    #[schemars(extend("exclusiveMinimum" = 1, "maximum" = 100))]
    pub shape: f64,
    /// `periodic`: time for which a source sends in each period. An unfinished interval between
    /// packets continues in the next period, as with `pareto`. Absent: "200 ms".
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<Span>,
    /// `periodic`: length of a period. A source starts at a random point of its period, unless
    /// `phase` fixes it. Absent: "10 s".
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Span>,
    /// `periodic`: largest deviation of a period from `period`, as a share of it. The length is
    /// uniform between 1 - `period_jitter` and 1 + `period_jitter` times `period`, but at least
    /// `on`. Absent: 0, all periods are equal.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_jitter: Option<f64>,
    /// `cbr`: time from `start` to the first packet of each source. Absent: drawn for each source,
    /// uniform below the time from one packet to the next, so that sources are not in step.
    /// `periodic`: time from `start` to the first period. Absent: drawn, uniform below `period`.
    /// Use "0 s" to repeat a recorded trace in which the first packet leaves at `start`.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Span>,
    /// When the sources start.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
}

impl Traffic {
    /// How long a periodic source sends; as in Lu and Hunter 2009, section VII.
    #[must_use]
    pub fn on(&self) -> Span {
        self.on.unwrap_or(Span::from_ms(200))
    }

    /// The period of a periodic source; as there.
    #[must_use]
    pub fn period(&self) -> Span {
        self.period.unwrap_or(Span::from_secs(10))
    }
}

/// An access link, in the direction of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// From the senders to the ingress edge.
    #[default]
    Sender,
    /// From the egress edge to the receivers.
    Receiver,
}

/// How a source sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// At constant rate.
    #[default]
    Cbr,
    /// At constant rate for Pareto-distributed times, with Pareto-distributed silences.
    Pareto,
    /// A Poisson process of packets with the mean `rate`.
    Poisson,
    /// At constant rate for the time `on` in each `period`.
    Periodic,
    /// In sessions that begin as a Poisson process and last Pareto-distributed times, any number at
    /// a time, each at constant rate, its first packet at a random part of the time between two:
    /// the busy servers of an M/G/infinity queue.
    Sessions,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            name: None,
            side: None,
            from: None,
            to: None,
            class: 0,
            pattern: Pattern::Cbr,
            count: 1,
            rate: Rate::from_bps(100_000),
            packet_size: Bytes::new(1000),
            sessions_per_second: None,
            on_mean: Span::from_ms(500),
            off_mean: Span::from_ms(500),
            shape: 1.5,
            on: None,
            period: None,
            period_jitter: None,
            phase: None,
            start: Span::ZERO,
        }
    }
}
