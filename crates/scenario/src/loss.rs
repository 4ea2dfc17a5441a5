//! `[loss]`: what the core loses.

use burstlab_link::{GilbertElliott, LossProcess};
use burstlab_units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScenarioError;
use super::choice::{Choice, Fields};

/// Where bursts are lost: at the first core node.
const NODE: usize = 1;

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
    /// `script`: single packets that are lost as they leave their host, before they take room on
    /// the access link: which packet of the flow, from 1, in the order of sending; those of the
    /// handshake and those sent again count.
    #[schemars(inner(range(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub departures: Option<Vec<u64>>,
    /// `script`: number of the flow, from 0, whose packets `carrying`, `packets` and `departures`
    /// name. Absent: 0.
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
    /// Exactly what `bursts`, `carrying`, `packets` and `departures` name.
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
        ("departures", "[40]"),
        ("flow", "0"),
    ];
}

/// What the core loses, each way, as a run has it.
#[derive(Clone, Debug)]
pub struct Losses {
    /// Bursts of data.
    pub data: Losing,
    /// Bursts of ACKs.
    pub ack: Losing,
}

/// What is lost of the bursts of one direction.
#[derive(Clone, Debug)]
pub struct Losing {
    /// Where: 0 at the ingress edge, 1 at the first core node, and so on.
    pub node: usize,
    /// Which bursts, by their number.
    pub process: LossProcess,
    /// Which packets are lost, or let the burst be lost that carries them.
    pub script: LossScript,
}

/// Packets of one flow that a script names.
#[derive(Clone, Debug, Default)]
pub struct LossScript {
    /// The flow, by its number.
    pub flow: u32,
    /// Sequence numbers whose first burst is lost; rising.
    pub carrying: Vec<u64>,
    /// Sequence number and transmission, from 1, of packets that are lost; rising.
    pub packets: Vec<(u64, u32)>,
    /// Packets that are lost as they leave their host, from 1, in the order of sending; rising.
    pub departures: Vec<u64>,
}

impl Loss {
    pub(super) fn losses(&self) -> Result<Losses, ScenarioError> {
        Ok(Losses { data: self.data.losing("loss.data")?, ack: self.ack.losing("loss.ack")? })
    }
}

impl LossRule {
    /// Writes out the defaults of the process; a flow is named only where some are `listed`.
    pub(super) fn fill(&mut self, listed: bool) {
        if self.process != LossKind::None {
            self.node.get_or_insert(NODE);
        }
        if self.process == LossKind::GilbertElliott {
            self.loss_good.get_or_insert_default();
            self.loss_bad = self.loss_bad();
        }
        let packets = [self.packets.is_some(), self.departures.is_some(), self.carrying.is_some()];
        if self.process == LossKind::Script && listed && packets.contains(&true) {
            self.flow.get_or_insert_default();
        }
    }

    /// Chance that a burst is lost in the bad state.
    fn loss_bad(&self) -> Option<Probability> {
        self.loss_bad.or(Probability::new(1.0))
    }

    /// What this rule, which stands at `table`, loses.
    fn losing(&self, table: &str) -> Result<Losing, ScenarioError> {
        let mut given = Choice::of(table, self, "process", LossKind::FIELDS);
        let mut script = LossScript::default();
        let process = match self.process {
            LossKind::None => LossProcess::None,
            LossKind::Bernoulli => {
                LossProcess::Bernoulli(given.needs("probability", self.probability)?)
            }
            LossKind::Every => LossProcess::Periodic { size: 1, period: given.needs("n", self.n)? },
            LossKind::Batch => {
                let (period, size) = (given.needs("n", self.n)?, given.needs("size", self.size)?);
                if size > period {
                    let problem = format!("a batch is 1 to n = {period} bursts");
                    let (path, fix) = (format!("{table}.size"), "write a size in that range");
                    return Err(ScenarioError::new(path, size.to_string(), problem, fix));
                }
                LossProcess::Periodic { size, period }
            }
            LossKind::GilbertElliott => LossProcess::GilbertElliott(GilbertElliott::new(
                given.needs("good_to_bad", self.good_to_bad)?,
                given.needs("bad_to_good", self.bad_to_good)?,
                given.may("loss_good", self.loss_good).unwrap_or_default(),
                given.may("loss_bad", self.loss_bad()).unwrap_or_default(),
            )),
            LossKind::Script => {
                script.flow = given.may("flow", self.flow).unwrap_or(0);
                script.carrying = rising(given.may("carrying", self.carrying.as_deref()));
                script.packets = rising(given.may("packets", self.packets.as_deref()));
                script.departures = rising(given.may("departures", self.departures.as_deref()));
                LossProcess::Listed(rising(given.may("bursts", self.bursts.as_deref())))
            }
        };
        let mut node = NODE;
        if self.process != LossKind::None {
            node = given.may("node", self.node).unwrap_or(node);
        }
        given.done()?;
        Ok(Losing { node, process, script })
    }
}

/// What is listed, each once, in order.
fn rising<T: Ord + Copy>(listed: Option<&[T]>) -> Vec<T> {
    let mut all = listed.unwrap_or_default().to_vec();
    all.sort_unstable();
    all.dedup();
    all
}
