//! The state of a stopped run is freed later. Millions of bursts are freed one by one, which takes
//! a second, while somebody waits for the end. Mostly that is the end of the process, which need
//! not free anything.

use std::ops::{Deref, DerefMut};
use std::thread::{sleep, spawn};
use std::time::Duration;

use burstlab_sim::Monitor;

/// After so long nobody waits any more. In that time a command that was stopped has ended.
const LATER: Duration = Duration::from_secs(2);

/// The state of a run. Where the run is cancelled it is not dropped at once, but later, by a thread
/// of its own.
pub(crate) struct Left<T: Send + 'static> {
    value: Option<T>,
    watch: Monitor,
}

impl<T: Send + 'static> Left<T> {
    pub(crate) fn new(value: T, watch: &Monitor) -> Self {
        Self { value: Some(value), watch: watch.clone() }
    }
}

impl<T: Send + 'static> Deref for Left<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is there until it is dropped")
    }
}

impl<T: Send + 'static> DerefMut for Left<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is there until it is dropped")
    }
}

impl<T: Send + 'static> Drop for Left<T> {
    fn drop(&mut self) {
        let value = self.value.take();
        if !self.watch.goes_on() {
            #[expect(clippy::disallowed_methods, reason = "it is the time of a user who waits")]
            spawn(move || {
                sleep(LATER);
                drop(value);
            });
        }
    }
}
