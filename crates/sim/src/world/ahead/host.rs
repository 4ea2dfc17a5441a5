//! Hosts, as they take packets ahead of the clock: receivers and senders, with options and without.

use burstlab_units::Time;

use crate::world::access::Link;
use crate::world::train::TimedTrain;

/// A host, as far as it takes packets ahead of the clock.
pub(super) trait Host<P> {
    /// The link on which they come.
    fn link(&mut self) -> &mut Link<P>;
    /// Whether it may take a train that begins with this packet, which is on its way from `at` on.
    fn admits(&self, first: &P, at: Time) -> bool;
    /// Packets will be there: takes those in front that may be taken; returns how many.
    fn take(&mut self, coming: &TimedTrain<P>) -> u32;
    /// There are no more: what it sends is announced, and its timer set.
    fn end(self);
}
