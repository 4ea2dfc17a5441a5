//! Tables whose rows are made ahead of the clock equal the tables of an event-driven run, row for
//! row.

use burstlab_sim::{Output, Table, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::chunks::{joined, run_in_chunks};
use crate::runs::columns::differing;
use crate::runs::detectors::{any_detector, with_detector};
use crate::runs::{ALL, numbers, run, simulation};
use crate::{ahead, ahead_linux, drain, ops, world};

/// Some tables of a run that may be ahead of the clock.
fn any_trace() -> impl Strategy<Value = Trace> {
    let tables = [any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()];
    tables.prop_map(|[packets, bursts, cwnd, ledger]| Trace {
        packets,
        bursts,
        cwnd,
        ledger,
        ..Trace::default()
    })
}

/// The tables of an output that `trace` asks for.
fn tables(output: Output, trace: Trace) -> Vec<Table> {
    let asked = |name: &str| match name.split('_').next() {
        Some("packets") => trace.packets,
        Some("bursts") => trace.bursts,
        Some("cwnd") => trace.cwnd,
        Some("ledger") => trace.ledger,
        _ => true,
    };
    output.tables.into_iter().filter(|table| asked(table.name)).collect()
}

/// A run with this trace, in chunks of 64 rows, has the numbers and the rows of one with all
/// tables. None lasts long: what is ahead is a round trip.
fn are_twins(mut scenario: Value, seed: u64, trace: Trace) -> Result<(), TestCaseError> {
    if let Some(run) = scenario["run"].as_object_mut().filter(|run| !run.contains_key("bursts")) {
        run.insert("duration".into(), json!("1500 ms"));
    }
    let slow = joined(run(&scenario, seed, ALL));
    let (early, _) = run_in_chunks(simulation(&scenario, seed, trace), 64, 700);
    prop_assert_eq!(numbers(early.summary.clone()), numbers(slow.summary.clone()));
    prop_assert_eq!(differing(&tables(early, trace), &tables(slow, trace)), None);
    Ok(())
}

/// Hosts are ahead of the clock with each of these tables.
#[test]
fn a_trace_leaves_hosts_ahead_of_the_clock() {
    let path = json!({"edge": {"assembly": "timer", "timer": "5 ms"}, "run": {"duration": "9 s"},
        "access": {"rate": "100 Mb/s"}, "loss": {"data": {"process": "every", "n": 400}},
        "tcp": {"variant": "sack", "profile": "ns2", "window": 60}});
    let mesh = json!({"network": {"topology": "nsfnet"}, "run": {"duration": "2 s"},
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "flows": [{"from": "1", "to": "14", "count": 3}, {"from": "3", "to": "12", "count": 3}]});
    for scenario in [path, mesh] {
        let all = run(&scenario, 1, ALL).summary.counters.events;
        let none = run(&scenario, 1, Trace::default()).summary.counters.events;
        for name in ["packets", "bursts", "cwnd", "ledger"] {
            let mut trace = Trace::default();
            assert!(trace.add(name));
            let events = run(&scenario, 1, trace).summary.counters.events;
            let ahead = name == "bursts" || events == none;
            assert!(ahead && events < all, "{name}: {events} events, {none} to {all}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn rows_of_a_path(
        scenario in ahead::any_path(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_a_path_with_reports_on_bursts(
        scenario in ahead::any_path(),
        (detector, some) in (any_detector(), any::<bool>()),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(with_detector(scenario, detector, some), seed, trace)?;
    }

    #[test]
    fn rows_of_a_mesh(
        scenario in ahead::any_mesh(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_a_path_of_linux(
        scenario in ahead_linux::any_path(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_a_mesh_of_linux(
        scenario in ahead_linux::any_mesh(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_a_run_that_drains(
        scenario in drain::any_drained(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_slots(
        scenario in ops::any_network(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_any_world(
        scenario in world::any_scenario(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(scenario, seed, trace)?;
    }
}
