//! Work ahead of the clock: how far it may go (`policy`), and how it is done.
//!
//! Ahead of the clock, a host takes packets and a burst lands before the event loop reaches their
//! time. Each keeps its own time, so all results but the counts of events are those of an
//! event-driven run. `runs` gives packets to hosts; `receiving` and `hearing` are the two kinds of
//! host. `last_burst` goes back where a run ends with a burst.

mod hearing;
mod host;
mod last_burst;
mod meeting;
mod obstacles;
pub(in crate::world) mod policy;
mod receiving;
mod runs;
pub(in crate::world) mod traced;

pub(super) use self::last_burst::LastBurst;
