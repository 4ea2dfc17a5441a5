//! Runs that part, and the prices of bursts that were lost.

use std::sync::{Arc, Mutex, PoisonError};

use burstlab_sim::scenario::ScenarioError;
use burstlab_sim::{Branches, Monitor, NoBranch, Prices, Simulation, Trace};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::guard::guarded;
use crate::left::Left;
use crate::monitor::RunMonitor;
use crate::output::{RunOutput, traced};
use crate::refusals::{alive, refuse, refuse_checkpoint, to_json};
use crate::runs::{begin, to_its_end};
use crate::scenarios::{Given, runnable};

create_exception!(
    burstlab._core,
    AbsentBurst,
    PyValueError,
    "A burst of an operation is not in the run; args are how many the run has, in each direction."
);

/// A run from its beginning or from a checkpoint, which ends at `until_ps` at the latest.
fn first_run(
    scenario: &Given,
    random: (u64, u64),
    monitor: &RunMonitor,
    until_ps: Option<u64>,
    kept: Option<&PyBackedBytes>,
) -> PyResult<Simulation> {
    let watch = &monitor.inner;
    let mut simulation = match kept {
        Some(bytes) => {
            let resolved = runnable(scenario, Some(monitor))?;
            let resumed = guarded(|| Simulation::resume(&resolved, random.0, random.1, bytes))?;
            resumed.map_err(refuse_checkpoint)?
        }
        None => {
            let begun = begin(scenario, random, Trace::default(), monitor, None)?;
            let simulation = begun.0;
            if simulation.has_stacks() {
                let problem = "a run whose flows have a third-party stack cannot part";
                let fix = "remove flows.stack";
                return Err(refuse(ScenarioError::new("flows.stack", "", problem, fix)));
            }
            Simulation::clone(&simulation)
        }
    };
    alive(watch)?;
    if let Some(until_ps) = until_ps {
        simulation.end_at(until_ps);
    }
    Ok(simulation)
}

/// Two runs that part where a burst is operated on.
#[pyclass(name = "Branches", frozen, module = "burstlab._core")]
pub(crate) struct RunBranches {
    inner: Mutex<Branches>,
    /// Simulated time at which they part, in ps.
    #[pyo3(get)]
    parted_ps: u64,
}

#[pymethods]
impl RunBranches {
    /// A checkpoint of the run where they part.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let branches = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = branches.first.checkpoint().map_err(refuse_checkpoint)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Runs the branch with the operations, or that without, to its end; tables are of what
    /// happens from where they part. Returns how far connections came too, as JSON. Other Python
    /// threads go on meanwhile.
    fn run(
        &self,
        py: Python<'_>,
        operated: bool,
        trace: Vec<String>,
        monitor: &RunMonitor,
    ) -> PyResult<(RunOutput, String)> {
        let trace = traced(trace)?;
        py.detach(|| {
            let mut simulation = {
                let branches = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
                if operated { branches.altered.clone() } else { branches.first.clone() }
            };
            if trace != Trace::default() {
                simulation.trace_from_here(trace);
            }
            let mut simulation = Left::new(simulation, &monitor.inner);
            guarded(|| simulation.advance_to_end(&monitor.inner))?;
            let reached = to_json(&simulation.reached())?;
            Ok((to_its_end(simulation, &monitor.inner, None)?, reached))
        })
    }
}

/// Runs a scenario until just before the first burst that `other`, the same scenario with
/// surgery, names, and parts there.
#[pyfunction]
#[pyo3(signature = (first, other, random, monitor, until_ps=None, kept=None))]
#[expect(clippy::needless_pass_by_value, reason = "bytes of Python come owned")]
pub(crate) fn part(
    py: Python<'_>,
    first: Given,
    other: Given,
    random: (u64, u64),
    monitor: &RunMonitor,
    until_ps: Option<u64>,
    kept: Option<PyBackedBytes>,
) -> PyResult<RunBranches> {
    py.detach(|| {
        let first = first_run(&first, random, monitor, until_ps, kept.as_ref())?;
        let other = runnable(&other, Some(monitor))?;
        let parted = guarded(|| Branches::part(first, &other, &monitor.inner))?;
        alive(&monitor.inner)?;
        let branches = parted.map_err(|error| match error {
            NoBranch::Absent([bursts, back]) => AbsentBurst::new_err((bursts, back)),
            NoBranch::Behind(error) => refuse_checkpoint(error),
        })?;
        let parted_ps = branches.parted_ps;
        Ok(RunBranches { inner: Mutex::new(branches), parted_ps })
    })
}

/// Prices the bursts that a run loses.
#[pyclass(name = "Prices", frozen, module = "burstlab._core")]
pub(crate) struct RunPrices {
    /// The run before its first event.
    first: Simulation,
    inner: Mutex<Prices>,
    reached: Arc<Vec<burstlab_sim::Progress>>,
}

#[pymethods]
impl RunPrices {
    /// Runs a scenario to its end, and records its losses.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come owned")]
    fn new(
        py: Python<'_>,
        scenario: Given,
        random: (u64, u64),
        monitor: &RunMonitor,
    ) -> PyResult<Self> {
        py.detach(|| {
            let first = first_run(&scenario, random, monitor, None, None)?;
            let prices = guarded(|| Prices::of(first.clone(), &monitor.inner))?;
            alive(&monitor.inner)?;
            let reached = Arc::new(prices.reached().to_vec());
            Ok(Self { first, inner: Mutex::new(prices), reached })
        })
    }

    /// The bursts with packets of connections that were lost, as JSON.
    fn lost(&self) -> PyResult<String> {
        to_json(&self.locked().lost())
    }

    /// That of the run.
    #[getter]
    fn fingerprint(&self) -> String {
        self.locked().fingerprint().to_string()
    }

    /// How far connections came, as JSON.
    fn reached(&self) -> PyResult<String> {
        to_json(&*self.reached)
    }

    /// Picks the bursts to be priced, by their place, and for how long after its loss each is.
    #[pyo3(signature = (places, horizon_ps=None))]
    fn pick(&self, places: Vec<usize>, horizon_ps: Option<u64>) {
        self.locked().pick(places, horizon_ps);
    }

    /// The price of the next burst, as JSON; nothing where there is none. Several threads may ask
    /// at once.
    fn next(&self, py: Python<'_>, monitor: &RunMonitor) -> PyResult<Option<String>> {
        let watch = &monitor.inner;
        py.detach(|| {
            let spared = guarded(|| self.locked().next(watch))?;
            let Some(spared) = spared else { return Ok(None) };
            let price = guarded(|| spared.price(&self.reached, watch))?;
            alive(watch)?;
            to_json(&price).map(Some)
        })
    }

    /// The price of all bursts together, as JSON: that of sparing each.
    fn all(&self, py: Python<'_>, monitor: &RunMonitor) -> PyResult<String> {
        let watch: &Monitor = &monitor.inner;
        py.detach(|| {
            let price = guarded(|| Prices::of_all(&self.first, &self.reached, watch))?;
            alive(watch)?;
            to_json(&price)
        })
    }
}

impl RunPrices {
    fn locked(&self) -> std::sync::MutexGuard<'_, Prices> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
