//! What lies between the edge nodes: the fibres of a path, a mesh, or a slotted network.

use burstlab_kernel::RandomSource;
use burstlab_optical::slotted::SlotClock;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::Context;
use super::mesh::Mesh;
use super::ops::Ops;
use crate::scenario::{Interrupt, Resolved};
use crate::topology::Graph;

/// The optical network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Optics {
    /// Bursts, over a path or a mesh.
    Mesh(Box<Mesh>),
    /// Slots instead of bursts.
    Ops(Box<Ops>),
}

impl Optics {
    pub(super) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        match (&resolved.mesh, &resolved.scenario.ops) {
            (Some(mesh), Some(ops)) => {
                let clock = SlotClock::new(ops.slot_size, resolved.scenario.network.link_rate);
                Self::Ops(Box::new(Ops::new(mesh.clone(), ops.clone(), clock, random)))
            }
            _ => Self::Mesh(Box::new(Mesh::new(resolved, random))),
        }
    }

    /// The slotted network.
    ///
    /// # Panics
    /// When it is something else: its events happen nowhere else.
    #[inline]
    pub(super) fn ops(&mut self) -> &mut Ops {
        match self {
            Self::Ops(ops) => ops,
            _ => panic!("an event of a slotted network happened elsewhere"),
        }
    }

    /// The nodes and fibres.
    pub(super) fn graph(&self) -> &Graph {
        match self {
            Self::Mesh(mesh) => mesh.graph(),
            Self::Ops(ops) => ops.graph(),
        }
    }

    /// Places that hosts attach to, as far as access links are shared.
    pub(super) fn sites(&self) -> usize {
        self.graph().nodes.len()
    }

    /// Sources of bursts, which never end.
    pub(super) fn endless(&self) -> usize {
        match self {
            Self::Ops(_) => 0,
            Self::Mesh(mesh) => mesh.background_sources(),
        }
    }

    /// Queues what happens first.
    pub(super) fn begin(&mut self, watch: &Interrupt, context: &mut Context) {
        match self {
            Self::Mesh(mesh) => mesh.begin(watch, context),
            Self::Ops(ops) => ops.begin(context),
        }
    }

    /// Measuring begins.
    pub(super) fn warmed_up(&mut self, now: Time) {
        match self {
            Self::Mesh(mesh) => mesh.warmed_up(now),
            Self::Ops(ops) => ops.warmed_up(now),
        }
    }

    /// Bursts with data closed so far.
    #[inline]
    pub(super) fn closed(&self) -> u64 {
        match self {
            Self::Mesh(mesh) => mesh.closed(),
            Self::Ops(_) => 0,
        }
    }

    /// What was scripted and never came.
    pub(super) fn unmet(&self) -> Vec<String> {
        match self {
            Self::Mesh(mesh) => mesh.unmet(),
            Self::Ops(_) => Vec::new(),
        }
    }

    /// A connection is done: it travelled in so many bursts, of which so many were lost.
    pub(super) fn connection(&mut self, bursts: u64, lost: u64) {
        if let Self::Mesh(mesh) = self {
            mesh.tally.connection(bursts, lost);
        }
    }

    /// The nodes with hosts.
    pub(super) fn hosts(&self) -> Vec<u32> {
        self.graph().edges()
    }
}
