//! Everything that can happen next. The number names the flow, the link or the node it happens at.

use burstlab_kernel::Rank;
use serde::{Deserialize, Serialize};

use super::notices::Message;
use super::tie_key::TieKey;
use crate::scenario::Side;
use crate::slab::Slot;

/// An event of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// A flow opens its connection.
    Start(u32),
    /// The application of a flow writes.
    Write(u32),
    /// The retransmission timer of a flow may be due.
    SenderTimer(u32),
    /// A sender has held back what it sends for long enough.
    Release(u32),
    /// The delayed-ACK timer of a flow may be due.
    ReceiverTimer(u32),
    /// A data packet reaches the ingress edge over a sender's link.
    DataAtIngress(u32),
    /// A data packet reaches its receiver over a receiver's link.
    DataAtReceiver(u32),
    /// An ACK reaches the egress edge over a receiver's link.
    AckAtEgress(u32),
    /// An ACK reaches its sender over a sender's link.
    AckAtSender(u32),
    /// An edge node hands an ACK that it held back to its sender's link.
    PacedAck(u32),
    /// A message of an edge or core node reaches its sender, or the sender's access link.
    Notice(Slot<Message>),
    /// A source of cross-traffic sends a packet.
    Cross(u32),
    /// A packet of cross-traffic reaches the far end of the senders' link, or of the receivers'.
    CrossArrived(Side),
    /// Connections of a demand arrive, one or several.
    Demand(u32),
    /// Something may have become of packets of a wireless cell.
    Cell(u32),
    /// Something in the optical network.
    Core(CoreEvent),
    /// The network is sampled.
    Sample,
    /// The occupancy of queues, ports and wavelengths is noted.
    Occupancy,
    /// Measuring begins.
    WarmedUp,
    /// The world is kept, to go back to.
    Keep,
    /// The alarm of a third-party host may be due, of the sender of a flow.
    NearStackTimer(u32),
    /// The same, of its receiver.
    FarStackTimer(u32),
}

impl Event {
    /// Its turn at an instant, among the events in which hosts and sources send packets.
    pub(super) fn turn(self) -> u32 {
        match self {
            Self::SenderTimer(index) => TieKey::SENDER.of(index).turn(Rank::Timer),
            Self::ReceiverTimer(index) => TieKey::RECEIVER.of(index).turn(Rank::Timer),
            Self::Release(index) => TieKey::RELEASE.of(index).turn(Rank::Timer),
            Self::Start(_) | Self::Write(_) => TieKey::turn_of_any(Rank::Timer),
            Self::DataAtReceiver(link) => TieKey::DATA_DOWN.of(link).turn(Rank::Arrival),
            Self::AckAtSender(link) => TieKey::ACK_DOWN.of(link).turn(Rank::Arrival),
            Self::Demand(_) | Self::Notice(_) | Self::Cross(_) => {
                TieKey::turn_of_any(Rank::Arrival)
            }
            // They send nothing.
            _ => 0,
        }
    }
}

/// With eight bytes an entry of the event queue is three words.
const _: () = assert!(size_of::<Event>() == 8);

/// An event of the optical network, and the number of its subject. A network queues events of its
/// own kind alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CoreEvent {
    /// In a network of bursts.
    Burst(BurstEvent, u32),
    /// In a network of slots.
    Slot(SlotEvent, u32),
}

/// An event of a network of bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BurstEvent {
    /// The timer of an assembly queue may be due.
    Assembly,
    /// A packet that opens or completes the burst of an assembly queue may enter it.
    Enters,
    /// The header of the burst in a slot enters the processor of its ingress.
    Submit,
    /// A header or trailer reaches the end of a fibre.
    Signal,
    /// A node begins to work on the header of the burst in a slot.
    Served,
    /// The last bit of the burst in a slot reaches its egress.
    Landed,
    /// A refusal of the two-way reservation of the burst in a slot reaches a node on the reverse
    /// path.
    Refused,
    /// The ingress offers the burst in a slot again.
    Again,
    /// A source of bursts sends one.
    Background,
    /// The burst in a slot comes to the node of its route where it is lost.
    Lost,
    /// A packet that nodes store and forward reaches the egress of a route.
    Stored,
    /// A fibre goes down or comes back, or routes follow.
    Outage,
}

impl BurstEvent {
    /// The event that it happens to what has this number.
    #[inline]
    pub(crate) fn of(self, number: u32) -> Event {
        Event::Core(CoreEvent::Burst(self, number))
    }
}

/// An event of a network of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SlotEvent {
    /// A slot begins in which nodes have something to do; it has no number.
    Begins,
    /// A unit of time of the edge smoothing ends; it has no number.
    SmoothingUnit,
    /// A notification of congestion reaches its edge.
    CongestionNotice,
    /// Notifications have waited long enough for a slot on a fibre.
    NoticesLeave,
    /// An ACK of a flow is at the edge of its sender.
    AckHome,
}

impl SlotEvent {
    /// The event that it happens to what has this number.
    #[inline]
    pub(crate) fn of(self, number: u32) -> Event {
        Event::Core(CoreEvent::Slot(self, number))
    }
}
