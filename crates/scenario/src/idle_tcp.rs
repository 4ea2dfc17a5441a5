//! TCP parameters that no sender looks at.
//!
//! They are warnings, not errors: a study or a page compares variants, laws and detectors over one
//! table `tcp`, which has the parameters of all of them.

use std::collections::{BTreeMap, BTreeSet};

use burstlab_tcp::{Config, Overrides, Variant};
use serde::Serialize;
use serde_json::Value;

use super::Scenario;
use super::error::brief;

/// Warnings of parameters that were written, and that no sender of the entry looks at. A parameter
/// with its default value causes no warning.
pub(super) fn warnings(written: &Scenario, tcp: &[Config], demand: &[Config]) -> Vec<String> {
    let flows = written.flows().iter().zip(tcp).enumerate();
    let flows = flows.filter(|(_, (flow, _))| flow.stack.is_none());
    let flows = flows.map(|(index, (flow, own))| (("flows", index), &flow.tcp, own));
    let demand_entries = written.demand.iter().zip(demand).enumerate();
    let demand_entries =
        demand_entries.map(|(index, (one, own))| (("demand", index), &one.tcp, own));
    let mut found = Vec::new();
    let usual = Overrides::default();
    for (at, own, config) in flows.chain(demand_entries).filter(|(_, own, _)| **own != usual) {
        let at = format!("{}[{}].tcp", at.0, at.1);
        let all = own.over(&written.tcp);
        let given = fields(own);
        let sender = if given.is_empty() { Vec::new() } else { vec![Sender::of(config)] };
        for (field, value) in given {
            found.extend(idle(&at, &all, (&field, &value), &sender));
        }
    }
    found.extend(unclosed(written, tcp, demand));
    // Most flows are as the one before them.
    let mut configs: Vec<&Config> = tcp.iter().chain(demand).collect();
    configs.dedup();
    let senders: Vec<Sender<'_>> = configs.into_iter().map(Sender::of).collect();
    for (field, value) in fields(&written.tcp) {
        if senders.is_empty() {
            let fix = "there is no sender: write [[flows]] or [[demand]], or remove it";
            found.push(format!("tcp.{field} = {} has no effect: {fix}", brief(&value)));
        } else {
            found.extend(idle("tcp", &written.tcp, (&field, &value), &senders));
        }
    }
    found
}

/// The warnings of `written` beyond those of its stored form, which lacks parameters that no sender
/// has.
pub(super) fn dropped(
    written: &Scenario,
    stored: &[String],
    tcp: &[Config],
    demand: &[Config],
) -> Vec<String> {
    let flows = written.flows().iter().map(|flow| &flow.tcp);
    let mut tables: Vec<&Overrides> = flows.chain(written.demand.iter().map(|d| &d.tcp)).collect();
    tables.push(&written.tcp);
    tables.dedup();
    let given: BTreeSet<String> =
        tables.into_iter().flat_map(|one| fields(one).into_keys()).collect();
    let mut configs: Vec<&Config> = tcp.iter().chain(demand).collect();
    configs.dedup();
    let holds = |config| {
        let held = fields(config);
        given.iter().all(|name| held.contains_key(name))
    };
    if given.is_empty() || configs.into_iter().any(holds) {
        return Vec::new();
    }
    let mut found = warnings(written, tcp, demand);
    found.retain(|line| !stored.contains(line));
    found
}

/// Warns of `closes = false` if the senders never close a connection.
fn unclosed(written: &Scenario, tcp: &[Config], demand: &[Config]) -> Vec<String> {
    let flows = written.flows().iter().map(|flow| flow.stack.is_none() && !flow.closes);
    let flows = ("flows", flows.collect::<Vec<_>>(), tcp);
    let demand = ("demand", written.demand.iter().map(|one| !one.closes).collect(), demand);
    let mut found = Vec::new();
    for (table, open, senders) in [flows, demand] {
        for (index, (open, own)) in open.into_iter().zip(senders).enumerate() {
            if open && own.variant != Variant::Linux {
                found.push(format!(
                    "{table}[{index}].closes = false has no effect: the sender has no FIN; write \
                     tcp.variant = \"linux\", or remove it"
                ));
            }
        }
    }
    found
}

/// The parameters of a sender, and those among them that have a value.
struct Sender<'a> {
    config: &'a Config,
    fields: BTreeMap<String, Value>,
}

impl<'a> Sender<'a> {
    fn of(config: &'a Config) -> Self {
        Self { config, fields: fields(config) }
    }
}

