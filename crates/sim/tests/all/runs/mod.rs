//! Scenarios as JSON, their runs, and when two runs are the same.

pub(crate) mod chunks;
pub(crate) mod columns;
pub(crate) mod detectors;
pub(crate) mod stored;

use std::collections::BTreeMap;

use burstlab_sim::scenario::{Resolved, Scenario, ScenarioError};
use burstlab_sim::{BurstSummary, Monitor, Output, Simulation, SpeedSummary, Summary, Trace};
use proptest::prelude::*;
use serde_json::Value;

/// Everything is traced, of a run in which nothing is ahead of the clock.
pub(crate) const ALL: Trace = Trace { event_driven: true, ..EARLY };
/// Everything is traced, ahead of the clock where that can be.
pub(crate) const EARLY: Trace = Trace {
    packets: true,
    bursts: true,
    cwnd: true,
    ledger: true,
    datagrams: false,
    event_driven: false,
};
/// Bursts alone are traced.
pub(crate) const BURSTS: Trace = Trace { packets: false, cwnd: false, ledger: false, ..EARLY };

pub(crate) fn resolve(scenario: &Value) -> Result<Resolved, ScenarioError> {
    Scenario::from_json(&scenario.to_string()).and_then(|scenario| scenario.resolve())
}

pub(crate) fn resolved(scenario: &Value) -> Resolved {
    resolve(scenario).unwrap_or_else(|error| panic!("{error}: {scenario}"))
}

/// Why a scenario is refused, which names a fix.
pub(crate) fn refused(scenario: &Value) -> ScenarioError {
    let Err(error) = resolve(scenario) else { panic!("accepted: {scenario}") };
    assert!(!error.problem().is_empty() && !error.fix().is_empty(), "{error}");
    error
}

pub(crate) fn simulation(scenario: &Value, seed: u64, trace: Trace) -> Simulation {
    Simulation::new(&resolved(scenario), seed, 0, trace)
}

pub(crate) fn run(scenario: &Value, seed: u64, trace: Trace) -> Output {
    let output = simulation(scenario, seed, trace).run(&Monitor::default());
    no_connection_is_dead(&output.summary, scenario);
    output
}

/// Whatever is lost, no connection of ours waits for ever with nothing in flight and no timer set.
fn no_connection_is_dead(summary: &Summary, scenario: &Value) {
    let dead = summary.warnings.iter().find(|warning| warning.contains("no timer is set"));
    assert!(dead.is_none(), "{dead:?}: {scenario}");
}

/// The numbers of a run without a trace.
pub(crate) fn summary(scenario: &Value, seed: u64) -> Summary {
    run(scenario, seed, Trace::default()).summary
}

/// The part that two runs of one scenario share when they do not pass the event queue alike: the
/// numbers of a run, whatever its events were.
pub(crate) fn numbers(mut summary: Summary) -> Summary {
    (summary.counters.events, summary.counters.core_events) = (0, 0);
    summary.events_per_packet = 0.0;
    summary.counters.packets_one_by_one = 0;
    summary.speed = SpeedSummary::default();
    summary
}

pub(crate) fn lost_to(bursts: &BurstSummary, cause: &str) -> u64 {
    bursts.causes.iter().filter(|one| one.cause == cause).map(|one| one.bursts).sum()
}

/// Whether two runs have the same numbers and the same tables.
pub(crate) fn are_same(one: &Output, other: &Output) -> Result<(), TestCaseError> {
    prop_assert_eq!(&one.summary, &other.summary);
    prop_assert_eq!(columns::differing(&one.tables, &other.tables), None);
    Ok(())
}

/// Whether a clone of the traced run, made after at most `cut` events, ends as `whole` did, though
/// the run that it was made from has gone on.
pub(crate) fn a_clone_goes_on(
    scenario: &Value,
    seed: u64,
    cut: u32,
    whole: &Output,
) -> Result<(), TestCaseError> {
    let mut first = simulation(scenario, seed, ALL);
    first.advance(cut);
    let copy = first.clone();
    first.advance(cut);
    drop(first);
    are_same(&copy.run(&Monitor::default()), whole)
}

/// Data packets that were lost while an earlier transmission of their segment was between its
/// egress and the receiver: where a receiver that is ahead of the clock might have it too soon.
pub(crate) fn lost_before_an_earlier_one_comes(output: &Output) -> usize {
    let packets = columns::table(output, "packets");
    let whole = |name: &str| columns::integers(packets, name);
    let fates = columns::labels(packets, "fate");
    let (flows, segments, times) = (whole("flow"), whole("seq"), whole("transmission"));
    let (departed, left, came) = (whole("departed_ps"), whole("egress_ps"), whole("delivered_ps"));
    let data =
        columns::labels(packets, "kind").iter().map(|&kind| kind == "data").collect::<Vec<_>>();
    let mut rows: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for row in (0..fates.len()).filter(|&row| data[row]) {
        rows.entry((flows[row], segments[row])).or_default().push(row);
    }
    let meets = |&late: &usize, all: &[usize]| {
        let comes = |&row: &usize| {
            let flies = left[row] < departed[late] && departed[late] < came[row];
            fates[row] == "delivered" && times[row] < times[late] && flies
        };
        fates[late] == "lost" && all.iter().any(comes)
    };
    rows.values().map(|all| all.iter().filter(|&late| meets(late, all)).count()).sum()
}

/// Lays `change` over a scenario, field by field.
pub(crate) fn merge(into: &mut Value, change: &Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            for (key, value) in change {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, change) => *into = change.clone(),
    }
}

pub(crate) fn merged(mut into: Value, change: &Value) -> Value {
    merge(&mut into, change);
    into
}
