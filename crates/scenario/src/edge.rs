//! `[edge]`: burst assembly.

use burstlab_optical::AssemblyPolicy;
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::{Choice, Fields, listed};
use super::error::{Check, word};
use super::limits::SPAN_MAX;
use super::{Marks, ScenarioError};

/// Text to write in place of an empty threshold.
const EACH: &str = "assembly = \"none\" in its place for a burst a packet";

/// Burst assembly at the edge nodes: the data direction here, the ACK direction in `ack`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Edge {
    /// When the queue of arrived packets becomes a burst.
    pub assembly: Assembly,
    /// Assembly time T_b, for `timer` and `hybrid`. It starts with the first packet. If it ends as
    /// a packet arrives, the burst is closed before this packet.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-or" = EACH))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Span>,
    /// `timer`, on a `path`: bursts with their own timer, as pairs of a burst number, from 1, and a
    /// time; numbers rise. A longer time puts a packet that arrives exactly as `timer` ends (a tie)
    /// into the burst; a shorter time does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub burst_timers: Vec<(u64, Span)>,
    /// Burst length threshold, for `size` and `hybrid`; the packet that reaches it is in the burst.
    #[schemars(extend("x-minimum" = "1 B", "x-or" = EACH))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// `size`, `hybrid`, in a mesh: whether `size` is an upper bound. A packet that would exceed it
    /// closes the burst and opens the next one. A packet larger than `size` is a burst of its own.
    /// Queues of ACKs alone keep the rule of `size`.
    pub at_most: bool,
    /// `adaptive`: the shortest assembly time; `timer` is the longest one.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_min: Option<Span>,
    /// `adaptive`: weight of the latest burst in the estimate of the load.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// `cwnd-classes`: congestion windows, in segments, at which the next class begins; rising.
    /// The sender stamps each packet with its window.
    #[schemars(inner(range(min = 2)))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cwnd_thresholds: Vec<u32>,
    /// `cwnd-classes`: assembly time of each class, one more than there are thresholds.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_timers: Vec<Span>,
    /// The groups of packets for which a mesh keeps assembly queues.
    pub queues: Queues,
    /// Number of assembly queues for each group of `queues`; flows are spread over them by number.
    #[schemars(range(min = 1, max = 1000))]
    pub burstifiers: u32,
    /// Shorter bursts are padded to this length.
    #[schemars(extend("x-maximum" = "1 GB"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_size: Option<Bytes>,
    /// How bursts of an edge node of a mesh get a wavelength of the first fibre.
    pub port: IngressPort,
    /// In a mesh with `port = "fifo"`: the rule that marks data packets, by the backlog before
    /// their burst in this queue: the time until a wavelength is free, times the rate of a
    /// wavelength. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marking: Option<Marks>,
    /// The first wavelength of a burst; needs `port = "shared"`.
    pub wavelength: FirstWavelength,
    /// Extra offset time of the bursts of each class, from class 0; classes beyond the list have
    /// none.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub class_offsets: Vec<Span>,
    /// On a `path`: time from the end of assembly until the burst may leave. A mesh has
    /// `signalling.offset`.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub offset: Span,
    /// With a core that stores and forwards: time between handing over one packet of a burst and
    /// the next. Packets that were lost alone count too. An edge node needs no such time. The ns-2
    /// scripts of the recorded traces delay each packet, and keep the order with 1 ns.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub spacing: Span,
    /// How burst ACKs and burst NAKs cross the sender's access link.
    pub notices: NoticeTransport,
    /// `notices` = `in-band`: size of a burst ACK or burst NAK.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = "65535 B"))]
    pub notice_size: Bytes,
    /// Assembly of the ACKs on the reverse path.
    pub ack: EdgeAck,
}

/// The rules by which queues close their bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeAssembly {
    /// Queues of data.
    pub data: DataAssembly,
    /// Queues of ACKs alone.
    pub ack: AssemblyPolicy,
}

/// The rules by which queues of data close their bursts.
#[derive(Clone, Debug, PartialEq)]
pub enum DataAssembly {
    /// All by the same.
    Alike(AssemblyPolicy),
    /// By timers, of which each class of windows has its own.
    ByWindow {
        /// Windows, in segments, at which the next class begins; rising.
        thresholds: Vec<u32>,
        /// The timer of each class, one more than there are thresholds.
        timers: Vec<Span>,
    },
}

impl Default for EdgeAssembly {
    /// Each packet is a burst of its own.
    fn default() -> Self {
        Self { data: DataAssembly::Alike(AssemblyPolicy::None), ack: AssemblyPolicy::None }
    }
}

impl DataAssembly {
    /// The rule of the queues of a class.
    ///
    /// # Panics
    /// When there are classes of windows, and not this one.
    #[must_use]
    pub fn policy(&self, class: u32) -> AssemblyPolicy {
        match self {
            Self::Alike(policy) => *policy,
            Self::ByWindow { timers, .. } => AssemblyPolicy::Timer(timers[class as usize]),
        }
    }