/// Warns of a parameter of `given` that none of these senders uses.
fn idle(
    at: &str,
    given: &Overrides,
    (field, value): (&str, &Value),
    senders: &[Sender<'_>],
) -> Option<String> {
    let lacking = senders.iter().map(|own| match own.fields.contains_key(field) {
        true => own.config.lacks(field),
        false => Some("variant = \"linux\""),
    });
    let what = lacking.collect::<Option<Vec<_>>>()?.into_iter().next()?;
    let linux = what == "variant = \"linux\"";
    (linux || differs(given, field, value)).then(|| {
        let (value, what) = (brief(value), what.replace(" and ", &format!(" and {at}.")));
        format!(
            "{at}.{field} = {value} has no effect: no sender looks at it; write {at}.{what}, or \
             remove it"
        )
    })
}

/// Whether a parameter would have another value if nothing were said of it.
fn differs(given: &Overrides, field: &str, value: &Value) -> bool {
    let mut rest = serde_json::to_value(given).unwrap_or_default();
    rest.as_object_mut().and_then(|all| all.remove(field));
    let usual = serde_json::from_value(rest).ok().and_then(|rest| Config::resolve(&rest).ok());
    usual.is_none_or(|usual| fields(&usual).get(field) != Some(value))
}

/// The parameters that have a value; not those of classes, which a law may leave aside.
fn fields(parameters: &impl Serialize) -> BTreeMap<String, Value> {
    let table = serde_json::to_value(parameters).unwrap_or_default();
    let Value::Object(table) = table else { return BTreeMap::new() };
    let given =
        table.into_iter().filter(|(name, value)| !value.is_null() && !name.ends_with("_class"));
    given.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(written: &Value) -> Vec<String> {
        let scenario = Scenario::from_json(&written.to_string()).expect("it reads");
        let found = scenario.resolve().unwrap_or_else(|error| panic!("{written}: {error}"));
        let stored = Scenario::from_json(&found.document().to_string()).expect("it reads");
        assert_eq!(stored.resolve().expect("it resolves").warnings, found.warnings);
        [found.warnings, found.dropped].concat()
    }

    #[test]
    fn parameters_of_another_variant_law_or_detector_are_named() {
        for (tcp, line) in [
            (
                json!({"vegas_beta": 7}),
                "tcp.vegas_beta = 7 has no effect: no sender looks at it; write \
                 tcp.variant = \"vegas\", or remove it",
            ),
            (json!({"variant": "linux", "max_burst": 4}), "tcp.max_burst = 4 has no effect"),
            (json!({"variant": "reno", "new_reno_burst": 4}), "tcp.new_reno_burst = 4 has no"),
            (json!({"bnak_delay": "rtt"}), "tcp.bnak_delay = \"rtt\" has no effect"),
            (json!({"delayed_ack": false, "delayed_ack_every": 4}), "tcp.delayed_ack_every = 4"),
        ] {
            let [found] = &said(&json!({"tcp": tcp}))[..] else { panic!("{tcp}: one warning") };
            assert!(found.starts_with(line), "{found}");
        }
    }

    #[test]
    fn what_some_sender_looks_at_or_is_the_default_is_not_named() {
        let vegas = json!({"variant": "vegas"});
        for written in [
            json!({"tcp": {"vegas_beta": 7}, "flows": [{}, {"tcp": vegas}]}),
            json!({"tcp": {"vegas_beta": 5, "bnak_delay": "path"}}),
            json!({"tcp": {"profile": "ns2", "vegas_alpha": 1}}),
            json!({"tcp": {"profile": "linux"}, "flows": [{}, {"tcp": {"variant": "reno"}}]}),
        ] {
            assert_eq!(said(&written), [""; 0], "{written}");
        }
        let own = said(&json!({"flows": [{"tcp": {"fast_alpha": 7}}, {"tcp": vegas}]}));
        assert!(own[0].starts_with("flows[0].tcp.fast_alpha = 7 has no effect"), "{own:?}");
    }

    #[test]
    fn connections_that_nobody_closes_are_named() {
        let flow = json!({"bytes": "1 MB", "closes": false});
        let [line] = &said(&json!({"flows": [flow]}))[..] else { panic!("one warning") };
        assert!(line.starts_with("flows[0].closes = false has no effect"), "{line}");
        assert_eq!(said(&json!({"flows": [flow], "tcp": {"variant": "linux"}})), [""; 0]);
    }
}
