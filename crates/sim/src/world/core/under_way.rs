//! The packets and bursts in flight in a mesh, counted where they are. There may be millions of
//! bursts, and whoever stops a run waits for this: all that is counted of them is counted in one
//! pass.

use burstlab_units::Time;

use super::burst::Burst;
use super::payload::{BurstKind, Load, Payload};
use crate::world::packet::{DataPacket, Packet};
use crate::world::train::Train;

/// The packets and bursts in flight.
#[derive(Clone, Debug, Default)]
pub(in crate::world) struct UnderWay {
    /// At this instant.
    pub(in crate::world) at: Time,
    /// Bursts by kind, and what they carry in bytes.
    pub(in crate::world) bursts: [u64; 3],
    pub(in crate::world) carried: [u64; 3],
    /// Bursts of an exclusive path that were closed ahead of the clock, and are counted as sent,
    /// though they would be closed after `now`: where a run ends earlier than its parts knew. And
    /// the flows of their data, in order, one for each burst.
    pub(in crate::world) early: [u64; 3],
    pub(in crate::world) early_of: Vec<u32>,
    /// Data packets of flows, ACKs, and packets of cross-traffic that are known to come, wait for
    /// assembly, or are in bursts.
    pub(in crate::world) packets: [u64; 3],
    /// Packets of batches that have come, and those of them in queues and in bursts.
    pub(in crate::world) arrived: Load,
    pub(in crate::world) batches: Load,
}

impl UnderWay {
    pub(super) fn new(at: Time) -> Self {
        Self { at, ..Self::default() }
    }

    /// Counts the contents of a queue or a burst.
    pub(super) fn holds(&mut self, payload: &Payload) {
        payload.data.iter().for_each(|train| self.data(train));
        self.acks(payload.acks.iter().map(|train| u64::from(train.count)).sum());
        self.batches += payload.load;
    }

    /// Data packets, which may be of batches that are kept packet by packet.
    pub(super) fn data(&mut self, train: &Train<DataPacket>) {
        let packet = &train.first;
        if packet.is_of_batch() {
            self.batches += Load::of(packet);
        } else {
            self.packets[if packet.is_cross() { 2 } else { 0 }] += u64::from(train.count);
        }
    }

    pub(super) fn acks(&mut self, acks: u64) {
        self.packets[1] += acks;
    }

    /// Packets of batches that have come by now and not entered their queue, and those that had
    /// entered.
    pub(super) fn fed(&mut self, waiting: Load, entered: Load) {
        self.arrived += entered + waiting;
        self.batches += waiting;
    }

    /// A burst; `ahead`: it may have been closed ahead of the clock.
    pub(super) fn burst(&mut self, burst: &Burst, ahead: bool) {
        self.holds(&burst.payload);
        let kind = burst.kind as usize;
        if burst.closed > self.at && ahead {
            self.early[kind] += 1;
            self.early_of.extend(flows(&burst.payload));
        } else {
            self.bursts[kind] += 1;
            self.carried[kind] += burst.load;
        }
    }

    /// A background burst of so many bytes.
    pub(super) fn background(&mut self, bytes: u64) {
        self.bursts[BurstKind::Background as usize] += 1;
        self.carried[BurstKind::Background as usize] += bytes;
    }

    /// A packet that crosses by itself; of one that is a burst, when that was closed.
    pub(super) fn alone(&mut self, packet: &Packet, closed: Option<Time>) {
        let kind = BurstKind::of(packet) as usize;
        self.packets[kind] += 1;
        if closed.is_some_and(|closed| closed > self.at) {
            self.early[kind] += 1;
            self.early_of.extend((kind == BurstKind::Data as usize).then(|| packet.flow()));
        } else if closed.is_some() {
            self.bursts[kind] += 1;
            self.carried[kind] += packet.bytes().get();
        }
    }
}

/// The flows that have data in a burst, each once.
fn flows(payload: &Payload) -> Vec<u32> {
    let own = payload.data.iter().map(|train| &train.first).filter(|first| !first.is_cross());
    let mut all: Vec<u32> = own.map(|first| first.flow()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
