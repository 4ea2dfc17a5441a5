//! The extension module `burstlab._core`: conversions, and nothing else. Scenarios come in as JSON
//! text, numbers go out as JSON text, tables as numpy arrays that take over Rust's memory.

mod classes;
mod event;

use burstlab_sim::scenario::{self, Resolved, Scenario, ScenarioError, schema_json};
use burstlab_sim::traffic::sequence;
use burstlab_sim::{CheckpointError, Column, Monitor, Output, Piece, Simulation, Table, Trace};
use numpy::{IntoPyArray, PyArray1};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

create_exception!(
    burstlab._core,
    InvalidScenario,
    PyValueError,
    "A mistake in a scenario; args are (path, value, problem, fix)."
);

fn refuse(error: ScenarioError) -> PyErr {
    InvalidScenario::new_err((error.path, error.value, error.problem, error.fix))
}

create_exception!(
    burstlab._core,
    BadCheckpoint,
    PyValueError,
    "A checkpoint is not of this run, or of none; args are (problem, fix)."
);

fn refuse_checkpoint(error: CheckpointError) -> PyErr {
    BadCheckpoint::new_err((error.problem, error.fix))
}

fn resolved(scenario_json: &str) -> PyResult<Resolved> {
    Scenario::from_json(scenario_json).and_then(|scenario| scenario.resolve()).map_err(refuse)
}

fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The JSON schema of a scenario.
#[pyfunction]
fn schema() -> PyResult<String> {
    to_json(&schema_json())
}

/// Checks a scenario and fills in every default.
#[pyfunction]
fn resolve(scenario_json: &str) -> PyResult<String> {
    to_json(&resolved(scenario_json)?.scenario)
}

/// Runs one replication; other Python threads go on meanwhile. A sink takes the tables piece by
/// piece while the run goes on; without one, the output has them.
#[pyfunction]
#[pyo3(signature = (scenario_json, seed, replication, trace, monitor, sink=None))]
fn simulate(
    py: Python<'_>,
    scenario_json: &str,
    seed: u64,
    replication: u64,
    trace: Vec<String>,
    monitor: &RunMonitor,
    sink: Option<Py<PyAny>>,
) -> PyResult<RunOutput> {
    let mut resolved = resolved(scenario_json)?;
    let mut tables = Trace::default();
    for name in trace {
        if !tables.add(&name) {
            let known = Trace::NAMES.join(", ");
            let fix = format!("use some of {known}");
            return Err(InvalidScenario::new_err(("trace", name, "no such table", fix)));
        }
    }
    let monitor = monitor.inner.clone();
    let fault = classes::prepare(py, &mut resolved, &monitor)?;
    let output = py.detach(|| {
        let simulation = Simulation::new(&resolved, seed, replication, tables);
        let Some(sink) = sink else { return Ok(simulation.run(&monitor)) };
        let summary = simulation
            .stream(&monitor, |piece| Python::attach(|py| hand_over(py, &sink, piece)))?;
        PyResult::Ok(Output { summary, tables: Vec::new() })
    })?;
    fault.map_or(Ok(()), |fault| fault.check())?;
    Ok(RunOutput { summary: to_json(&output.summary)?, tables: Some(output.tables) })
}

/// Runs `count` replications from number `first` on, one after the other and without tables, and
/// answers their summaries as JSON texts. Other Python threads go on meanwhile.
#[pyfunction]
fn simulate_several(
    py: Python<'_>,
    scenario_json: &str,
    seed: u64,
    first: u64,
    count: u64,
    monitor: &RunMonitor,
) -> PyResult<Vec<String>> {
    let monitor = monitor.inner.clone();
    py.detach(|| {
        let mut resolved = resolved(scenario_json)?;
        let numbers = first..first.saturating_add(count);
        let one = |number| {
            let fault = match resolved.needs_classes() {
                true => Python::attach(|py| classes::prepare(py, &mut resolved, &monitor))?,
                false => None,
            };
            let simulation = Simulation::new(&resolved, seed, number, Trace::default());
            let output = simulation.run(&monitor);
            fault.map_or(Ok(()), |fault| fault.check())?;
            to_json(&output.summary)
        };
        numbers.map(one).collect()
    })
}

/// Runs one replication from where its keeper says, which is handed checkpoints whenever the
/// monitor is asked to keep, and at the end. A sink takes the tables at the end.
#[pyfunction]
#[pyo3(signature = (scenario_json, seed, replication, monitor, keeper, sink=None))]
fn simulate_kept(
    py: Python<'_>,
    scenario_json: &str,
    seed: u64,
    replication: u64,
    monitor: &RunMonitor,
    keeper: &Bound<'_, PyAny>,
    sink: Option<Py<PyAny>>,
) -> PyResult<RunOutput> {
    let mut resolved = resolved(scenario_json)?;
    let kept: Option<PyBackedBytes> = keeper.call_method0("kept")?.extract()?;
    let (keeper, monitor) = (keeper.clone().unbind(), monitor.inner.clone());
    let fault = classes::prepare(py, &mut resolved, &monitor)?;
    let output = py.detach(|| {
        let simulation = match kept {
            Some(bytes) => Simulation::resume(&resolved, seed, replication, &bytes)
                .map_err(refuse_checkpoint)?,
            None => Simulation::new(&resolved, seed, replication, Trace::default()),
        };
        let mut output = simulation.run_kept(&monitor, |simulation| {
            let bytes = simulation.checkpoint().map_err(refuse_checkpoint)?;
            Python::attach(|py| {
                keeper.call_method1(py, "keep", (PyBytes::new(py, &bytes),)).map(drop)
            })
        })?;
        if let Some(sink) = sink {
            for table in output.tables.drain(..) {
                Python::attach(|py| hand_over(py, &sink, Piece::Rows(table)))?;
            }
        }
        PyResult::Ok(output)
    })?;
    fault.map_or(Ok(()), |fault| fault.check())?;
    Ok(RunOutput { summary: to_json(&output.summary)?, tables: Some(output.tables) })
}

