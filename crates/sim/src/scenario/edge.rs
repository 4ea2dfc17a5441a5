//! `[edge]`: burst assembly.

use burstlab_optical::AssemblyPolicy;
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Burst assembly at the edge nodes: the data direction here, the ACK direction in `ack`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Edge {
    /// When the queue of arrived packets becomes a burst.
    pub assembly: Assembly,
    /// Assembly time T_b, for `timer` and `hybrid`; it starts with the first packet, and ends
    /// before a packet that arrives at the same instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Span>,
    /// Burst length threshold, for `size` and `hybrid`; the packet that reaches it is in the burst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Time from the end of assembly until the burst may leave (the offset time of its header).
    pub offset: Span,
    /// Time between one packet of a burst and the next as they are handed to the line, where the
    /// core stores and forwards; packets that are lost alone count. An edge node needs none; the
    /// ns-2 scripts behind the oracle traces delay packet by packet and keep the order by 1 ns.
    pub spacing: Span,
    /// How burst ACKs and burst NAKs cross the sender's access link.
    pub notices: NoticeTransport,
    /// `notices` = `in-band`: size of a burst ACK or burst NAK.
    pub notice_size: Bytes,
    /// Assembly of the ACKs on their way back.
    pub ack: EdgeAck,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Span>,
    /// Burst length threshold, for `size` and `hybrid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Time from the end of assembly until the burst may leave.
    pub offset: Span,
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
}

impl Assembly {
    /// Whether `timer` is needed, and whether `size` is.
    #[must_use]
    pub fn needs(self) -> (bool, bool) {
        match self {
            Self::None => (false, false),
            Self::Timer => (true, false),
            Self::Size => (false, true),
            Self::Hybrid => (true, true),
        }
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
        }
    }
}
