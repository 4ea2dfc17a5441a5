//! Quantities of the simulator: instants, spans, sizes and rates, each an exact integer of its own
//! type, so that a bare number never crosses an interface.
//!
//! * [`Time`] is an instant, in picoseconds since the start of the run (`u64`: 213 days).
//! * [`Span`] is a length of time, in picoseconds.
//! * [`Bytes`] is a size; [`Rate`] is a speed in bit/s.
//! * [`Serializer`] turns sizes into spans at a rate, carrying the remainder from one packet to the
//!   next, so that a long run of packets takes exactly as long as its bits do.
//!
//! Every quantity reads and writes itself as a string with a unit (`"5 ms"`, `"10 Gb/s"`,
//! `"1 KB"`): 1 KB = 1000 B, 1 KiB = 1024 B, `b` is a bit and `B` a byte.

mod parse;
mod quantity;
mod rate;
mod time;

pub use parse::UnitError;
pub use quantity::{Bytes, Probability};
pub use rate::{Evenly, Rate, Serializer};
pub use time::{Span, Time};
