//! `[edge]`: burst assembly.

use burstlab_optical::AssemblyPolicy;
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::Fields;
use super::core_network::{is_default, is_one};
use super::limits::SPAN_MAX;

/// What to write in place of an empty threshold.
const EACH: &str = "assembly = \"none\" for a burst a packet";

/// Burst assembly at the edge nodes: the data direction here, the ACK direction in `ack`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Edge {
    /// When the queue of arrived packets becomes a burst.
    pub assembly: Assembly,
    /// Assembly time T_b, for `timer` and `hybrid`; it starts with the first packet, and ends
    /// before a packet that arrives at the same instant.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-or" = EACH))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Span>,
    /// Burst length threshold, for `size` and `hybrid`; the packet that reaches it is in the burst.
    #[schemars(extend("x-minimum" = "1 B", "x-or" = EACH))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// `size`, `hybrid`, in a mesh: whether a burst may hold at most `size`: a packet that would
    /// bring it above closes it and opens the next one. A packet that is larger is a burst of its
    /// own. Queues of ACKs alone keep the rule that `size` states.
    #[serde(skip_serializing_if = "is_default")]
    pub at_most: bool,
    /// Where `size` and `timer` are those of `adaptive`: the shortest time it may come to.
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
    /// What a mesh keeps assembly queues for.
    #[serde(skip_serializing_if = "is_default")]
    pub queues: Queues,
    /// Assembly queues for each of these; flows are spread over them by number.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "is_one")]
    pub burstifiers: u32,
    /// Bursts that are shorter are padded to this length.
    #[schemars(extend("x-maximum" = "1 GB"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_size: Option<Bytes>,
    /// How bursts get from an edge node of a mesh on a fibre.
    #[serde(skip_serializing_if = "is_default")]
    pub port: IngressPort,
    /// On which wavelength a burst sets out; needs `port = "shared"`.
    #[serde(skip_serializing_if = "is_default")]
    pub wavelength: FirstWavelength,
    /// Extra offset time of the bursts of each class, from class 0; classes beyond the list have
    /// none.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_offsets: Vec<Span>,
    /// On a `path`: time from the end of assembly until the burst may leave. A mesh has
    /// `signalling.offset`.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub offset: Span,
    /// Time between one packet of a burst and the next as they are handed to the line, where the
    /// core stores and forwards; packets that are lost alone count. An edge node needs none; the
    /// ns-2 scripts behind the oracle traces delay packet by packet and keep the order by 1 ns.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub spacing: Span,
    /// How burst ACKs and burst NAKs cross the sender's access link.
    pub notices: NoticeTransport,
    /// `notices` = `in-band`: size of a burst ACK or burst NAK.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = "65535 B"))]
    pub notice_size: Bytes,
    /// Assembly of the ACKs on their way back.
    pub ack: EdgeAck,
}

impl Edge {
    /// The rule by which data queues close their bursts.
    ///
    /// # Panics
    /// When a needed parameter is missing: the scenario was not checked.
    #[must_use]
    pub fn policy(&self) -> AssemblyPolicy {
        let needed = "a checked scenario has what its assembly needs";
        match self.assembly {
            Assembly::Adaptive => AssemblyPolicy::Adaptive {
                size: self.size.expect(needed),
                shortest: self.timer_min.expect(needed),
                longest: self.timer.expect(needed),
                weight: self.weight.expect(needed),
            },
            other => other.policy(self.timer, self.size),
        }
    }
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

/// Burst assembly in the ACK direction; the fields are those of `[edge]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EdgeAck {
    /// When the queue of arrived ACKs becomes a burst.
    pub assembly: Assembly,
    /// Assembly time, for `timer` and `hybrid`.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-or" = EACH))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Span>,
    /// Burst length threshold, for `size` and `hybrid`.
    #[schemars(extend("x-minimum" = "1 B", "x-or" = EACH))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Whether the ACKs of a mesh enter the queues of the data that go the same way, in place of
    /// queues of their own.
    #[serde(skip_serializing_if = "is_default")]
    pub with_data: bool,
    /// `with_data` and `cwnd-classes`: the class of ACKs, from 0; they carry no window.
    #[serde(skip_serializing_if = "is_default")]
    pub class: u32,
    /// On a `path`: time from the end of assembly until the burst may leave.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub offset: Span,
}

/// What a mesh keeps assembly queues for; each pair of edge nodes has its own in any case.
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

/// How bursts get from an edge node of a mesh on a fibre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IngressPort {
    /// They wait in an electronic queue until a wavelength is free.
    #[default]
    Fifo,
    /// They contend for the wavelengths like bursts in transit.
    Shared,
}

/// On which wavelength a burst sets out from its edge node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstWavelength {
    /// On the one that `core.scheduler` chooses of those that are free.
    #[default]
    Free,
    /// On one that is drawn, each with the same chance, whatever is free: the ingress treats it as
    /// a node treats the wavelength on which a burst comes in, and converts it only as far as
    /// `core.conversion` allows. What `reduced_load` with `conversion="none"` assumes.
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
        ("size", "\"15 KB\""),
        ("timer_min", "\"1 ms\""),
        ("weight", "0.25"),
        ("cwnd_thresholds", "[32, 100]"),
        ("class_timers", "[\"1 ms\", \"5 ms\", \"10 ms\"]"),
    ];

    /// Which of these it needs; it has no others.
    pub(super) fn needs(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Timer => &["timer"],
            Self::Size => &["size"],
            Self::Hybrid => &["timer", "size"],
            Self::Adaptive => &["timer", "size", "timer_min", "weight"],
            Self::CwndClasses => &["cwnd_thresholds", "class_timers"],
        }
    }

    /// Whether it needs no more than ACKs can be given.
    pub(super) fn fits_acks(self) -> bool {
        self.needs().iter().all(|field| ["timer", "size"].contains(field))
    }

    /// The policy with its checked parameters.
    ///
    /// # Panics
    /// When a needed parameter is missing: the scenario was not checked.
    #[must_use]
    pub fn policy(self, timer: Option<Span>, size: Option<Bytes>) -> AssemblyPolicy {
        let timer = || timer.expect("a checked scenario has the timer it needs");
        let size = || size.expect("a checked scenario has the size it needs");
        match self {
            Self::None => AssemblyPolicy::None,
            Self::Timer => AssemblyPolicy::Timer(timer()),
            Self::Size => AssemblyPolicy::Size(size()),
            Self::Hybrid => AssemblyPolicy::Hybrid(timer(), size()),
            _ => panic!("{self:?} has more parameters"),
        }
    }
}
