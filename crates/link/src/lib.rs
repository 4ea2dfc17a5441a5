//! What a packet crosses outside the optics: wired links with their queues, and the processes that
//! decide which units (packets or bursts) are lost. No optics, no TCP, no event queue.

mod loss;
mod wire;
pub mod wlan;

pub use loss::{GilbertElliott, LossProcess};
pub use wire::Wire;
