//! Scenarios, the world that runs them, and what is measured. The only place where TCP, optics,
//! links and the event queue meet.

mod measure;
mod run;
pub mod scenario;
pub mod topology;
pub mod traffic;
mod world;

pub use measure::{Column, Confusion, Counters, FlowSummary, Summary, Table, Trace};
pub use run::{Monitor, Output, Simulation};
