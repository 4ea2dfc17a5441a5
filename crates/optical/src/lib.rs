//! The optical network: how packets become bursts, and how bursts cross a path of fibres. Values
//! that are told the time; no clock, no event queue, no TCP.

mod assembly;
mod path;

pub use assembly::{Assembler, AssemblyPolicy, ClosedBurst};
pub use path::{Departure, Forwarding, OpticalPath};
