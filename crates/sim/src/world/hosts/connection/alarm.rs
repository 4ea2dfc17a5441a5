//! The timer of a host, as an event in the queue.

use burstlab_kernel::Rank;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::tie_key::TieKey;

/// When a timer's event stands in the queue. A timer that moves to later is not taken out: its
/// event comes, sees that it is early, and is put back.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::world::hosts) struct Alarm(Time);

impl Alarm {
    pub(in crate::world::hosts) const OFF: Self = Self(Time::MAX);

    /// Queues an event at `deadline`, unless one is queued by then.
    #[inline]
    pub(in crate::world::hosts) fn arm(
        &mut self,
        deadline: Option<Time>,
        context: &mut Context,
        place: TieKey,
        event: Event,
    ) {
        if let Some(at) = deadline
            && at < self.0
        {
            self.0 = at;
            let ticket = context.ticket(Rank::Timer, place);
            context.queue.push_at(at, ticket, event);
        }
    }

    /// Whether an event at `now` is the one that was armed last.
    pub(in crate::world::hosts) fn takes(&mut self, now: Time) -> bool {
        let mine = self.0 == now;
        if mine {
            *self = Self::OFF;
        }
        mine
    }
}
