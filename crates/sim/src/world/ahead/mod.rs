//! What is done ahead of the clock: how far that may go, and what a run needs for it.

mod hearing;
mod host;
mod last_burst;
pub(in crate::world) mod policy;
mod receiving;
mod runs;

pub(super) use self::last_burst::LastBurst;