    /// Windows at which the next class begins, where there are classes of windows.
    #[must_use]
    pub fn thresholds(&self) -> Option<&[u32]> {
        match self {
            Self::Alike(_) => None,
            Self::ByWindow { thresholds, .. } => Some(thresholds),
        }
    }
}

impl Edge {
    /// The rules by which queues close their bursts.
    pub(super) fn assembly(&self) -> Result<EdgeAssembly, ScenarioError> {
        let mut given = Choice::of("edge", self, "assembly", Assembly::FIELDS);
        if self.assembly == Assembly::Timer {
            own_timers("edge", given.may("burst_timers", listed(&self.burst_timers)))?;
        }
        let data = match self.assembly {
            Assembly::Adaptive => DataAssembly::Alike(self.adaptive(&mut given)?),
            Assembly::CwndClasses => self.by_window(&mut given)?,
            plain => DataAssembly::Alike(plain.policy(&mut given, self.timer, self.size)?),
        };
        given.done()?;
        if self.at_most && !matches!(self.assembly, Assembly::Size | Assembly::Hybrid) {
            let problem = "only size and hybrid have a size";
            return Err(ScenarioError::new("edge.at_most", "true", problem, "remove it"));
        }
        let (table, ack) = ("edge.ack", &self.ack);
        let mut given = Choice::of(table, ack, "assembly", Assembly::FIELDS);
        if ack.assembly == Assembly::Timer {
            own_timers(table, given.may("burst_timers", listed(&ack.burst_timers)))?;
        }
        let policy = ack.assembly.policy(&mut given, ack.timer, ack.size)?;
        given.done()?;
        Ok(EdgeAssembly { data, ack: policy })
    }

    fn adaptive(&self, given: &mut Choice<'_>) -> Result<AssemblyPolicy, ScenarioError> {
        let longest = given.needs("timer", self.timer)?;
        let size = given.needs("size", self.size)?;
        let shortest = given.needs("timer_min", self.timer_min)?;
        let weight = given.needs("weight", self.weight)?;
        if shortest <= longest {
            return Ok(AssemblyPolicy::Adaptive { size, shortest, longest, weight });
        }
        let (value, problem) = (shortest.to_string(), "it is no shortest time");
        let fix = format!("write a time up to edge.timer = {longest}");
        Err(ScenarioError::new("edge.timer_min", value, problem, fix))
    }

    fn by_window(&self, given: &mut Choice<'_>) -> Result<DataAssembly, ScenarioError> {
        let thresholds = given.needs("cwnd_thresholds", listed(&self.cwnd_thresholds))?;
        let timers = given.needs("class_timers", listed(&self.class_timers))?;
        if !thresholds.windows(2).all(|pair| pair[0] < pair[1]) {
            let (value, problem) = (format!("{thresholds:?}"), "the classes overlap");
            let fix = "list windows in rising order";
            return Err(ScenarioError::new("edge.cwnd_thresholds", value, problem, fix));
        }
        let classes = thresholds.len() + 1;
        if timers.len() != classes {
            let value = format!("{} timers", timers.len());
            let problem = format!("{} thresholds make {classes} classes", classes - 1);
            let fix = format!("write {classes} timers");
            return Err(ScenarioError::new("edge.class_timers", value, problem, fix));
        }
        let (thresholds, timers) = (thresholds.to_vec(), timers.to_vec());
        Ok(DataAssembly::ByWindow { thresholds, timers })
    }
}

/// Refuses timers of single bursts that are none.
fn own_timers(table: &str, timers: Option<&[(u64, Span)]>) -> Check {
    let timers = timers.unwrap_or_default();
    let refused = |value: String, problem: &str, fix: &str| {
        Err(ScenarioError::new(format!("{table}.burst_timers"), value, problem, fix))
    };
    if let Some(&(burst, timer)) =
        timers.iter().find(|(_, timer)| timer.is_zero() || *timer > SPAN_MAX)
    {
        let fix = format!("write a time above 0 s, up to {SPAN_MAX}");
        return refused(format!("[{burst}, {timer}]"), "that is no timer", &fix);
    }
    let rises = timers.windows(2).all(|pair| pair[0].0 < pair[1].0);
    if !rises || timers.first().is_some_and(|&(burst, _)| burst == 0) {
        let numbers: Vec<u64> = timers.iter().map(|&(burst, _)| burst).collect();
        let fix = "write numbers of bursts from 1, each once, in rising order";
        return refused(format!("{numbers:?}"), "these are no numbers of bursts in order", fix);
    }
    Ok(())
}

