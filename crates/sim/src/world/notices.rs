//! Burst ACKs and burst NAKs on their way to the senders.

use burstlab_tcp::Notice;
use serde::{Deserialize, Serialize};

/// A message to a sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Message {
    pub(super) flow: u32,
    /// The flow's number: its slot may hold another one by now.
    pub(super) id: u32,
    pub(super) notice: Notice,
    pub(super) burst: u64,
    pub(super) segments: Vec<u64>,
    /// Whether it has still to cross the sender's access link as a packet.
    pub(super) in_band: bool,
}

/// The messages on their way, by the slot that their event names.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Notices {
    slots: Vec<Option<Message>>,
    free: Vec<u32>,
    pub(super) sent: u64,
    pub(super) lost: u64,
}

impl Notices {
    /// Keeps a message; returns its slot.
    pub(super) fn keep(&mut self, message: Message) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(message);
            return slot;
        }
        self.slots.push(Some(message));
        self.slots.len() as u32 - 1
    }

    /// Takes the message of `slot`.
    ///
    /// # Panics
    /// When the slot is empty: its event was queued twice.
    pub(super) fn take(&mut self, slot: u32) -> Message {
        self.free.push(slot);
        self.slots[slot as usize].take().expect("a message waits for its event")
    }
}
