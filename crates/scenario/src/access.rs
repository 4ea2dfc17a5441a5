//! `[access]`: the links between hosts and edge nodes.

use burstlab_link::{Marking, Room};
use burstlab_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{RATE_MIN, SPAN_MAX};
use super::{AckPacing, LinkLoss, Marks, ScenarioError};

/// The access links: sender to ingress edge and egress edge to receiver, in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Access {
    /// Rate of a link, in both directions.
    #[schemars(extend("x-minimum" = RATE_MIN))]
    pub rate: Rate,
    /// Propagation delay of a link, in one direction.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub delay: Span,
    /// Packets that may wait for a link behind the packet being sent; further packets are dropped.
    /// Absent: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// Bytes that may be in a link's queue, including the unsent part of the packet being sent. A
    /// packet that would exceed the bound is dropped. Absent: no such bound.
    #[schemars(extend("x-minimum" = "1 B"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<Bytes>,
    /// Which data packets the senders' links mark. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marking: Option<Marks>,
    /// Losses of the senders' links, in both directions. Absent: only their queues drop packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LinkLoss>,
    /// Whether flows share access links. On a path all flows then share one link a side. In a mesh
    /// or a slotted network all senders of an edge node share one link, and all its receivers
    /// another. Otherwise each flow has its own links.
    pub shared: bool,
    /// Whether edge nodes space the ACKs that they hand to the senders' links. Absent: each ACK is
    /// handed over as it comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_pacing: Option<AckPacing>,
    /// Fields in which the receivers' links differ from the senders' links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver: Option<AccessSide>,
}

/// Fields in which the receivers' access links differ from the senders' links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AccessSide {
    /// Rate of a link, in both directions.
    #[schemars(extend("x-default" = "that of `access`"))]
    #[schemars(extend("x-minimum" = RATE_MIN))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay of a link, in one direction.
    #[schemars(extend("x-default" = "that of `access`"))]
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Packets that may wait for a link behind the one being sent; more are dropped.
    #[schemars(extend("x-default" = "that of `access`"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// Bytes that may be in a link's queue; a packet that would bring it above is dropped.
    #[schemars(extend("x-default" = "that of `access`"))]
    #[schemars(extend("x-minimum" = "1 B"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<Bytes>,
    /// Which data packets the receivers' links mark. Absent: none, even if the senders' links mark
    /// packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marking: Option<Marks>,
    /// Losses of the receivers' links, in both directions. Absent: only their queues drop packets,
    /// even if the senders' links have losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LinkLoss>,
}

impl Default for Access {
    /// The medium-rate flow of Yu et al. 2004, section III: 125 KB/s, 10 ms.
    fn default() -> Self {
        Self {
            rate: Rate::from_bps(1_000_000),
            delay: Span::from_ms(10),
            queue: None,
            queue_bytes: None,
            marking: None,
            loss: None,
            shared: false,
            ack_pacing: None,
            receiver: None,
        }
    }
}

impl Access {
    /// Rate, delay and queue of the receivers' links.
    #[must_use]
    pub fn receiver_side(&self) -> (Rate, Span, Room) {
        let own = self.receiver.clone().unwrap_or_default();
        let room = Room {
            packets: own.queue.or(self.queue),
            bytes: own.queue_bytes.or(self.queue_bytes),
            marking: None,
        };
        (own.rate.unwrap_or(self.rate), own.delay.unwrap_or(self.delay), room)
    }

    /// The queue of the senders' links, where it does not mark.
    #[must_use]
    pub fn room(&self) -> Room {
        Room { packets: self.queue, bytes: self.queue_bytes, marking: None }
    }

    /// Which data packets are marked by the senders' links, and by the receivers'.
    pub(super) fn marks(&self) -> Result<[Option<Marking>; 2], ScenarioError> {
        let own = self.receiver.clone().unwrap_or_default();
        let rate = own.rate.unwrap_or(self.rate);
        let read = |marks: &Option<Marks>, table: &str, rate| {
            marks.as_ref().map(|marks| marks.marking(table, rate)).transpose()
        };
        Ok([
            read(&self.marking, "access.marking", self.rate)?,
            read(&own.marking, "access.receiver.marking", rate)?,
        ])
    }
}
