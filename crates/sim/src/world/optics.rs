//! What lies between the edge nodes: the fibres of a path, or a mesh.

use burstlab_kernel::RandomSource;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::Context;
use super::crossing::{Crossing, Direction};
use super::flow::Flow;
use super::mesh::Mesh;
use super::packet::{AckPacket, DataPacket};
use crate::scenario::Resolved;

/// The optical network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Optics {
    /// A chain of fibres that one ingress uses alone: what happens on it is computed as a burst
    /// leaves.
    Path(Box<Path>),
    /// Anything else: bursts meet at the nodes.
    Mesh(Box<Mesh>),
}

/// Both directions of a chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Path {
    pub(super) data: Crossing<DataPacket>,
    pub(super) ack: Crossing<AckPacket>,
}

impl Optics {
    pub(super) fn new(resolved: &Resolved, random: &RandomSource, flows: &[Flow]) -> Self {
        if resolved.mesh.is_some() {
            return Self::Mesh(Box::new(Mesh::new(resolved, random)));
        }
        let scenario = &resolved.scenario;
        let mut data = Crossing::new(scenario, random, Direction::Data);
        data.report_to(flows, scenario);
        let ack = Crossing::new(scenario, random, Direction::Ack);
        Self::Path(Box::new(Path { data, ack }))
    }

    /// The chain.
    ///
    /// # Panics
    /// When it is a mesh: events of a path do not happen in one.
    #[inline]
    pub(super) fn path(&mut self) -> &mut Path {
        match self {
            Self::Path(path) => path,
            Self::Mesh(_) => panic!("an event of a path happened in a mesh"),
        }
    }

    /// Places that hosts attach to, as far as access links are shared.
    pub(super) fn sites(&self) -> usize {
        match self {
            Self::Path(_) => 1,
            Self::Mesh(mesh) => mesh.nodes(),
        }
    }

    /// Sources of bursts, which never end.
    pub(super) fn endless(&self) -> usize {
        match self {
            Self::Path(_) => 0,
            Self::Mesh(mesh) => mesh.background_sources(),
        }
    }

    /// Queues what happens first.
    pub(super) fn begin(&mut self, context: &mut Context) {
        if let Self::Mesh(mesh) = self {
            mesh.begin(context);
        }
    }

    /// Measuring begins.
    pub(super) fn warmed_up(&mut self, now: Time) {
        if let Self::Mesh(mesh) = self {
            mesh.warmed_up(now);
        }
    }

    /// Bursts with data closed so far.
    #[inline]
    pub(super) fn closed(&self) -> u64 {
        match self {
            Self::Path(path) => path.data.closed(),
            Self::Mesh(mesh) => mesh.closed(),
        }
    }

    /// What was scripted and never came.
    pub(super) fn unmet(&self) -> Vec<String> {
        match self {
            Self::Path(path) => path.data.unmet().into_iter().chain(path.ack.unmet()).collect(),
            Self::Mesh(mesh) => mesh.unmet(),
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
        match self {
            Self::Path(_) => vec![0],
            Self::Mesh(mesh) => mesh.graph().edges(),
        }
    }
}
