//! Scenarios: read, resolved and described; nothing here runs.

use burstlab_sim::scenario::{self, Resolved, Scenario, schema_json};
use burstlab_sim::{Monitor, Needs, sequence};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::guard::guarded;
use crate::left::Left;
use crate::monitor::RunMonitor;
use crate::refusals::{alive, refuse, to_json};
use crate::{live, stacks};

/// The resolved scenario of a text. With a monitor it is that of a run: what needs more memory than
/// the monitor allows is refused, and so is a run that was cancelled.
pub(crate) fn resolved(
    scenario_json: &str,
    monitor: Option<&RunMonitor>,
) -> PyResult<Left<Resolved>> {
    let watch = monitor.map_or_else(Monitor::default, |monitor| monitor.inner.clone());
    let resolved = guarded(|| {
        let resolved = Scenario::from_json(scenario_json)?.resolve_while(watch.interrupt())?;
        if resolved.needs_stacks() { resolved.with_stacks(stacks::known()) } else { Ok(resolved) }
    })?;
    let resolved = resolved.map(|resolved| Left::new(resolved, &watch));
    alive(&watch)?;
    let resolved = resolved.map_err(refuse)?;
    if let Some(limit) = monitor.and_then(|monitor| monitor.max_memory) {
        guarded(|| Needs::of(&resolved).refuse(limit))?.map_err(refuse)?;
    }
    Ok(resolved)
}

/// The same, of a run without devices of live hosts.
pub(crate) fn runnable(
    scenario_json: &str,
    monitor: Option<&RunMonitor>,
) -> PyResult<Left<Resolved>> {
    let resolved = resolved(scenario_json, monitor)?;
    live::refuse(&resolved).map_err(refuse)?;
    Ok(resolved)
}

/// The JSON schema of a scenario.
#[pyfunction]
pub(crate) fn schema() -> PyResult<String> {
    to_json(&schema_json())
}

/// Checks a scenario and returns it with every field that it uses; other Python threads go on
/// meanwhile.
#[pyfunction]
#[pyo3(signature = (scenario_json, monitor=None))]
pub(crate) fn resolve(
    py: Python<'_>,
    scenario_json: &str,
    monitor: Option<&RunMonitor>,
) -> PyResult<String> {
    py.detach(|| {
        let found = resolved(scenario_json, monitor)?;
        to_json(&guarded(|| found.document())?)
    })
}

/// Announces what a run needs: its memory in bytes, that of the numbers of all replications, what
/// is to be said of a long or a large run, and its events.
#[pyfunction]
#[pyo3(signature = (scenario_json, monitor=None))]
pub(crate) fn needs(
    py: Python<'_>,
    scenario_json: &str,
    monitor: Option<&RunMonitor>,
) -> PyResult<(f64, f64, Vec<String>, f64)> {
    py.detach(|| {
        let resolved = resolved(scenario_json, monitor)?;
        let needs = guarded(|| Needs::of(&resolved))?;
        Ok((needs.bytes(), needs.bytes_kept(), needs.announcements(), needs.count()))
    })
}

/// Statements of a scenario that are allowed but probably not meant.
#[pyfunction]
pub(crate) fn warnings(py: Python<'_>, scenario_json: &str) -> PyResult<Vec<String>> {
    py.detach(|| Ok(resolved(scenario_json, None)?.warnings.clone()))
}

/// The first `count` batches of an entry of a scenario between two nodes: when they come, in ps,
/// and their bytes, under a seed and in a replication.
#[pyfunction]
#[pyo3(signature = (scenario_json, entry, start, end, random, count))]
pub(crate) fn batches<'py>(
    py: Python<'py>,
    scenario_json: &str,
    entry: usize,
    start: &str,
    end: &str,
    random: (u64, u64),
    count: usize,
) -> PyResult<TimesAndSizes<'py>> {
    let drawn = py.detach(|| {
        let resolved = resolved(scenario_json, None)?;
        guarded(|| sequence(&resolved, entry, (start, end), random, count))?
            .map_err(PyValueError::new_err)
    })?;
    let times: Vec<u64> = drawn.iter().map(|batch| batch.at.as_ps()).collect();
    let sizes: Vec<u32> = drawn.iter().map(|batch| batch.bytes).collect();
    Ok((times.into_pyarray(py), sizes.into_pyarray(py)))
}

/// Times in ps and bytes.
pub(crate) type TimesAndSizes<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);

/// A time such as "60 s", in seconds.
#[pyfunction]
pub(crate) fn seconds(text: &str) -> PyResult<f64> {
    scenario::seconds(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A time, size or rate such as "60 s" in its base unit, with that unit: "s", "B" or "b/s".
#[pyfunction]
pub(crate) fn quantity(text: &str) -> Option<(f64, &'static str)> {
    scenario::quantity(text)
}
