//! The optical network: how packets become bursts, how bursts cross a path of fibres, and what a
//! node of a mesh needs for them: ports, delay lines, headers; and the parts of a slotted network
//! of optical packets. Values that are told the time; no clock, no event queue, no TCP.

mod assembly;
pub mod delay_lines;
mod fibre;
mod path;
pub mod scheduling;
pub mod signalling;
pub mod slotted;

pub use assembly::{Assembler, AssemblyPolicy, ClosedBurst};
pub use fibre::{Fibre, Fibres};
pub use path::{Departure, Forwarding, OpticalPath};
