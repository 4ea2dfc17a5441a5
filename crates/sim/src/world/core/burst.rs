//! Bursts of a mesh, in slots that are used again.

use burstlab_kernel::Stream;
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::payload::{BurstKind, Payload};
use crate::measure::Recorder;
use crate::measure::loss::LossCause;
use crate::world::packet::{AckPacket, DataPacket};
use crate::world::train::Train;

/// Where a burst is lost as the scenario prescribes, 0 at the ingress, and why.
pub(super) type ScheduledLoss = Option<(usize, LossCause)>;

/// Which burst it is: the ingress that sends it, and its ordinal among all that this ingress sends.
/// No other node enters it. Users see the [label](Burst::label).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BurstId(u64);

/// Bits of a [`BurstId`] that hold the ordinal, from 1: no run closes as many bursts.
const ORDINAL_BITS: u32 = 40;

impl BurstId {
    /// Stands for no burst.
    pub(super) const NONE: Self = Self(0);

    /// Stands before the first burst of an ingress.
    pub(super) fn before_first(ingress: u32) -> Self {
        assert!(ingress < 1 << (u64::BITS - ORDINAL_BITS), "a network has fewer nodes");
        Self(u64::from(ingress) << ORDINAL_BITS)
    }

    /// The mark of a reservation of this burst: its identity, and for the trace its label.
    #[inline]
    pub(super) fn owner(self, label: u64, slot: u32) -> u128 {
        let place = label << SLOT_BITS | u64::from(slot);
        u128::from(self.0) << u64::BITS | u128::from(place)
    }

    /// The burst that the ingress sends so many bursts later.
    #[inline]
    pub(super) fn after(self, bursts: u64) -> Self {
        Self(self.0 + bursts)
    }
}

/// A burst as an edge node closes it.
#[derive(Debug)]
pub(super) struct Closed<'a> {
    pub(super) id: BurstId,
    /// From which node it goes to which.
    pub(super) ends: (u32, u32),
    pub(super) class: u32,
    pub(super) route_index: u32,
    pub(super) opened: Time,
    pub(super) at: Time,
    /// Its length, and of this what is no padding.
    pub(super) bytes: Bytes,
    pub(super) load: u64,
    pub(super) kind: BurstKind,
    /// Whether a source has drawn it, and no packets were assembled.
    pub(super) drawn: bool,
    /// What it carries; the queue that this is taken from keeps its room.
    pub(super) payload: &'a mut Payload,
    /// Where packets leave spaced: how many had come before each of them.
    pub(super) spaced: &'a [u64],
    /// Rows in the trace of packets that came to it and that a script lost.
    pub(super) killed: &'a [u32],
    /// What the scenario prescribes for it, where that was asked already.
    pub(super) prescribed: Option<ScheduledLoss>,
}

/// The fate of a burst, as far as it is known now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes on; an event says what is next.
    Goes,
    /// It is lost before its next fibre, at this time.
    Lost(Time, LossCause),
    /// It lands at this time, and nobody looks at it before.
    Lands(Time),
}

/// A wavelength that a burst holds at the output of a node.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Reservation {
    pub(super) link: u32,
    pub(super) wavelength: u32,
    /// When the reservation begins.
    pub(super) start: Time,
    /// When the first bit of the burst leaves, and when it is at the end of the fibre.
    pub(super) departs: Time,
    pub(super) arrives: Time,
    /// How much of the burst passes here: what was not cut before or here.
    pub(super) passes: Span,
}

