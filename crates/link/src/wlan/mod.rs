//! An IEEE 802.11b cell: one base station and its stations on one channel, under the distributed
//! coordination function (IEEE Std 802.11-1999, clause 9, with the rates and frame times of
//! 802.11b-1999, clause 18).

mod air;
mod cell;
mod counts;
mod shadowing;
mod station;
mod timing;

pub use air::{Paths, Reach};
pub use cell::{Cell, Draw, Drawn, Outcome, Reason};
pub use counts::Counts;
pub use shadowing::Shadowing;
pub use timing::{Preamble, Rules, Speed};
