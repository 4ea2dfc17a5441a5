//! Where a receiver stands as a segment comes.

use crate::receive::arrived::Arrived;

/// Where the receiver stood as a segment came, and stands now.
#[derive(Clone, Copy, Debug)]
pub(in crate::receive) struct Place {
    /// The segment it waited for, and waits for.
    pub(in crate::receive) before: u64,
    pub(in crate::receive) next: u64,
    /// Whether segments above were there, and are.
    pub(in crate::receive) had_early: bool,
    pub(in crate::receive) has_early: bool,
    /// Segments that were there above a hole.
    pub(in crate::receive) early: u64,
    /// Whether the segment had arrived before.
    pub(in crate::receive) twice: bool,
    /// Whether it lies beyond the window.
    pub(in crate::receive) beyond: bool,
}

impl Place {
    /// Before segment `seq` is put in order.
    pub(in crate::receive) fn of(arrived: &Arrived, seq: u64) -> Self {
        let (next, has_early) = (arrived.next, arrived.has_early());
        Self {
            before: next,
            next,
            had_early: has_early,
            has_early,
            early: 0,
            twice: arrived.holds(seq),
            beyond: arrived.is_beyond(seq),
        }
    }
}
