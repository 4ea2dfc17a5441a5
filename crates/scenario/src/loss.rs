//! `[loss]`: losses of the core.

use burstlab_link::{GilbertElliott, LossProcess};
use burstlab_units::{Probability, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScenarioError;
use super::choice::{Choice, Either, Fields};
use super::limits::DURATION_MAX;
use super::spells::{Outages, SpellLengths, clocked};

/// Where bursts are lost: at the first core node.
const NODE: usize = 1;

/// Losses of the core, in each direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Loss {
    /// Bursts of data.
    pub data: LossRule,
    /// Bursts of ACKs.
    pub ack: LossRule,
}

/// Which bursts of one direction are lost. Bursts are numbered from 1 in the order of closing. The
/// fate of a burst depends only on the seed, the replication and its number, or, with spells on a
/// clock, on the time of its closing. Spells on a clock continue whether or not anything is sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LossRule {
    /// The process that picks the bursts.
    pub process: LossKind,
    /// Node where bursts are lost: 0 is the ingress edge, before the burst leaves; 1 is the first
    /// core node, and so on. Absent: 1.
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
    /// `outages`: mean length of an up spell. Needed.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_up: Option<Span>,
    /// `outages`: mean length of a down spell: every burst that is closed in one is lost. A steady
    /// stream loses the share `mean_down` / (`mean_up` + `mean_down`). Needed.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_down: Option<Span>,
    /// `outages`: how the lengths of spells are distributed. Absent: "exponential".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spells: Option<SpellLengths>,
    /// `spells = "periodic"`: start of the first down spell; before it no burst is lost. Absent:
    /// drawn, uniform over the period.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Span>,
    /// `gilbert-elliott` on a clock, in place of `good_to_bad`: mean length of a good spell,
    /// exponentially distributed. Such spells are in equilibrium from time 0 on.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_good: Option<Span>,
    /// `gilbert-elliott` on a clock, in place of `bad_to_good`: mean length of a bad spell,
    /// exponentially distributed.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_bad: Option<Span>,
    /// `gilbert-elliott`: chance to turn from good to bad before a burst. Spells then count in
    /// bursts, and do not end while no burst is sent.
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
    /// `script`: single packets that are lost when they leave their host, before they take room on
    /// the access link. Numbers are in the order of sending, from 1, and count packets of the
    /// handshake and retransmissions too.
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
    /// All that are closed in a down spell; up and down spells take turns on a clock: `mean_up`,
    /// `mean_down`.
    Outages,
    /// In spells, after Gilbert (1960) and Elliott (1963): of bursts with `good_to_bad` and
    /// `bad_to_good`, of time with `mean_good` and `mean_bad`.
    GilbertElliott,
    /// Exactly the bursts and packets that `bursts`, `carrying`, `packets` and `departures` name.
    Script,
}

impl LossKind {
    /// The fields that belong to some processes alone.
    pub(super) const FIELDS: Fields = &[
        ("node", "1"),
        ("probability", "0.01"),
        ("n", "100"),
        ("size", "2"),
        ("mean_up", "\"10 s\""),
        ("mean_down", "\"100 ms\""),
        ("spells", "\"periodic\""),
        ("phase", "\"1 s\""),
        ("mean_good", "\"10 s\""),
        ("mean_bad", "\"100 ms\""),
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

/// Losses of the core, in each direction, as a run has them.
#[derive(Clone, Debug)]
pub struct Losses {
    /// Bursts of data.
    pub data: Losing,
    /// Bursts of ACKs.
    pub ack: Losing,
}

/// Losses among the bursts of one direction.
#[derive(Clone, Debug)]
pub struct Losing {
    /// Where: 0 at the ingress edge, 1 at the first core node, and so on.
    pub node: usize,
    /// Which bursts, by their number.
    pub process: LossProcess,
    /// Which packets are lost, alone or with the burst that carries them.
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
    /// The losses of a run that `lasts` so long.
    pub(super) fn losses(&self, lasts: Span) -> Result<Losses, ScenarioError> {
        Ok(Losses {
            data: self.data.losing("loss.data", lasts)?,
            ack: self.ack.losing("loss.ack", lasts)?,
        })
    }
}

impl LossRule {
    /// Writes out the defaults of the process; a flow is named only where some are `listed`.
    pub(super) fn fill(&mut self, listed: bool) {
        if self.process != LossKind::None {
            self.node.get_or_insert(NODE);
        }
        if self.process == LossKind::Outages {
            self.spells.get_or_insert_default();
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

    /// The process of Gilbert and Elliott: its spells are of bursts, or of time.
    fn in_spells(
        &self,
        table: &str,
        given: &mut Choice,
        lasts: Span,
    ) -> Result<LossProcess, ScenarioError> {
        let good = ("good_to_bad", self.good_to_bad);
        let spells = match given.either(good, ("mean_good", self.mean_good))? {
            Either::First(good) => {
                let leaves = ("bad_to_good", self.bad_to_good);
                match given.either(leaves, ("mean_bad", self.mean_bad))? {
                    Either::First(bad) => Either::First([good, bad]),
                    Either::Second(bad) => {
                        let fix = "write bad_to_good, or mean_good in place of good_to_bad";
                        let problem = "spells of bursts have no length in time";
                        let path = format!("{table}.mean_bad");
                        return Err(ScenarioError::new(path, bad.to_string(), problem, fix));
                    }
                }
            }
            Either::Second(good) => {
                let leaves = ("mean_bad", self.mean_bad);
                match given.either(leaves, ("bad_to_good", self.bad_to_good))? {
                    Either::First(bad) => Either::Second([good, bad]),
                    Either::Second(bad) => {
                        let fix = "write mean_bad, or good_to_bad in place of mean_good";
                        let problem = "spells on a clock do not end with a burst";
                        let path = format!("{table}.bad_to_good");
                        return Err(ScenarioError::new(path, bad.get().to_string(), problem, fix));
                    }
                }
            }
        };
        let loss_good = given.may("loss_good", self.loss_good).unwrap_or_default();
        let loss_bad = given.may("loss_bad", self.loss_bad()).unwrap_or_default();
        match spells {
            Either::First([leaves_good, leaves_bad]) => Ok(LossProcess::GilbertElliott(
                GilbertElliott::new(leaves_good, leaves_bad, loss_good, loss_bad),
            )),
            Either::Second(means) => clocked(table, means, [loss_good, loss_bad], lasts),
        }
    }

    /// The losses by this rule in a run of length `lasts`; `table` is the path of the rule.
    fn losing(&self, table: &str, lasts: Span) -> Result<Losing, ScenarioError> {
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
            LossKind::Outages => {
                let &Self { mean_up, mean_down, spells, phase, .. } = self;
                Outages { mean_up, mean_down, spells, phase }.read(table, &mut given, lasts)?
            }
            LossKind::GilbertElliott => self.in_spells(table, &mut given, lasts)?,
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

/// The listed values, each once, in order.
fn rising<T: Ord + Copy>(listed: Option<&[T]>) -> Vec<T> {
    let mut all = listed.unwrap_or_default().to_vec();
    all.sort_unstable();
    all.dedup();
    all
}
