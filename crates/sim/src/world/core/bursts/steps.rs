//! The trace of what nodes do for bursts, step by step.

use burstlab_units::{Span, Time};

use super::Mesh;
use crate::measure::{Recorder, Step, StepRow};

impl Mesh {
    /// Notes a step of the burst in a slot, at the node that its header has come to.
    #[inline]
    pub(super) fn note(
        &self,
        (now, slot): (Time, u32),
        step: Step,
        link: Option<u32>,
        wait: Span,
        recorder: &mut Recorder,
    ) {
        if recorder.traces_bursts() {
            let burst = self.bursts.get(slot);
            let node = self.node_at(slot, burst.hop) + 1;
            let ends = link.map_or((node, 0), |link| self.joined_by(link));
            recorder.step(&StepRow { now, burst: burst.number, step, ends, wait, cut: (0, 0) });
        }
    }

    /// The nodes that a fibre joins, counted from 1.
    pub(super) fn joined_by(&self, link: u32) -> (u32, u32) {
        let link = self.graph.link(link);
        (link.from + 1, link.to + 1)
    }
}
