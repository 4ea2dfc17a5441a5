//! The numbers and tables of a mesh.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Mesh;
use super::burst::{BurstKind, Cargo};
use super::feed::Load;
use crate::measure::{NetworkSummary, NetworkTally, Recorder, Table};
use crate::topology::Graph;

/// What was counted by the end of the measured time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    tally: NetworkTally,
    /// How long each wavelength of each fibre was reserved.
    busy: Vec<Vec<Span>>,
}

impl Mesh {
    /// The measured time is over, and the run goes on.
    pub(in crate::world) fn measured(&mut self, now: Time) {
        let (tally, busy) = (self.tally.clone(), self.busy(now));
        self.measured = Some(Box::new(Measured { tally, busy }));
    }

    /// The numbers of the measured time, which lasted so long; the run ends at `now`.
    pub(in crate::world) fn summary(&self, now: Time, measured: Span) -> NetworkSummary {
        match &self.measured {
            None => self.tally.summary(&self.graph, &self.busy(now), measured),
            Some(then) => then.tally.summary(&self.graph, &then.busy, measured),
        }
    }

    /// How long each wavelength of each fibre was reserved by `now`.
    fn busy(&self, now: Time) -> Vec<Vec<Span>> {
        let busy = |port: &burstlab_optical::scheduling::Port| {
            (0..port.wavelengths()).map(|wavelength| port.busy(wavelength, now)).collect()
        };
        self.ports.iter().map(busy).collect()
    }

    /// The histograms.
    pub(in crate::world) fn table(&self) -> Table {
        self.measured.as_ref().map_or(&self.tally, |then| &then.tally).histograms()
    }

    /// Adds the bursts that are under way to the trace.
    pub(in crate::world) fn record_rest(&self, now: Time, recorder: &mut Recorder) {
        self.record_waiting(now, recorder);
        if recorder.traces_bursts() {
            for burst in self.bursts.live() {
                recorder.burst(&self.row(burst, None));
                self.record_hops(burst, false, recorder);
            }
        }
    }

    pub(in crate::world) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Data packets of flows, ACKs, and packets of other traffic that are known to come, wait for
    /// assembly, or are in bursts.
    pub(in crate::world) fn aboard(&self) -> [u64; 3] {
        let queued = self.queues.iter().map(|queue| &queue.cargo);
        let flying = self.bursts.live().map(|burst| &burst.cargo);
        let mut aboard = [0; 3];
        for cargo in queued.chain(flying) {
            for train in cargo.data.iter().filter(|train| !train.first.is_of_batch()) {
                aboard[if train.first.is_other() { 2 } else { 0 }] += u64::from(train.count);
            }
            aboard[1] += cargo.acks.iter().map(|train| u64::from(train.count)).sum::<u64>();
        }
        for inbox in self.queues.iter().map(|queue| &queue.inbox) {
            for train in inbox.data() {
                aboard[if train.first.is_other() { 2 } else { 0 }] += u64::from(train.count);
            }
            aboard[1] += inbox.acks();
        }
        aboard
    }

    /// What has come of batches by `now`, and what of it is in queues and in bursts.
    pub(in crate::world) fn batches_aboard(&self, now: Time) -> [Load; 2] {
        let sum = |sum: Load, load: Load| sum + load;
        let feeds = || self.queues.iter().filter_map(|queue| queue.feed.as_ref());
        let waiting = feeds().map(|feed| feed.waiting(now)).fold(Load::default(), sum);
        let queued = self.queues.iter().map(|queue| &queue.cargo);
        let flying = self.bursts.live().map(|burst| &burst.cargo);
        let aboard = queued.chain(flying).map(Cargo::of_batches).fold(waiting, sum);
        [feeds().map(|feed| feed.taken).fold(waiting, sum), aboard]
    }

    /// Bursts of a kind that are under way.
    pub(in crate::world) fn in_flight(&self, kind: BurstKind) -> u64 {
        self.bursts.live().filter(|burst| burst.kind == kind).count() as u64
    }
}
