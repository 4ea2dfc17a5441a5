//! `[loss]`: what the core loses.

use burstlab_units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::Fields;

/// What the core loses, each way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Loss {
    /// Bursts of data.
    pub data: LossRule,
    /// Bursts of ACKs.
    pub ack: LossRule,
}

/// Which bursts of one direction are lost. Bursts are numbered from 1 as they are closed; a burst's
/// fate depends on the seed, the replication and its number alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LossRule {
    /// The process that picks the bursts.
    pub process: LossKind,
    /// Where they are lost: 0 at the ingress edge before they leave it, 1 at the first core node,
    /// and so on. Absent: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// `bernoulli`: chance that a burst is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
    /// `every`: each n-th burst is lost. `batch`: bursts from one batch of losses to
    /// the next.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// `batch`: bursts lost back to back in a batch, at most `n`.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// `gilbert-elliott`: chance to turn from good to bad before a burst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub good_to_bad: Option<Probability>,
    /// `gilbert-elliott`: chance to turn from bad to good before a burst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad_to_good: Option<Probability>,
    /// `gilbert-elliott`: chance that a burst is lost in the good state. Absent: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_good: Option<Probability>,
    /// `gilbert-elliott`: chance that a burst is lost in the bad state. Absent: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_bad: Option<Probability>,
    /// `script`: numbers of the bursts that are lost.
    #[schemars(inner(range(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Vec<u64>>,
    /// `script`: sequence numbers of packets; the burst that first carries such a packet is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrying: Option<Vec<u64>>,
    /// `script`: single packets that are lost as they reach the ingress edge: sequence number and
    /// which of its transmissions (1: the first).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Vec<(u64, u32)>>,
    /// `script`: number of the flow, from 0, whose packets `carrying` and `packets` name. Absent:
    /// 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
}

/// A process that picks the bursts that are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// Nothing is lost.
    #[default]
    None,
    /// Each burst independently, with chance `probability`.
    Bernoulli,
    /// Each `n`-th burst.
    Every,
    /// The last `size` of every `n` bursts.
    Batch,
    /// In spells, after Gilbert (1960) and Elliott (1963).
    GilbertElliott,
    /// Exactly what `bursts`, `carrying` and `packets` name.
    Script,
}

impl LossKind {
    /// The fields that belong to some processes alone.
    pub(super) const FIELDS: Fields = &[
        ("node", "1"),
        ("probability", "0.01"),
        ("n", "100"),
        ("size", "2"),
        ("good_to_bad", "0.001"),
        ("bad_to_good", "0.1"),
        ("loss_good", "0.0"),
        ("loss_bad", "1.0"),
        ("bursts", "[3]"),
        ("carrying", "[40]"),
        ("packets", "[[40, 1]]"),
        ("flow", "0"),
    ];

    /// Fields that this process must have, and fields that it may have besides.
    #[must_use]
    pub fn fields(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::None => (&[], &[]),
            Self::Bernoulli => (&["probability"], &["node"]),
            Self::Every => (&["n"], &["node"]),
            Self::Batch => (&["n", "size"], &["node"]),
            Self::GilbertElliott => {
                (&["good_to_bad", "bad_to_good"], &["node", "loss_good", "loss_bad"])
            }
            Self::Script => (&[], &["node", "bursts", "carrying", "packets", "flow"]),
        }
    }
}
