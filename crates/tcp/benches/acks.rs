//! Time per ACK.

fn main() {}
