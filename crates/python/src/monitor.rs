//! A run, as another thread sees it.

use burstlab_sim::Monitor;
use pyo3::prelude::*;

/// A view of a run from another thread.
#[pyclass(name = "Monitor", frozen, module = "burstlab._core")]
pub(crate) struct RunMonitor {
    pub(crate) inner: Monitor,
    pub(crate) max_memory: Option<u64>,
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

    /// Asks the run to end soon; its results so far are kept.
    fn cancel(&self) {
        self.inner.cancel();
    }

    /// Asks a kept run for a checkpoint soon.
    fn keep(&self) {
        self.inner.keep();
    }
}
