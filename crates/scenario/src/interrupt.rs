//! Long work that nobody waits for any more ends soon.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish that work end soon. Its clones are the same wish, in whatever thread.
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
}
