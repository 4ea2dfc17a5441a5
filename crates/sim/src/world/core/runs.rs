//! Trains of many flows at one place, each flow's in order.

use std::fmt;

use burstlab_units::Time;

use crate::world::packet::Parcel;
use crate::world::train::TimedTrain;

/// Trains, put together where a flow goes on evenly.
#[derive(Clone)]
pub(in crate::world) struct Runs<P> {
    pub(in crate::world) all: Vec<TimedTrain<P>>,
    /// Where the last train of each flow lies, by its slot; `NONE`: it has none.
    last: Vec<u32>,
}

/// Shows the trains. Where the last ones lie follows from them.
impl<P: fmt::Debug> fmt::Debug for Runs<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.all).finish()
    }
}

/// Stands for no train.
const NONE: u32 = u32::MAX;

impl<P> Default for Runs<P> {
    fn default() -> Self {
        Self { all: Vec::new(), last: Vec::new() }
    }
}

impl<P: Parcel> Runs<P> {
    /// Adds a packet that is there at `at`, behind all others of its flow.
    #[inline]
    pub(super) fn add(&mut self, at: Time, packet: P) {
        let slot = packet.flow() as usize;
        let last = self.last.get(slot).and_then(|&place| self.all.get_mut(place as usize));
        if !last.is_some_and(|last| last.admits(at, &packet)) {
            self.push(TimedTrain::one(at, packet));
        }
    }

    /// Adds a train, behind all others of its flow.
    #[inline]
    pub(super) fn push(&mut self, train: TimedTrain<P>) {
        let slot = train.train.first.flow() as usize;
        if self.last.len() <= slot {
            self.last.resize(slot + 1, NONE);
        }
        self.last[slot] = self.all.len() as u32;
        self.all.push(train);
    }

    /// Leaves out all but the first `count` trains, to which none was added since.
    pub(super) fn truncate(&mut self, count: usize) {
        for train in self.all.drain(count..) {
            self.last[train.train.first.flow() as usize] = NONE;
        }
    }

    pub(in crate::world) fn clear(&mut self) {
        self.truncate(0);
    }
}
