//! The optical network. It has the assembly of packets into bursts, the path of fibres that bursts
//! cross, and the parts of a mesh node: ports, delay lines, converters, headers.
//! It also has the parts of a slotted network of optical packets. All are values that take the
//! time; no clock, no event queue, no TCP.

mod assembly;
pub mod converters;
pub mod delay_lines;
mod fibre;
mod path;
pub mod scheduling;
pub mod signalling;
pub mod slotted;

pub use assembly::{Assembler, AssemblyPolicy, ClosedBurst};
pub use fibre::{Fibre, Fibres};
pub use path::{Departure, Forwarding, OpticalPath};
