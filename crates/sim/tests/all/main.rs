//! What is tested of this crate from outside.

mod ahead;
mod ahead_linux;
mod batches;
mod checkpoint;
mod cut_whole;
mod drain;
mod foreign;
mod goodput;
mod hostile;
mod hosts;
mod injection;
mod kinds;
mod ledger;
mod load;
mod mesh;
mod mesh_timing;
mod ops;
mod runs;
mod stack;
mod steady;
mod surgery;
mod surgery_failures;
mod ties;
mod two_way;
mod wlan;
mod world;
