//! What is done ahead of the clock: how far that may go, and what a run needs for it.

mod last_burst;
pub(in crate::world) mod policy;

pub(super) use self::last_burst::LastBurst;
