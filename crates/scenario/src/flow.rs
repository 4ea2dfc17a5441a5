//! `[[flows]]`: TCP connections and their data.

use burstlab_tcp::Overrides;
use burstlab_traffic::SIZE_MAX;
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reverse;
use super::limits::{CLASS_MAX, DURATION_MAX, SPAN_MAX};
use super::write::{WRITES_MAX, Write};

/// Most streams of a connection: as many as quinn and noq let the other end open.
const STREAMS_MAX: u32 = 100;

/// One connection, or several alike. Without `bytes` and `script` it always has data to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Flow {
    /// Name of the entry. It keys the draws of the entry: an entry that is put before it changes
    /// none of them. It is also the label, where no label is given. No two entries of a list have
    /// the same name. Absent: the place among entries without a name keys the draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name in tables and figures; absent: `name`, or the variant of TCP, or the stack and its
    /// congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Number of equal flows.
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Name of the edge node of the sender. Absent: the first edge node of a mesh; a `path` has
    /// one ingress.
    #[schemars(extend("x-default" = "the first edge node"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Name of the edge node of the receiver. Absent: the last edge node of a mesh; a `path` has
    /// one egress.
    #[schemars(extend("x-default" = "the last edge node"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Class of the packets, from 0.
    #[schemars(range(max = CLASS_MAX))]
    pub class: u32,
    /// Start of the first flow of the entry.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
    /// Time from the start of one flow of the entry to the start of the next.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub stagger: Span,
    /// Each flow starts later by a random time, uniform below `spread`. Flows with one start are
    /// then not in step.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub spread: Span,
    /// A finite transfer of this many bytes of application data.
    #[schemars(extend(
        "x-minimum" = "1 B",
        "x-maximum" = SIZE_MAX,
        "x-or" = "remove it for a flow without end"
    ))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Writes of the application at given times, in order; takes the place of `bytes`.
    #[schemars(length(max = WRITES_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Vec<Write>>,
    /// Whether the application closes the connection after its last write. If all data have left by
    /// then, the FIN is a packet of its own. SACK reports it, so a lost tail is detected at once,
    /// as in Linux. False: the connection stays open. Without effect unless `variant` is `"linux"`,
    /// and where data never end.
    pub closes: bool,
    /// Data in the other direction too: both hosts send and receive over one connection, and each
    /// segment of one direction carries the ACK of the other. In tables and numbers each connection
    /// is two consecutive flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Reverse>,
    /// A third-party stack, such as `quinn`, that is the hosts of the flow in place of our own TCP.
    /// Engines that are built with the crate `burstlab-stacks` have such stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Congestion control of the stack, by the stack's name for it, such as `cubic`. Absent: the
    /// default of the stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// Streams over which the application of a stack writes, in each direction with data. All
    /// streams begin together, and each write is divided evenly among them. If a stack bounds the
    /// data of each stream, more streams allow more data in flight. TCP has one stream, and more
    /// are refused.
    #[schemars(range(min = 1, max = STREAMS_MAX))]
    pub streams: u32,
    /// Whether the packets of a stack carry ECN (RFC 9000 section 13.4): queues mark packets that
    /// its hosts declare ECN-capable, and the stack is notified of the marks. False: the path
    /// clears ECN, and the stack detects this. Needs a queue with `marking`, and a stack that has
    /// ECN.
    pub ecn: bool,
    /// TCP parameters of this flow, over those of `[tcp]`.
    pub tcp: Overrides,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            name: None,
            label: None,
            count: 1,
            from: None,
            to: None,
            class: 0,
            start: Span::ZERO,
            stagger: Span::ZERO,
            spread: Span::ZERO,
            bytes: None,
            script: None,
            closes: true,
            reverse: None,
            stack: None,
            congestion_control: None,
            streams: 1,
            ecn: false,
            tcp: Overrides::default(),
        }
    }
}
