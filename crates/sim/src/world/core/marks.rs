//! Queues of the network that mark packets.

use burstlab_kernel::{RandomSource, Stream};
use burstlab_link::Marker;
use burstlab_units::{Bytes, Rate, Span, Time};
use serde::{Deserialize, Serialize};

use super::effects::{Effect, Effects, Place};
use crate::scenario::Resolved;
use crate::world::packet::DataPacket;

/// The queues that mark, each with what it has seen; none if there are none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Markers {
    each: Vec<Marker>,
    draws: Stream,
    drawn: u64,
}

/// Bytes that a line of this `rate` sends in a time, rounded down.
pub(super) fn waiting(rate: Rate, wait: Span) -> Bytes {
    let bits = u128::from(wait.as_ps()) * u128::from(rate.as_bps());
    let bytes = bits / (8 * u128::from(Span::from_secs(1).as_ps()));
    Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
}

impl Markers {
    /// So many queues that mark as the scenario says.
    pub(super) fn of(resolved: &Resolved, queues: usize, random: &RandomSource) -> Self {
        let rule = resolved.core_marks.as_ref();
        let each = rule.map(|rule| vec![Marker::new(rule.clone()); queues]);
        Self { each: each.unwrap_or_default(), draws: random.stream("core-marks"), drawn: 0 }
    }

    /// Whether there are none.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.each.is_empty()
    }

    /// Whether a queue drops packets that are not ECN-capable where it would mark others.
    pub(super) fn drops(&self, queue: usize) -> bool {
        self.each[queue].drops()
    }

    /// These packets, at a `place`, find so many bytes in a queue, which leave by `until`.
    pub(super) fn meet(
        &mut self,
        (queue, place): (usize, Place),
        (now, waiting, until): (Time, Bytes, Time),
        packets: impl Iterator<Item = DataPacket>,
        effects: &mut Effects,
    ) {
        for packet in packets.filter(|packet| !packet.is_cross()) {
            let marker = &mut self.each[queue];
            let chance = marker.chance(now, waiting, until);
            let mut marked = chance >= 1.0;
            if chance > 0.0 && chance < 1.0 {
                marked = self.draws.uniforms(self.drawn)[0] < chance;
                self.drawn += 1;
            }
            marker.settle(marked);
            if marked {
                let place = Some(place).filter(|_| marker.drops());
                effects.list.push(Effect::Marked(packet, place));
            }
        }
    }
}
