//! The packets of each flow in a burst, put together as the burst is loaded.

use serde::{Deserialize, Serialize};

use crate::world::packet::Parcel;
use crate::world::train::Train;

/// Where the last train of each flow lies in the payload that is being loaded, by slot of the flow.
/// Entries of earlier payloads are left as they are: one that points to a train of its flow can
/// only have been made for this payload.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Coalescer {
    last: Vec<u32>,
}

impl Coalescer {
    /// Adds `train` to `payload`: to the last train of its flow, if it goes on as that does.
    #[inline]
    pub(super) fn add<P: Parcel>(&mut self, payload: &mut Vec<Train<P>>, train: Train<P>) {
        let owner = train.first.owner();
        if owner.is_background() {
            payload.push(train);
            return;
        }
        let slot = owner.slot() as usize;
        if self.last.len() <= slot {
            self.last.resize(slot + 1, u32::MAX);
        }
        let last = payload.get_mut(self.last[slot] as usize);
        let joins = last.is_some_and(|last| last.first.owner() == owner && last.admits(&train));
        if !joins {
            self.last[slot] = payload.len() as u32;
            payload.push(train);
        }
    }
}
