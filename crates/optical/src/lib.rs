//! The optical network: how packets become bursts, how bursts cross a path of fibres, and how the
//! output of a node is shared between them. Values that are told the time; no clock, no event
//! queue, no TCP.

mod assembly;
mod path;
pub mod scheduling;

pub use assembly::{Assembler, AssemblyPolicy, ClosedBurst};
pub use path::{Departure, Forwarding, OpticalPath};
