//! Scenarios: read, resolved and described; nothing here runs.

use burstlab_sim::scenario::{self, Resolved, Scenario};
use burstlab_sim::{Monitor, Needs, sequence};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::guard::guarded;
use crate::left::Left;
use crate::monitor::RunMonitor;
use crate::refusals::{alive, refuse, to_json};
use crate::{live, stacks};

/// A scenario that was read and resolved once, for its check, its stored form and its runs.
#[pyclass(name = "Scenario", frozen, module = "burstlab._core")]
pub(crate) struct ReadScenario {
    inner: Left<Resolved>,
}

#[pymethods]
impl ReadScenario {
    /// Reads a scenario; other Python threads go on meanwhile.
    #[new]
    #[pyo3(signature = (scenario_json, monitor=None))]
    fn new(py: Python<'_>, scenario_json: &str, monitor: Option<&RunMonitor>) -> PyResult<Self> {
        let watch = watch_of(monitor);
        py.detach(|| {
            let inner = read(scenario_json, &watch)?;
            Ok(Self { inner })
        })
    }

    /// Warnings of TCP parameters that no sender has, and which the document lacks.
    fn dropped(&self) -> Vec<String> {
        self.inner.dropped.clone()
    }

    /// The scenario with every field that it uses, as JSON.
    fn document(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| to_json(&guarded(|| self.inner.document())?))
    }
}

/// A scenario as Python passes it: as JSON text, or one that was read before.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Read(Py<ReadScenario>),
    Text(PyBackedStr),
}

fn watch_of(monitor: Option<&RunMonitor>) -> Monitor {
    monitor.map_or_else(Monitor::default, |monitor| monitor.inner.clone())
}

fn read(text: &str, watch: &Monitor) -> PyResult<Left<Resolved>> {
    let resolved = guarded(|| {
        let resolved = Scenario::from_json(text)?.resolve_while(watch.interrupt())?;
        if resolved.needs_stacks() { resolved.with_stacks(stacks::known()) } else { Ok(resolved) }
    })?;
    let resolved = resolved.map(|resolved| Left::new(resolved, watch));
    alive(watch)?;
    resolved.map_err(refuse)
}

/// The resolved scenario. With a monitor it is that of a run: a run that needs more memory than the
/// monitor allows is refused, and so is a run that was cancelled.
pub(crate) fn resolved(given: &Given, monitor: Option<&RunMonitor>) -> PyResult<Left<Resolved>> {
    let watch = watch_of(monitor);
    let resolved = match given {
        Given::Text(text) => read(text, &watch)?,
        Given::Read(read) => {
            let mut own = Resolved::clone(&read.get().inner);
            own.watch = watch.interrupt().clone();
            Left::new(own, &watch)
        }
    };
    alive(&watch)?;
    if let Some(limit) = monitor.and_then(|monitor| monitor.max_memory) {
        guarded(|| Needs::of(&resolved).refuse(limit))?.map_err(refuse)?;
    }
    Ok(resolved)
}

/// The same, of a run without devices of live hosts.
pub(crate) fn runnable(given: &Given, monitor: Option<&RunMonitor>) -> PyResult<Left<Resolved>> {
    let resolved = resolved(given, monitor)?;
    live::refuse(&resolved).map_err(refuse)?;
    Ok(resolved)
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
    let watch = watch_of(monitor);
    py.detach(|| {
        let found = read(scenario_json, &watch)?;
        to_json(&guarded(|| found.document())?)
    })
}

/// Announces what a run needs: its memory in bytes, that of the numbers of all replications, what
/// is to be said of a long or a large run, and its events.
#[pyfunction]
#[pyo3(signature = (scenario, monitor=None))]
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python come owned")]
pub(crate) fn needs(
    py: Python<'_>,
    scenario: Given,
    monitor: Option<&RunMonitor>,
) -> PyResult<(f64, f64, Vec<String>, f64)> {
    py.detach(|| {
        let resolved = resolved(&scenario, monitor)?;
        let needs = guarded(|| Needs::of(&resolved))?;
        Ok((needs.bytes(), needs.bytes_kept(), needs.announcements(), needs.count()))
    })
}

/// Statements of a scenario that are allowed but probably not meant.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python come owned")]
pub(crate) fn warnings(py: Python<'_>, scenario: Given) -> PyResult<Vec<String>> {
    py.detach(|| {
        let resolved = resolved(&scenario, None)?;
        Ok(resolved.warnings.iter().chain(&resolved.dropped).cloned().collect())
    })
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
        let resolved = read(scenario_json, &Monitor::default())?;
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