/// How burst ACKs and burst NAKs, which Burst TCP listens to, cross the sender's access link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeTransport {
    /// Beside the data: they take the propagation delay of the link alone and are never lost.
    #[default]
    OutOfBand,
    /// As packets of the link: they wait in its queue and are lost where that is full.
    InBand,
}

impl Default for Edge {
    fn default() -> Self {
        Self {
            assembly: Assembly::None,
            timer: None,
            burst_timers: Vec::new(),
            size: None,
            at_most: false,
            timer_min: None,
            weight: None,
            cwnd_thresholds: Vec::new(),
            class_timers: Vec::new(),
            queues: Queues::Destination,
            burstifiers: 1,
            min_size: None,
            port: IngressPort::Fifo,
            marking: None,
            wavelength: FirstWavelength::Free,
            class_offsets: Vec::new(),
            offset: Span::ZERO,
            spacing: Span::ZERO,
            notices: NoticeTransport::OutOfBand,
            notice_size: Bytes::new(40),
            ack: EdgeAck::default(),
        }
    }
}

/// Burst assembly in the ACK direction; the fields have the meaning of `[edge]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EdgeAck {
    /// When the queue of arrived ACKs becomes a burst.
    pub assembly: Assembly,
    /// Assembly time, for `timer` and `hybrid`.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-or" = EACH))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Span>,
    /// `timer`, on a `path`: bursts of ACKs that have a timer of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub burst_timers: Vec<(u64, Span)>,
    /// Burst length threshold, for `size` and `hybrid`.
    #[schemars(extend("x-minimum" = "1 B", "x-or" = EACH))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Whether the ACKs of a mesh enter the queues of the data on the same path, in place of queues
    /// of their own.
    pub with_data: bool,
    /// `with_data` and `cwnd-classes`: the class of ACKs, from 0, since ACKs carry no window.
    pub class: u32,
    /// On a `path`: time from the end of assembly until the burst may leave.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub offset: Span,
}

/// The groups for which a mesh keeps assembly queues; each pair of edge nodes has its own in any
/// case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Queues {
    /// Each destination.
    #[default]
    Destination,
    /// Each destination and class of packets.
    Class,
    /// Each flow.
    Flow,
}

/// How bursts of an edge node of a mesh get a wavelength of the first fibre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IngressPort {
    /// They wait in an electronic queue until a wavelength is free.
    #[default]
    Fifo,
    /// They contend for the wavelengths like bursts in transit.
    Shared,
}

/// The wavelength on which a burst leaves its edge node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstWavelength {
    /// On the one that `core.scheduler` chooses of those that are free.
    #[default]
    Free,
    /// On a random wavelength, each with the same chance, whatever is free. The ingress treats it
    /// as a node treats the wavelength on which a burst comes in, and converts it only as far as
    /// `core.conversion` allows. The closed form `reduced_load` with `conversion="none"` assumes
    /// this.
    Random,
}

/// When a queue of packets becomes a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Assembly {
    /// Each packet is a burst of its own: an ordinary packet network.
    #[default]
    None,
    /// A fixed time after the first packet.
    Timer,
    /// With the packet that brings the queue to a given size.
    Size,
    /// Timer or size, whichever comes first.
    Hybrid,
    /// After a time that follows the load: as long as `size` took to arrive lately, from
    /// `timer_min` to `timer`.
    Adaptive,
    /// After a time that depends on the sender's congestion window; a mesh keeps a queue for each
    /// class of windows (Ramantas et al.).
    CwndClasses,
}

impl Assembly {
    /// The fields that belong to some assemblies alone, and how each is written.
    pub(super) const FIELDS: Fields = &[
        ("timer", "\"40 ms\""),
        ("burst_timers", "[[12, \"40.001 ms\"]]"),
        ("size", "\"15 KB\""),
        ("timer_min", "\"1 ms\""),
        ("weight", "0.25"),
        ("cwnd_thresholds", "[32, 100]"),
        ("class_timers", "[\"1 ms\", \"5 ms\", \"10 ms\"]"),
    ];

    /// The rule, where it has no more than ACKs can be given.
    fn policy(
        self,
        given: &mut Choice<'_>,
        timer: Option<Span>,
        size: Option<Bytes>,
    ) -> Result<AssemblyPolicy, ScenarioError> {
        Ok(match self {
            Self::None => AssemblyPolicy::None,
            Self::Timer => AssemblyPolicy::Timer(given.needs("timer", timer)?),
            Self::Size => AssemblyPolicy::Size(given.needs("size", size)?),
            Self::Hybrid => {
                AssemblyPolicy::Hybrid(given.needs("timer", timer)?, given.needs("size", size)?)
            }
            Self::Adaptive | Self::CwndClasses => {
                let fix = "write timer, size or hybrid, or with_data = true in its place";
                let path = "edge.ack.assembly";
                return Err(ScenarioError::new(path, word(&self), "not for ACKs", fix));
            }
        })
    }
}
