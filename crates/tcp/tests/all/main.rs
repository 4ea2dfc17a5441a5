//! Tests of this crate from outside.

mod any_acks;
mod any_arrivals;
mod bottleneck;
mod duplex;
mod fast_path;
mod fast_path_linux;
mod fin;
mod foreign;
mod law_alone;
mod laws;
mod linux;
mod linux_edges;
mod linux_face;
mod linux_foreign;
mod linux_parts;
mod oracle;
mod path;
mod persist;
mod rack;
mod random;
mod receiver_linux;
mod replays;
mod scripts;
mod small_writes;
mod transfer;
mod vegas;
