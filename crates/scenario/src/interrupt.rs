//! Long work that nobody waits for any more ends soon.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Parts of a world that are made between two looks.
const PARTS: usize = 256;

/// A wish that work end soon. All its clones, in any thread, share one flag.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks the work to end soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether nobody has asked the work to end.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    /// Whether work in many small parts goes on before part `index`: asked at each, it looks at
    /// every 256th, so that the look costs nothing and a stop is heard within microseconds.
    #[must_use]
    pub fn at(&self, index: usize) -> bool {
        !index.is_multiple_of(PARTS) || self.goes_on()
    }
}
