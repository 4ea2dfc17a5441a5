//! The state of the segments that were sent again since a reduction, by which that may be taken
//! back.

use serde::{Deserialize, Serialize};

/// The state of the segments that were sent again since a reduction.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct UndoMarks {
    /// The segments acknowledged when a reduction began that may be taken back.
    pub(super) marker: Option<u64>,
    /// Segments sent again since then that have not arrived twice; `None`: none were.
    pub(super) left: Option<u32>,
    /// When the first of them was, in ms.
    pub(super) again_since: Option<u64>,
}

impl UndoMarks {
    /// The segments acknowledged when a reduction began that may be taken back.
    pub(super) fn marker(&self) -> Option<u64> {
        self.marker
    }

    /// It is not.
    pub(super) fn give_up(&mut self) {
        self.marker = None;
    }

    /// A segment is sent again, in millisecond `ms`.
    pub(super) fn count(&mut self, ms: u64) {
        self.note_repair(ms);
        self.left = Some(self.left.unwrap_or(0) + 1);
    }

    pub(super) fn note_repair(&mut self, ms: u64) {
        self.again_since.get_or_insert(ms);
    }

    /// Nothing that was sent again is outstanding; returns since when something was.
    pub(super) fn forget_repairs(&mut self) -> Option<u64> {
        self.again_since.take()
    }

    /// Segments that were sent again have arrived twice: fewer are left to be.
    pub(super) fn less(&mut self, segments: u32) {
        self.left = self.left.map(|left| left.saturating_sub(segments));
    }

    /// Whether all that were sent again have arrived twice.
    pub(super) fn is_by_duplicates(&self) -> bool {
        self.marker.is_some() && self.left == Some(0)
    }
}
