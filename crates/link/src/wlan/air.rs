//! Who hears whom, and the frames on the air.

use burstlab_units::{Probability, Span, Time};
use serde::{Deserialize, Serialize};

/// What one node hears of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// Whether its frames make the medium busy. What is not sensed is not received either.
    pub senses: bool,
    /// Whether frames that are for others are understood, and heeded.
    pub understands: bool,
    /// Chance that a data frame for this node is not received though nothing collides with it.
    pub data_error: Probability,
    /// The same for an RTS, CTS or ACK.
    pub control_error: Probability,
}

impl Reach {
    /// All is heard.
    #[must_use]
    pub fn clear() -> Self {
        let (data_error, control_error) = (Probability::default(), Probability::default());
        Self { senses: true, understands: true, data_error, control_error }
    }

    /// Nothing is heard.
    #[must_use]
    pub fn hidden() -> Self {
        Self { senses: false, understands: false, ..Self::clear() }
    }
}

/// What each node of a cell hears of each other. Node 0 is the base station.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Paths {
    nodes: u32,
    reaches: Vec<Reach>,
}

impl Paths {
    /// Of `nodes` nodes, the base station included; `reach(from, to)` is what `to` hears of `from`.
    #[must_use]
    pub fn new(nodes: u32, mut reach: impl FnMut(u32, u32) -> Reach) -> Self {
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let reaches =
            pairs.map(|(from, to)| if from == to { Reach::hidden() } else { reach(from, to) });
        Self { nodes, reaches: reaches.collect() }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    #[inline]
    pub(super) fn of(&self, from: u32, to: u32) -> &Reach {
        &self.reaches[(from * self.nodes + to) as usize]
    }
}

/// A kind of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Rts,
    Cts,
    Data,
    Ack,
}

/// A frame on the air. It is numbered, and a node that receives one knows it by its number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Frame {
    pub(super) number: u64,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) kind: Kind,
    /// Ordinal among the frames of its sender, from 1.
    pub(super) ordinal: u64,
    /// Of a data frame.
    pub(super) sequence: u16,
    pub(super) retry: bool,
    /// For how long after its end others leave the medium alone.
    pub(super) reserves: Span,
    /// When its first bit is at the others, unless that is over.
    pub(super) begins: Option<Time>,
    /// When its last bit is.
    pub(super) ends: Time,
}
