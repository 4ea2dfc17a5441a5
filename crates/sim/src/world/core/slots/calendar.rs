//! Which slots have an event: those in which some node has something to do.

use burstlab_kernel::{Rank, Ticket};
use burstlab_optical::slotted::SlotClock;
use serde::{Deserialize, Serialize};

use crate::world::context::Context;
use crate::world::events::SlotEvent;
use crate::world::tie_key::TieKey;

/// The next slot of each node, and the events for these.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Calendar {
    clock: SlotClock,
    /// By node: the slot in which it has something to do next.
    due: Vec<u64>,
    /// The slots that have events, the next one last.
    queued: Vec<u64>,
}

impl Calendar {
    pub(super) fn new(clock: SlotClock, nodes: usize) -> Self {
        Self { clock, due: vec![u64::MAX; nodes], queued: Vec::new() }
    }

    /// Queues an event of `node` for slot `slot`, unless it has one by then.
    #[inline]
    pub(super) fn wake(&mut self, node: u32, slot: u64, context: &mut Context) {
        let due = &mut self.due[node as usize];
        if slot < *due {
            *due = slot;
            self.queue(slot, context);
        }
    }

    /// Queues an event for slot `slot`, unless there is one by then. While a slot goes on it is
    /// the next one itself, so that nothing is queued behind it until it is done.
    #[inline]
    fn queue(&mut self, slot: u64, context: &mut Context) {
        if self.queued.last().is_none_or(|&next| slot < next) {
            self.queued.push(slot);
            let ticket = Ticket::fixed(Rank::Timer, TieKey::ASSEMBLY.number());
            let event = SlotEvent::Begins.of(0);
            context.queue.push_at(self.clock.start(slot), ticket, event);
        }
    }

    /// The slot that begins.
    #[inline]
    pub(super) fn begins(&self) -> u64 {
        *self.queued.last().expect("a slot that begins is queued")
    }

    /// Whether a node has something to do in a slot; if so it does it now.
    #[inline]
    pub(super) fn calls(&mut self, node: usize, slot: u64) -> bool {
        let due = &mut self.due[node];
        let called = *due == slot;
        if called {
            *due = u64::MAX;
        }
        called
    }

    /// All is done in the slot that began.
    #[inline]
    pub(super) fn is_over(&mut self, context: &mut Context) {
        self.queued.pop();
        let next = self.due.iter().fold(u64::MAX, |next, &due| next.min(due));
        if next < u64::MAX {
            self.queue(next, context);
        }
    }
}
