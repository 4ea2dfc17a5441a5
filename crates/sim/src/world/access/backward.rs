//! Links of connections with data in both directions. Both hosts have one link each, on which data
//! and ACKs follow one another, whichever flow they are of: data of the flow back go where the ACKs
//! of the other flow go, and its ACKs where the data of that go.

use serde::{Deserialize, Serialize};

/// Where packets of a flow back go.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Backward {
    /// The links of the other flow: of its sender, of its receiver.
    pub(super) near: u32,
    pub(super) far: u32,
    /// What is under way of it keeps its order by itself.
    pub(super) lane: u32,
}
