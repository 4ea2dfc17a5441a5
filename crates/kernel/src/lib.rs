//! The event kernel: a queue in total order, lanes of things that arrive in order, and random
//! numbers that are looked up, not drawn. It knows no packet, no burst and no TCP.

mod lane;
mod queue;
mod random;

pub use lane::Lane;
pub use queue::{EventQueue, Rank, Ticket};
pub use random::{RandomSource, Stream, named, philox_4x32_10};
