//! A panic of the engine is its fault, and becomes an error that says so; nothing of it is printed
//! meanwhile.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};

use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

create_exception!(
    burstlab._core,
    EngineFault,
    PyRuntimeError,
    "The engine has failed, by a fault of its own; args are (what, where)."
);

thread_local! {
    /// Whether the work of this thread is guarded.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// Where the last guarded panic was.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The failure, and its place in the sources.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) what: String,
    pub(crate) place: String,
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        EngineFault::new_err((fault.what, fault.place))
    }
}

/// Keeps panics of guarded work, and lets all others be printed as before.
pub(crate) fn install() {
    let usual = take_hook();
    set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        if !GUARDED.get() {
            usual(panic);
            return;
        }
        let place = panic.location().map(|at| format!("{}:{}", at.file(), at.line()));
        PLACE.set(place.unwrap_or_default());
    }));
}

/// Does some work; returns its fault where it panics.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    let before = GUARDED.replace(true);
    // Work that is left half done is not used again, or finished under another guard.
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.map_err(|panic| Fault { what: words(&*panic), place: PLACE.take() })
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without words".to_string())
}
