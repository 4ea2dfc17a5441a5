//! Losses in spells of time: the fields that `[loss]` and `access.loss` share, and their meaning.

use burstlab_link::{Lengths, LossProcess, Spells};
use burstlab_units::{Probability, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScenarioError;
use super::choice::{Choice, Fields};
use super::error::Check;
use super::limits::DURATION_MAX;

/// Most pairs of spells in a run, on average: each may have to be drawn.
const PAIRS_MAX: u64 = 1_000_000;

/// How long the spells of `outages` are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpellLengths {
    /// Exponentially distributed with the means, and in equilibrium from time 0 on.
    #[default]
    Exponential,
    /// All up spells alike, and all down spells.
    Periodic,
}

/// Losses of an access link among the packets that hosts and edge nodes hand to it, data and ACKs
/// alike. Each link has its own spells, which both its directions share. The spells continue
/// whether or not anything is sent. A lost packet takes no room on the link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkLoss {
    /// The process that picks the packets.
    pub process: LinkLossKind,
    /// `outages`: mean length of an up spell. Needed.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_up: Option<Span>,
    /// `outages`: mean length of a down spell, in which every packet is lost. Needed.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_down: Option<Span>,
    /// `outages`: how the lengths of spells are distributed. Absent: "exponential".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spells: Option<SpellLengths>,
    /// `spells = "periodic"`: start of the first down spell; before it the link is up. Absent:
    /// drawn for each link, uniform over the period.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Span>,
    /// `gilbert-elliott`: mean length of a good spell, exponentially distributed. Needed.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_good: Option<Span>,
    /// `gilbert-elliott`: mean length of a bad spell, exponentially distributed. Needed.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = DURATION_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_bad: Option<Span>,
    /// `gilbert-elliott`: chance that a packet is lost in the good state. Absent: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_good: Option<Probability>,
    /// `gilbert-elliott`: chance that a packet is lost in the bad state. Absent: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_bad: Option<Probability>,
}

/// A process that picks the packets that an access link loses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkLossKind {
    /// All that are handed over in a down spell: `mean_up`, `mean_down`.
    #[default]
    Outages,
    /// In spells on a clock, after Gilbert (1960) and Elliott (1963): `mean_good`, `mean_bad`.
    GilbertElliott,
}

impl LinkLossKind {
    const FIELDS: Fields = &[
        ("mean_up", "\"10 s\""),
        ("mean_down", "\"100 ms\""),
        ("spells", "\"periodic\""),
        ("phase", "\"1 s\""),
        ("mean_good", "\"10 s\""),
        ("mean_bad", "\"100 ms\""),
        ("loss_good", "0.0"),
        ("loss_bad", "1.0"),
    ];
}

/// The outages of a table.
pub(super) struct Outages {
    pub(super) mean_up: Option<Span>,
    pub(super) mean_down: Option<Span>,
    pub(super) spells: Option<SpellLengths>,
    pub(super) phase: Option<Span>,
}

impl Outages {
    /// The process, of a run that `lasts` so long.
    pub(super) fn read(
        self,
        table: &str,
        given: &mut Choice,
        lasts: Span,
    ) -> Result<LossProcess, ScenarioError> {
        let up = given.needs("mean_up", self.mean_up)?;
        let down = given.needs("mean_down", self.mean_down)?;
        let at = |field: &str| format!("{table}.{field}");
        few(&at("mean_up"), up, down, lasts)?;
        let phase = given.may("phase", self.phase);
        let lengths = match given.may("spells", self.spells).unwrap_or_default() {
            SpellLengths::Periodic => Lengths::Periodic(phase),
            SpellLengths::Exponential => Lengths::Exponential,
        };
        match phase {
            Some(phase) if lengths == Lengths::Exponential => {
                let problem = "spells = \"exponential\" has no phase";
                let fix = "remove it, or write spells = \"periodic\"";
                return Err(ScenarioError::new(at("phase"), phase.to_string(), problem, fix));
            }
            Some(phase) if phase >= lasts => {
                let problem = format!("no spell is ever down: the run is over at {lasts}");
                let fix = "write a shorter time, or a longer run.duration";
                return Err(ScenarioError::new(at("phase"), phase.to_string(), problem, fix));
            }
            _ => {}
        }
        Ok(LossProcess::Outages(Spells::new(up, down, lengths)))
    }
}

/// Good and bad spells on a clock of these means, in which a unit is lost with chances of their
/// own.
pub(super) fn clocked(
    table: &str,
    [good, bad]: [Span; 2],
    [loss_good, loss_bad]: [Probability; 2],
    lasts: Span,
) -> Result<LossProcess, ScenarioError> {
    few(&format!("{table}.mean_good"), good, bad, lasts)?;
    let spells = Spells::new(good, bad, Lengths::Exponential);
    Ok(LossProcess::Clocked { spells, loss_good, loss_bad })
}

/// Refuses spells so short that a run that `lasts` so long has too many.
fn few(path: &str, up: Span, down: Span, lasts: Span) -> Check {
    let least = lasts.as_ps().div_ceil(PAIRS_MAX);
    let both = up.as_ps() + down.as_ps();
    if both >= least {
        return Ok(());
    }
    let least = Span::from_ps(least - down.as_ps());
    let problem = "the run would have more than 1,000,000 spells of each kind";
    let fix = format!("write at least {least}, or a shorter run.duration");
    Err(ScenarioError::new(path, up.to_string(), problem, fix))
}

impl LinkLoss {
    /// Writes out the defaults of the process.
    pub(super) fn fill(&mut self) {
        match self.process {
            LinkLossKind::Outages => {
                self.spells.get_or_insert_default();
            }
            LinkLossKind::GilbertElliott => {
                self.loss_good.get_or_insert_default();
                self.loss_bad = self.loss_bad();
            }
        }
    }

    fn loss_bad(&self) -> Option<Probability> {
        self.loss_bad.or(Probability::new(1.0))
    }

    /// The losses by this rule in a run of length `lasts`; `table` is the path of the rule.
    pub(super) fn process(&self, table: &str, lasts: Span) -> Result<LossProcess, ScenarioError> {
        let mut given = Choice::of(table, self, "process", LinkLossKind::FIELDS);
        let process = match self.process {
            LinkLossKind::Outages => {
                let &Self { mean_up, mean_down, spells, phase, .. } = self;
                Outages { mean_up, mean_down, spells, phase }.read(table, &mut given, lasts)?
            }
            LinkLossKind::GilbertElliott => {
                let good = given.needs("mean_good", self.mean_good)?;
                let bad = given.needs("mean_bad", self.mean_bad)?;
                let chances = [
                    given.may("loss_good", self.loss_good).unwrap_or_default(),
                    given.may("loss_bad", self.loss_bad()).unwrap_or_default(),
                ];
                clocked(table, [good, bad], chances, lasts)?
            }
        };
        given.done()?;
        Ok(process)
    }
}
