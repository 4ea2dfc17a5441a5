//! The occupancy of queues, ports and wavelengths is noted from time to time.

use crate::world::core::Network;
use burstlab_kernel::Rank;

use super::World;
use super::events::Event;
use crate::measure::Piece;

impl World {
    /// Notes it, and when to do so again.
    pub(super) fn note_occupancy(&mut self) {
        self.core.look(self.now, &mut self.occupancy);
        self.schedule_occupancy_sample();
    }

    /// Queues the next look, if the scenario asks for any.
    pub(super) fn schedule_occupancy_sample(&mut self) {
        if !self.occupancy_every.is_zero() {
            let at = self.now + self.occupancy_every;
            self.context.queue.push(at, Rank::Timer, Event::Occupancy);
        }
    }

    /// Hands over what is left of its tables.
    pub(super) fn take_occupancy(&mut self) -> Vec<Piece> {
        let tables = std::mem::take(&mut self.occupancy);
        if self.occupancy_every.is_zero() {
            return Vec::new();
        }
        tables.finish(self.core.graph())
    }
}
