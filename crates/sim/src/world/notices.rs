//! Burst ACKs and burst NAKs in transit to the senders.

use std::collections::BTreeSet;

use burstlab_tcp::Notice;
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::slab::{Slab, Slot};

/// A message to a sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Message {
    pub(super) flow: u32,
    /// The flow's number: its slot may hold another one by now.
    pub(super) id: u32,
    pub(super) notice: Notice,
    pub(super) burst: u64,
    pub(super) segments: Vec<u64>,
    /// When it is at the sender, or at the sender's access link.
    pub(super) at: Time,
    /// Whether it has still to cross the sender's access link as a packet.
    pub(super) in_band: bool,
}

/// The next message about a lost burst to the sender of a flow.
#[derive(Clone, Copy)]
pub(super) struct NextMessage<'a> {
    notices: &'a Notices,
    flow: u32,
    clock: Time,
}

impl NextMessage<'_> {
    /// When it comes at the earliest: it is in transit, or comes so long `after` a burst that is
    /// yet to be closed.
    pub(super) fn next(self, after: Span) -> Time {
        self.notices.next_loss(self.flow).min(self.clock.saturating_add(after))
    }
}

/// The messages in transit, by the slot that their event names.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Notices {
    messages: Slab<Message>,
    /// Those of lost bursts, by flow and time.
    losses: BTreeSet<(u32, Time, Slot<Message>)>,
    pub(super) sent: u64,
    pub(super) lost: u64,
    /// Of a message that crosses an access link as a packet.
    pub(super) size: Bytes,
}

impl Notices {
    /// Messages of this size.
    pub(super) fn of(size: Bytes) -> Self {
        Self { size, ..Self::default() }
    }

    /// Keeps a message; returns its slot.
    pub(super) fn keep(&mut self, message: Message) -> Slot<Message> {
        let (flow, at, notice) = (message.flow, message.at, message.notice);
        let slot = self.messages.keep(message);
        if notice == Notice::Dropped {
            self.losses.insert((flow, at, slot));
        }
        slot
    }

    /// When the next message that a burst is lost reaches the sender of a flow; `MAX`: none is in
    /// transit.
    fn next_loss(&self, flow: u32) -> Time {
        let next = self.losses.range((flow, Time::ZERO, Slot::numbered(0))..).next();
        next.filter(|(to, ..)| *to == flow).map_or(Time::MAX, |&(_, at, _)| at)
    }

    /// The next message to the sender of a flow, as it is at `clock`.
    #[inline(always)]
    pub(super) fn next_message(&self, flow: u32, clock: Time) -> NextMessage<'_> {
        NextMessage { notices: self, flow, clock }
    }

    /// Takes the message of `slot`.
    ///
    /// # Panics
    /// When the slot is empty: its event was queued twice.
    pub(super) fn take(&mut self, slot: Slot<Message>) -> Message {
        let message = self.messages.take(slot);
        self.losses.remove(&(message.flow, message.at, slot));
        message
    }
}
