//! Laws and a detector of the crate `tcp`, written once more as somebody else would.

use std::sync::Arc;

use burstlab_sim::scenario::Resolved;
use burstlab_sim::{Classes, Decision, Discriminator, ForeignLaw, Moment, PythonClass, Verdict};
use serde_json::{Value, json};

use super::runs;

/// The scenario with its own law and detector, and the same with those of this file in their place;
/// none where it has neither that is here.
pub(crate) fn twins(scenario: &Value) -> Option<(Resolved, Resolved)> {
    let mut other = scenario.clone();
    let tcp = &mut other["tcp"];
    let named = |class: &str| json!({"class": class, "source": "of this file"});
    let law = match (tcp["variant"].as_str(), tcp["window_law"].as_str()) {
        (Some("vegas"), _) => None,
        (_, Some("aimd")) => Some("Aimd"),
        (_, Some("fast")) => Some("Fast"),
        _ => None,
    };
    let judges = tcp["detector"] == json!("ble");
    if law.is_none() && !judges {
        return None;
    }
    if let Some(law) = law {
        (tcp["window_law"], tcp["window_law_class"]) = (json!("python"), named(law));
    }
    if judges {
        (tcp["detector"], tcp["detector_class"]) = (json!("python"), named("Ble"));
    }
    Some((resolved(scenario), resolved(&other)))
}

/// A scenario whose classes are those of this file.
pub(crate) fn resolved(scenario: &Value) -> Resolved {
    let mut resolved = runs::resolved(scenario);
    resolved.classes = Some(Arc::new(OfThisFile));
    resolved
}

#[derive(Debug)]
struct OfThisFile;

impl Classes for OfThisFile {
    fn law(&self, class: &PythonClass) -> Box<dyn ForeignLaw> {
        match class.class.as_str() {
            "Aimd" => Box::new(Aimd),
            "Fast" => Box::new(Fast),
            "Slowing" => Box::new(Slowing(1.0)),
            other => panic!("{other} is not here"),
        }
    }

    fn detector(&self, _: &PythonClass) -> Box<dyn Discriminator> {
        Box::new(Ble { burst: 0.0, losses: 0, timeouts: 0 })
    }
}

#[derive(Clone, Debug)]
struct Aimd;

impl ForeignLaw for Aimd {
    fn rules_slow_start(&self) -> bool {
        false
    }

    fn on_ack(&mut self, moment: &Moment) -> Decision {
        Decision::Window(moment.cwnd + 1.0 / moment.cwnd.max(1.0))
    }

    fn on_loss(&mut self, moment: &Moment) -> Decision {
        Decision::Window(moment.window / 2.0)
    }

    fn on_timeout(&mut self, moment: &Moment) -> Decision {
        Decision::Window(moment.window / 2.0)
    }

    fn duplicate(&self) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }
}

/// With the defaults of its parameters.
#[derive(Clone, Debug)]
struct Fast;

impl ForeignLaw for Fast {
    fn rules_slow_start(&self) -> bool {
        true
    }

    fn on_ack(&mut self, moment: &Moment) -> Decision {
        let Some(round) = moment.round else { return Decision::Window(moment.cwnd) };
        let aim = round.base_over_rtt * moment.cwnd + 20.0;
        let next = (0.5 * moment.cwnd + 0.5 * aim).min(2.0 * moment.cwnd);
        let cwnd = if next < moment.cwnd || round.used { next.max(1.0) } else { moment.cwnd };
        Decision::Both { cwnd, ssthresh: 2.0 }
    }

    fn on_loss(&mut self, _: &Moment) -> Decision {
        Decision::Usual
    }

    fn on_timeout(&mut self, _: &Moment) -> Decision {
        Decision::Usual
    }

    fn duplicate(&self) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }
}

/// Each loss makes it slower: it has a state that decides.
#[derive(Clone, Debug)]
struct Slowing(f64);

impl ForeignLaw for Slowing {
    fn rules_slow_start(&self) -> bool {
        true
    }

    fn on_ack(&mut self, moment: &Moment) -> Decision {
        assert!(moment.acked > 0 && moment.first + moment.flight >= moment.next);
        assert!(moment.base_rtt <= moment.rtt.or(moment.base_rtt));
        Decision::Window(moment.cwnd + self.0 * moment.acked as f64)
    }

    fn on_loss(&mut self, moment: &Moment) -> Decision {
        self.0 *= 0.75;
        Decision::Both { cwnd: 0.0, ssthresh: moment.ssthresh }
    }

    fn on_timeout(&mut self, _: &Moment) -> Decision {
        self.0 *= 0.75;
        Decision::Window(0.0)
    }

    fn duplicate(&self) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }
}

/// With the defaults of its parameters.
#[derive(Clone, Debug)]
struct Ble {
    burst: f64,
    losses: u64,
    timeouts: u64,
}

impl Discriminator for Ble {
    fn on_ack(&mut self, moment: &Moment) {
        assert!(moment.acked > 0 && moment.first > 0);
    }

    fn on_loss(&mut self, moment: &Moment) {
        let half = moment.window / 2.0;
        self.burst = if self.losses == 0 { half } else { self.burst.min(half) };
        self.losses += 1;
    }

    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        self.burst = match (self.losses, self.timeouts) {
            (0, _) => moment.window,
            (_, 0) => self.burst.min(moment.window),
            _ => self.burst.max(moment.window),
        };
        self.losses += 1;
        self.timeouts += 1;
        let one_burst = moment.window <= self.burst && self.burst > 3.0;
        if one_burst { Verdict::False } else { Verdict::True }
    }
}
