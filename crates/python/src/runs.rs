//! Runs of a scenario, one or several; other Python threads go on meanwhile.

use std::sync::Arc;

use burstlab_sim::{Monitor, Piece, Simulation, Trace};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::classes::{self, ClassFault};
use crate::guard::guarded;
use crate::left::Left;
use crate::live::PyDevices;
use crate::monitor::RunMonitor;
use crate::output::{RunOutput, hand_over, traced};
use crate::refusals::{Cancelled, alive, refuse, refuse_checkpoint, to_json};
use crate::scenarios::{Given, resolved, runnable};

/// The summary of a run that ends before its first event.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python come owned")]
pub(crate) fn shape(py: Python<'_>, scenario: Given) -> PyResult<String> {
    let monitor = Monitor::default();
    py.detach(|| {
        let mut resolved = runnable(&scenario, None)?;
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
#[pyo3(signature = (scenario, seed, replication, trace, monitor, sink=None, devices=None))]
// These are the arguments of a function of Python, by name.
#[expect(clippy::too_many_arguments)]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario: Given,
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
        let (simulation, fault, live) = begin(&scenario, random, tables, monitor, devices)?;
        let output = to_its_end(simulation, &monitor.inner, sink.as_ref())?;
        live.map_or(Ok(()), |live| live.check())?;
        fault.map_or(Ok(()), |fault| fault.check())?;
        Ok(output)
    })
}

/// A run before its first event, the reporter of faults in its classes, and that of its devices.
pub(crate) type Begun = (Left<Simulation>, Option<Arc<ClassFault>>, Option<Arc<PyDevices>>);

pub(crate) fn begin(
    scenario: &Given,
    (seed, replication): (u64, u64),
    tables: Trace,
    monitor: &RunMonitor,
    devices: Option<Py<PyAny>>,
) -> PyResult<Begun> {
    let watch = &monitor.inner;
    let (mut resolved, live) = match devices {
        Some(devices) => {
            let mut resolved = resolved(scenario, Some(monitor))?;
            let prepare = |py: Python<'_>| PyDevices::prepare(py, &mut resolved, &devices, watch);
            let live = Python::attach(prepare)?;
            (resolved, Some(live))
        }
        None => (runnable(scenario, Some(monitor))?, None),
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
pub(crate) fn to_its_end(
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
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python come owned")]
pub(crate) fn simulate_several(
    py: Python<'_>,
    scenario: Given,
    seed: u64,
    first: u64,
    count: u64,
    monitor: &RunMonitor,
) -> PyResult<Vec<String>> {
    let watch = &monitor.inner;
    py.detach(|| {
        let mut resolved = runnable(&scenario, Some(monitor))?;
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
#[pyo3(signature = (scenario, seed, replication, monitor, keeper, sink=None))]
pub(crate) fn simulate_kept(
    py: Python<'_>,
    scenario: Given,
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
                let resolved = runnable(&scenario, Some(monitor))?;
                let resumed = guarded(|| Simulation::resume(&resolved, seed, replication, &bytes))?;
                let resumed = resumed.map(|simulation| Left::new(simulation, watch));
                alive(watch)?;
                (resumed.map_err(refuse_checkpoint)?, None)
            }
            None => {
                let random = (seed, replication);
                let begun = begin(&scenario, random, Trace::default(), monitor, None)?;
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
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python come owned")]
pub(crate) fn check_checkpoint(
    py: Python<'_>,
    scenario: Given,
    seed: u64,
    replication: u64,
    checkpoint: &[u8],
) -> PyResult<()> {
    let resolved = py.detach(|| resolved(&scenario, None))?;
    guarded(|| Simulation::check(&resolved, seed, replication, checkpoint))?
        .map_err(refuse_checkpoint)
}
