//! Which of the three kinds of network a scenario has.

use super::{Scenario, Topology};

/// A kind of network: it decides which tables of a scenario have a meaning, and which core runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkKind {
    /// A chain of core nodes, where no burst meets another: `network.topology = "path"`.
    Path,
    /// Nodes that switch bursts, whose headers reserve and contend: any other topology.
    Mesh,
    /// Nodes that switch slots: a mesh with `[ops]`.
    Slots,
}

impl NetworkKind {
    /// Whether a burst keeps its nodes to itself and no header is sent.
    #[must_use]
    pub fn is_path(self) -> bool {
        self == Self::Path
    }

    /// Whether nodes switch slots, so that there are no bursts.
    #[must_use]
    pub fn is_slotted(self) -> bool {
        self == Self::Slots
    }

    /// The kind in words, as messages name it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Path => "a path",
            Self::Mesh => "a mesh",
            Self::Slots => "a slotted network",
        }
    }
}

impl Scenario {
    /// The kind of the network. A path with `[ops]` is refused, and none of the three.
    #[must_use]
    pub fn kind(&self) -> NetworkKind {
        match (self.network.topology, &self.ops) {
            (Topology::Path, _) => NetworkKind::Path,
            (_, None) => NetworkKind::Mesh,
            (_, Some(_)) => NetworkKind::Slots,
        }
    }
}
