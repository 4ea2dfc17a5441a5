//! `[core]`: the core nodes.

use burstlab_optical::Forwarding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The core nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Core {
    /// How a core node passes on what it receives.
    pub forwarding: CoreForwarding,
}

/// How a core node passes on what it receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoreForwarding {
    /// All-optically: a burst starts to leave as it starts to arrive, and its packets are released
    /// at the egress when all of it has arrived.
    #[default]
    CutThrough,
    /// Packet by packet, each received whole before it is sent on and released at the egress when
    /// it has arrived: an electronic packet network, as the ns-2 path of the oracle traces.
    StoreAndForward,
}

impl From<CoreForwarding> for Forwarding {
    fn from(core: CoreForwarding) -> Self {
        match core {
            CoreForwarding::CutThrough => Self::CutThrough,
            CoreForwarding::StoreAndForward => Self::StoreAndForward,
        }
    }
}
