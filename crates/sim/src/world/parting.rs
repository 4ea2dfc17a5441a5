//! Support for two runs that part: the same world goes on with other operations on its bursts, is
//! traced from an instant on, or ends sooner.

use crate::world::core::Network;
use burstlab_units::Time;

use super::World;
use super::surgery::Surgery;
use crate::measure::{LostBurst, Progress, Recorder, Trace};

impl World {
    /// Processes events before `at`, up to `count` of them; returns whether there may be more, and
    /// whether the run goes on.
    pub(crate) fn advance_before(&mut self, at: Time, mut count: u32) -> (bool, bool) {
        while count > 0 {
            if self.transit.context.queue.next_at().is_none_or(|next| next >= at) {
                return (false, true);
            }
            if !self.advance(1) {
                return (false, false);
            }
            count -= 1;
        }
        (true, true)
    }

    /// Whether no burst that `surgery` names was decided yet.
    pub(crate) fn is_before(&self, surgery: &Surgery) -> bool {
        self.transit.core.is_before(surgery)
    }

    /// Bursts numbered so far: all; on a path those each way.
    pub(crate) fn numbered(&self) -> [u64; 2] {
        self.transit.core.numbered()
    }

    /// The time.
    pub(crate) fn now(&self) -> Time {
        self.transit.context.now
    }

    /// The operations that are asked for.
    pub(crate) fn surgery(&self) -> &Surgery {
        &self.transit.context.surgery
    }

    /// From now on these operations are asked for.
    pub(crate) fn operate(&mut self, surgery: Surgery) {
        if let Some(kept) = self.last_burst.kept() {
            kept.operate(surgery.clone());
        }
        self.transit.context.surgery = surgery;
    }

    /// Notes from now on which bursts are lost.
    pub(crate) fn note_losses(&mut self) {
        self.transit.context.surgery.note_losses();
    }

    /// Hands over the losses that were noted.
    pub(crate) fn take_losses(&mut self) -> Vec<LostBurst> {
        self.transit.context.surgery.take_losses()
    }

    /// Records tables from now on: packets that are on their way have no row. Hosts that are ahead
    /// of the clock stay so, and come no further ahead; a run that ends with a burst [keeps to the
    /// clock](Self::keep_to_the_clock) first, for which it may go back.
    pub(crate) fn trace_from_here(&mut self, trace: Trace) {
        if trace != Trace::default() {
            self.keep_to_the_clock();
            self.transit.context.ahead.stop();
        }
        self.transit.context.recorder = Recorder::new(trace);
    }

    /// Ends the run at `at`, if it would go on: what is measured is measured until then, and what
    /// would happen then does not.
    pub(crate) fn end_at(&mut self, at: Time) {
        if let Some(kept) = self.last_burst.kept() {
            kept.end_at(at);
        }
        self.course.end_at(at);
        self.transit.context.ahead.lasts_no_longer(at.before());
    }

    /// How far each connection has come, by number.
    pub(crate) fn reached(&self) -> Vec<Progress> {
        let now = self.now();
        let live = self.transit.hosts.live().map(|flow| Progress {
            id: flow.id,
            started_ps: flow.near.start().as_ps(),
            bytes: flow.in_order(),
            until_ps: flow.bytes.map(|_| flow.far.received().unwrap_or(now).as_ps()),
            whole: flow.far.received().is_some(),
        });
        let mut all: Vec<Progress> = live.chain(self.transit.hosts.demands.gone_by()).collect();
        all.sort_unstable_by_key(|one| one.id);
        all
    }
}
