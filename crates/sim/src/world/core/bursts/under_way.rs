//! What is under way in a mesh, counted where it is. There may be millions of bursts, and whoever
//! stops a run waits for this: all that is counted of them is counted in one go.

use burstlab_units::Time;

use super::Mesh;
use super::batch_arrivals::Load;
use super::burst::{BurstKind, Payload};
use super::ways::Way;

/// What is under way.
#[derive(Clone, Debug, Default)]
pub(in crate::world) struct UnderWay {
    /// At this instant.
    pub(in crate::world) at: Time,
    /// Bursts by kind, and what they carry in bytes.
    pub(in crate::world) bursts: [u64; 3],
    pub(in crate::world) carried: [u64; 3],
    /// Bursts of a way that were closed ahead of the clock, and are counted as sent, though they
    /// would be closed after `now`: where a run ends earlier than its parts knew. And the flows of
    /// their data, in order, one for each burst.
    pub(in crate::world) early: [u64; 3],
    pub(in crate::world) early_of: Vec<u32>,
    /// Data packets of flows, ACKs, and packets of cross-traffic that are known to come, wait for
    /// assembly, or are in bursts.
    pub(in crate::world) packets: [u64; 3],
    /// What has come of batches, and what of it is in queues and in bursts.
    pub(in crate::world) arrived: Load,
    pub(in crate::world) batches: Load,
}

impl UnderWay {
    fn add(&mut self, payload: &Payload) {
        for train in &payload.data {
            let packet = &train.first;
            if packet.is_of_batch() {
                self.batches += Load::of(packet);
            } else {
                self.packets[if packet.is_cross() { 2 } else { 0 }] += u64::from(train.count);
            }
        }
        self.packets[1] += payload.acks.iter().map(|train| u64::from(train.count)).sum::<u64>();
        self.batches += payload.load;
    }
}

impl Mesh {
    /// What is under way at `now`.
    pub(in crate::world) fn under_way(&self, now: Time) -> UnderWay {
        let mut found = UnderWay { at: now, ..UnderWay::default() };
        for queue in &self.queues {
            if let Some(arrivals) = &queue.arrivals {
                let waiting = arrivals.waiting(now);
                found.arrived += arrivals.taken + waiting;
                found.batches += waiting;
            }
            found.add(&queue.payload);
            for train in queue.announced.data() {
                let kind = if train.first.is_cross() { 2 } else { 0 };
                found.packets[kind] += u64::from(train.count);
            }
            found.packets[1] += queue.announced.acks();
        }
        for (packet, closed) in self.ways.iter().flat_map(Way::packets) {
            let kind = BurstKind::of(packet) as usize;
            found.packets[kind] += 1;
            if closed.is_some_and(|closed| closed > now) {
                found.early[kind] += 1;
                found.early_of.extend((kind == BurstKind::Data as usize).then(|| packet.flow()));
            } else if closed.is_some() {
                found.bursts[kind] += 1;
                found.carried[kind] += packet.bytes().get();
            }
        }
        for burst in self.bursts.live() {
            found.add(&burst.payload);
            if burst.closed > now && !self.rules.control {
                found.early[burst.kind as usize] += 1;
                found.early_of.extend(flows(&burst.payload));
                continue;
            }
            found.bursts[burst.kind as usize] += 1;
            found.carried[burst.kind as usize] += burst.load;
        }
        found.early_of.sort_unstable();
        found
    }
}

/// The flows that have data in a burst, each once.
fn flows(payload: &Payload) -> Vec<u32> {
    let own = payload.data.iter().map(|train| &train.first).filter(|first| !first.is_cross());
    let mut all: Vec<u32> = own.map(|first| first.flow).collect();
    all.sort_unstable();
    all.dedup();
    all
}
