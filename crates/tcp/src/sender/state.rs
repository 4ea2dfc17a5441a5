//! The states of a sender, and the reasons of its window.

use crate::linux::Stage;

/// The state of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The window is below the slow-start threshold.
    SlowStart,
    /// The window is at or above the threshold.
    CongestionAvoidance,
    /// Losses found by duplicate ACKs are being repaired.
    Recovery,
    /// Of variant `"linux"`: something was reported out of order, or was sent again.
    Disorder,
    /// The window shrinks for a mark.
    Cwr,
    /// A time-out is being repaired.
    Loss,
}

impl State {
    /// That of a Linux sender in a stage.
    pub(super) fn of(stage: Stage, in_slow_start: bool) -> Self {
        match stage {
            Stage::Open if in_slow_start => Self::SlowStart,
            Stage::Open => Self::CongestionAvoidance,
            Stage::Disorder => Self::Disorder,
            Stage::Cwr => Self::Cwr,
            Stage::Recovery => Self::Recovery,
            Stage::Loss => Self::Loss,
        }
    }
}

/// Reductions of the window so far, and what the last one left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reductions {
    /// All: losses found before the time-out, time-outs, early repairs, marks.
    pub all: u64,
    /// Of these, those that a mark made.
    pub by_marks: u64,
    /// Of these, those that a detector excused. With the variant `"linux"` they cost nothing; the
    /// others halve the window, but do not begin again from one segment.
    pub excused: u64,
    /// Of these, those that were taken back, since what was lost was not.
    pub undone: u64,
}
