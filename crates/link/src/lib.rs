//! The network outside the optics: wired links with their queues, and the processes that decide
//! which units (packets or bursts) are lost, and which are marked. No optics, no TCP, no event
//! queue.

mod ack_pacer;
mod loss;
mod marking;
mod spells;
mod wire;
pub mod wlan;

pub use ack_pacer::{AckPacer, AckSpacing, SpacingRule};
pub use loss::{GilbertElliott, LossProcess};
pub use marking::{Marker, Marking, MarkingRule, Red};
pub use spells::{Lengths, Spells};
pub use wire::{Room, Wire};
