//! The optical network: how packets become bursts, how bursts cross a path of fibres, and what a
//! node of a mesh needs for them: ports, delay lines, headers. Values that are told the time; no
//! clock, no event queue, no TCP.

mod assembly;
pub mod delay_lines;
mod path;
pub mod scheduling;
pub mod signalling;

pub use assembly::{Assembler, AssemblyPolicy, ClosedBurst};
pub use path::{Departure, Forwarding, OpticalPath};
