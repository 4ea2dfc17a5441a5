//! The extension module `burstlab._core`: conversions, and nothing else. Scenarios come in as JSON
//! text, numbers go out as JSON text, tables as numpy arrays that take over Rust's memory.

mod classes;
mod endpoint;
mod event;
mod guard;
mod left;
mod live;
mod parting;
mod replay;
mod stacks;

use std::sync::Arc;

use burstlab_sim::scenario::{self, Resolved, Scenario, ScenarioError, schema_json};
use burstlab_sim::{
    CheckpointError, Column, Monitor, Needs, Piece, Simulation, Summary, Table, Trace, sequence,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use self::classes::ClassFault;
use self::guard::{Fault, guarded};
use self::left::Left;
use self::live::PyDevices;

create_exception!(
    burstlab._core,
    InvalidScenario,
    PyValueError,
    "A mistake in a scenario; args are (path, value, problem, fix)."
);

fn refuse(error: ScenarioError) -> PyErr {
    InvalidScenario::new_err(error.into_parts())
}

create_exception!(
    burstlab._core,
    Cancelled,
    PyException,
    "A run was cancelled before it began, or while its scenario was resolved."
);

create_exception!(
    burstlab._core,
    BadCheckpoint,
    PyValueError,
    "A checkpoint is not of this run, or of none; args are (problem, fix)."
);

fn refuse_checkpoint(error: CheckpointError) -> PyErr {
    BadCheckpoint::new_err((error.problem, error.fix))
}

/// The resolved scenario of a text. With a monitor it is that of a run: what needs more memory than
/// the monitor allows is refused, and so is a run that was cancelled.
fn resolved(scenario_json: &str, monitor: Option<&RunMonitor>) -> PyResult<Left<Resolved>> {
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
fn runnable(scenario_json: &str, monitor: Option<&RunMonitor>) -> PyResult<Left<Resolved>> {
    let resolved = resolved(scenario_json, monitor)?;
    live::refuse(&resolved).map_err(refuse)?;
    Ok(resolved)
}

fn alive(watch: &Monitor) -> PyResult<()> {
    if watch.goes_on() { Ok(()) } else { Err(Cancelled::new_err(())) }
}

fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The JSON schema of a scenario.
#[pyfunction]
fn schema() -> PyResult<String> {
    to_json(&schema_json())
}

/// Checks a scenario and fills in every default; other Python threads go on meanwhile.
#[pyfunction]
#[pyo3(signature = (scenario_json, monitor=None))]
fn resolve(py: Python<'_>, scenario_json: &str, monitor: Option<&RunMonitor>) -> PyResult<String> {
    let found = py.detach(|| resolved(scenario_json, monitor))?;
    to_json(&found.scenario)
}

/// Announces what a run needs: its memory in bytes, that of the numbers of all replications, what
/// is to be said of a long or a large run, and its events.
#[pyfunction]
#[pyo3(signature = (scenario_json, monitor=None))]
fn needs(
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

/// The summary of a run that ends before its first event: what there is to measure.
#[pyfunction]
fn shape(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    let monitor = Monitor::default();
    py.detach(|| {
        let mut resolved = runnable(scenario_json, None)?;
        let fault = Python::attach(|py| classes::prepare(py, &mut resolved, &monitor))?;
        let simulation = guarded(|| Simulation::new(&resolved, 0, 0, Trace::default()))?;
        let (summary, _) = guarded(|| simulation.finish())?;
        fault.map_or(Ok(()), |fault| fault.check())?;
        to_json(&summary)
    })
}

/// Runs one replication; other Python threads go on meanwhile. A sink takes the tables piece by
/// piece while the run goes on; without one, the output has them. Live hosts need devices.
#[pyfunction]
#[pyo3(signature = (scenario_json, seed, replication, trace, monitor, sink=None, devices=None))]
// These are the arguments of a function of Python, by name.
#[expect(clippy::too_many_arguments)]
fn simulate(
    py: Python<'_>,
    scenario_json: &str,
    seed: u64,
    replication: u64,
    trace: Vec<String>,
    monitor: &RunMonitor,
    sink: Option<Py<PyAny>>,
    devices: Option<Py<PyAny>>,
) -> PyResult<RunOutput> {
    let tables = traced(trace)?;
    py.detach(move || {
        let random = (seed, replication);
        let (simulation, fault, live) = begin(scenario_json, random, tables, monitor, devices)?;
        let output = to_its_end(simulation, &monitor.inner, sink.as_ref())?;
        live.map_or(Ok(()), |live| live.check())?;
        fault.map_or(Ok(()), |fault| fault.check())?;
        Ok(output)
    })
}

/// Which tables names stand for.
fn traced(names: Vec<String>) -> PyResult<Trace> {
    let mut tables = Trace::default();
    for name in names {
        if !tables.add(&name) {
            let known = Trace::NAMES.join(", ");
            let fix = format!("use some of {known}");
            return Err(InvalidScenario::new_err(("trace", name, "no such table", fix)));
        }
    }
    Ok(tables)
}

/// A run before its first event, what tells of a fault in its classes, and of one in its devices.
type Begun = (Left<Simulation>, Option<Arc<ClassFault>>, Option<Arc<PyDevices>>);

fn begin(
    scenario_json: &str,
    (seed, replication): (u64, u64),
    tables: Trace,
    monitor: &RunMonitor,
    devices: Option<Py<PyAny>>,
) -> PyResult<Begun> {
    let watch = &monitor.inner;
    let (mut resolved, live) = match devices {
        Some(devices) => {
            let mut resolved = resolved(scenario_json, Some(monitor))?;
            let prepare = |py: Python<'_>| PyDevices::prepare(py, &mut resolved, &devices, watch);
            let live = Python::attach(prepare)?;
            (resolved, Some(live))
        }
        None => (runnable(scenario_json, Some(monitor))?, None),
    };
    let fault = match resolved.needs_classes() {
        true => Python::attach(|py| classes::prepare(py, &mut resolved, watch))?,
        false => None,
    };
    let simulation = guarded(|| Simulation::new(&resolved, seed, replication, tables))?;
    let simulation = Left::new(simulation, watch);
    // One that was cancelled meanwhile is not whole.
    alive(watch)?;
    Ok((simulation, fault, live))
}

/// Runs to the end, or as far as the engine comes; hands the tables over to the sink, if there is
/// one.
fn to_its_end(
    mut simulation: Left<Simulation>,
    monitor: &Monitor,
    sink: Option<&Py<PyAny>>,
) -> PyResult<RunOutput> {
    let mut take = |piece: Piece| match sink {
        Some(sink) => Python::attach(|py| hand_over(py, sink, piece)),
        None => Ok(()),
    };
    let ended = guarded(|| match sink {
        Some(_) => simulation.advance_streaming(monitor, &mut take),
        None => {
            simulation.advance_to_end(monitor);
            Ok(())
        }
    });
    let fault = match ended {
        Ok(ended) => ended.map(|()| None)?,
        Err(fault) => Some(fault),
    };
    // Of a run that has failed, what it has recorded; where that fails too, what was handed over.
    let finished = guarded(|| simulation.conclude(monitor));
    let (summary, pieces) = match (finished, &fault) {
        (Ok(finished), _) => finished,
        (Err(_), Some(first)) => return Err(first.clone().into()),
        (Err(fault), None) => return Err(fault.into()),
    };
    let mut tables = Vec::new();
    for piece in pieces {
        match sink {
            Some(_) => take(piece)?,
            None => tables.push(piece.rows()),
        }
    }
    RunOutput::new(&summary, tables, monitor, fault)
}

/// Runs `count` replications from number `first` on, one after the other and without tables, and
/// returns their summaries as JSON texts. Other Python threads go on meanwhile.
#[pyfunction]
fn simulate_several(
    py: Python<'_>,
    scenario_json: &str,
    seed: u64,
    first: u64,
    count: u64,
    monitor: &RunMonitor,
) -> PyResult<Vec<String>> {
    let watch = &monitor.inner;
    py.detach(|| {
        let mut resolved = runnable(scenario_json, Some(monitor))?;
        let numbers = first..first.saturating_add(count);
        let one = |number| {
            let fault = match resolved.needs_classes() {
                true => Python::attach(|py| classes::prepare(py, &mut resolved, watch))?,
                false => None,
            };
            alive(watch)?;
            let summary = guarded(|| {
                let simulation = Simulation::new(&resolved, seed, number, Trace::default());
                let mut simulation = Left::new(simulation, watch);
                simulation.advance_to_end(watch);
                // Nobody asks for the numbers of one that was cancelled.
                watch.goes_on().then(|| simulation.conclude(watch).0)
            })?;
            fault.map_or(Ok(()), |fault| fault.check())?;
            watch.stuck().map_or(Ok(()), |stuck| Err(refuse(stuck)))?;
            summary.map_or_else(|| Err(Cancelled::new_err(())), |summary| to_json(&summary))
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
    let kept: Option<PyBackedBytes> = keeper.call_method0("kept")?.extract()?;
    let keeper = keeper.clone().unbind();
    let watch = &monitor.inner;
    py.detach(move || {
        let (mut simulation, fault) = match kept {
            Some(bytes) => {
                let resolved = runnable(scenario_json, Some(monitor))?;
                let resumed = guarded(|| Simulation::resume(&resolved, seed, replication, &bytes))?;
                let resumed = resumed.map(|simulation| Left::new(simulation, watch));
                alive(watch)?;
                (resumed.map_err(refuse_checkpoint)?, None)
            }
            None => {
                let random = (seed, replication);
                let begun = begin(scenario_json, random, Trace::default(), monitor, None)?;
                (begun.0, begun.1)
            }
        };
        guarded(|| {
            simulation.advance_kept(watch, |simulation| {
                let bytes = simulation.checkpoint().map_err(refuse_checkpoint)?;
                Python::attach(|py| {
                    keeper.call_method1(py, "keep", (PyBytes::new(py, &bytes),)).map(drop)
                })
            })
        })??;
        let (summary, pieces) = guarded(|| simulation.conclude(watch))?;
        let mut tables = Vec::new();
        for piece in pieces {
            match &sink {
                Some(sink) => Python::attach(|py| hand_over(py, sink, piece))?,
                None => tables.push(piece.rows()),
            }
        }
        fault.map_or(Ok(()), |fault| fault.check())?;
        RunOutput::new(&summary, tables, watch, None)
    })
}

/// Refuses a checkpoint that is not of this run.
#[pyfunction]
fn check_checkpoint(
    py: Python<'_>,
    scenario_json: &str,
    seed: u64,
    replication: u64,
    checkpoint: &[u8],
) -> PyResult<()> {
    let resolved = py.detach(|| resolved(scenario_json, None))?;
    guarded(|| Simulation::check(&resolved, seed, replication, checkpoint))?
        .map_err(refuse_checkpoint)
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
    max_memory: Option<u64>,
}

#[pymethods]
impl RunMonitor {
    /// With `max_memory`, a run that is bound to need more bytes is refused. With `fails_at`, the
    /// engine fails as by a fault of its own when it looks at the monitor for that time: a means to
    /// see what becomes of it. With `looked_at_each`, the engine looks at the monitor after so many
    /// events: a means to cut a run at any of them.
    #[new]
    #[pyo3(signature = (max_memory=None, fails_at=None, looked_at_each=None))]
    fn new(max_memory: Option<u64>, fails_at: Option<u64>, looked_at_each: Option<u32>) -> Self {
        let mut inner = fails_at.map_or_else(Monitor::default, Monitor::failing);
        if let Some(events) = looked_at_each {
            inner = inner.looked_at_each(events);
        }
        Self { inner, max_memory }
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
    /// Why the run could not go on, as (path, value, problem, fix).
    #[pyo3(get)]
    stuck: Option<(String, String, String, String)>,
    /// What failed in the engine, and where.
    #[pyo3(get)]
    fault: Option<(String, String)>,
    tables: Option<Vec<Table>>,
}

impl RunOutput {
    fn new(
        summary: &Summary,
        tables: Vec<Table>,
        monitor: &Monitor,
        fault: Option<Fault>,
    ) -> PyResult<Self> {
        Ok(Self {
            summary: to_json(summary)?,
            stuck: monitor.stuck().map(ScenarioError::into_parts),
            fault: fault.map(|fault| (fault.what, fault.place)),
            tables: Some(tables),
        })
    }
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
    use super::endpoint::LinuxSender;
    #[pymodule_export]
    use super::event::{Event, RoundTrip};
    #[pymodule_export]
    use super::guard::EngineFault;
    #[pymodule_export]
    use super::parting::{AbsentBurst, RunBranches, RunPrices, part};
    #[pymodule_export]
    use super::replay::replay;
    #[pymodule_export]
    use super::{BadCheckpoint, Cancelled, InvalidScenario, RunMonitor, RunOutput};
    #[pymodule_export]
    use super::{batches, check_checkpoint, needs, quantity, resolve, schema, seconds, shape};
    #[pymodule_export]
    use super::{simulate, simulate_kept, simulate_several};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::guard::install();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