/// A burst between its closing and its end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct Burst {
    /// [`BurstId::NONE`]: the slot is free.
    pub(super) id: BurstId,
    /// Its number for users: among all bursts that were closed, or on a path among those of its
    /// direction. It decides nothing but the effect of surgery.
    pub(super) label: u64,
    pub(super) kind: BurstKind,
    /// Its number among the bursts of its kind that its ingress sends, from 1; on a way of its own
    /// 0.
    pub(super) ordinal: u64,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) class: u32,
    /// Which of the routes of its pair its flows have, where each flow has one.
    pub(super) route_index: u32,
    pub(super) payload: Payload,
    /// Packets it was closed with, and those of them that the queue of its ingress dropped.
    pub(super) packets: u64,
    pub(super) dropped: u64,
    /// Length it was closed with, padding included.
    pub(super) bytes: Bytes,
    /// Of this, bytes of packets; all of it where it carries none. And what of them was not cut.
    pub(super) load: u64,
    pub(super) load_left: u64,
    pub(super) opened: Time,
    pub(super) closed: Time,
    pub(super) departs: Time,
    /// The fibres of its route.
    pub(super) route: Vec<u32>,
    /// Fibres of the route it was first given.
    pub(super) planned: usize,
    /// The fibre that is to be reserved next.
    pub(super) hop: usize,
    /// When its first bit reaches the node that schedules it next.
    pub(super) arrives: Time,
    /// How long it is, as its header says.
    pub(super) hold: Span,
    /// How long it is, as far as it was not cut.
    pub(super) left: Span,
    pub(super) wavelength: u32,
    /// The label of the burst that blocked it where it was lost; 0: none did.
    pub(super) blocker: u64,
    /// Where it is lost as the scenario prescribes: 0 at the ingress, and so on.
    pub(super) scheduled_loss: ScheduledLoss,
    /// What it holds, hop by hop.
    pub(super) reservations: Vec<Reservation>,
    /// How often it was sent again, or asked for.
    pub(super) attempts: u32,
    /// How many delay lines it passes on its path.
    pub(super) delayed: u32,
    /// Whether its ingress keeps a copy.
    pub(super) copy: bool,
    pub(super) deflected: bool,
    /// Whether every node can convert its wavelength: surgery wants it so.
    pub(super) converts: bool,
    /// Whether the fibre that it asked for last was down.
    pub(super) link_down: bool,
    /// Whether it is lost where it was given a fibre before, and so at none that it asks for.
    pub(super) hit_by_failure: bool,
    /// Which burst it is, where it is lost, or spared, and its header is still to come to a node.
    pub(super) stale_header: BurstId,
    /// Whether surgery spares it: it is on its path and takes no wavelength.
    pub(super) spared: bool,
    /// When its last bit reaches the egress, once all is reserved.
    pub(super) lands: Time,
}

/// Bits of a [`Burst::owner`] that name the slot.
const SLOT_BITS: u32 = 24;

/// The slot and the identity of the burst that owns a reservation.
pub(super) fn owner_of(owner: u128) -> (u32, BurstId) {
    ((owner & ((1 << SLOT_BITS) - 1)) as u32, BurstId((owner >> u64::BITS) as u64))
}

/// The label of the burst that owns a reservation, which may be gone by now.
pub(super) fn label_of(owner: u128) -> u64 {
    owner as u64 >> SLOT_BITS
}

impl Reservation {
    /// How long the burst has left this node at `at`.
    pub(super) fn gone_by(&self, at: Time) -> Span {
        if at > self.departs { at.since(self.departs) } else { Span::ZERO }
    }
}

impl Burst {
    /// A draw for it: of its ingress, its kind and its ordinal, and so of no other node; `nth` is
    /// below so many.
    pub(super) fn draws(&self, stream: Stream, (nth, below): (u64, u64)) -> f64 {
        let ordinal = self.ordinal << 2 | self.kind as u64;
        stream.of(u64::from(self.from)).uniforms(ordinal * below + nth)[0]
    }

    /// The mark of its reservations.
    pub(super) fn owner(&self, slot: u32) -> u128 {
        self.id.owner(self.label, slot)
    }

    /// Why it is lost at this hop, if the scenario prescribes that. A node beyond the last one that
    /// schedules the burst stands for that one.
    pub(super) fn loss_here(&self) -> Option<LossCause> {
        let (node, cause) = self.scheduled_loss?;
        (self.hop == node.min(self.planned - 1)).then_some(cause)
    }

    /// Whether cutting has left nothing of it, or none of the packets that it carried.
    pub(super) fn is_cut_to_nothing(&self) -> bool {
        self.left.is_zero() || self.packets > self.dropped && self.payload.is_empty()
    }

    /// Notes in the trace of each packet when it leaves the ingress.
    pub(super) fn record_departure(&self, recorder: &mut Recorder) {
        self.payload.rows().for_each(|rows| recorder.departed(rows, self.departs));
    }

    /// The reservation of `wavelength` of `link` that begins at `start`, if the burst holds it.
    pub(super) fn holds(&self, link: u32, wavelength: u32, start: Time) -> Option<usize> {
        self.reservations.iter().position(|reservation| {
            (reservation.link, reservation.wavelength, reservation.start)
                == (link, wavelength, start)
        })
    }
}

/// Cargoes that a path has room for from the beginning, and how many trains each holds.
const STOCK: usize = 8;
const STOCKED: usize = 64;

/// The bursts in flight.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Bursts {
    slots: Vec<Burst>,
    free: Vec<u32>,
    /// Emptied payloads, for the next ones: as many as there are bursts with such a one at a time.
    spare_data: Vec<Vec<Train<DataPacket>>>,
    spare_acks: Vec<Vec<Train<AckPacket>>>,
}

