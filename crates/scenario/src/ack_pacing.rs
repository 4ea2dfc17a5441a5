//! `access.ack_pacing`: edge nodes that space the ACKs to senders.

use burstlab_link::{AckSpacing, SpacingRule};
use burstlab_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::{Choice, Fields};
use super::error::{Check, refuse};
use super::limits::SPAN_MAX;
use super::{Scenario, ScenarioError};

/// ACK pacing: the edge node of a sender holds its ACKs back, flow by flow, so that they leave
/// evenly and the sender sends evenly (Xue and Yoo 2003, as Lu and Hunter 2009 describe it in
/// section III.A). Lu and Hunter give no rule of the interval; the rules, the bound and all numbers
/// are ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AckPacing {
    /// The rule of the least time between two ACKs of a flow.
    pub rule: AckInterval,
    /// `fixed`: the least time between two ACKs of a flow.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// `measured`: the time over which the rate of the ACKs of a flow is measured. A flow without
    /// ACKs for as long again is measured anew, and none of its ACKs is held back meanwhile. The
    /// default is the time that Lu and Hunter 2009 name for the longest round trip.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    #[schemars(extend("x-default" = "`measured`: `400 ms`"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Span>,
    /// `measured`: the rate at which ACKs may leave, over the measured rate. Above 1 the flow can
    /// still grow; below 1 its ACKs come ever later, up to `delay_max`.
    #[schemars(range(min = 0.01, max = 100.0))]
    #[schemars(extend("x-default" = "`measured`: `1.25`"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// No ACK is held back longer. A larger bound spaces ACKs more evenly, and makes the round trip
    /// longer.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    #[schemars(extend("x-or" = "remove access.ack_pacing"))]
    pub delay_max: Span,
    /// In a slotted network: ACKs are held back only while the arrivals at an output on the route
    /// of their data are at least this share of its capacity. The arrivals are counted over twice
    /// `ops.congestion.rtt_max`. Absent: always.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
}

/// The rule of the least time between two ACKs of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckInterval {
    /// The mean time between the ACKs of the flow in the last window, over `gain`.
    #[default]
    Measured,
    /// `interval`.
    Fixed,
}

impl Default for AckPacing {
    fn default() -> Self {
        Self {
            rule: AckInterval::Measured,
            interval: None,
            window: None,
            gain: None,
            delay_max: Span::from_ms(100),
            utilization: None,
        }
    }
}

/// The window and the gain of `measured` where the scenario has none.
const WINDOW: Span = Span::from_ms(400);
const GAIN: f64 = 1.25;

/// The fields that belong to one rule alone, and how each is written.
const FIELDS: Fields = &[("interval", "\"1 ms\""), ("window", "\"400 ms\""), ("gain", "1.25")];

impl AckPacing {
    /// Writes the values that hold where the scenario has none.
    pub(super) fn fill(&mut self) {
        if self.rule == AckInterval::Measured {
            self.window.get_or_insert(WINDOW);
            self.gain.get_or_insert(GAIN);
        }
    }

    fn spacing(&self) -> Result<AckSpacing, ScenarioError> {
        let mut given = Choice::of("access.ack_pacing", self, "rule", FIELDS);
        let rule = match self.rule {
            AckInterval::Fixed => SpacingRule::Fixed(given.needs("interval", self.interval)?),
            AckInterval::Measured => {
                let window = given.may("window", self.window).unwrap_or(WINDOW);
                let gain = given.may("gain", self.gain).unwrap_or(GAIN);
                SpacingRule::measured(window, gain)
            }
        };
        given.done()?;
        Ok(AckSpacing { rule, delay_max: self.delay_max })
    }
}

/// The spacing of a scenario with ACK pacing.
pub(super) fn read(scenario: &Scenario) -> Result<Option<AckSpacing>, ScenarioError> {
    let Some(pacing) = &scenario.access.ack_pacing else { return Ok(None) };
    used(scenario, pacing)?;
    pacing.spacing().map(Some)
}

