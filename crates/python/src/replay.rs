//! Recorded connections, played again to a sender.

use burstlab_tcp::{ReplayCase, replay as play};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::guard::guarded;

/// Plays the rows of a recorded connection of Linux to a sender; returns how that went, as JSON.
/// Other Python threads go on meanwhile.
#[pyfunction]
pub(crate) fn replay(py: Python<'_>, case_json: &str, trace: &str) -> PyResult<String> {
    let wrong = |error: String| PyValueError::new_err(error);
    py.detach(|| {
        let case: ReplayCase =
            serde_json::from_str(case_json).map_err(|error| wrong(error.to_string()))?;
        let outcome = guarded(|| play(&case, trace))?.map_err(wrong)?;
        serde_json::to_string(&outcome).map_err(|error| wrong(error.to_string()))
    })
}
