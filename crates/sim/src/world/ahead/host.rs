//! The common interface of hosts that take packets ahead of the clock.
//!
//! A host is a receiver or a sender, with TCP options or without. `runs` asks `admits` first, and
//! `take` only for packets in the order in which they arrive. A host must take a packet only if
//! nothing that happens before it can change the result. It may take fewer packets than offered;
//! the rest become events. `end` is called exactly once: only then are its packets announced and
//! its timer set.

use burstlab_units::Time;

use crate::measure::Recorder;
use crate::world::access::Link;
use crate::world::train::TimedTrain;

/// A host, as far as it takes packets ahead of the clock.
pub(super) trait Host<P> {
    /// The link on which they come.
    fn link(&mut self) -> &mut Link<P>;
    /// The trace.
    fn recorder(&mut self) -> &mut Recorder;
    /// Whether it may take a train that begins with this packet, which is in transit from `at` on.
    fn admits(&self, first: &P, at: Time) -> bool;
    /// Packets will be there: takes those in front that may be taken; returns how many.
    fn take(&mut self, coming: &TimedTrain<P>) -> u32;
    /// There are no more: its packets are announced, and its timer is set.
    fn end(self);
}
