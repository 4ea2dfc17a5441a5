//! `marking`: which packets a queue marks rather than drops.

use burstlab_link::{Marking, MarkingRule, Red};
use burstlab_units::{Bytes, Rate, Serializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::{Choice, Fields};
use super::error::{Check, refuse};
use super::{Scenario, ScenarioError};

/// Size of the packets that a link is assumed to send while its queue is idle.
const IDLE_PACKET: Bytes = Bytes::new(1000);
/// Floyd and Jacobson 1993, section 5 and 6.
const CHANCE: f64 = 0.02;
const WEIGHT: f64 = 0.002;

/// The rule by which a queue marks packets (RFC 3168). Only packets of connections with `tcp.ecn`
/// or `flows.ecn` are marked, as far as they are ECN-capable. `not_ect` says what the queue does
/// with other packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Marks {
    /// The rule.
    pub rule: MarkRule,
    /// `threshold`: a packet is marked if it finds more than this in the queue, including the
    /// unsent part of the packet being sent (K of RFC 8257).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<Bytes>,
    /// `red`: mean queue length from which on some packets are marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<Bytes>,
    /// `red`: mean queue length from which on all packets are marked. Above `least`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<Bytes>,
    /// `red`: chance of a mark just below `most`. Absent: 0.02.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// `red`: weight of the latest packet in the mean. Absent: 0.002.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The fate of a data packet that is not ECN-capable where the queue would mark another one.
    pub not_ect: NotEct,
}

/// The fate of a data packet that is not ECN-capable, where a queue would mark it if it were: of a
/// connection without ECN, or a SYN, a retransmission or a window probe of one with it (RFC 3168
/// sections 6.1.1, 6.1.5 and 6.1.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotEct {
    /// It passes, as in queues of some vendors.
    #[default]
    Pass,
    /// It is dropped (RFC 3168 section 5, RFC 7567 section 4.2.1). Other traffic, and ACKs without
    /// data, pass.
    Drop,
}

/// The rule by which a queue marks packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkRule {
    /// Those that find more than `above` (RFC 8257 section 3.1).
    #[default]
    Threshold,
    /// At random, the more the longer the queue has been: RED (Floyd and Jacobson 1993), which here
    /// drops nothing but with `not_ect = "drop"`.
    Red,
}

impl Scenario {
    /// The rules of all queues that mark, each with the path of its table.
    pub(super) fn markings(&self) -> impl Iterator<Item = (&'static str, &Marks)> {
        let (access, ops) = (&self.access, self.ops.as_ref());
        let receiver = access.receiver.as_ref().and_then(|own| own.marking.as_ref());
        let all = [
            ("access.marking", access.marking.as_ref()),
            ("access.receiver.marking", receiver),
            ("edge.marking", self.edge.marking.as_ref()),
            ("ops.marking", ops.and_then(|ops| ops.marking.as_ref())),
        ];
        all.into_iter().filter_map(|(path, marks)| marks.map(|marks| (path, marks)))
    }
}

/// Refuses queues that would drop packets of flows where there are none.
pub(super) fn check(scenario: &Scenario) -> Check {
    let any = scenario.flows.iter().flatten().next().is_some() || !scenario.demand.is_empty();
    let drops = scenario.markings().find(|(_, marks)| marks.not_ect == NotEct::Drop);
    let Some((path, _)) = drops.filter(|_| !any) else { return Ok(()) };
    let problem = "there are no flows, and other traffic passes";
    let fix = "remove it, or write [[flows]] or [[demand]]";
    refuse(format!("{path}.not_ect"), "drop", problem, fix)
}

impl MarkRule {
    /// The fields that belong to one rule alone.
    const FIELDS: Fields = &[
        ("above", "\"30 KB\""),
        ("least", "\"15 KB\""),
        ("most", "\"45 KB\""),
        ("chance", "0.02"),
        ("weight", "0.002"),
    ];
}

impl Marks {
    /// Writes out the defaults of the rule.
    pub(super) fn fill(&mut self) {
        if self.rule == MarkRule::Red {
            self.chance.get_or_insert(CHANCE);
            self.weight.get_or_insert(WEIGHT);
        }
    }

    /// The rule of a queue in front of a line of this `rate`; `table` is the path of the rule.
    pub(super) fn marking(&self, table: &str, rate: Rate) -> Result<Marking, ScenarioError> {
        let mut given = Choice::of(table, self, "rule", MarkRule::FIELDS);
        let rule = match self.rule {
            MarkRule::Threshold => MarkingRule::Above(given.needs("above", self.above)?),
            MarkRule::Red => {
                let least = given.needs("least", self.least)?;
                let most = given.needs("most", self.most)?;
                if least >= most {
                    let problem = "the chance has no room to rise";
                    let fix = format!("write a size below {table}.most = {most}");
                    let path = format!("{table}.least");
                    return Err(ScenarioError::new(path, least.to_string(), problem, fix));
                }
                MarkingRule::Red(Red {
                    least,
                    most,
                    chance: given.may("chance", self.chance).unwrap_or(CHANCE),
                    weight: given.may("weight", self.weight).unwrap_or(WEIGHT),
                    each: Serializer::new(rate).next(IDLE_PACKET),
                })
            }
        };
        given.done()?;
        Ok(Marking { rule, drops: self.not_ect == NotEct::Drop })
    }
}