/// Refuses ACK pacing without effect.
fn used(scenario: &Scenario, pacing: &AckPacing) -> Check {
    let table = "access.ack_pacing";
    if let (Some(share), None) = (pacing.utilization, &scenario.ops) {
        let problem = "only the switches of a slotted network count their arrivals";
        let path = format!("{table}.utilization");
        return refuse(path, share.to_string(), problem, "remove it, or add [ops]");
    }
    let on = "remove access.ack_pacing, or ";
    if scenario.flows().is_empty() && scenario.demand.is_empty() {
        let fix = format!("{on}add [[flows]]");
        return refuse(table, "", "no host sends ACKs", &*fix);
    }
    for (index, flow) in scenario.flows().iter().enumerate() {
        if flow.stack.is_some() {
            let problem = format!("an edge node cannot tell the ACKs of flows[{index}].stack");
            return refuse(table, "", problem, &*format!("{on}flows[{index}].stack"));
        }
        if flow.reverse.is_some() {
            let problem = format!("with flows[{index}].reverse ACKs travel on data packets");
            return refuse(table, "", problem, &*format!("{on}flows[{index}].reverse"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn paced(pacing: &Value, more: &Value) -> Result<Value, String> {
        let mut all = json!({"access": {"ack_pacing": pacing}});
        all.as_object_mut().expect("a table").extend(more.as_object().cloned().expect("a table"));
        let scenario = Scenario::from_json(&all.to_string()).map_err(|error| error.to_string())?;
        scenario.resolve().map(|found| found.document()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_values_that_hold_are_stored() {
        let found = paced(&json!({}), &json!({})).expect("it is sound");
        let pacing = json!({"rule": "measured", "window": "400 ms", "gain": 1.25,
            "delay_max": "100 ms"});
        assert_eq!(found["access"]["ack_pacing"], pacing);
        assert_eq!(paced(&pacing, &json!({})), Ok(found));
        let fixed = json!({"rule": "fixed", "interval": "2 ms", "delay_max": "1 s"});
        let found = paced(&fixed, &json!({})).expect("it is sound");
        assert_eq!(found["access"]["ack_pacing"], fixed);
    }

    #[test]
    fn fields_without_effect_are_refused() {
        let slots = json!({"network": {"topology": "line"}, "ops": {}});
        let batches = json!({"access": {"shared": true, "ack_pacing": {}}, "traffic": [{}]});
        for (pacing, more, field, fix) in [
            (json!({"rule": "fixed"}), json!({}), "ack_pacing.interval", "add interval"),
            (json!({"interval": "1 ms"}), json!({}), "ack_pacing.interval", "change rule"),
            (
                json!({"rule": "fixed", "interval": "1 ms", "gain": 2.0}),
                json!({}),
                "ack_pacing.gain",
                "change rule",
            ),
            (json!({"delay_max": "0 s"}), json!({}), "ack_pacing.delay_max", "remove"),
            (json!({"gain": 0.0}), json!({}), "ack_pacing.gain", "0.01"),
            (json!({"utilization": 0.9}), json!({}), "ack_pacing.utilization", "add [ops]"),
            (json!({"utilization": 1.5}), slots.clone(), "ack_pacing.utilization", "1"),
            (json!({}), batches, "ack_pacing", "add [[flows]]"),
            (json!({}), json!({"flows": [{"reverse": {}}]}), "ack_pacing", "flows[0].reverse"),
            (json!({}), json!({"flows": [{"stack": "quinn"}]}), "ack_pacing", "flows[0].stack"),
        ] {
            let error = paced(&pacing, &more).expect_err(field);
            assert!(error.contains(field) && error.contains(fix), "{error}");
        }
        assert!(paced(&json!({"utilization": 0.9}), &slots).is_ok());
    }
}
