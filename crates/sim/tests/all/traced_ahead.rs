//! Tables whose rows are made ahead of the clock are those of an event-driven run, row for row. A
//! trace of packets makes a run event-driven, and that run records the other tables too.

use burstlab_sim::{Output, Simulation, Table, Trace};
use proptest::prelude::*;
use serde_json::Value;

use crate::runs::chunks::{joined, run_in_chunks};
use crate::runs::columns::differing;
use crate::runs::detectors::{any_detector, with_detector};
use crate::runs::{ALL, numbers, run, simulation};
use crate::{ahead, ahead_linux, drain, ops, world};

/// Some tables that leave hosts ahead of the clock.
fn any_trace() -> impl Strategy<Value = Trace> {
    let tables = [any::<bool>(), any::<bool>(), any::<bool>()];
    tables.prop_map(|[bursts, cwnd, ledger]| Trace { bursts, cwnd, ledger, ..Trace::default() })
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

/// A run with this trace, whole and in chunks, has the numbers and the rows of one with all tables.
fn are_twins(scenario: &Value, seed: u64, trace: Trace) -> Result<(), TestCaseError> {
    let slow = run(scenario, seed, ALL);
    let whole = run(scenario, seed, trace);
    prop_assert_eq!(numbers(whole.summary.clone()), numbers(slow.summary.clone()));
    let slow = tables(slow, trace);
    prop_assert_eq!(differing(&tables(whole.clone(), trace), &slow), None);
    let simulation: Simulation = simulation(scenario, seed, trace);
    let (chunked, _) = run_in_chunks(simulation, 64, 700);
    prop_assert_eq!(differing(&tables(joined(chunked), trace), &slow), None);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn rows_of_a_path(
        scenario in ahead::any_path(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(&scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_a_path_with_reports_on_bursts(
        scenario in ahead::any_path(),
        (detector, some) in (any_detector(), any::<bool>()),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(&with_detector(scenario, detector, some), seed, trace)?;
    }

    #[test]
    fn rows_of_a_mesh(
        scenario in ahead::any_mesh(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(&scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_a_path_of_linux(
        scenario in ahead_linux::any_path(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(&scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_a_mesh_of_linux(
        scenario in ahead_linux::any_mesh(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(&scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_a_run_that_drains(
        scenario in drain::any_drained(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(&scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_slots(
        scenario in ops::any_network(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(&scenario, seed, trace)?;
    }

    #[test]
    fn rows_of_any_world(
        scenario in world::any_scenario(),
        (trace, seed) in (any_trace(), 0u64..1000),
    ) {
        are_twins(&scenario, seed, trace)?;
    }
}
