//! Mistakes as Python sees them: an exception with its parts.

use burstlab_sim::scenario::ScenarioError;
use burstlab_sim::{CheckpointError, Monitor};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    burstlab._core,
    InvalidScenario,
    PyValueError,
    "A mistake in a scenario; args are (path, value, problem, fix)."
);

pub(crate) fn refuse(error: ScenarioError) -> PyErr {
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

pub(crate) fn refuse_checkpoint(error: CheckpointError) -> PyErr {
    BadCheckpoint::new_err((error.problem, error.fix))
}

pub(crate) fn alive(watch: &Monitor) -> PyResult<()> {
    if watch.goes_on() { Ok(()) } else { Err(Cancelled::new_err(())) }
}

pub(crate) fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
