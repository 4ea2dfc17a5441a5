//! The extension module `burstlab._core`: conversions, and nothing else. Scenarios come in as JSON
//! text, numbers go out as JSON text, tables as numpy arrays that take over Rust's memory.

mod classes;
mod endpoint;
mod event;
mod guard;
mod left;
mod live;
mod monitor;
mod output;
mod parting;
mod refusals;
mod replay;
mod runs;
mod scenarios;
mod stacks;

use pyo3::pymodule;

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
    use super::monitor::RunMonitor;
    #[pymodule_export]
    use super::output::RunOutput;
    #[pymodule_export]
    use super::parting::{AbsentBurst, RunBranches, RunPrices, part};
    #[pymodule_export]
    use super::refusals::{BadCheckpoint, Cancelled, InvalidScenario};
    #[pymodule_export]
    use super::replay::replay;
    #[pymodule_export]
    use super::runs::{check_checkpoint, shape, simulate, simulate_kept, simulate_several};
    #[pymodule_export]
    use super::scenarios::{ReadScenario, batches, needs, quantity, resolve, seconds, warnings};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::guard::install();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
