//! How many segments of each flow a burst carries.

use serde::{Deserialize, Serialize};

use crate::world::packet::DataPacket;
use crate::world::train::Train;

/// Counts by slot of the flow; reused from burst to burst, so that counting costs no memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Census {
    counts: Vec<u32>,
    /// Slots whose count is not zero.
    seen: Vec<u32>,
}

impl Census {
    /// Counts the data packets of flows of `trains`; answers slots and counts, in the order in
    /// which the flows first appear.
    pub(super) fn take(
        &mut self,
        trains: &[Train<DataPacket>],
    ) -> impl Iterator<Item = (u32, u32)> {
        for train in trains.iter().filter(|train| !train.first.is_cross()) {
            let slot = train.first.flow() as usize;
            if self.counts.len() <= slot {
                self.counts.resize(slot + 1, 0);
            }
            let count = &mut self.counts[slot];
            if *count == 0 {
                self.seen.push(train.first.flow());
            }
            *count += train.count;
        }
        let counts = &mut self.counts;
        self.seen.drain(..).map(|slot| (slot, std::mem::take(&mut counts[slot as usize])))
    }
}
