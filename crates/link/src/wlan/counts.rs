//! The counts of a node of a cell.

use serde::{Deserialize, Serialize};

/// The counts of a node as a sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Packets handed to it, those included that found its queue full.
    pub offered: u64,
    /// Packets that reached the other side.
    pub delivered: u64,
    /// Packets that were tried too often and had not reached it.
    pub retry_dropped: u64,
    /// Packets that the residual loss picked.
    pub residual_lost: u64,
    /// Packets that found the queue full.
    pub queue_dropped: u64,
    /// Packets that it gave up, those included that had reached the other side.
    pub given_up: u64,
    /// Data frames sent, RTS sent, and answers sent: CTS and ACKs.
    pub data_frames: u64,
    /// RTS sent.
    pub rts_frames: u64,
    /// CTS and ACKs sent.
    pub answers: u64,
    /// Of all these, frames that met others where they were to go.
    pub collisions: u64,
    /// Of all these, frames that were not received, without a collision.
    pub errors: u64,
    /// Data frames that the other side had already.
    pub duplicates: u64,
    /// Time that delivered packets waited behind others, and then until they were delivered, in ps.
    pub waited_ps: u128,
    /// Time from the head of the queue to the other side, of delivered packets, in ps.
    pub served_ps: u128,
}

impl Counts {
    /// Adds those of another node.
    pub fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.delivered += other.delivered;
        self.retry_dropped += other.retry_dropped;
        self.residual_lost += other.residual_lost;
        self.queue_dropped += other.queue_dropped;
        self.given_up += other.given_up;
        self.data_frames += other.data_frames;
        self.rts_frames += other.rts_frames;
        self.answers += other.answers;
        self.collisions += other.collisions;
        self.errors += other.errors;
        self.duplicates += other.duplicates;
        self.waited_ps += other.waited_ps;
        self.served_ps += other.served_ps;
    }
}
