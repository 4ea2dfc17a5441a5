//! The number of reductions of the window, and their causes.

use serde::{Deserialize, Serialize};

use crate::linux::path::Earlier;

/// Why the window was reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ReducedBy {
    /// A repair began, or a probe made one.
    Loss,
    Timeout,
    Mark,
}

/// Reductions so far: all, those by marks, and those that were taken back; the last one; and what
/// was before it, with the time-outs since progress, where it may be excused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReductionLog {
    all: u64,
    by_marks: u64,
    pub(super) undone: u64,
    pub(super) last: Option<ReducedBy>,
    pub(super) before: Option<Box<(Earlier, u32)>>,
    /// Whether the losses that are being repaired are excused.
    pub(super) excused: bool,
}

impl ReductionLog {
    pub(super) fn note(&mut self, by: ReducedBy) {
        self.all += 1;
        self.by_marks += u64::from(by == ReducedBy::Mark);
        self.last = Some(by);
    }

    /// All, those by marks, and those that were taken back.
    pub(crate) fn counts(&self) -> [u64; 3] {
        [self.all, self.by_marks, self.undone]
    }

    /// Whether the losses that are being repaired are excused.
    pub(crate) fn excuses(&self) -> bool {
        self.excused
    }

    /// Whether the last one was for a time-out.
    pub(crate) fn last_is_timeout(&self) -> bool {
        self.last == Some(ReducedBy::Timeout)
    }
}