/// Refuses a checkpoint that is not of this run.
#[pyfunction]
fn check_checkpoint(
    scenario_json: &str,
    seed: u64,
    replication: u64,
    checkpoint: &[u8],
) -> PyResult<()> {
    let resolved = resolved(scenario_json)?;
    Simulation::check(&resolved, seed, replication, checkpoint).map_err(refuse_checkpoint)
}

/// The first `count` batches of an entry of a scenario between two nodes: when they come, in ps,
/// and their bytes, under a seed and in a replication.
#[pyfunction]
#[pyo3(signature = (scenario_json, entry, start, end, random, count))]
fn batches<'py>(
    py: Python<'py>,
    scenario_json: &str,
    entry: usize,
    start: &str,
    end: &str,
    random: (u64, u64),
    count: usize,
) -> PyResult<TimesAndSizes<'py>> {
    let resolved = resolved(scenario_json)?;
    let drawn = py
        .detach(|| sequence(&resolved, entry, (start, end), random, count))
        .map_err(PyValueError::new_err)?;
    let times: Vec<u64> = drawn.iter().map(|batch| batch.at.as_ps()).collect();
    let sizes: Vec<u32> = drawn.iter().map(|batch| batch.bytes).collect();
    Ok((times.into_pyarray(py), sizes.into_pyarray(py)))
}

/// Times in ps and bytes.
type TimesAndSizes<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);

/// A time such as "60 s", in seconds.
#[pyfunction]
fn seconds(text: &str) -> PyResult<f64> {
    scenario::seconds(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A time, size or rate such as "60 s" in its base unit, with that unit: "s", "B" or "b/s".
#[pyfunction]
fn quantity(text: &str) -> Option<(f64, &'static str)> {
    scenario::quantity(text)
}

/// A view of a run from another thread.
#[pyclass(name = "Monitor", frozen, module = "burstlab._core")]
struct RunMonitor {
    inner: Monitor,
}

#[pymethods]
impl RunMonitor {
    #[new]
    fn new() -> Self {
        Self { inner: Monitor::default() }
    }

    /// How much of the run is done, from 0 to 1.
    fn progress(&self) -> f64 {
        self.inner.progress()
    }

    /// Asks the run to end soon; what it has done is kept.
    fn cancel(&self) {
        self.inner.cancel();
    }

    /// Asks a kept run for a checkpoint soon.
    fn keep(&self) {
        self.inner.keep();
    }
}

/// What a run leaves.
#[pyclass(name = "Output", module = "burstlab._core")]
struct RunOutput {
    /// The numbers, as JSON.
    #[pyo3(get)]
    summary: String,
    tables: Option<Vec<Table>>,
}

#[pymethods]
impl RunOutput {
    /// The chunks of the traced tables in order, each a name and a dict of columns; they are handed
    /// over once.
    fn tables<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Named<'py>>> {
        let tables = self
            .tables
            .take()
            .ok_or_else(|| PyValueError::new_err("the tables were handed over already"))?;
        tables.into_iter().map(|table| named(py, table)).collect()
    }
}

/// The name of a table and the columns of a chunk of it.
type Named<'py> = (&'static str, Bound<'py, PyDict>);

fn hand_over(py: Python<'_>, sink: &Py<PyAny>, piece: Piece) -> PyResult<()> {
    let answer = match piece {
        Piece::Rows(table) => sink.call_method1(py, "rows", named(py, table)?),
        Piece::Early(table) => sink.call_method1(py, "early", named(py, table)?),
        Piece::Late(places, table) => {
            let (name, columns) = named(py, table)?;
            sink.call_method1(py, "late", (name, places.into_pyarray(py), columns))
        }
    };
    answer.map(drop)
}

fn named(py: Python<'_>, chunk: Table) -> PyResult<Named<'_>> {
    let columns = PyDict::new(py);
    for (name, column) in chunk.columns {
        columns.set_item(name, array(py, column)?)?;
    }
    Ok((chunk.name, columns))
}

fn array(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    Ok(match column {
        Column::Category(codes, labels) => {
            (codes.into_pyarray(py), labels.to_vec()).into_pyobject(py)?.into_any()
        }
        Column::Name(codes, names) => (codes.into_pyarray(py), names).into_pyobject(py)?.into_any(),
        Column::Node(values) | Column::U32(values) => values.into_pyarray(py).into_any(),
        Column::U64(values) => values.into_pyarray(py).into_any(),
        Column::I64(values) => values.into_pyarray(py).into_any(),
        Column::F64(values) => values.into_pyarray(py).into_any(),
    })
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::classes::ClassError;
    #[pymodule_export]
    use super::event::{Event, RoundTrip};
    #[pymodule_export]
    use super::{BadCheckpoint, InvalidScenario, RunMonitor, RunOutput};
    #[pymodule_export]
    use super::{batches, check_checkpoint, quantity, resolve, schema, seconds};
    #[pymodule_export]
    use super::{simulate, simulate_kept, simulate_several};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
