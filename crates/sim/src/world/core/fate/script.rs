//! Scripted losses: which burst or packet of a run is to be lost.

use serde::{Deserialize, Serialize};

use crate::scenario::LossScript;

use crate::world::packet::{Owner, Parcel};

/// The parts of a loss script that name packets, and whether each part came true.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Script {
    flow: u32,
    /// Segments whose first carrier is lost, rising; with whether it was.
    carrying: Vec<(u64, bool)>,
    /// Segment, transmission; with whether it was lost.
    packets: Vec<((u64, u32), bool)>,
}

impl Script {
    pub(super) fn new(named: &LossScript) -> Self {
        Self {
            flow: named.flow,
            carrying: named.carrying.iter().map(|&one| (one, false)).collect(),
            packets: named.packets.iter().map(|&one| (one, false)).collect(),
        }
    }

    /// Whether this very packet is lost as it reaches the ingress.
    #[inline]
    pub(super) fn kills(&mut self, packet: &impl Parcel) -> bool {
        !self.packets.is_empty()
            && packet.owner() == Owner::flow(self.flow)
            && packet.segment().is_some_and(|segment| met(&mut self.packets, &segment))
    }

    /// Whether nothing is named.
    pub(super) fn is_empty(&self) -> bool {
        self.carrying.is_empty() && self.packets.is_empty()
    }

    /// Whether the burst of these packets is lost for what it carries.
    #[inline]
    pub(super) fn schedules<'a, P: Parcel + 'a>(
        &mut self,
        packets: impl Iterator<Item = &'a P>,
    ) -> bool {
        if self.carrying.is_empty() {
            return false;
        }
        let mut scheduled_loss = false;
        for packet in packets.filter(|packet| packet.owner() == Owner::flow(self.flow)) {
            if let Some((seq, 1)) = packet.segment() {
                scheduled_loss |= met(&mut self.carrying, &seq);
            }
        }
        scheduled_loss
    }

    /// Scripted losses that never came.
    pub(super) fn unmet(&self) -> impl Iterator<Item = String> {
        let carrying = self.carrying.iter().filter(|entry| !entry.1);
        let packets = self.packets.iter().filter(|entry| !entry.1);
        let carrying = carrying.map(|(seq, _)| format!("carrying: packet {seq} was never sent"));
        let packets = packets.map(|((seq, nth), _)| {
            format!("packets: transmission {nth} of packet {seq} never reached the ingress")
        });
        carrying.chain(packets)
    }
}

fn met<K: Ord>(entries: &mut [(K, bool)], key: &K) -> bool {
    let place = entries.binary_search_by(|entry| entry.0.cmp(key));
    place.is_ok_and(|index| {
        entries[index].1 = true;
        true
    })
}