impl Bursts {
    /// Room for the payloads of as many bursts as are seldom in slots at once where most need none.
    pub(super) fn stocked() -> Self {
        let mut all = Self::default();
        all.spare_data.extend((0..STOCK).map(|_| Vec::with_capacity(STOCKED)));
        all.spare_acks.extend((0..STOCK).map(|_| Vec::with_capacity(STOCKED)));
        let slot = |_| Burst { route: Vec::with_capacity(STOCKED), ..Burst::default() };
        all.slots.extend((0..STOCK).map(slot));
        all.free.extend(0..STOCK as u32);
        all
    }

    /// A slot with a closed burst: what it carries is moved there, and its queue is left with room
    /// for as much.
    #[inline]
    pub(super) fn open(&mut self, closed: &mut Closed<'_>, label: u64) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Burst::default());
            assert!(self.slots.len() < 1 << SLOT_BITS, "a mesh has fewer bursts under way");
            self.slots.len() as u32 - 1
        });
        let payload = std::mem::take(closed.payload);
        if !payload.data.is_empty() {
            closed.payload.data = self.spare_data.pop().unwrap_or_default();
        }
        if !payload.acks.is_empty() {
            closed.payload.acks = self.spare_acks.pop().unwrap_or_default();
        }
        let burst = &mut self.slots[slot as usize];
        (burst.id, burst.label) = (closed.id, label);
        (burst.kind, burst.class, burst.route_index) =
            (closed.kind, closed.class, closed.route_index);
        (burst.from, burst.to) = closed.ends;
        (burst.packets, burst.payload) = (payload.packets(), payload);
        (burst.bytes, burst.load, burst.load_left) = (closed.bytes, closed.load, closed.load);
        (burst.opened, burst.closed) = (closed.opened, closed.at);
        slot
    }

    /// Frees a slot.
    pub(super) fn close(&mut self, slot: u32) {
        let burst = &mut self.slots[slot as usize];
        let (payload, mut route) =
            (std::mem::take(&mut burst.payload), std::mem::take(&mut burst.route));
        let mut reservations = std::mem::take(&mut burst.reservations);
        route.clear();
        reservations.clear();
        let stale_header = burst.stale_header;
        *burst = Burst { route, reservations, stale_header, ..Burst::default() };
        if stale_header == BurstId::NONE {
            self.free.push(slot);
        }
        self.reuse(payload);
    }

    /// The header of the burst in a slot comes to a node; returns whether that burst, which is this
    /// one where that is known, goes by its header no more. If it is gone, nothing more comes for
    /// the slot, and it is free.
    #[inline]
    pub(super) fn drop_stale_header(&mut self, slot: u32, id: Option<BurstId>) -> bool {
        let burst = &mut self.slots[slot as usize];
        let stale_header = burst.stale_header;
        let idle = stale_header != BurstId::NONE && id.is_none_or(|id| id == stale_header);
        if idle {
            burst.stale_header = BurstId::NONE;
            if burst.id != stale_header {
                self.free.push(slot);
            }
        }
        idle
    }

    /// Keeps the vectors of a payload for the next ones.
    pub(super) fn reuse(&mut self, mut payload: Payload) {
        payload.clear();
        if payload.data.capacity() > 0 {
            self.spare_data.push(payload.data);
        }
        if payload.acks.capacity() > 0 {
            self.spare_acks.push(payload.acks);
        }
    }

    /// Whether there are nearly as many as there can be: as many more as are opened between two
    /// looks still fit.
    pub(super) fn is_full(&self) -> bool {
        self.slots.len() > (1 << SLOT_BITS) - (1 << 18)
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> &Burst {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Burst {
        &mut self.slots[slot as usize]
    }

    /// Whether `slot` holds this burst.
    #[inline]
    pub(super) fn is(&self, slot: u32, id: BurstId) -> bool {
        self.slots[slot as usize].id == id
    }

    pub(super) fn live(&self) -> impl Iterator<Item = &Burst> {
        self.all().map(|(_, burst)| burst)
    }

    /// Those that are under way, with their slots.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &Burst)> {
        (0..).zip(&self.slots).filter(|(_, burst)| burst.id != BurstId::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_says_whose_it_is_where_that_is_kept_and_what_users_call_it() {
        let id = BurstId::before_first(7).after(3);
        let burst = Burst { id, label: 4711, ..Burst::default() };
        let owner = burst.owner(12);
        assert_eq!((owner_of(owner), label_of(owner)), ((12, id), 4711));
        let other = BurstId::before_first(6).after(3);
        assert_ne!(id, other, "ordinals are those of an ingress");
        assert_ne!(BurstId::before_first(0).after(1), BurstId::NONE);
    }
}
