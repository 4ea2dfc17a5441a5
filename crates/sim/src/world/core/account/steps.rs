//! The steps of nodes for bursts: counted, and in the trace.

use burstlab_units::{Span, Time};

use super::Account;
use crate::measure::{Recorder, Sort, Step, StepRow};
use crate::world::core::burst::Burst;
use crate::world::core::payload::{BurstKind, Payload};
use crate::world::core::plan::Plan;

impl Account {
    /// A step of a burst at the node that its header has come to, toward a fibre, after a wait.
    #[inline(always)]
    pub(crate) fn step(
        &mut self,
        plan: &Plan,
        (now, burst): (Time, &Burst),
        step: Step,
        (link, wait): (Option<u32>, Span),
        recorder: &mut Recorder,
    ) {
        let (kind, sort) = (burst.kind as usize, sort_of(plan, burst));
        match (step, link) {
            (Step::Port, _) => self.tally.waited(kind, wait),
            (Step::Header, _) => {
                self.tally.served(kind, plan.node_at(burst, burst.hop), wait);
            }
            (Step::Carried, Some(link)) => self.tally.carried(sort, link, wait),
            (Step::Contended, Some(link)) => {
                self.tally.contended(sort, link);
            }
            (Step::Injected, Some(link)) => self.tally.contended(sort, link).injected += 1,
            (Step::NoConverter, Some(link)) => self.tally.contended(sort, link).no_converter += 1,
            (Step::Deflected, Some(link)) => self.tally.deflected(sort, link),
            (Step::Resent, Some(link)) => self.tally.resent(sort, link),
            (Step::Refused, Some(link)) => self.tally.refused(sort, link),
            (Step::Converted, _) => self.tally.of(kind).resolutions.converted += 1,
            (Step::Delayed, _) => self.tally.of(kind).resolutions.delayed += 1,
            (Step::Segmented, _) => self.tally.of(kind).resolutions.segmented += 1,
            (Step::NoCopy, _) => self.tally.of(kind).resolutions.no_copy += 1,
            _ => {}
        }
        if recorder.traces_bursts() {
            trace_step(plan, (now, burst), step, (link, wait), recorder);
        }
    }

    /// A burst leaves the port of its ingress at once.
    #[inline]
    pub(crate) fn passed_port(&mut self, kind: BurstKind) {
        self.tally.waited(kind as usize, Span::ZERO);
    }

    /// The processor of a node takes a header at once.
    #[inline]
    pub(crate) fn served(&mut self, kind: BurstKind, node: u32) {
        self.tally.served(kind as usize, node, Span::ZERO);
    }

    /// A header goes on over a fibre, after a wait for its control channel.
    #[inline]
    pub(crate) fn carried(&mut self, sort: Sort, link: u32, wait: Span) {
        self.tally.carried(sort, link, wait);
    }

    /// A header comes too late, by so much.
    pub(crate) fn late(&mut self, by: Span) {
        self.tally.late(by);
    }

    /// A burst loses these packets at a node, and so many bytes.
    pub(crate) fn cut(
        &mut self,
        (now, burst): (Time, &Burst),
        node: u32,
        (lost, bytes): (&Payload, u64),
        recorder: &mut Recorder,
    ) {
        let packets = lost.packets();
        self.cross_lost += lost.cross();
        self.batches.lost += lost.of_batches();
        let steps = &mut self.tally.of(burst.kind as usize).resolutions;
        steps.packets_cut += packets;
        steps.bytes_cut += bytes;
        let (step, ends, cut) = (Step::Cut, (node, 0), (packets as u32, bytes));
        let (burst, wait) = (burst.label, Span::ZERO);
        recorder.step(&StepRow { now, burst, step, ends, wait, cut });
    }

    /// A trailer of a burst is put on the control channel of a fibre.
    pub(crate) fn trailer(
        &mut self,
        plan: &Plan,
        (now, burst): (Time, u64),
        link: u32,
        recorder: &mut Recorder,
    ) {
        self.tally.trailed(link);
        let (step, ends, wait) = (Step::Trailer, plan.joined_by(link), Span::ZERO);
        recorder.step(&StepRow { now, burst, step, ends, wait, cut: (0, 0) });
    }
}

#[cold]
fn trace_step(
    plan: &Plan,
    (now, burst): (Time, &Burst),
    step: Step,
    (link, wait): (Option<u32>, Span),
    recorder: &mut Recorder,
) {
    let node = plan.node_at(burst, burst.hop) + 1;
    let ends = link.map_or((node, 0), |link| plan.joined_by(link));
    recorder.step(&StepRow { now, burst: burst.label, step, ends, wait, cut: (0, 0) });
}

/// What a burst is counted among.
#[inline]
pub(super) fn sort_of(plan: &Plan, burst: &Burst) -> Sort {
    sort_as(plan, burst.kind, burst.class)
}

/// The counts that a burst of a kind and a class belongs to.
#[inline]
pub(crate) fn sort_as(plan: &Plan, kind: BurstKind, class: u32) -> Sort {
    let class = (!plan.rules.burst_classes.is_empty()).then_some(class);
    Sort { kind: kind as usize, class }
}
